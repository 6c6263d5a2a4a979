"""Ranking of superseding statements: the latest answer first, earlier ones marked, look-alikes untouched."""

from datetime import UTC, datetime

import pytest

from yiku import Memory
from yiku.rules.finding import said_later
from yiku.rules.lexicon import built_in
from yiku.rules.privacy import redaction
from yiku.rules.statements import keys
from yiku.rules.statements.question import question as asked
from yiku.rules.statements.read import read
from yiku.rules.values import canonical, measures


def say(memory, clock, *lines, hours=30):
    """Each line in a session of its own, a day later than the one before."""
    turns = []
    for line in lines:
        clock.advance(hours=hours)
        turns.append(memory.record_turn("user", line, session=f"s{clock.now:%d%H}"))
    return turns


@pytest.mark.spec("S3-70", "S0-97")
@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        (
            "Nana has her warfarin after breakfast.",
            "Correction: Nana has her warfarin after supper.",
            "When does Nana have her warfarin?",
        ),
        (
            "For the cake the Khans want lemon sponge.",
            "Actually, for the cake the Khans want pistachio.",
            "What do the Khans want for the cake?",
        ),
        ("Our CI runs on Jenkins.", "Actually, our CI runs on Drone.", "What does our CI run on?"),
        ("我们的CI跑在Jenkins上。", "更正：我们的CI跑在Drone上。", "我们的CI跑在哪里？"),
        ("订单服务的超时是3秒。", "其实订单服务的超时是8秒。", "订单服务的超时是多少？"),
    ],
)
def test_the_later_stands_first_and_the_earlier_says_so(memory, clock, earlier, later, question):
    """Whether a slot was learned or not; in the answer, in what a prompt gets, and in what explains it."""
    say(memory, clock, earlier, later)
    hits = memory.recall(question)

    assert later.rstrip("。.")[-4:] in hits[0].text
    behind = next(hit for hit in hits if earlier.rstrip("。.")[-4:] in hit.text)
    if not behind.superseded_by:
        assert behind.said_later == hits[0].id
        assert all(behind.text[start:end].strip() for start, end in behind.outdated)
        assert (behind.id, hits[0].id) in {(one, other) for one, other, _ in hits.explanation.said_later}
    shown = memory.context(question, max_tokens=400).text
    (line,) = [line for line in shown.splitlines() if earlier.rstrip("。.")[-4:] in line]
    pointers = [f"{mark}{hits[0].id[-8:]}" for mark in ("said later: #", "此后另有说法：#")]
    assert any(mark in line for mark in (pointers if behind.said_later else ["no longer so", "已不再成立"]))


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("I live in Oslo.", "My sister lives in Rome.", "Where do I live?"),
        ("Our CI runs on Jenkins.", "I'm thinking of moving our CI to Drone.", "What does our CI run on?"),
        (
            "The dev server listens on port 8080.",
            "The docs server listens on port 9090.",
            "Which port does the dev server listen on?",
        ),
        ("我对花生过敏。", "我妹妹对虾过敏。", "我对什么过敏？"),
        ("我们的CI跑在Jenkins上。", "要是我们的CI跑在Drone上就好了。", "我们的CI跑在哪里？"),
        ("I like tea.", "I like coffee.", "What do I like?"),
        ("Ann's bus leaves at 8.", "Ben's bus leaves at 9.", "When does the bus leave?"),
        ("小安的班车8点开。", "小宁的班车9点开。", "班车几点开？"),
        ("Three chillies go in my red sauce.", "Eight chillies go in my green sauce.", "How many chillies for the red sauce?"),
        ("前端repo用pnpm装依赖。", "文档repo用yarn装依赖，别搞混哈", "前端那个repo用什么装依赖？"),
    ],
)
def test_what_only_looks_like_a_change_marks_nothing(memory, clock, earlier, later, question):
    """Other people, plans, wishes, other things, and what may be many."""
    say(memory, clock, earlier, later)
    hits = memory.recall(question)

    assert all(hit.said_later is None for hit in hits)
    if not any(word in earlier for word in ("like", "bus", "班车")):  # else either may be meant
        assert earlier.rstrip("。.")[-4:] in hits[0].text


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        (
            "The auditors sit in the Baobab room.",
            "So the auditors are sitting in Mopane.",
            "Which room did the auditors end up in?",
        ),
        ("My locker at the gym is 214.", "Oops sorry I meant 241 for the locker, lol.", "Which locker is mine at the gym?"),
        (
            "Prof. Adeyemi chairs my thesis committee.",
            "Actually no, Prof. Lindqvist is chairing my committee instead.",
            "Who is the chair of my thesis committee?",
        ),
        ("古筝课上课在302教室。", "啊记岔了，古筝课是在203。", "古筝课去哪个教室？"),
        ("我每天喝两杯咖啡。", "我不喝咖啡了，一喝就心慌。", "我现在每天还喝咖啡吗？"),
    ],
)
def test_the_later_may_say_less_of_the_same(memory, clock, earlier, later, question):
    """Fewer words of the question, no owner, another verb, a plain denial: it is the same thing still."""
    say(memory, clock, earlier, later)

    assert later[-9:-1] in memory.recall(question)[0].text


