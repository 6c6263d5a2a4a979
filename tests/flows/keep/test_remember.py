"""`remember`: the outcome of one statement: new, confirmed, replaced, past or flagged."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from itertools import permutations

import pytest
from sampling import drawn_for

from yiku import Memory
from yiku.errors import IdempotencyMismatch, InvalidInput, NotFound, TooLarge
from yiku.flows.keep.remember import remember
from yiku.types import Confirmed, Flagged, How, Kind, New, Origin, Past, Replaced, Standing, State

ORDERS = drawn_for("orders of telling")([*permutations(range(4))], 8)  # the soak tells others, longer ones, in all (R25)
MOVES = [
    ("I live in Bergen.", "2026-01-05T10:00:00+01:00"),
    ("我住在奥斯陆。", "2026-01-20T10:00:00+01:00"),
    ("I moved to Tromsø", "2026-02-02T10:00:00+01:00"),
    ("我搬到上海了", "2026-02-14T10:00:00+08:00"),
]


def texts(items):
    return [item.content for item in items]


def chain(memory, text="where do I live"):
    """What a line says now, as far as it can be compared between homes."""
    return [(m.content, m.said_at, m.valid_to, m.live, len(m.sources)) for m in memory.history(text)]


# ------------------------------------------------------------------ later said wins


@pytest.mark.spec("T-01")
@pytest.mark.parametrize(
    ("before", "after", "asked"),
    [
        ("I live in Bergen.", "I moved to Oslo.", ("Where do I live?", "Oslo")),
        ("我住在北京", "我搬到上海了", ("我住在哪里？", "上海")),
        ("My employer is Acme", "我换工作了，现在在字节跳动上班", ("我在哪家公司上班？", "字节跳动")),
        ("atlas 的截止日期是3月5日", "The deadline for Atlas slipped to 12 March", ("when is Atlas due?", "12 March")),
        ("Ann's phone number is ５５０１", "Ann's phone number is 5502 📞", ("what is Ann's phone number?", "5502")),
    ],
)
def test_a_newer_fact_retires_its_rival(memory, clock, before, after, asked):
    """Told that something changed, we stop saying what was, but still know that it was so."""
    question, value = asked
    memory.remember(before)
    clock.advance(days=1)
    outcome = memory.remember(after)

    assert isinstance(outcome, Replaced)
    assert before == outcome.replaced.content
    assert value in memory.recall(question, types=["memory"]).text
    assert before not in memory.recall(question, types=["memory"]).text
    assert [before, after] == texts(memory.history(outcome.memory.id))


@pytest.mark.spec("T-05")
def test_a_correction_on_the_same_day_wins(memory, clock):
    """Chinese written without spaces, corrected a minute later, leaves the correction alone in recall."""
    memory.remember("我们项目的截止日期是3月5日")
    clock.advance(minutes=1)
    outcome = memory.remember("更正：我们项目的截止日期改到3月9日了")

    assert isinstance(outcome, Replaced)
    assert ["更正：我们项目的截止日期改到3月9日了"] == texts(memory.get_all())


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_statements_come_in_any_order(memory, order):
    """Two languages, four homes, any order of recording: the same chain, and the home said last is live."""
    for i in order:
        text, said_at = MOVES[i]
        memory.remember(text, said_at=said_at)

    assert [(text, i == 3, 1) for i, (text, _) in enumerate(MOVES)] == [
        (content, live, sources) for content, _, _, live, sources in chain(memory)
    ]
    ends = [m.valid_to for m in memory.history("where do I live")]
    begins = [m.valid_from for m in memory.history("where do I live")]
    assert [*begins[1:], None] == ends
    assert ["我搬到上海了"] == texts(memory.get_all())


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_a_return_to_what_was_is_a_version_of_its_own(memory, order):
    """Bergen, Bergen again, Oslo, Bergen: in any order of recording three versions, the first with two sources."""
    said = [("I live in Bergen", 1), ("i live in Bergen!", 8), ("I live in Oslo", 15), ("I live in Bergen", 22)]
    for i in order:
        text, day = said[i]
        memory.remember(text, said_at=f"2026-01-{day:02}")

    assert [("bergen", 2, False), ("oslo", 1, False), ("bergen", 1, True)] == [
        (m.object.casefold(), len(m.sources), m.live) for m in memory.history("where do I live")
    ]
    assert [1, 15, 22] == [m.said_at.day for m in memory.history("where do I live")]


def test_what_was_said_before_becomes_history(memory, clock):
    """A statement said before the live one is kept at once, retires nothing, and says what is current."""
    live = memory.remember("I live in Oslo.").memory
    outcome = memory.remember("I live in Bergen.", said_at="2026-01-01")

    assert isinstance(outcome, Past)
    assert live.id == outcome.current.id
    assert live.id == outcome.memory.superseded_by
    assert ["I live in Oslo."] == texts(memory.get_all())
    assert ["I live in Bergen.", "I live in Oslo."] == texts(memory.history(live.id))


def test_the_place_in_the_session_decides_between_equal_times(memory):
    """Of two statements said at one moment, the one further on in the session wins, in either order of recording."""
    first, second = memory.record(
        [{"role": "user", "content": "I live in Oslo"}, {"role": "user", "content": "Sorry, I live in Bergen"}], session="s"
    ).ids
    memory.remember("I live in Bergen", source=second)
    outcome = memory.remember("I live in Oslo", source=first)

    assert isinstance(outcome, Past)
    assert ["I live in Bergen"] == texts(memory.get_all())


# ------------------------------------------------------------------ confirmed


@pytest.mark.spec("S3-63")
@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("I live in Oslo.", "i live in oslo"),
        ("我住在奥斯陆。", "我住在奥斯陆！"),
        ("The door code is ４７１１", "the door code is 4711."),
        ("Mei walks the dog at six 🐕", "Mei walks the dog at six 🐕"),
    ],
)
def test_said_again_it_is_confirmed(memory, clock, text, again):
    """The same words, whatever their case, width and punctuation, add a source to one row and raise its confidence."""
    first = memory.remember(text, confidence=0.5, importance=0.3).memory
    clock.advance(days=3)
    outcome = memory.remember(again, importance=0.6)

    assert isinstance(outcome, Confirmed)
    assert (first.id, text) == (outcome.memory.id, outcome.memory.content)
    assert (0.75, 0.6) == (outcome.memory.confidence, outcome.memory.importance)
    assert [first.said_at, clock.now] == [source.said_at for source in outcome.memory.sources]
    assert clock.now == outcome.memory.confirmed_at
    assert 1 == len(memory.get_all())


@pytest.mark.parametrize(
    ("text", "again"),
    [("I live in Oslo.", "My home is Oslo"), ("我住在上海", "我现在居住在上海"), ("I live in Oslo.", "我住在Oslo。")],
)
def test_restated_in_other_words_it_is_confirmed(memory, clock, text, again):
    """Another sentence with the same meaning confirms; it is the one shown, and the first stays in its history."""
    memory.remember(text)
    clock.advance(days=1)
    outcome = memory.remember(again)

    assert isinstance(outcome, Confirmed)
    assert [again] == texts(memory.get_all())
    assert [text, again] == texts(memory.history(outcome.memory.id))


# ------------------------------------------------------------------ many values, unknown values, none


@pytest.mark.spec("T-03", "T-11")
def test_two_likes_are_both_live(memory):
    """Liking green tea says nothing about coffee; a new address replaces the old one beside them."""
    for text in ("我喜欢喝咖啡", "我喜欢喝绿茶", "I love jazz", "I live in Bergen", "I live in Oslo"):
        memory.remember(text)

    assert {"我喜欢喝咖啡", "我喜欢喝绿茶", "I love jazz", "I live in Oslo"} == {*texts(memory.get_all())}


@pytest.mark.parametrize(
    ("likes", "no_more", "other"),
    [
        ("I like coffee", "I don't like coffee any more", "I like tea"),
        ("我喜欢咖啡", "我不喜欢咖啡了", "我喜欢绿茶"),
        ("I like coffee", "我讨厌coffee", "我喜欢绿茶"),
    ],
)
def test_a_dislike_retires_the_like_of_the_same_thing(memory, clock, likes, no_more, other):
    """What is no longer liked goes out of recall; other likes stay."""
    memory.remember(likes)
    memory.remember(other)
    clock.advance(days=1)
    outcome = memory.remember(no_more)

    assert isinstance(outcome, Replaced)
    assert likes == outcome.replaced.content
    assert {other, no_more} == {*texts(memory.get_all())}


@pytest.mark.parametrize("predicate", ['"', "“”", "。", " . "])
def test_a_predicate_without_a_word_is_refused(memory, predicate):
    """It would name no slot; nothing is written."""
    with pytest.raises(InvalidInput, match="predicate must have more in it"):
        memory.remember("My code 码 is z", predicate=predicate, object="z")

    assert [] == memory.get_all()


def test_of_an_unknown_predicate_both_are_kept_and_marked(memory):
    """Nobody knows how many mentors one can have: both statements live on, each naming the other."""
    one = memory.remember("My mentor is Ann", predicate="mentor", object="Ann").memory
    outcome = memory.remember("My mentor is 李雷", predicate="mentor", object="李雷")

    assert isinstance(outcome, Flagged)
    assert [one.id] == [other.id for other in outcome.others]
    kept = {m.content: (m.flag, m.flagged_with) for m in memory.get_all(where={"flag": "conflict"})}
    assert {
        "My mentor is Ann": ("conflict", (outcome.memory.id,)),
        "My mentor is 李雷": ("conflict", (one.id,)),
    } == kept


def test_a_stated_cardinality_decides(memory):
    """Who says that a slot holds one value gets one."""
    memory.remember("Ann mentors me", predicate="mentor", object="Ann", cardinality="single")
    outcome = memory.remember("李雷 mentors me", predicate="mentor", object="李雷", cardinality="single")

    assert isinstance(outcome, Replaced)
    assert ["李雷 mentors me"] == texts(memory.get_all())


@pytest.mark.spec("T-02")
@pytest.mark.parametrize(
    "text",
    [
        "我从北京坐火车到上海玩了三天",
        "这不是我的错",
        "从三月到五月是雨季",
        "I used to live in Paris",
        "Maybe I will move to Rome",
        "Do I live in Rome?",
        "如果我住在罗马就好了",
        "我打算搬到罗马",
    ],
)
def test_what_is_not_a_statement_about_now_changes_nothing(memory, text):
    """从, 到 and 不是, the past, plans, questions and wishes retire no fact."""
    for fact in ("我住在奥斯陆", "My employer is Acme"):
        memory.remember(fact)
    outcome = memory.remember(text)

    assert isinstance(outcome, New)
    assert {"我住在奥斯陆", "My employer is Acme", text} == {*texts(memory.get_all())}


def test_a_belief_retires_nothing(memory):
    """What is only believed stands beside the fact."""
    memory.remember("I live in Oslo")
    outcome = memory.remember("I live in Bergen", standing="belief")

    assert isinstance(outcome, New)
    assert {"I live in Oslo", "I live in Bergen"} == {*texts(memory.get_all())}


# ------------------------------------------------------------------ who speaks


@pytest.mark.parametrize(
    "text", ["I live in Oslo", "我住在奥斯陆", "Mei lives in Oslo", "我们住在奥斯陆", "The user lives in Oslo"]
)
def test_the_first_person_is_the_owner(memory, text):
    """`I`, 我, the owner's name and `the user` are one subject, in both languages."""
    memory.remember("我住在卑尔根", said_at="2026-01-01")
    outcome = memory.remember(text)

    assert isinstance(outcome, Replaced)
    assert ("user", "lives in") == (outcome.memory.subject, outcome.memory.predicate)


