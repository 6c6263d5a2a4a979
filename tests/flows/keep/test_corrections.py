"""
Corrections: regression cases of facts that were lost, kept twice, or replaced by mistake.

Each test replays the scenario of a fault (docs/spec/rules.md names them) and the rows that ask for the contrary.
"""

import pytest

from yiku.types import Confirmed, New, Replaced


def texts(items):
    return sorted(item.content for item in items)


@pytest.mark.spec("T-01", "S0-80", "S3-68", "S3-71", "S3-25")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My parking spot is B14.", "My parking spot's C03, they repainted the garage."),
        ("我爸的降压药是阿司匹林。", "我爸的降压药换成布洛芬了。"),
        ("我们 API 的 base path 是 /v2。", "我们API的base path改成/v3了。"),
        ("客户那边的对接人是柳岩。", "客户那边的对接人换成尤佳了。"),
        ("My blood type is O positive.", "My blood type is O negative."),
        ("我的车牌号是沪A12345。", "我的车牌号是京A12345。"),
        ("我的血型是A型。", "我的血型是B型。"),
        ("My height is 5 ft 10.", "My height is 5 ft 11."),
        ("My height is 1 m 75.", "My height is 1 m 80."),
        ("My weight is 11 stone 4.", "My weight is 11 stone 5."),
        ("My commute is 1 hour 20 minutes.", "My commute is 1 hour and 30 minutes."),
        ("我身高1米75。", "我身高1米80。"),
        ("我身高一米七五。", "我身高一米八。"),
        ("我通勤1小时20分钟。", "我通勤1小时40分钟。"),
    ],
)
def test_a_correction_survives_and_the_old_value_stays_history(memory, clock, before, after):
    """The new version is the one row that is live, created now; the old points to it, and a later look changes nothing."""
    old = memory.remember(before).memory
    clock.advance(days=3)
    outcome = memory.remember(after)

    assert isinstance(outcome, Replaced)
    assert [after] == texts(memory.get_all())
    assert (outcome.memory.id, clock.now) == (memory.get(old.id).superseded_by, outcome.memory.created_at)
    assert isinstance(memory.remember(after), Confirmed)
    assert [before, after] == [version.content for version in memory.history(outcome.memory.id)]


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("My height is 5 ft 10.", "No, it's 5 ft 11.", "5 ft 11"),
        ("我身高1米75。", "不对，是1米80。", "1米80"),
    ],
)
def test_a_correction_of_an_amount_in_two_units_keeps_both(memory, before, after, value):
    """What is corrected next in the talk is the whole amount, not its first unit."""
    memory.record_turn("user", before)
    memory.record_turn("user", after)

    assert [value] == [item.object for item in memory.get_all()]


@pytest.mark.spec("S3-04")
def test_a_version_that_went_up_is_one_row(memory, clock):
    """Python 3.10 yesterday and 3.12 today: one live row, not two."""
    memory.remember("The project's Python version is 3.10")
    clock.advance(days=1)
    memory.remember("The project's Python version is 3.12")

    assert ["The project's Python version is 3.12"] == texts(memory.get_all())


@pytest.mark.spec("T-02", "T-03", "S3-72")
@pytest.mark.parametrize(
    ("known", "statement"),
    [
        ("我喜欢喝咖啡", "我喜欢喝绿茶"),
        ("我住在奥斯陆", "我从北京坐火车到上海玩了三天"),
        ("我的书在桌上", "这不是我的书"),
        ("主库每天凌晨两点备份。", "从库每周日凌晨四点备份。"),
        ("Staging runs on port 8081.", "Production runs on port 8080."),
        ("Sam drinks oat milk.", "Samir drinks soy milk, different person."),
        ("I'm 36.", "My wife's 34, she turns 35 in October."),
    ],
)
def test_an_unrelated_statement_changes_nothing(memory, clock, known, statement):
    """Alike in words, or with a 从, 到 or 不是 in it: stored beside what is known."""
    memory.remember(known)
    clock.advance(days=1)

    assert isinstance(memory.remember(statement), New)
    assert sorted((known, statement)) == texts(memory.get_all())