def test_little_of_long_hits_is_read(monkeypatch):
    """Of each the one sentence that holds most words of the question, and no more than eight in all."""
    heard = []
    monkeypatch.setattr(said_later, "read", lambda text: heard.append(text) or read(text))
    filler = "Nothing of that sort was ever written down here. " * 5
    pool = [
        said_later.Statement(
            str(n), f"{filler}The budget of the fair is {n} euros. {filler}", datetime(2026, 1, n, tzinfo=UTC), n, "user"
        )
        for n in range(1, 13)
    ]
    said_later.compare_hits(asked("What is the budget of the fair?", built_in()), ["budget", "fair"], pool, {})

    assert said_later.PASSAGES == len(heard)
    assert {f"The budget of the fair is {n} euros." for n in range(1, 13)} >= {text.strip() for text in heard}


@pytest.mark.spec("T-23")
def test_scores_never_rise_down_the_list(memory, clock):
    """What moves up takes the score of what it passes, though fewer words of the question stand in it."""
    say(
        memory,
        clock,
        "The retry limit of the payment gateway in production is 3.",
        "Correction: the retry limit is 5.",
        "Lunch was nice.",
    )
    hits = memory.recall("What is the retry limit of the payment gateway in production?")
    scores = [hit.score for hit in hits]

    assert "is 5" in hits[0].text
    assert scores == sorted(scores, reverse=True)


def test_scores_do_not_rise_to_what_was_taken_back(memory, clock):
    """Which stands last, however well it was found."""
    turn = memory.record_turn("user", "The dev server runs on port 4321.", session="a")
    memory.record_turn("user", "Just kidding, forget that.", session="a")
    say(memory, clock, "A server is a machine.", "开发服务器 nice weather")
    hits = memory.recall("Which port does the dev server run on?")
    scores = [hit.score for hit in hits]

    assert (turn.id, True) == (hits[-1].id, hits[-1].taken_back)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        ("The dev server runs on port 4321.", "No, the dev server runs on port 5000.", "Which port does the dev server run on?"),
        ("订单服务的超时是3秒。", "其实订单服务的超时是8秒。", "订单服务的超时是多少？"),
        ("The dev server runs on port 4321.", "Just kidding, forget that.", "Which port does the dev server run on?"),
        ("早会是九点", "早会改到十点了", "早会是几点？"),
    ],
)
def test_what_is_said_again_holds_again(memory, clock, first, then, question):
    """In one session or another: of the same words those count that were said last."""
    for again in ("a", "b"):
        for line, session in ((first, "a"), (then, "a"), (first, again)):
            clock.advance(hours=1)
            memory.record_turn("user", line, session=f"{session}{again}")
        best, *others = memory.recall(question)

        assert first.rstrip("。.") in best.text
        assert (None, False) == (best.said_later, best.taken_back)
        assert not [hit for hit in others if hit.text == first]


@pytest.mark.parametrize(
    ("text", "question"), [("Nuts make me sick.", "Who gets sick from nuts?"), ("我吃坚果会过敏。", "谁吃坚果会过敏？")]
)
def test_the_same_words_of_another_speaker_are_another_statement(memory, clock, text, question):
    for speaker in ("Ann", "Bob"):
        clock.advance(hours=1)
        memory.record_turn("user", text, session="group", speaker=speaker)

    assert {"Ann", "Bob"} == {hit.sources[0].speaker for hit in memory.recall(question, types=["turn"])}