@pytest.mark.parametrize(("speaker", "text"), [("Ann", "I live in Bergen"), ("李雷", "我住在卑尔根")])
def test_another_speaker_speaks_of_himself(memory, speaker, text):
    """Somebody else's `I` and 我 is that person, and does not move the owner."""
    memory.remember("I live in Oslo", speaker="Mei")
    said = memory.remember(text, speaker=speaker)

    assert isinstance(said, New)
    assert (speaker.casefold(), speaker) == (said.memory.subject, said.memory.sources[0].actor)
    assert "user" == memory.history("where do I live")[0].subject
    assert [text] == texts(memory.recall(f"where does {speaker} live?", types=["memory"], limit=1)[:1] and [said.memory])


def test_a_source_turn_gives_what_is_known_of_it(memory, clock):
    """Time, offset, session, place, speaker, origin, agent and project come from the turn in which it was said."""
    memory.record_turn("user", "你好", session="早会")
    turn = memory.record_turn(
        "user", "我住在卑尔根", session="早会", speaker="李雷", said_at="2026-02-03T20:15:00+08:00", agent="scribe", project="atlas"
    )
    clock.advance(days=1)
    kept = memory.remember("我住在卑尔根", source=turn.id).memory
    [source] = kept.sources  # which the turn had given at once: one turn is one evidence

    assert ("2026-02-03T20:15:00+08:00", "李雷".casefold()) == (kept.said_at.isoformat(), kept.subject)
    assert (turn.id, "早会", 1, "李雷") == (source.turn, source.session, source.place, source.actor)
    assert (Origin.USER, "scribe", "atlas") == (kept.origin, kept.agent, kept.project)
    assert (turn.recorded_at, "我住在卑尔根") == (source.recorded_at, source.text)