@pytest.mark.spec("T-04", "S3-63")
def test_a_longer_and_more_important_restatement_wins(memory, clock):
    """The same value in more words is one statement; the longer wording is shown, its importance is kept."""
    memory.remember("I live in Oslo", importance=0.3, confidence=0.6)
    clock.advance(days=1)
    outcome = memory.remember("By the way, I live in Oslo, on the third floor", importance=0.9)

    assert isinstance(outcome, Confirmed)
    assert [("By the way, I live in Oslo, on the third floor", 0.9)] == [(row.content, row.importance) for row in memory.get_all()]


@pytest.mark.spec("T-05")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("记住我在网易上班", "更正一下，我跳槽到腾讯了。"),
        ("年会的预算是八万。", "老板刚批了，年会预算加到十万。"),
        ("今晚的聚餐地点是海底捞。", "今晚的聚餐地点换到江边城外了。"),
        ("我们prod的Postgres版本是14。", "我们prod的Postgres版本是16了。"),
    ],
)
def test_a_chinese_correction_of_the_same_day_wins(memory, clock, before, after):
    """Without spaces, minutes later, with words around it: the correction alone is live."""
    memory.remember(before)
    clock.advance(minutes=5)

    assert isinstance(memory.remember(after), Replaced)
    assert [after] == texts(memory.get_all())


@pytest.mark.spec("T-11")
def test_two_likes_live_and_a_new_address_replaces_the_old(memory, clock):
    """What may be many stays beside, what is one gives way; a denial retires just what it denies."""
    for text in ("I like tea", "I like coffee", "My address is 12 Main Street, Oslo", "My address is 5 Elm Road, Oslo"):
        memory.remember(text)
        clock.advance(hours=1)
    assert isinstance(memory.remember("I don't like coffee any more"), Replaced)

    assert sorted(["I like tea", "I don't like coffee any more", "My address is 5 Elm Road, Oslo"]) == texts(memory.get_all())


@pytest.mark.parametrize(
    ("known", "statement"),
    [
        ("I'm allergic to peanuts and shellfish.", "I'm allergic to peanuts and cats."),
        ("I'm allergic to peanuts, shellfish and cats.", "I'm allergic to peanuts, shellfish and dogs."),
        ("I'm allergic to peanuts and to shellfish.", "I'm allergic to peanuts."),
        ("I'm allergic to penicillin and latex.", "I'm not allergic to penicillin."),
        ("I speak Norwegian and German.", "I speak Norwegian and French."),
        ("I like tea.", "I like tea, coffee and cake."),
        ("I like tea and coffee.", "I like tea."),
        ("I have a cat and a dog.", "I have a cat."),
        ("I take metformin and warfarin.", "I take metformin."),
        ("我对花生、海鲜过敏。", "我对花生过敏。"),
        ("我对青霉素和乳胶过敏。", "我对青霉素不过敏。"),
        ("我会说英语、德语。", "我会说英语、法语。"),
        ("我喜欢茶以及咖啡。", "我喜欢茶。"),
        ("我养了一只猫和一只狗。", "我养了一只猫。"),
        ("我有哮喘和高血压。", "我有哮喘。"),
    ],
)
def test_a_list_is_neither_confirmed_nor_retired_by_one_of_its_things(memory, clock, known, statement):
    """Of two statements that share one thing, and of which one says more, both stay live."""
    memory.remember(known)
    clock.advance(days=1)

    assert isinstance(memory.remember(statement), New)
    assert sorted([known, statement]) == texts(memory.get_all())


@pytest.mark.spec("T-27", "S3-69", "S3-70")
def test_near_likenesses_are_merged_by_meaning_alone(memory, clock):
    """Dark and light theme stay two statements; one value told in two languages is one."""
    for text in ("The editor theme is dark", "The terminal theme is light", "我对花生过敏。"):
        memory.remember(text)
    clock.advance(days=1)

    assert isinstance(memory.remember("I'm allergic to peanuts."), Confirmed)
    assert sorted(["The editor theme is dark", "The terminal theme is light", "I'm allergic to peanuts."]) == texts(
        memory.get_all()
    )


def test_a_diet_has_one_slot_in_both_languages(memory, clock):
    """吃素 is vegetarian, and who has changed to 纯素 is so no more."""
    memory.remember("I'm vegetarian.")
    clock.advance(days=1)
    assert isinstance(memory.remember("我吃素。"), Confirmed)
    clock.advance(days=1)

    assert isinstance(memory.remember("我改吃纯素了。"), Replaced)
    assert ["我改吃纯素了。"] == texts(memory.get_all())