@pytest.mark.parametrize(
    ("ours", "theirs", "question"),
    [
        ("I live in Ulm.", "I moved to Graz.", "Where do I live?"),
        ("我住在乌尔姆。", "我搬到成都了。", "我住在哪里？"),
        ("My sister lives in Ulm.", "My sister moved to Graz.", "Where does my sister live?"),
    ],
)
def test_i_of_another_scope_am_somebody_else(tmp_path, clock, ours, theirs, question):
    """Whose later words neither stand first nor mark mine; of a thing they may."""
    with (
        Memory(tmp_path / "home", scope="alice", clock=clock) as alice,
        Memory(tmp_path / "home", scope="public", clock=clock) as public,
    ):
        say(alice, clock, ours, "The retry limit of the gateway is 3.")
        say(public, clock, theirs, "Correction: the retry limit of the gateway is 5.")
        hits, limit = alice.recall(question), alice.recall("What is the retry limit of the gateway?")

    assert (ours, None) == (hits[0].text, hits[0].said_later)
    assert "5" in limit[0].text


def test_what_is_said_next_is_said_in_the_same_session(tmp_path, clock):
    """However others name theirs, and however many are recorded between."""
    said, joke, question = (
        "The dev server runs on port 4321.",
        "Just kidding, forget that.",
        "Which port does the dev server run on?",
    )
    with (
        Memory(tmp_path / "home", scope="alice", clock=clock) as alice,
        Memory(tmp_path / "home", scope="public", clock=clock) as public,
    ):
        alice.record_turn("user", said, session="chat")
        public.record_turn("user", joke, session="chat")
        assert not alice.recall(question)[0].taken_back
        for n in range(5):
            public.record_turn("user", f"nice weather 天气 {n}", session="chat")
        alice.record_turn("user", joke, session="chat")

        assert alice.recall(question)[0].taken_back


@pytest.mark.parametrize("question", ["What did our CI run on before?", "What was our old CI?", "我们的CI以前跑在哪里？"])
def test_a_question_for_the_past_marks_nothing(memory, clock, question):
    """Who asks how it was is answered by how it was."""
    say(memory, clock, "Our CI runs on Jenkins. 我们的CI跑在Jenkins上。", "Our CI runs on Drone now. 现在我们的CI跑在Drone上。")

    assert all(hit.said_later is None for hit in memory.recall(question))


def test_a_time_that_is_asked_for_compares_nothing(memory, clock):
    """`valid_at` and `as_of` show what counted then."""
    first, _ = say(memory, clock, "Our CI runs on Jenkins.", "Our CI runs on Drone now.")
    hits = memory.recall("What does our CI run on?", valid_at=first.said_at)

    assert all(hit.said_later is None for hit in hits)


def test_one_hit_is_the_first_of_many(memory, clock):
    """However many are asked for, the same are compared."""
    say(memory, clock, *[f"Our CI runs on {name} now." for name in ("Jenkins", "Drone", "Woodpecker")])

    assert memory.recall("What does our CI run on?", limit=1)[0].id == memory.recall("What does our CI run on?", limit=20)[0].id


@pytest.mark.parametrize(
    ("said", "correction", "question", "value"),
    [
        ("The dentist is on 4 March.", "no wait, 14 March", "When is the dentist?", "14 March"),
        ("The rent for the flat is 900 euros.", "Sorry, 920 euros.", "How much is the rent for the flat?", "920"),
        ("The train to Bergen leaves at 9:40.", "Actually, 9:55.", "When does the train to Bergen leave?", "9:55"),
        ("房租是每月4500元。", "不对，是4600元。", "房租多少钱？", "4600"),
        ("去卑尔根的火车9:40开。", "说错了，是9:55。", "去卑尔根的火车几点开？", "9:55"),
        ("I live in Oslo.", "sorry, Bergen.", "Where do I live?", "Bergen"),
        ("我住在深圳。", "不对，广州。", "我住在哪？", "广州"),
    ],
)
def test_a_correction_that_names_nothing_is_found_by_what_it_corrects(memory, said, correction, question, value):
    """Said right behind it: its words alone would find it nowhere. What month, unit or hour they share names nothing."""
    for text in (said, correction):
        memory.record_turn("user", text, session="s")

    assert value in memory.recall(question)[0].text


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (
            ["The budget review is on 12 March.", "Sorry, 14 March.", "The budget review is on 20 March."],
            "When is the budget review?",
        ),
        (["预算评审会是3月12日。", "不对，可能是3月14日。", "预算评审会是3月20日。"], "预算评审会是几号？"),
    ],
)
def test_a_correction_that_is_no_hit_itself_stands_nowhere(memory, clock, said, question):
    """What was said after both is the answer, and the correction between them was not found."""
    for text, session in zip(said, "sst", strict=True):
        clock.advance(hours=1)
        memory.record_turn("user", text, session=session)

    assert [said[2], said[0]] == [hit.text for hit in memory.recall(question)]


