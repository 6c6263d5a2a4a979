"""`recall`: the current statement with its source, and nothing that was forgotten, replaced or erased."""

from datetime import timedelta

import pytest
from conftest import Clock
from cpu import calls
from embedders import Hashed
from workers import clocked

from yiku import Memory
from yiku.errors import InvalidFilter, InvalidInput, TooLarge
from yiku.flows.keep.remember import index_tokens
from yiku.types import UpdateMemory


def texts(hits):
    return [hit.text for hit in hits]


def said(memory, *contents, **details):
    return [memory.record_turn("user", content, **details) for content in contents]


# ------------------------------------------------------------------ by slot


def test_what_is_over_is_no_answer_to_what_holds(memory, clock):
    """A statement whose time is past fills its slot no more; who asks for the past finds it by its slot."""
    kept = memory.remember("我住在奥斯陆").memory
    handle = memory._handle
    ended = UpdateMemory(kept.n, {"valid_to": clock.advance(days=1)}, index_tokens(kept))
    handle.store.apply(handle.writes(), [ended], handle.cause("test"))

    assert [] == [hit for hit in memory.recall("我住在哪里？") if "slot" in hit.routes]
    assert "slot" in memory.recall("Where did I live before?")[0].routes


# ------------------------------------------------------------------ by words


@pytest.mark.spec("T-21")
@pytest.mark.parametrize("question", ["深色主题", "主题", "主", "用户喜欢什么主题？", "深色 主题", "深色　主题"])
@pytest.mark.parametrize("keep", ["remember", "record"])
def test_chinese_is_found_by_one_two_and_more_characters(memory, keep, question):
    """Four characters, two, and one find the sentence that holds them, among others."""
    for text in ("用户喜欢用深色主题", "今天天气很好", "明天去北京开会"):
        memory.remember(text) if keep == "remember" else memory.record_turn("user", text)

    assert "用户喜欢用深色主题" == memory.recall(question)[0].text


TRICKY = [
    "python-3.10",
    "config.yaml",
    "foo@bar.com",
    r"D:\code",
    "C++",
    "NOT",
    "C#",
    "src/yiku/flows/find/recall.py",
    "v2.1.0-rc+7",
]


@pytest.mark.spec("T-22")
@pytest.mark.parametrize("name", TRICKY)
def test_names_with_signs_are_found(memory, name):
    """Paths, versions, addresses and languages with signs in their names are found by just that name."""
    said(memory, f"we decided on {name} for 这个项目", "nothing to see here", "another day, another dollar")

    assert f"we decided on {name} for 这个项目" in texts(memory.recall(name)) or name == "NOT"


@pytest.fixture(scope="module")
def greeted(tmp_path_factory):
    """A memory that was told one thing, and is only asked."""
    with clocked(tmp_path_factory.mktemp("greeted") / "home") as memory:
        said(memory, "hello 你好 “quoted” 100% D:\\code 🐍")
        yield memory


@pytest.mark.spec("T-22")
@pytest.mark.parametrize(
    "question",
    [
        "NOT", "AND OR NOT", 'say "hello', '""', "'", "''", "* ^ : ( ) { } - +", "NEAR(a b)", "a OR", "words:hello", "hello*", "-hello",
        "%", "_", "\\", "{}", "s1qhello", "h1qhello", "。，！？", "“”‘’", "🐍", "\u200b", "\t", "e\u0301", "ﬁ", "ＮＯＴ", "的", "了吗",
        "the", "?" * 1000, "a " * 2000, "记" * 2000, "\u202eevil", "x" * 100_000,
    ],
)  # fmt: skip
def test_no_question_is_an_error(greeted, question):
    """Whatever the question is made of, it finds something or nothing; blank ones say that they are."""
    if not question.strip():
        with pytest.raises(InvalidInput, match="question is empty"):
            greeted.recall(question)
        return

    assert len(greeted.recall(question)) <= 1
    assert len(greeted.search_traces(question)) <= 1


@pytest.mark.spec("T-16", "S4-38")
@pytest.mark.parametrize(
    ("question", "no", "yes"),
    [
        ("art", "we start the smart car", "modern art"),
        ("cat", "concatenate the category", "a cat"),
        ("ann", "Annika 和 Hannah", "Ann 来了"),
    ],
)
def test_part_of_a_word_is_not_the_word(memory, question, no, yes):
    """`art` finds art, and neither start nor smart."""
    said(memory, no, yes)

    assert [yes] == texts(memory.recall(question))