def test_a_source_keeps_the_words_that_were_said(memory):
    """Of two wordings that are one statement the first is shown, and the source of the other says how it was put."""
    memory.remember("I live in Oslo.")
    kept = memory.remember("I LIVE in OSLO").memory

    assert "I live in Oslo." == kept.content
    assert [None, "I LIVE in OSLO"] == [source.text for source in kept.sources]


@pytest.mark.parametrize(
    ("role", "origin", "trust"), [("user", "user", 1.0), ("assistant", "assistant", 0.5), ("tool", "tool", 0.3)]
)
def test_trust_is_that_of_the_source(memory, role, origin, trust):
    """What a model or a tool said is trusted less than what the user said."""
    turn = memory.record_turn(role, "The build is green")
    kept = memory.remember("The build is green", source=turn.id).memory

    assert (origin, trust) == (kept.origin, kept.trust)


def test_an_unknown_source_is_not_found(memory):
    """A source that is no turn is an error, and nothing is kept."""
    with pytest.raises(NotFound, match="turn"):
        memory.remember("I live in Oslo", source="01900000-0000-7000-8000-000000000000")

    assert [] == memory.get_all()


# ------------------------------------------------------------------ when


def test_a_time_ahead_of_the_clock_counts_as_now(memory, clock):
    """A clock that runs years ahead cannot make a statement unbeatable: it counts as now, and says so."""
    kept = memory.remember("I live in Oslo", said_at="2031-01-01").memory
    clock.advance(days=1)

    assert (clock.now.replace(day=1), True) == (kept.said_at, "2031-01-01" in kept.reason)
    assert isinstance(memory.remember("I live in Bergen"), Replaced)