@pytest.mark.spec("T-01", "T-05", "S0-97", "S3-70")
@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        (
            "The ingest repo is pinned to Python 3.10.",
            "ingest repo is pinned to python 3.12; lockfiles on mondays",
            "What Python is the ingest repo pinned to?",
        ),
        ("我们prod的Postgres版本是14。", "prod的Postgres版本是16，用的是RDS。", "prod的Postgres是什么版本？"),
    ],
)
def test_what_is_no_plain_change_of_a_slot_stands_first_when_it_is_asked(memory, clock, before, after, question):
    """Nothing is replaced on likeness alone: both live, unmarked in the store; recall puts the later first."""
    old = memory.remember(before).memory
    clock.advance(days=1)
    outcome = memory.remember(after)

    assert isinstance(outcome, New)
    assert sorted((before, after)) == texts(memory.get_all())
    hits = memory.recall(question, types=["memory"])
    assert [after, before] == [hit.text for hit in hits][:2]
    assert outcome.memory.id == hits[1].said_later or old.flag is None


@pytest.mark.parametrize(
    ("now", "once", "question"),
    [
        ("I live in Oslo.", "I used to live in Bergen, by the fish market.", "Where do I live?"),
        ("我住在长沙。", "以前我住在株洲，离这儿不远。", "我住在哪里？"),
    ],
)
def test_how_it_was_is_history_from_the_start(memory, clock, now, once, question):
    """It retires nothing, fills no slot and is over when it is told, with its slot named or not."""
    memory.remember(now)
    clock.advance(days=1)
    read = memory.remember(once).memory
    named = memory.remember(f"{once} 真的", predicate="lives in", object="Bergen", cardinality="single").memory

    assert [(None, clock.now), (None, clock.now)] == [(row.slot, row.valid_to) for row in (read, named)]
    assert ("user", None, "Bergen") == (named.subject, named.predicate, named.object)
    assert now == memory.recall(question, types=["memory"])[0].text


@pytest.mark.parametrize(
    ("one", "other"),
    [("The retry limit is three.", "the retry limit's 3"), ("登录会话的有效期是两小时。", "登录会话的有效期是120分钟。")],
)
def test_the_same_value_written_otherwise_confirms(memory, clock, one, other):
    """Letters and digits, hours and minutes: nothing was replaced, and the newest words are shown."""
    memory.remember(one)
    clock.advance(days=1)

    assert isinstance(memory.remember(other), Confirmed)
    assert [other] == texts(memory.get_all())


@pytest.mark.parametrize(
    ("talk", "question", "answer"),
    [
        (("Our standup is at 9:30", "Standup moved to 10:00"), "when is standup?", "10:00"),
        (("My wifi password is hunter2", "My wifi password is correct-horse now"), "the wifi password?", "correct-horse"),
        (("My phone number is 555-1234", "My phone number changed to 555-9876"), "what's my phone number?", "9876"),
        (("My dentist appointment is on Tuesday", "My dentist appointment moved to Friday"), "when is the dentist?", "Friday"),
        (("My car is a Volvo V60", "My car is now a Tesla Model 3"), "what car do I drive?", "Tesla"),
        (("项目截止日期是4月10号", "截止日期推迟到4月20号了"), "截止日期是哪天", "20"),
        (("我的停车位是B14", "我的停车位换成C03了"), "我的停车位是哪个", "C03"),
        (("我对海鲜过敏", "查了，其实我对海鲜不过敏，只是对螃蟹过敏"), "我对什么过敏", "螃蟹"),
    ],
)
def test_what_is_said_of_a_known_slot_changes_what_is_known(memory, clock, talk, question, answer):
    """Said plainly of the same thing, in talk: the new value stands before the old one."""
    for line in talk:
        clock.advance(days=1)
        memory.record_turn("user", line, session=f"s{clock.now.day}")

    assert answer in memory.recall(question)[0].text