@pytest.mark.spec("T-08")
def test_where_xiaoming_lives(memory):
    """小明住在哪里 finds 小明住在北京朝阳区, told or merely said, before other sentences about him."""
    said(memory, "小明喜欢打篮球", "小红住在上海")
    memory.remember("小明住在北京朝阳区")

    assert "小明住在北京朝阳区" == memory.recall("小明住在哪里")[0].text
    memory.forget(memory.recall("小明住在哪里")[0].id)
    said(memory, "听妈妈讲，小明住在北京朝阳区")

    assert "听妈妈讲，小明住在北京朝阳区" == memory.recall("小明住在哪里")[0].text


def test_width_case_and_stems_make_no_difference(memory):
    """The words may be full-width, upper-case or inflected."""
    said(memory, "The ＤＥＰＬＯＹ of Café Ünal was failing")

    assert 1 == len(memory.recall("deploys")) == len(memory.recall("cafe unal FAILED"))


def test_turns_are_found_by_their_speaker(memory):
    """The name of the speaker is searched with what he said."""
    said(memory, "我下周去东京", speaker="韩梅梅")

    assert ["我下周去东京"] == texts(memory.recall("韩梅梅"))


@pytest.mark.parametrize(
    ("asked", "answer", "question"),
    [
        ("how was the race on sunday", "2:14:08, and I cried", "Which time was run in the race?"),
        ("马拉松跑得怎么样", "四小时，还哭了", "马拉松跑了多久？"),
    ],
)
def test_what_a_friend_answers_is_found_by_what_was_asked(memory, asked, answer, question):
    """Between people a turn inherits of the question before it; of a statement, and in talk with an assistant, nothing."""
    memory.record_turn("user", asked, session="friends", speaker="Wes")
    memory.record_turn("user", answer, session="friends", speaker="Orla")

    [first, second] = memory.recall(question)

    assert [asked, answer] == [first.text, second.text]
    assert 0 < second.routes["asked"][1] <= 1
    assert "asked" not in first.routes
    assert not {"words", "vectors"} & {*second.routes}


@pytest.mark.parametrize("question", ["What happened in May 2025?", "2025年5月发生了什么？"])
def test_a_time_reaches_into_the_three_days_after_it(memory, question):
    """What is told of a time within three days counts less each day; what was said in it counts whole, what later or before not."""
    told = {day: memory.record_turn("user", f"说 {day}", session=day, said_at=f"{day}T12:00:00Z").id for day in (
        "2025-04-30", "2025-05-31", "2025-06-01", "2025-06-02", "2025-06-03", "2025-06-04",
    )}  # fmt: skip
    times = {hit.id: hit.routes["time"][1] for hit in memory.recall(question) if "time" in hit.routes}

    assert [None, 1.0, 0.8, 0.6, 0.4, None] == [times.get(id) for id in told.values()]


def test_only_questions_between_people_are_inherited(memory):
    """What follows a statement, the same person's question, an assistant's, or one of another session inherits nothing."""
    memory.record_turn("user", "the race on sunday was long", session="statement", speaker="Wes")
    memory.record_turn("user", "lucky you", session="statement", speaker="Orla")
    memory.record_turn("user", "how was the race on sunday?", session="oneself", speaker="Wes")
    memory.record_turn("user", "never mind", session="oneself", speaker="Wes")
    memory.record_turn("user", "how was the race on sunday?", session="other", speaker="Wes")
    memory.record_turn("user", "good evening", session="next", speaker="Orla")
    memory.record_turn("user", "how was the race on sunday?", session="assistant", speaker="Wes")
    memory.record_turn("assistant", "I cannot know", session="assistant", speaker="Helper")

    assert "asked" not in {route for hit in memory.recall("the race on sunday") for route in hit.routes}


# ------------------------------------------------------------------ what is a hit


@pytest.mark.spec("S3-162")
def test_a_statement_and_its_turn_are_one_hit(memory):
    """The statement is shown, with the turn as its source."""
    turn = said(memory, "我住在奥斯陆", session="s1", speaker="Mei")[0]
    kept = memory.remember("我住在奥斯陆", source=turn.id).memory
    hits = memory.recall("我住在哪里？")

    assert [kept.id] == [hit.id for hit in hits]
    link = hits[0].sources[0]
    assert (turn.id, "s1", "Mei", turn.said_at) == (link.id, link.session, link.speaker, link.said_at)
    assert (turn.id, "is a source of a statement that is shown") in hits.explanation.left_out


@pytest.mark.parametrize(
    ("text", "question", "wanted"),
    [
        ("I live in Oslo. My dog is called Rex.", "Where do I live and what is my dog called?", ("Oslo", "Rex")),
        ("我住在奥斯陆。我的狗叫旺财。", "我住在哪里，我的狗叫什么？", ("奥斯陆", "旺财")),
    ],
)
def test_nothing_is_left_out_for_what_is_left_out_itself(memory, text, question, wanted):
    """A turn stands behind one of its statements and before the other: both facts are in the answer, and in a prompt."""
    said(memory, text, "the weather is nice and I like it", "lunch was fine 午饭不错")
    found = " ".join(hit.text for hit in memory.recall(question))

    assert all(word in found and word in memory.context(question).text for word in wanted)