def test_half_a_day_ahead_is_another_clock(memory, clock):
    """Up to a day ahead is taken as it is: clocks differ, and so do offsets."""
    kept = memory.remember("I live in Oslo", said_at="2026-03-01T20:00:00+01:00").memory

    assert ("2026-03-01T20:00:00+01:00", None) == (kept.said_at.isoformat(), kept.reason)


def test_what_holds_only_later_is_refused(memory):
    """A validity that begins ahead of the clock is a plan, not a fact."""
    with pytest.raises(InvalidInput, match="valid_from lies ahead"):
        memory.remember("I live in Oslo", valid_from="2026-06-01")

    assert [] == memory.get_all()


def test_a_time_without_an_offset_is_local(memory):
    """Times without an offset are taken in that of the clock; a date is its midnight."""
    one = memory.remember("The sky is grey", said_at="2026-02-03T08:00").memory
    other = memory.remember("天是灰的", said_at="2026-02-03").memory

    assert ["2026-02-03T08:00:00+01:00", "2026-02-03T00:00:00+01:00"] == [m.said_at.isoformat() for m in (one, other)]


@pytest.mark.parametrize("name", ["said_at", "valid_from", "expires_at"])
@pytest.mark.parametrize("offset_hours", [-12, 14])
@pytest.mark.parametrize("year", ["0001-01-01T00:00", "0001-01-02T23:59", "9999-12-30T12:00", "9999-12-31T23:59"])
def test_no_time_makes_a_row_that_cannot_be_read(home, name, offset_hours, year):
    """At either end of the calendar, in any offset: refused, or read again without an error."""
    offset = timezone(timedelta(hours=offset_hours))
    with Memory(home, owner="user:mei", clock=lambda: datetime(2026, 3, 1, tzinfo=offset)) as memory:
        for at in (f"{year}+00:00", f"{year}-12:00", f"{year}+14:00"):
            with suppress(InvalidInput):
                memory.remember(f"香蕉 {at}", **{name: at})

        kept = memory.get_all(where={"state": "active"})  # what expired at once is there, too
        assert len(kept) == memory.admin.stats().memories.get("active", 0)