def test_what_names_nothing_is_not_learned(memory):
    """A value without whose or what it is of teaches nothing, whatever is known."""
    for line in ("My phone number is 555-1234", "New number: 555-9876", "新号码：555-9876"):
        memory.record_turn("user", line)

    assert ["My phone number is 555-1234."] == texts(memory.get_all())


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (("I live in Oslo.", "I live in Bergen.", "I live in Turku.", "I live in Rome."), "Where do I live?"),
        (("我住在奥斯陆。", "我住在卑尔根。", "我住在图尔库。", "我住在罗马。"), "我住在哪里？"),
    ],
)
def test_what_is_said_after_the_clock_was_set_right_corrects(memory, clock, texts, question):
    """Said in talk under a clock a year ahead, and corrected twice under the right one; what somebody dates takes its place in time."""
    right = clock.now
    clock.advance(days=365)
    memory.record_turn("user", texts[0])
    clock.now = right
    for text in texts[1:3]:
        clock.advance(hours=1)
        memory.record_turn("user", text)
    memory.record_turn("user", texts[3], said_at="2026-01-05", session="imported")

    assert texts[2] == memory.recall(question)[0].text
    assert [texts[3], *texts[:3]] == [row.content for row in memory.history(question)]


@pytest.mark.parametrize(("earlier", "later"), [("I live in Oslo.", "I live in Bergen."), ("我住在奥斯陆。", "我住在卑尔根。")])
def test_a_turn_that_is_learned_from_late_corrects_nothing(memory, clock, earlier, later):
    """It was said before what is known, and nobody's clock was wrong: it is history."""
    turn = memory.record_turn("user", earlier, speaker="guest")
    clock.advance(days=1)
    memory.remember(later)
    clock.advance(days=1)
    outcome = memory.remember(earlier, source=turn.id, speaker="Mei")

    assert "past" == outcome.kind
    assert [later] == [row.content for row in memory.get_all() if row.live and row.slot == outcome.memory.slot]


@pytest.mark.parametrize(
    ("lasting", "passing", "question"),
    [("I live in Oslo.", "I live in Paris.", "Where do I live?"), ("我住在奥斯陆。", "我住在巴黎。", "我住在哪里？")],
)
def test_a_value_with_an_end_leaves_nothing_behind(memory, clock, lasting, passing, question):
    """What it took the place of does not come back by itself, before the night or after; told again, it is what holds."""
    memory.remember(lasting)
    clock.advance(days=1)
    memory.remember(passing, expires_at="2026-03-10")
    clock.advance(days=10)
    before = memory.recall(question, types=["memory"])
    memory.admin.consolidate()
    after = memory.recall(question, types=["memory"])
    memory.remember(lasting)

    assert [] == [*before] == [*after]
    assert [lasting] == [hit.text for hit in memory.recall(question, types=["memory"])]


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (("I live in Oslo.", "I live in Paris.", "I live in Rome.", "I live in Turku."), "Where do I live?"),
        (("我住在奥斯陆。", "我住在巴黎。", "我住在罗马。", "我住在图尔库。"), "我住在哪里？"),
    ],
)
@pytest.mark.parametrize("again", [0, 1, 2])
def test_what_is_said_after_an_end_follows_what_ended(memory, clock, texts, question, again):
    """The same as before, the same as what ended, or another: each held in its own time, and an undo brings back none."""
    memory.remember(texts[0])
    clock.advance(days=1)
    ended = memory.remember(texts[1], expires_at="2026-03-10").memory
    clock.advance(days=10)
    memory.admin.consolidate()
    outcome = memory.remember(texts[again])

    def held(day):
        return [row.content for row in memory.get_all(valid_at=day)]

    assert [texts[again]] == [hit.text for hit in memory.recall(question, types=["memory"])]
    assert [[texts[0]], [texts[1]], [], [texts[again]]] == [
        held(day) for day in ("2026-03-01T23:00", "2026-03-05", "2026-03-11", clock.now)
    ]
    assert [texts[0], texts[1], texts[again]] == [row.content for row in memory.history(ended.id)]
    late = memory.remember(texts[3], said_at="2026-03-01T20:00").memory

    assert [texts[0], texts[3], texts[1], texts[again]] == [row.content for row in memory.history(ended.id)]
    assert [[texts[0]], [texts[3]], [texts[1]]] == [held(day) for day in ("2026-03-01T19:00", "2026-03-01T23:00", "2026-03-05")]
    memory.admin.undo(memory.admin.journal(limit=1)[0].transaction)
    memory.admin.undo(outcome.operation)

    assert late.id not in {row.id for row in memory.get_all(valid_at="2026-03-01T23:00")}
    assert [[texts[0]], [texts[1]], []] == [held(day) for day in ("2026-03-01T23:00", "2026-03-05", clock.now)]