@pytest.mark.parametrize(
    ("text", "question", "wanted"),
    [
        ("I used to work at Google, now I work at Stripe.", "Where did I work before Stripe?", "Google"),
        ("我以前在腾讯上班，现在在字节跳动上班。", "我以前在哪里上班？", "腾讯"),
    ],
)
def test_a_question_about_the_past_gets_the_rest_of_the_turn(memory, text, question, wanted):
    """Whose statement tells what is so now alone."""
    said(memory, text, "lunch was fine 午饭不错")

    assert any(wanted in hit.text for hit in memory.recall(question))


def test_a_turn_whose_statement_was_replaced_is_marked(memory, clock):
    """Asked for turns too, what is no longer so names what is said now instead."""
    turn = said(memory, "I live in Bergen, near the harbour")[0]
    memory.remember("I live in Bergen", source=turn.id)
    clock.advance(days=1)
    now = memory.remember("I live in Oslo").memory
    hit = next(hit for hit in memory.recall("harbour in Bergen") if hit.type == "turn")

    assert (turn.id, now.id) == (hit.id, hit.superseded_by)
    assert "no longer so" in memory.context("harbour in Bergen").text
    assert "已不再成立" in memory.context("Bergen 的 harbour").text


@pytest.mark.spec("S3-162")
def test_the_question_itself_is_no_answer(memory):
    """Turns that only ask the same are left out, and of equal turns one is shown."""
    said(memory, "Where do I live?", "我住在哪里?", "I live by the sea", "I live by the sea")

    assert ["I live by the sea"] == texts(memory.recall("where do I live"))


@pytest.mark.parametrize(
    ("statement", "question", "wanted"),
    [
        (("We ordered boxes", "We ordered a lamp", "We moved to the new flat today."), "What did we order the week before we moved?", 0),
        (("我们买了纸箱", "我们买了台灯", "今天我们搬家了"), "搬家前一周我们买了什么？", 0),
        (("We ordered boxes", "We ordered a lamp", "We moved to the new flat today."), "What did we order after we moved?", 1),
        (("我们买了纸箱", "我们买了台灯", "今天我们搬家了"), "搬家之后我们买了什么？", 1),
    ],
)  # fmt: skip
def test_a_time_hangs_on_an_event(memory, clock, statement, question, wanted):
    """`The week before we moved` is found by when the move was told."""
    for text, days in ((statement[0], 20), (statement[2], 3), (statement[1], 12)):
        clock.advance(days=days)
        said(memory, text, session=text)
    clock.advance(days=60)
    found = memory.recall(question)

    assert statement[wanted] == next(hit.text for hit in found if hit.text in statement[:2])
    assert len(found.explanation.windows) == 1


def test_an_event_that_nobody_told_of_hangs_nothing(memory):
    """Without the event there is no window, and the words find what they can."""
    said(memory, "We ordered boxes")
    found = memory.recall("What did we order the week before we moved?")

    assert (["We ordered boxes"], ()) == (texts(found), found.explanation.windows)


@pytest.mark.spec("S3-33", "S3-160")
@pytest.mark.parametrize(
    ("talk", "statement", "question"),
    [
        ("Let us talk about the kayak again", ("The kayak costs 900 euros", "The tent costs 300 euros"), "What does it cost?"),
        ("我们再说说那条皮划艇吧", ("皮划艇的价格是九百欧", "帐篷的价格是三百欧"), "价格是多少？"),
    ],
)
def test_the_last_turns_of_the_conversation_say_what_is_meant(memory, talk, statement, question):
    """`What does it cost?` after a word about the kayak asks for the kayak; without the conversation nobody knows."""
    said(memory, *statement, session="old")
    said(memory, talk, session="now")

    assert statement[0] == next(hit.text for hit in memory.recall(question, session="now") if hit.text in statement)
    assert statement[0] in memory.context(question, session="now").text
    assert statement[1] == next(hit.text for hit in memory.recall(question) if hit.text in statement)


@pytest.mark.parametrize(
    ("asked", "answered", "question"),
    [
        ("Which wine goes with fish?", "A dry white wine goes with fish.", "Which wine did you recommend with fish?"),
        ("今晚吃鱼，要配酒", "推荐吃鱼配干白葡萄酒", "你推荐我吃鱼配哪种酒？"),
    ],
)
def test_what_the_assistant_said_is_found_when_it_is_asked_for(memory, asked, answered, question):
    """Though the person's own words are nearer to the question."""
    memory.record_turn("assistant", answered, session="s")
    memory.record_turn("user", asked, session="s")

    assert answered == memory.recall(question)[0].text