# ------------------------------------------------------------------ once, or not at all


@pytest.mark.parametrize("text", ["I live in Oslo", "我的导师是李雷"])
def test_a_call_under_a_key_is_done_once(memory, clock, text):
    """A repeated call gives the first outcome, and adds no source."""
    memory.remember("My mentor is Ann, 我的老师")
    first = memory.remember(text, idempotency_key="k1", tags=["a", "b"])
    clock.advance(days=1)
    again = memory.remember(text, idempotency_key="k1", tags=["a", "b"])

    assert first == again
    assert 1 == len(memory.get(first.memory.id).sources)


def test_a_key_belongs_to_one_call(memory):
    """Another text, other details or another verb under the same key are refused, and write nothing."""
    memory.remember("I live in Oslo", idempotency_key="k1")
    before = memory.admin.stats()
    calls = [
        lambda: memory.remember("I live in Bergen", idempotency_key="k1"),
        lambda: memory.remember("I live in Oslo", idempotency_key="k1", importance=0.9),
        lambda: memory.record_turn("user", "I live in Oslo", idempotency_key="k1"),
    ]
    for call in calls:
        with pytest.raises(IdempotencyMismatch, match="k1"):
            call()

    assert before == memory.admin.stats()


def test_a_key_is_one_scope_s(memory, home, clock):
    """The same key in another scope is another call."""
    memory.remember("I live in Oslo", idempotency_key="k1")
    with Memory(home, scope="user:ann", clock=clock) as other:
        assert isinstance(other.remember("I live in Bergen", idempotency_key="k1"), New)


@pytest.mark.parametrize("state", [State.ACTIVE, State.CANDIDATE])
def test_a_dry_run_of_what_was_learned_writes_nothing(memory, state):
    """What waits to be confirmed is decided like the rest: new once, known where it is there; kept by neither."""
    how = How(method="rules", state=state)
    assert isinstance(remember(memory._handle, "安有一只猫", {}, dry_run=True, how=how), New)
    assert [] == memory.get_all(where={"state": {"exists": True}})
    remember(memory._handle, "安有一只猫", {}, how=how)

    assert isinstance(remember(memory._handle, "安有一只猫", {}, dry_run=True, how=how), Confirmed)


@pytest.mark.parametrize("key", [None, "k1"])
def test_a_dry_run_decides_and_writes_nothing(memory, home, clock, key):
    """The outcome is that of the real call; the store has not changed, not even by a scope that is new."""
    with Memory(home, scope="team:new", clock=clock) as fresh:
        outcome = fresh.remember("I live in Oslo", dry_run=True, idempotency_key=key)
        assert isinstance(outcome, New)
        assert (0, []) == (fresh.admin.stats().changes, fresh.admin.journal())
    memory.remember("I live in Oslo", said_at="2026-01-01")
    before = memory.admin.stats()
    outcome = memory.remember("我住在卑尔根", dry_run=True, idempotency_key=key)

    assert isinstance(outcome, Replaced)
    assert ("I live in Oslo", 0) == (outcome.replaced.content, outcome.operation)
    assert before == memory.admin.stats()