def test_an_erasure_empties_what_was_read(memory, clock):
    """Nothing of what is erased stays in the readings of a process."""
    turn, _ = say(memory, clock, "Our CI runs on Jenkins.", "Our CI runs on Drone now.")
    memory.recall("What does our CI run on?")
    assert read.cache_info().currsize > 0
    memory.admin.erase(turn.id)

    assert 0 == read.cache_info().currsize


def test_an_erasure_empties_what_was_known_of_its_slot(memory):
    """Subject, predicate and value, too, in whatever form they were compared."""
    told = memory.remember("My gym is Iron Yard 健身房")
    memory.remember("My weight is 70 kg")
    memory.notes.publish()
    known = (keys._words, canonical.form, measures.scan, redaction.runs_of, redaction.forms)
    memory.admin.erase(told.memory.id)

    assert {0} == {each.cache_info().currsize for each in known}


@pytest.mark.parametrize(
    ("current", "past", "question"),
    [
        ("My bike is a Canyon.", "Before that my bike was a Trek.", "What make is my bike?"),
        ("我家宽带是星桥的。", "前几年我家宽带是海讯的。", "我家现在用的哪家宽带？"),
    ],
)
def test_what_tells_of_the_past_says_so_beside_what_holds(memory, clock, current, past, question):
    """Said later, but not what holds since: it is marked as over, and names nothing that was said later."""
    say(memory, clock, current, past)
    hits = memory.recall(question)

    assert current in hits[0].text
    assert [None] * len(hits) == [hit.said_later for hit in hits]
    (line,) = [line for line in memory.context(question).text.splitlines() if past.rstrip("。.") in line]
    assert any(mark in line for mark in ("[no longer so]", "[已不再成立]"))


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("I work at Acme as a nurse.", "I left Acme, I work at Beta Clinic now.", "where do I work?"),
        (
            "My sister lives in Oslo with her dog.",
            "My sister sold the flat, she lives in Bergen now.",
            "where does my sister live?",
        ),
        ("我住在上海，在华为工作。", "我换了工作，现在在腾讯上班。", "我在哪里工作？"),
        ("用户住在杭州，养了一只猫。", "用户换了城市，现在住在成都。", "我住在哪里？"),
    ],
)
def test_another_value_of_one_slot_stands_first_however_soon_it_was_said(memory, clock, earlier, later, question):
    """In a statement of several clauses, which fills no slot when it is stored, a minute after the first."""
    old = memory.remember(earlier)
    clock.advance(minutes=1)
    new = memory.remember(later)

    hits = memory.recall(question)

    assert hits[0].id == new.memory.id
    replaced = memory.get(old.memory.id).superseded_by
    assert (replaced or {hit.id: hit.said_later for hit in hits}[old.memory.id]) == new.memory.id


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("I live in Oslo.", "My brother sold his car, he lives in Rome now.", "where do I live?"),
        ("我在华为工作。", "我弟弟毕业了，他现在在腾讯上班。", "我在哪里工作？"),
        ("I like green tea.", "I was at the market, I like coffee.", "what do I like?"),
        ("I work at Acme as a nurse.", "I got a letter, I may work at Beta Clinic next year.", "where do I work?"),
        ("I work at Acme.", "Next month I will work at Globex.", "where do I work?"),
        ("My rent is 1000 euros.", "From next month my rent will be 1200 euros.", "how much is my rent?"),
        ("我住在北京。", "我下周搬到深圳。", "我住在哪里？"),
        ("我的房租是3000元。", "下个月起我的房租是3500元。", "我的房租是多少？"),
    ],
)
def test_another_subject_a_plan_and_a_slot_of_many_values_mark_nothing(memory, clock, earlier, later, question):
    """However alike the two are."""
    old = memory.remember(earlier)
    clock.advance(minutes=1)
    memory.remember(later)

    assert all(not hit.said_later for hit in memory.recall(question) if hit.id == old.memory.id)