@pytest.mark.long
def test_an_answer_says_how_sure_it_is(memory):
    """What is there is answered with confidence; what only shares a word with the question is not."""
    said(memory, "We decided to set the retry limit to five.", "我们决定把预算定为三万元")
    said(memory, *(f"We talked about the garden with neighbour {i}, 聊了花园第{i}次" for i in range(60)))
    asked = {
        text: memory.recall(text)
        for text in ("What is the retry limit?", "预算定为多少？", "Where did we see the film?", "我们哪天看电影？")
    }

    assert [True, True, False, False] == [hits.confident for hits in asked.values()]
    assert all(0 <= hits.confidence <= 1 for hits in asked.values())


def test_an_exact_slot_is_sure(memory):
    """Who asks for what is stated is answered without doubt; nothing found is no confidence."""
    assert (0.0, False) == (memory.recall("我住在哪里？").confidence, memory.recall("我住在哪里？").confident)
    memory.remember("I live in Oslo")
    assert memory.recall("我住在哪里？").confidence > 0.9


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("The spare key hangs behind the boiler.", "Where does the spare key hang?"),
        ("备用钥匙挂在锅炉后面。", "备用钥匙挂在哪里？"),
    ],
)
@pytest.mark.parametrize("then", [None, "2030-01-01"])
def test_what_was_forgotten_makes_nobody_sure(memory, said, question, then):
    """Also asked what holds at a time, where statements out of recall are looked at."""
    memory.record(
        {"role": "user", "content": text} for text in ("We repainted the shed.", "昨天下雨了。", "The key of the piece is G.")
    )
    before = memory.recall(question, valid_at=then).confidence
    stated = memory.remember(said).memory
    known = memory.recall(question, valid_at=then).confidence
    memory.forget(stated.id)

    assert before < known
    assert before == memory.recall(question, valid_at=then).confidence


@pytest.mark.parametrize(
    ("request_", "other", "question"),
    [
        ("Please book the ferry to Bergen", "Please water the ferns", "What about the ferry to Bergen?"),
        ("请订去厦门的渡轮", "请给蕨类浇水", "去厦门的渡轮怎么样了？"),
    ],
)
def test_an_episode_or_file_of_what_was_forgotten_is_no_hit(memory, request_, other, question):
    """Neither is one of whose turns one was forgotten; other sessions' of the same time are, and all are back with the turns."""
    for session, text in (("s1", request_), ("s2", f"{other}, {question}")):
        (turn,) = said(memory, text, session=session)
        memory.sessions.attach("https://example.org/a.png", session=session, turn=turn.id, description=text)
    for session in ("s1", "s2"):
        memory.record_turn("assistant", "Done. 好了。", session=session)
        memory.sessions.end(session)

    def found(**more):
        hits = [hit for kind in ("attachment", "episode") for hit in memory.recall(question, types=[kind], **more)]
        return sorted((hit.type, hit.item.session) for hit in hits)

    everything = [(kind, session) for kind in ("attachment", "episode") for session in ("s1", "s2")]
    assert everything == found()
    before = memory._handle.now()
    gone = memory.forget(session="s1").operation

    assert [("attachment", "s2"), ("episode", "s2")] == found()
    assert everything == found(as_of=before)
    memory.admin.undo(gone)
    assert everything == found()
    memory.forget(memory.search_traces("ferns 蕨类")[0].id)  # one turn of a session
    assert [("attachment", "s1"), ("episode", "s1")] == found()


@pytest.mark.parametrize("question", ["Where did we see the film?", "我们在哪里看的电影？", "Which spice holds the shelf?"])
@pytest.mark.long
def test_how_sure_it_is_does_not_hang_on_how_many_are_wanted(home, question):
    """Among sixty statements, who asks for one hit is told the same as who asks for fifty."""
    with Memory(home, owner="user:mei", embedder=Hashed()) as memory:
        for n in range(60):
            memory.remember(f"The shelf number {n} holds jar {n * 7} of spice {chr(97 + n % 26)}{n}")
        memory.admin.embed()

        assert 60 == len(memory.get_all(limit=100))
        assert 1 == len({memory.recall(question, limit=limit).confidence for limit in (1, 5, 50)})