def test_one_text_from_eight_threads_is_one_row(memory):
    """Eight at once say the same: one row with eight sources."""
    with ThreadPoolExecutor(8) as pool:
        outcomes = [*pool.map(lambda _: memory.remember("我住在奥斯陆"), range(8))]

    assert {"New": 1, "Confirmed": 7} == {name: sum(type(o).__name__ == name for o in outcomes) for name in ("New", "Confirmed")}
    assert [8] == [len(m.sources) for m in memory.get_all()]


# ------------------------------------------------------------------ what a memory is


@pytest.fixture
def reopened(memory, home, clock):
    """A memory with every detail, written, closed and read again; beside it what was written."""
    kept = memory.remember(
        "Python version is 3.13 on Mei’s laptop，全文描述 🐍",
        kind="skill",
        subject="Python版本",
        predicate="版本",
        object="3.13",
        importance=0.25,
        confidence=0.75,
        strength=3,
        priority="long_term",
        pinned=True,
        basis="she said so",
        tags=["work/项目", "py%"],
        entities=["Mei’s laptop"],
        relations=[("python", "runs on", "笔记本")],
        metadata={"a.b": {"x": [1, None, True]}, "键": "值"},
        expires_at="2027-01-01",
        ttl_days=30,
        session="s1",
        agent="scribe",
        project="atlas",
        external_id="ext-1",
    ).memory
    memory.close()
    with Memory(home, clock=clock, create=False) as again:
        yield kept, again.get(kept.id)


@pytest.mark.spec("S2-30", "S3-53", "S2-33", "S3-58")
def test_id_and_content_survive(reopened):
    """The id is a UUIDv7 made by the client; the content is what was said, to the character."""
    kept, read = reopened

    assert kept == read
    assert ("7", 36) == (read.id[14], len(read.id))
    assert "Python version is 3.13 on Mei’s laptop，全文描述 🐍" == read.content


@pytest.mark.spec("S2-31", "S3-54")
def test_the_kind_survives(reopened):
    """The kind is one of ours."""
    assert Kind.SKILL is reopened[1].kind


@pytest.mark.spec("S2-34", "S2-35", "S3-56", "S3-57")
def test_the_slot_survives(reopened):
    """Subject and predicate in canonical form, the object as said."""
    assert ("python版本", "version", "3.13") == (reopened[1].subject, reopened[1].predicate, reopened[1].object)


@pytest.mark.spec("S2-32", "S2-36", "S2-37", "S3-55", "S3-62")
def test_the_weights_survive(reopened):
    """Importance, confidence, strength, priority and the pin are as given."""
    read = reopened[1]

    assert (0.25, 0.75, 3, "long_term", True) == (read.importance, read.confidence, read.strength, read.priority, read.pinned)


@pytest.mark.spec("S2-38", "S2-39", "S3-66")
def test_the_times_survive(reopened, clock):
    """Creation, change, expiry and deletion; nothing was accessed yet."""
    read = reopened[1]

    assert (clock.now, clock.now) == (read.created_at, read.updated_at)
    assert ("2027-01-01T00:00:00+01:00", "2026-03-31") == (
        read.expires_at.astimezone(clock.now.tzinfo).isoformat(),
        read.auto_delete_at.date().isoformat(),
    )
    assert (30, None, 0) == (read.ttl_days, read.last_accessed_at, read.access_count)


@pytest.mark.spec("S3-61")
def test_what_hangs_on_it_survives(reopened):
    """Tags, entities, relations, metadata, source and the ids of others."""
    read = reopened[1]

    assert ("py%", "work/项目") == read.tags
    assert "python版本" in read.entities
    assert [("python", "runs on", "笔记本")] == [*read.relations]
    assert {"a.b": {"x": [1, None, True]}, "键": "值"} == read.metadata
    assert ("s1", Origin.USER) == (read.sources[0].session, read.sources[0].origin)
    assert ("she said so", "scribe", "atlas", "ext-1") == (read.basis, read.agent, read.project, read.external_id)


@pytest.mark.spec("S3-67")
def test_the_replacing_memory_is_named(memory, home, clock):
    """`superseded_by` is the next id in the chain, from the first version to the live one, after reopening too."""
    ids = [memory.remember(f"The version of Atlas is {n}.0").memory.id for n in (1, 2, 3) if clock.advance(hours=1)]
    memory.close()
    with Memory(home, clock=clock) as again:
        assert [*ids[1:], None] == [m.superseded_by for m in again.history(ids[0])]
        assert [State.ACTIVE] * 3 == [m.state for m in again.history(ids[0])]