def test_recall_writes_nothing(memory, home):
    """Not a byte of the home changes by asking, explaining, looking at history or listing."""
    kept = memory.remember("I live in Oslo").memory
    said(memory, "我住在奥斯陆")
    before = {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file() and not path.name.endswith("-shm")}
    for question in ("where do I live?", "我住在哪里？", "nothing at all"):
        memory.recall(question)
        memory.explain(question)
    memory.history(kept.id), memory.get(kept.id), memory.get_all(), memory.timeline(), memory.search_traces("oslo")
    memory.about("user"), memory.status(), memory.admin.stats(), memory.admin.journal()

    assert before == {path: path.read_bytes() for path in before}
    assert (0, 0) == (memory.get(kept.id).retrieved, memory.get(kept.id).access_count)


@pytest.mark.spec("T-23")
def test_the_limit_is_kept_and_zero_is_nothing(memory):
    """Best first, at most so many; what was below the limit is named."""
    said(memory, *(f"note {i} about bananas" for i in range(8)))

    assert [0, 1, 5, 8] == [len(memory.recall("bananas", limit=limit)) for limit in (0, 1, 5, 100)]
    assert "below the limit" in {why for _, why in memory.recall("bananas", limit=1).explanation.left_out}
    scores = [hit.score for hit in memory.recall("bananas")]
    assert sorted(scores, reverse=True) == scores


def test_types_choose_memories_or_turns(memory):
    """Only what was asked for comes; naming neither is refused."""
    said(memory, "香蕉很好吃")
    memory.remember("香蕉是黄色的")

    assert ["turn"] == [hit.type for hit in memory.recall("香蕉", types=["turn"])]
    assert ["memory"] == [hit.type for hit in memory.recall("香蕉", types=("memory",))]
    assert 2 == len(memory.recall("香蕉", types=iter(["memory", "turn"])))


@pytest.mark.spec("S2-76")
def test_what_expired_is_not_recalled(memory, clock):
    """Until its time a memory is found, from then on it is not; it is still there."""
    kept = memory.remember("会议室密码是4711", expires_at="2026-03-02T00:00:00+01:00").memory

    assert 1 == len(memory.recall("会议室密码"))
    clock.advance(hours=15)
    assert 0 == len(memory.recall("会议室密码"))
    assert kept.id == memory.get(kept.id).id


def test_the_past_is_found_when_it_is_asked_for(memory, clock):
    """`Before` and 以前 bring up what was replaced; without them it stays away."""
    memory.remember("I live in Bergen")
    clock.advance(days=9)
    memory.remember("I live in Oslo")

    assert ["I live in Oslo"] == texts(memory.recall("where do I live?"))
    assert "I live in Bergen" == memory.recall("where did I live before Oslo?")[0].text
    assert "I live in Bergen" == memory.recall("我以前住在哪里？")[0].text


def test_explain_says_how(memory):
    """Terms, slots, routes and weights of a question, and what was left out."""
    memory.remember("我住在奥斯陆")
    how = memory.explain("where do I live?").explanation

    assert (("live",), ("user | lives in",), False) == (how.terms, how.slots, how.wants_history)
    assert 1 == how.routes["slot"]
    assert {"words", "vectors", "session", "time", "asked", "role", "opening", "speaker", "recency"} == {*how.weights}


# ------------------------------------------------------------------ times


def test_as_of_shows_what_was_recorded_then(memory, clock):
    """At each moment recall answers as it did then, whatever was said, forgotten or undone since."""
    moments = {}

    def now(name):
        moments[name] = clock.now
        clock.advance(hours=1)

    now("nothing")
    memory.remember("I live in Bergen")
    now("bergen")
    oslo = memory.remember("I live in Oslo")
    now("oslo")
    memory.forget(oslo.memory.id)
    now("forgotten")
    memory.restore(oslo.memory.id)
    now("restored")
    memory.remember("I live in Rome", said_at="2026-02-01")

    def at(name):
        return texts(memory.recall("where do I live?", as_of=moments[name], types=["memory"]))

    bergen, oslo = ["I live in Bergen"], ["I live in Oslo"]
    assert [[], bergen, oslo, [], oslo] == [at(name) for name in moments]


def test_as_of_knows_when_a_turn_was_hidden(memory, clock):
    """A turn that was forgotten for a while is not there in that while."""
    turn = said(memory, "香蕉很好吃")[0]
    spoken = clock.advance(hours=1)
    clock.advance(hours=1)
    memory.forget(turn.id)
    hidden = clock.advance(hours=1)
    clock.advance(hours=1)
    memory.restore(turn.id)

    assert [1, 0, 1] == [len(memory.recall("香蕉", as_of=at)) for at in (spoken, hidden, clock.now)]


def test_valid_at_shows_what_held_then(memory):
    """By what is known now, of what had been said by then."""
    memory.remember("I live in Oslo", said_at="2026-02-10")
    memory.remember("我住在卑尔根", said_at="2026-01-10")

    def at(day):
        return texts(memory.recall("where do I live?", valid_at=day, types=["memory"]))

    assert [[], ["我住在卑尔根"], ["I live in Oslo"]] == [at(day) for day in ("2026-01-09", "2026-02-09", "2026-02-11")]


@pytest.mark.parametrize(("text", "question"), [("I live in Oslo", "我住在哪里？"), ("我住在奥斯陆", "where do I live?")])
def test_valid_at_finds_what_ended_since_by_its_slot(memory, clock, text, question):
    """Asked in the other language, with no word in common; what was forgotten of that slot does not stand in its way."""
    memory.remember(text, expires_at="2026-03-08")
    clock.advance(days=10)
    memory.admin.consolidate()
    before = memory.recall(question, valid_at="2026-03-04", types=["memory"])
    memory.forget(memory.remember("I live in Rome", said_at="2026-03-02").memory.id)
    (after,) = memory.recall(question, valid_at="2026-03-04", types=["memory"])

    assert [text] == texts(before)
    assert (text, before[0].relevance) == (after.text, after.relevance)


@pytest.mark.parametrize(("text", "question"), [("I like {}", "what do I like?"), ("我喜欢{}", "我喜欢什么？")])
def test_valid_at_reads_nothing_that_was_over_by_then(memory, clock, text, question):
    """By its slot, what ended before costs nothing, however much of it a night has put away; nor does what came after."""
    kept = memory.remember(text.format("tea"))
    then = clock.advance(days=1)
    costs = []
    for dishes in (range(30), range(30, 120)):
        clock.advance(hours=1)
        for k in dishes:
            memory.remember(text.format(f"dish{k}"), expires_at=clock.now + timedelta(days=1))
        later = clock.advance(days=3)
        memory.admin.consolidate(phase=0)
        clock.advance(days=1)
        for at in (then, later):
            assert [kept.memory.content] == texts(memory.recall(question, valid_at=at, types=["memory"]))
            costs.append(calls(lambda at=at: memory.recall(question, valid_at=at, types=["memory"])))

    assert costs[2] <= 1.3 * costs[0]
    assert costs[3] <= 1.3 * costs[1]


@pytest.mark.parametrize(
    ("text", "question"), [("I am allergic to nuts", "What am I allergic to?"), ("我对坚果过敏", "我对什么过敏？")]
)
def test_valid_at_names_no_source_that_was_said_later(memory, clock, text, question):
    """A statement that was told again has both tellings as sources, and then had one."""
    memory.remember(text)
    then = clock.advance(days=1)
    clock.advance(days=30)
    memory.remember(text)
    (now,) = memory.recall(question, types=["memory"])
    (past,) = memory.recall(question, types=["memory"], valid_at=then)

    assert 2 == len(now.sources)
    assert [link for link in now.sources if link.said_at <= then] == [*past.sources]
    assert 1 == len(past.sources)


def test_both_times_together(memory, clock):
    """What held at one time by what was recorded at another: a late statement changes the one, not the other."""
    memory.remember("I live in Bergen", said_at="2026-01-01")
    memory.remember("I live in Oslo", said_at="2026-02-20")
    then = clock.advance(hours=1)
    clock.advance(hours=1)
    memory.remember("I live in Rome", said_at="2026-02-01")

    def at(**times):
        return texts(memory.recall("where do I live?", valid_at="2026-02-10", types=["memory"], **times))

    assert (["I live in Rome"], ["I live in Bergen"]) == (at(), at(as_of=then))


# ------------------------------------------------------------------ where

ROWS = {
    "one": {
        "kind": "rule",
        "importance": 0.9,
        "tags": ["work/项目", "50%"],
        "metadata": {"a.b": 1, 'q"uote': "x", "p%": "50%_off", "键": "值"},
    },
    "two": {"kind": "preference", "importance": 0.5, "tags": ["家"], "project": "atlas", "metadata": {"a": {"b": 2}, "n": None}},
    "three": {"kind": "skill", "importance": 0.1, "agent": "scribe", "entities": ["Ann"], "pinned": True, "session": "s1"},
}