@pytest.mark.parametrize(
    ("alias", "kind"),
    [
        ("pref", "preference"),
        ("偏好", "preference"),
        ("规则", "rule"),
        ("技能", "skill"),
        ("教训", "error"),
        ("FACT", "fact"),
        ("知识", "fact"),
    ],
)
def test_a_kind_has_aliases(memory, alias, kind):
    """The names of other vocabularies, in both languages, mean one of ours."""
    assert kind == memory.remember(f"Something of kind {alias}", kind=alias).memory.kind


@pytest.mark.parametrize(("alias", "standing"), [("belief", Standing.BELIEF), ("摘要", Standing.SUMMARY), ("fact", Standing.FACT)])
def test_a_kind_may_be_a_standing(memory, alias, standing):
    """Belief and summary are facts that stand otherwise."""
    kept = memory.remember("The cache is slow", kind=alias).memory

    assert (Kind.FACT, standing) == (kept.kind, kept.standing)


def test_the_longest_statement_is_64_kib(memory):
    """So many bytes are kept whole; one more is refused with the limit."""
    longest = "记" * 21_845 + "x"
    assert longest == memory.get(memory.remember(longest).memory.id).content

    with pytest.raises(TooLarge, match="text has 65,537 bytes; at most 65,536"):
        memory.remember(longest + "y")
    with pytest.raises(TooLarge, match=r"text has 600,000 bytes; at most 65,536.*import it from a file"):
        memory.remember("记" * 200_000)


def test_what_is_said_of_somebody_is_about_him(memory):
    """Entities are found by the name they were given, in both languages, and by the slot's own subject."""
    memory.remember("A long walk in the rain", entities=["Ann", "韩梅梅"])
    memory.remember("Ann's email is ann@bar.com")

    assert 1 == len(memory.about("韩梅梅"))
    assert ["A long walk in the rain", "Ann's email is ann@bar.com"] == sorted(texts(memory.about("Ann")))


def test_origins_share_one_slot_without_an_error(memory):
    """Whoever says it, in whatever turn: one value is live, and nothing is refused by the store."""
    for text, origin in (("I live in Oslo.", "user"), ("我住在雅典", "tool"), ("我住在雅典", "tool"), ("I live in Rome.", "user")):
        memory.remember(text, origin=origin)

    assert ["I live in Rome."] == texts(memory.get_all())
    assert 3 == len(memory.history("I live in Rome."))


@pytest.mark.parametrize(("text", "object_"), [("My code 3 is Brixtle.", "Brixtle"), ("我的暗号 1 是魍魉。", "魍魉")])
def test_the_same_words_with_a_slot_of_another_cardinality_confirm(memory, text, object_):
    """Whoever named the slot as one of many, and then as the only one, said the same thing twice."""
    slot = {"subject": "user", "predicate": "code word", "object": object_}
    memory.remember(text, cardinality="multi", **slot)

    assert isinstance(memory.remember(text, cardinality="single", **slot), Confirmed)
    assert 1 == len(memory.get_all())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Always answer in English.", "rule"),
        ("以后都用中文回答。", "rule"),
        ("Never commit to main without a test.", "rule"),
        ("永远不要直接推送到main分支", "rule"),
        ("I always drink tea in the morning.", "fact"),
        ("我每天都喝咖啡", "fact"),
        ("For this task, use tabs.", "fact"),
        ("Always answer in English. I live in Oslo.", "fact"),
    ],
)
def test_an_order_for_any_time_is_a_rule(memory, text, kind):
    """Without a kind given; each prompt shows it then, whatever is asked."""
    assert memory.remember(text).memory.kind == kind
    assert (text in memory.context("what is for lunch? 中午吃什么？").text) == (kind == "rule")


def test_what_only_a_document_orders_is_no_rule(memory):
    """A rule comes from the user's own words."""
    assert memory.remember("Always answer in English.", origin="file").memory.kind == "fact"
    assert memory.remember("以后都用中文回答。", origin="tool").memory.kind == "fact"