@pytest.fixture(scope="module")
def fruits(tmp_path_factory):
    """A memory that is only asked."""
    clock = Clock()
    with Memory(tmp_path_factory.mktemp("fruits") / "home", owner="user:mei", names=["Mei"], clock=clock) as memory:
        for name, details in ROWS.items():
            clock.advance(days=1)
            memory.remember(f"{name} 香蕉", **details)
        yield memory


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ({}, "one two three"),
        ({"kind": "rule"}, "one"),
        ({"kind": "规则"}, "one"),
        ({"type": {"$eq": "rule"}}, "one"),
        ({"kind": ["rule", "skill"]}, "one three"),
        ({"kind": {"in": ("rule", "skill")}}, "one three"),
        ({"kind": {"in": {"rule"}}}, "one"),
        ({"kind": {"nin": ["rule", "skill"]}}, "two"),
        ({"kind": {"ne": "rule"}}, "two three"),
        ({"importance": {"gt": 0.5}}, "one"),
        ({"importance": {"gte": 0.5}}, "one two"),
        ({"importance": {"lt": 0.5}}, "three"),
        ({"importance": {"lte": 0.5, "gt": 0.1}}, "two"),
        ({"content": {"contains": "香"}}, "one two three"),
        ({"content": {"contains": "O"}}, ""),
        ({"content": {"icontains": "O"}}, "one two"),
        ({"content": {"icontains": "%"}}, ""),
        ({"content": {"icontains": "_"}}, ""),
        ({"project": {"exists": True}}, "two"),
        ({"project": {"exists": False}}, "one three"),
        ({"project": None}, "one three"),
        ({"project": {"ne": "atlas"}}, "one three"),
        ({"agent": "scribe"}, "three"),
        ({"pinned": True}, "three"),
        ({"tags": "work/项目"}, "one"),
        ({"tag": "50%"}, "one"),
        ({"tags": {"in": ["家", "50%"]}}, "one two"),
        ({"tags": {"ne": "家"}}, "one three"),
        ({"tags": {"nin": ["家", "50%"]}}, "three"),
        ({"tags": {"exists": False}}, "three"),
        ({"tags": {"icontains": "WORK"}}, "one"),
        ({"session": "s1"}, "three"),
        ({"session_id": "s1"}, "three"),
        ({"said_at": {"gte": "2026-03-03"}}, "two three"),
        ({"said_at": {"gte": "2026-03-02", "lt": "2026-03-03"}}, "one"),
        ({"created_at": {"lt": "2026-03-02T12:00:00+01:00"}}, "one"),
        ({"metadata.a.b": 1}, "one"),
        ({'metadata.q"uote': "x"}, "one"),
        ({"metadata.p%": {"contains": "50%_"}}, "one"),
        ({"metadata.p%": {"icontains": "0%_O"}}, "one"),
        ({"metadata.p%": {"icontains": "0_o"}}, ""),
        ({"metadata.键": "值"}, "one"),
        ({"metadata.a": {"exists": True}}, "two"),
        ({"metadata.nothing": {"exists": True}}, ""),
        ({"metadata.nothing": {"ne": 1}}, "one two three"),
        ({"AND": [{"kind": "rule"}, {"importance": 0.9}]}, "one"),
        ({"OR": [{"kind": "rule"}, {"project": "atlas"}]}, "one two"),
        ({"$or": [{"kind": "rule"}, {"$and": [{"agent": "scribe"}, {"pinned": True}]}]}, "one three"),
        ({"NOT": {"kind": "rule"}}, "two three"),
        ({"NOT": [{"kind": "rule"}, {"project": "atlas"}]}, "three"),
        ({"not": {"kind": "rule", "importance": 0.5}}, "one two three"),
        ({"role": "user"}, ""),
        ({"NOT": {"role": "user"}}, "one two three"),
    ],
    ids=str,
)
def test_where_lets_through(fruits, where, names):
    """Every operator, group and alias, over fields, tags, times and metadata: the same in recall as in listing."""
    expected = {f"{name} 香蕉" for name in names.split()}

    assert expected == {m.content for m in fruits.get_all(where=where)}
    assert expected == set(texts(fruits.recall("香蕉", where=where)))
    assert expected == {m.content for m in fruits.timeline(where=where)}


def test_where_on_entities(fruits):
    """An entity is named as it is kept."""
    assert ["three 香蕉"] == [m.content for m in fruits.get_all(where={"entity": fruits.about("Ann")[0].entities[0]})]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ({"role": "user"}, "one three"),
        ({"role": ["assistant"]}, "two"),
        ({"speaker": "Ann"}, "one"),
        ({"session": "s2"}, "three"),
        ({"run_id": {"ne": "s2"}}, "one two"),
        ({"said_at": {"gte": "2026-02-02"}}, "two three"),
        ({"position": 0}, "one three"),
        ({"project": "atlas", "role": "assistant"}, "two"),
        ({"metadata.x.y": True}, "three"),
        ({"kind": "fact"}, ""),
        ({"OR": [{"kind": "fact"}, {"speaker": "Ann"}]}, "one"),
    ],
    ids=str,
)
def test_where_on_turns(memory, where, names):
    """The same grammar over turns; a field that turns do not have lets none through."""
    memory.record_turn("user", "香蕉 one", session="s1", speaker="Ann", said_at="2026-02-01")
    memory.record_turn("assistant", "香蕉 two", session="s1", project="atlas", said_at="2026-02-02")
    memory.record_turn("user", "香蕉 three", session="s2", metadata={"x.y": True}, said_at="2026-02-03")

    expected = {f"香蕉 {name}" for name in names.split()}

    assert expected == set(texts(memory.recall("香蕉", where=where)))
    assert expected == {turn.content for turn in memory.timeline(where=where)}


@pytest.mark.parametrize("ask", ["recall", "context", "history", "search_traces"])
def test_a_question_that_is_too_long_is_to_be_shorter(memory, ask):
    """It is told its size in bytes; that it could be imported from a file would be no help."""
    with pytest.raises(TooLarge, match=r"has 120,000 bytes; at most 100,000\. Ask in fewer words"):
        getattr(memory, ask)("问" * 40_000)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ({"colour": 1}, "no field 'colour'"),
        ({"kind": {"like": "x"}}, "no operator 'like'"),
        ({"metadata.": 1}, "no field"),
        ({"kind": {}}, "needs an operator"),
        ({"OR": []}, "conditions"),
        ({"NOT": {}}, "condition"),
        ({"AND": "kind"}, "is not an object"),
        ({"tags": {"in": "x"}}, "needs a list"),
        ({"content": {"gt": [1]}}, "needs a plain value"),
        ({"importance": {"gt": 2**70}}, "64 bits"),
        ({"OR": [{"content": str(i)} for i in range(101)]}, "1 to 100 conditions"),
    ],
    ids=str,
)
def test_where_says_what_it_does_not_know(memory, where, why):
    """A field, an operator or a form outside the grammar is named, on every verb that filters."""
    for verb in (memory.get_all, memory.timeline, lambda **k: memory.recall("x", **k), lambda **k: memory.context("x", **k)):
        with pytest.raises(InvalidFilter, match=why):
            verb(where=where)


# ------------------------------------------------------------------ scopes


@pytest.mark.spec("S1-51", "S1-52", "T-20")
def test_a_handle_reads_its_own_scope_and_public(memory, home, clock):
    """What one scope says no other reads; what public says all read; further scopes are named in the settings."""
    handles = {name: Memory(home, scope=name, clock=clock) for name in ("user:ann", "public", "team:x")}
    for name, handle in handles.items():
        handle.remember(f"香蕉 of {name}")
        handle.record_turn("user", f"香蕉 said in {name}")
    memory.remember("香蕉 of user:mei")
    with Memory(home, scope="user:ann", reads=["team:x"], clock=clock) as wide:
        seen = {name: {hit.item.scope for hit in handle.recall("香蕉")} for name, handle in (*handles.items(), ("wide", wide))}
        listed = {m.scope for m in wide.get_all()}
    for handle in handles.values():
        handle.close()

    assert {
        "user:ann": {"user:ann", "public"},
        "public": {"public"},
        "team:x": {"team:x", "public"},
        "wide": {"user:ann", "public", "team:x"},
    } == seen
    assert {"user:ann", "public", "team:x"} == listed
    assert {"user:mei", "public"} == {hit.item.scope for hit in memory.recall("香蕉")}


def test_one_scope_s_words_do_not_weigh_in_another(memory, home, clock):
    """The statistics of a question are those of the scopes it may see: a full neighbour changes no score."""
    said(memory, "香蕉 and tea", "nothing here", "tea alone", "more of 别的")
    before = [(hit.id, hit.score) for hit in memory.recall("香蕉 tea")]
    with Memory(home, scope="user:ann", clock=clock) as other:
        other.record([{"role": "user", "content": f"香蕉 tea {i}"} for i in range(300)])

    assert before == [(hit.id, hit.score) for hit in memory.recall("香蕉 tea")]


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        (("gateway", "mode", "strict"), ("gateway", "mode", "lax"), "anything strict?"),
        (("网关", "模式", "严格"), ("网关", "模式", "宽松"), "有什么严格的吗"),
    ],
)
def test_what_may_contradict_a_hit_stands_before_it_though_nothing_else_finds_it(memory, first, then, question):
    """Nobody can judge between the two, so who asks for one is shown the other, which was said later, first."""
    for subject, predicate, value in (first, then):
        text = f"{subject}: {predicate} = {value}"
        memory.remember(text, subject=subject, predicate=predicate, object=value)
    hits = memory.recall(question, types=("memory",))

    assert [then[2], first[2]] == [hit.item.object for hit in hits]
    assert (["conflict"], False) == ([*hits[0].routes], "conflict" in hits[1].routes)
