"""
`relearn`: statements of earlier rules are reconciled with the current ones; whatever a person touched stays.

What the rules of a version find is given to each test, text by text, so that it is the versions that differ and nothing else.
"""

import itertools
import shutil
from collections.abc import Iterator, Sequence
from datetime import timedelta
from types import SimpleNamespace

import integrity
import pytest
from cutting import Cut, Killed

from yiku import Memory
from yiku.errors import CannotUndo, InvalidInput, Paused
from yiku.flows.keep.remember import remember
from yiku.flows.learn import by_rules, relearn
from yiku.rules.deciding import slots
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.learning import reread
from yiku.rules.learning.reread import LEARNING_VERSION, OUTGROWN
from yiku.store.sqlite import SqliteStore
from yiku.types import (
    AddSource,
    Cardinality,
    Draft,
    How,
    Kind,
    LearningState,
    Memories,
    Origin,
    SetLearning,
    Source,
    State,
    UpdateMemory,
)

SLOTTED = {"lives in": Cardinality.SINGLE, "drives": Cardinality.SINGLE, "mentor": Cardinality.UNKNOWN}


def draft(text: str, quote: str | None = None, *, fills: tuple[str, str] | None = None, **more) -> Draft:
    """What a version of the rules finds: a sentence, the words of its turn, and which predicate of the user's has which value."""
    slot = slots.stated("user", *fills, SLOTTED[fills[0]]) if fills else None
    return Draft(text=text, quote=quote or text, rule="test", slot=slot, **more)


class Rules:
    """What the rules find in each turn, by its text; a version of them may be changed for the next."""

    def __init__(self) -> None:
        self.finds: dict[str, Sequence[Draft]] = {}
        self.read: list[str] = []

    def __call__(self, handle, turn, over=None, *, passing=True) -> by_rules.Reading:
        self.read.append(turn.content)
        return by_rules.Reading(tuple(self.finds.get(turn.content, ())))


@pytest.fixture
def rules(monkeypatch) -> Iterator[Rules]:
    found = Rules()
    monkeypatch.setattr(by_rules, "read", found)
    return found


def say(memory, *lines, session="s"):
    return [memory.record_turn("user", line, session=session) for line in lines]


def held(memory) -> dict[str, str]:
    """Live statements, and what is out of memory with why."""
    every = [*memory.get_all(limit=1_000), *memory.get_all(where={"state": {"in": ["archived", "candidate"]}}, limit=1_000)]
    return {row.content: row.state.value if row.live else row.reason or row.state.value for row in every}


def texts(items):
    return sorted(item.content for item in items)


def older(memory, version=1):
    """The home is one that was learned with the rules of an earlier version."""
    handle = memory._handle
    handle.store.apply(handle.writes(), [SetLearning(LearningState(version))], handle.cause("test"))


def seen(memory) -> list[object]:
    """All that is known, without what differs between two homes: ids and times of the clock."""
    handle = memory._handle
    rows = handle.store.with_details(handle.store.memories(handle.own(), Memories()))
    by_id = {row.id: row.content for row in rows}
    turns = {turn.id: turn.content for turn in memory.search_traces(limit=1_000)}
    return sorted(
        (
            (row.content, row.state.value, row.kind.value, row.slot or "", row.pinned, row.flag or "", row.said_at.isoformat()),
            (by_id.get(row.superseded_by or "", ""), str(row.valid_to), sorted(by_id[id] for id in row.flagged_with)),
            sorted(turns.get(source.turn or "", "") for source in row.sources),
        )
        for row in rows
    )


# ------------------------------------------------------------------ what it changes

BOTH = pytest.mark.parametrize(
    "case",
    [
        (
            "Lunch at half past two, the Grønland one. I moved to Oslo.",
            "Lunch at half past two, the Grønland one.",
            "I live in Oslo.",
        ),
        ("下午两点半，Grønland 那家。我搬到了奥斯陆。", "下午两点半，Grønland 那家。", "我住在奥斯陆。"),
    ],
)


@BOTH
def test_what_the_rules_learn_no_more_goes_and_what_they_learn_now_comes(memory, clock, rules, case):
    """The one is archived with why, the other learned with the time of its turn; and the operation takes it all back."""
    turn, before, after = case
    rules.finds = {turn: [draft(before)]}
    (said,) = say(memory, turn)
    clock.advance(days=300)
    rules.finds = {turn: [draft(after, turn[-9:])]}
    done = memory.admin.relearn()

    assert {before: OUTGROWN, after: "active"} == held(memory)
    assert ([before], [after], {"new": 1}, 1) == (texts(done.archived), texts(done.learned), done.outcomes, done.turns)
    (kept,) = memory.get_all()
    assert (said.said_at, [said.id], "rules") == (kept.said_at, [source.turn for source in kept.sources], kept.method)

    undone = memory.admin.undo(done.operation)
    assert 2 == undone.memories
    assert {before: "active", after: f"undone: operation {done.operation}"} == held(memory)
    memory.admin.undo(undone.operation)
    assert {before: OUTGROWN, after: "active"} == held(memory)


def test_what_is_learned_now_takes_its_place_in_history(memory, clock, rules):
    """Of three moves the middle one was not learned: it comes between the two, and what is live stays so."""
    rules.finds = {
        f"{city}!": [draft(f"I live in {city}.", f"{city}!", fills=("lives in", city))] for city in ("Bergen", "奥斯陆", "Rome")
    }
    missed = rules.finds.pop("奥斯陆!")
    for city in ("Bergen", "奥斯陆", "Rome"):
        say(memory, f"{city}!")
        clock.advance(days=30)
    rules.finds["奥斯陆!"] = missed
    done = memory.admin.relearn()

    assert {"past": 1} == done.outcomes
    (live,) = memory.get_all()
    assert ["Bergen", "奥斯陆", "Rome"] == [version.object for version in memory.history(live.id)]
    assert "Rome" == live.object
    memory.admin.undo(done.operation)
    assert ["Bergen", "Rome"] == [version.object for version in memory.history(live.id) if version.state is State.ACTIVE]


@pytest.mark.parametrize("wrong", [("A video of Ghent.", "Ghent"), ("看了根特的视频。", "根特")])
def test_a_statement_that_was_retired_wrongly_holds_again(memory, clock, rules, wrong):
    """Earlier rules took a passing word for a move: it goes, and what it had replaced is live, until what was said after it."""
    text, city = wrong
    rules.finds = {text: [draft(text, fills=("lives in", city))], "Bergen!": [draft("Bergen!", fills=("lives in", "Bergen"))]}
    memory.remember("I live in Oslo.", subject="user", predicate="lives in", object="Oslo", cardinality="single")
    clock.advance(days=1)
    say(memory, text)
    assert [city] == [row.object for row in memory.get_all()]
    rules.finds[text] = []
    first = memory.admin.relearn()
    (live,) = memory.get_all()
    assert ("Oslo", None, None) == (live.object, live.superseded_by, live.valid_to)

    memory.admin.undo(first.operation)
    clock.advance(days=1)
    say(memory, "Bergen!")
    memory.admin.relearn()
    (live,) = memory.get_all()
    assert ["Oslo", "Bergen"] == [version.object for version in memory.history(live.id) if version.state is State.ACTIVE]
    assert live.id == memory.history(live.id)[0].superseded_by


def test_what_is_read_into_another_slot_is_learned_anew(memory, rules):
    """The same words with another meaning: the earlier reading goes, the new one stands with its own slot."""
    rules.finds = {"The red one 红色": [draft("The red one 红色", fills=("lives in", "red"))]}
    say(memory, "The red one 红色")
    rules.finds = {"The red one 红色": [draft("The red one 红色", fills=("drives", "red"))]}
    for done in (memory.admin.relearn(dry_run=True), memory.admin.relearn()):
        assert (1, 1) == (len(done.archived), len(done.learned))
    assert ["drives"] == [row.predicate for row in memory.get_all()]


def test_what_the_rules_find_as_before_is_left_alone(memory, rules):
    """Nothing is written, but for how far it came; twice does what once did."""
    rules.finds = {"a 早": [draft("I drive a van.", "a", fills=("drives", "van"))], "b 晚": [draft("晚上跑步", "晚")]}
    say(memory, "a 早", "b 晚")
    memory.remember("Ann has a cat.")
    before, number = seen(memory), memory.admin.journal(limit=1)[0].number
    for _ in range(2):
        done = memory.admin.relearn()
        assert (2, 0, 0, {}) == (done.turns, done.left, done.operation, done.outcomes)

    assert (before, number) == (seen(memory), memory.admin.journal(limit=1)[0].number)


@pytest.mark.parametrize("words", [("The red one", "The red one."), ("红色的那个", "红色的那个。")])
def test_what_differs_by_a_stop_is_the_same(memory, rules, words):
    """Read with another punctuation the statement is neither archived nor confirmed by its own turn, however often."""
    before, now = words
    rules.finds = {before: [draft(before)]}
    say(memory, before)
    rules.finds = {before: [draft(now, before)]}

    assert [0, 0] == [memory.admin.relearn().operation for _ in range(2)]
    assert [before] == texts(memory.get_all())


def test_what_another_turn_says_too_is_confirmed_once(memory, rules):
    """Found now in a second turn: one source more, and no more than that by the next run."""
    rules.finds = {"the red one 红": [draft("The red one 红", "the red one 红")]}
    say(memory, "the red one 红", "again: the red one 红")
    rules.finds["again: the red one 红"] = [draft("The red one 红", "the red one 红")]
    assert {"confirmed": 1} == memory.admin.relearn().outcomes
    (row,) = memory.get_all()

    assert 2 == len(memory.get(row.id).sources)
    assert (0, {}) == ((done := memory.admin.relearn()).operation, done.outcomes)


# ------------------------------------------------------------------ what stays

OWN = {
    "told outright": lambda m, row, clock: m.remember(row.content),
    "confirmed": lambda m, row, clock: m.confirm(row.id),
    "told anew": lambda m, row, clock: m.update(row.id, "The blue one 蓝色"),
    "a detail was edited": lambda m, row, clock: m.update(row.id, tags=["mine"]),
    "pinned by hand": lambda m, row, clock: m.update(row.id, pinned=True),
    "used": lambda m, row, clock: m.feedback(row.id, "used"),
    "mentioned": lambda m, row, clock: m.feedback(row.id, "mentioned"),
    "forgotten and restored": lambda m, row, clock: [m.forget(row.id), m.restore(row.id)],
    "forgotten, and that undone": lambda m, row, clock: m.admin.undo(m.forget(row.id).operation),
    "a turn of it is gone": lambda m, row, clock: m._handle.store.apply(
        m._handle.writes(),
        [AddSource(row.n, Source(origin=Origin.USER, said_at=clock.now, recorded_at=clock.now, turn="0" * 36))],
        m._handle.cause("test"),
    ),
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("text", ["The red one.", "红色的那个。"])
def test_what_is_somebody_s_own_stays(memory, clock, rules, name, text):
    """Told, confirmed, edited, pinned, used or brought back: the statement is live as before, whatever the rules find now."""
    rules.finds = {text: [draft(text)]}
    say(memory, text)
    (row,) = memory.get_all()
    OWN[name](memory, row, clock)
    before = seen(memory)
    rules.finds = {}
    done = memory.admin.relearn()

    assert ((), 0, before) == (done.archived, done.operation, seen(memory))


@pytest.mark.parametrize(
    ("before", "now", "anew"),
    [
        (
            draft("Oslo it is.", "Oslo!", fills=("lives in", "Oslo")),
            draft("I live in Oslo.", "Oslo!", fills=("lives in", "Oslo")),
            False,
        ),
        (draft("Oslo 奥斯陆", "Oslo!"), draft("这里是奥斯陆", "Oslo!"), False),
        (
            draft("Oslo it is.", "Oslo!", fills=("lives in", "Oslo")),
            draft("I drive an Oslo.", "Oslo!", fills=("drives", "Oslo")),
            True,
        ),
    ],
)
def test_what_is_there_in_other_words_is_not_doubled(memory, rules, before, now, anew):
    """A statement that was used says it already: with the same value in its slot, or by the same words of the turn."""
    rules.finds = {"Oslo!": [before]}
    say(memory, "Oslo!")
    memory.feedback(memory.get_all()[0].id, "used")
    rules.finds = {"Oslo!": [now]}
    done = memory.admin.relearn()

    assert ((), anew) == (done.archived, bool(done.learned))
    assert before.text in texts(memory.get_all())


@pytest.mark.parametrize("text", ["The red one.", "红色的那个。"])
def test_what_holds_again_does_not_double_what_was_said_since(memory, home, clock, rules, text):
    """What an archived statement had ended was said again on a line of its own: that one stays live, and the other what it is."""
    rules.finds = {"二": [draft("A blue 蓝", "二")]}
    first = memory.remember(text).memory
    clock.advance(days=1)
    say(memory, "二")
    (wrong,) = [row for row in memory.get_all() if row.id != first.id]
    handle = memory._handle
    ended = {"superseded_by": wrong.id, "valid_to": wrong.valid_from}
    changes = [UpdateMemory(first.n, ended, index_tokens(first)), UpdateMemory(wrong.n, {"line": first.line}, index_tokens(wrong))]
    handle.store.apply(handle.writes(), changes, handle.cause("test"))
    clock.advance(days=1)
    again = memory.remember(text).memory
    assert first.line != again.line
    rules.finds = {}
    done = memory.admin.relearn()

    assert [wrong.id] == [row.id for row in done.archived]
    assert ([again.id], wrong.id) == ([row.id for row in memory.get_all()], memory.get(first.id).superseded_by)
    integrity.check(home / "yiku.db")


@pytest.mark.parametrize("text", ["The red one.", "红色的那个。"])
def test_what_was_archived_can_be_restored_alone(memory, rules, text):
    """One statement comes back without the run; it is somebody's own then, and the next run leaves it."""
    rules.finds = {text: [draft(text)], "二": [draft("The blue one 蓝", "二")]}
    say(memory, text, "二")
    rules.finds = {}
    gone = {row.content: row for row in memory.admin.relearn().archived}
    memory.restore(gone[text].id)

    assert [text] == texts(memory.get_all())
    assert 0 == memory.admin.relearn().operation


def test_what_was_only_shown_goes(memory, rules):
    """That it was in an answer says nothing for it."""
    rules.finds = {"The red one.": [draft("The red one.")]}
    say(memory, "The red one.")
    memory.feedback(memory.get_all()[0].id, "retrieved")
    rules.finds = {}

    assert 1 == len(memory.admin.relearn().archived)


def test_what_others_than_the_rules_found_stays(memory, rules):
    """Candidates of tools, what a model read, what was told with its turn, and what no turn stands behind."""
    (turn,) = say(memory, "跑一遍 run it")
    calls = [{"name": "bash", "input": {"command": "pytest"}, "id": "c"}]
    results = [{"tool_use_id": "c", "content": "command not found: pytest", "is_error": True}]
    memory.record_turn("assistant", "", session="s", tool_calls=calls, tool_results=results)
    memory.learn()
    memory.remember("It runs 跑", source=turn.id)
    handle = memory._handle
    remember(handle, "The model said so 模型说的", {"source": turn.id}, how=How(method="a model", quote="run it"))
    before = seen(memory)
    done = memory.admin.relearn()

    assert 3 == len(before)
    assert (0, before) == (done.operation, seen(memory))


@pytest.mark.parametrize("said_there", [True, False])
def test_a_forgotten_turn_still_speaks_for_a_statement(memory, rules, said_there):
    """Its words are on the disk, so they are read for what was learned from them; they teach nothing new."""
    rules.finds = {"一": [draft("The red one 红", "一")]}
    _, other = say(memory, "一", "two")
    (row,) = memory.get_all()
    handle = memory._handle
    source = Source(origin=Origin.USER, said_at=other.said_at, recorded_at=other.recorded_at, turn=other.id)
    handle.store.apply(handle.writes(), [AddSource(row.n, source)], handle.cause("test"))
    memory.forget(other.id)
    rules.finds = {"two": [draft("The red one 红", "two"), draft("A blue one 蓝", "two")] if said_there else []}
    done = memory.admin.relearn()

    assert (0 if said_there else 1, ()) == (len(done.archived), done.learned)


def test_a_turn_that_was_not_read_to_its_end_decides_nothing(memory, rules, monkeypatch):
    """What it says may stand in the part that there was no time for."""
    rules.finds = {"The red one.": [draft("The red one.")]}
    say(memory, "The red one.")
    monkeypatch.setattr(by_rules, "read", lambda *args, **named: by_rules.Reading(whole=False))
    done = memory.admin.relearn()

    assert ((), 1) == (done.archived, len(done.troubles))
    assert ["The red one."] == texts(memory.get_all())


# ------------------------------------------------------------------ what stays out


OUT = {
    "forgotten": lambda m, row: m.forget(row.id),
    "rejected": lambda m, row: m.reject(row.id),
    "undone": lambda m, row: m.admin.undo(m.admin.journal(limit=1)[0].transaction),
    "told anew": lambda m, row: m.update(row.id, "Ann is in 罗马 now."),
}


@pytest.mark.parametrize("name", OUT)
@pytest.mark.parametrize(
    "case",
    [
        ("By the way, Ann is in Rome. The van is red.", "Ann is in Rome.", "Ann lives in Rome.", "The van is red."),
        ("对了，安在罗马。车是红的。", "安在罗马。", "安住在罗马。", "车是红的。"),
    ],
)
def test_what_somebody_took_out_is_not_learned_in_other_words(memory, rules, name, case):
    """The same words of the turn teach nothing, however they are put; what stands beside them is learned."""
    turn, before, after, beside = case
    rules.finds = {turn: [draft(before)]}
    say(memory, turn)
    (row,) = memory.get_all()
    OUT[name](memory, row)
    kept = set(texts(memory.get_all()))
    rules.finds = {turn: [draft(before), draft(after, before), draft(beside)]}
    done = memory.admin.relearn()

    assert [beside] == texts(done.learned)
    assert kept | {beside} == set(texts(memory.get_all()))


@pytest.mark.parametrize("text", ["The code is 4711.", "密码是 4711。"])
def test_what_was_erased_stays_erased(memory, rules, text):
    """Its turn may be kept: neither the statement nor its words are learned from it."""
    rules.finds = {text: [draft(text)]}
    say(memory, text)
    memory.admin.erase(memory.get_all()[0].id, keep_turns=True)
    done = memory.admin.relearn()

    assert ([], ()) == (memory.get_all(), done.learned)


@pytest.mark.parametrize("joke", ["just kidding", "我开玩笑的"])
def test_what_was_a_joke_is_not_taken_back_twice(memory, rules, joke):
    """Earlier rules heard it in other words: what stood before it is not taken back as well."""
    taken = draft(joke, joke, action="retract")
    rules.finds = {
        "Oslo and a van": [draft("I live in Oslo.", "Oslo", fills=("lives in", "Oslo")), draft("I drive a van.", "van")],
        f"{joke}!": [draft(f"{joke}!", f"{joke}!")],
    }
    say(memory, "Oslo and a van", f"{joke}!")
    before = seen(memory)
    rules.finds[f"{joke}!"] = [taken]
    memory.admin.relearn()

    assert 1 == sum(row[0][1] == "archived" for row in before)
    assert before == seen(memory)


def test_a_joke_teaches_nothing_of_the_turns_before_it(memory, home, clock, rules):
    """In another process they were learned from, too: what was forgotten of them stays so, in other words as well."""
    rules.finds = {"Rome!": [draft("Ann is in Rome.", "Rome!")]}
    say(memory, "Rome!", "van!", "开玩笑的")
    memory.forget(memory.get_all()[0].id)
    rules.finds = {
        "Rome!": [draft("安在罗马。", "Rome!")],
        "van!": [draft("I drive a van.", "van!")],
        "开玩笑的": [draft("开玩笑的", action="retract")],
    }
    with Memory(home, clock=clock) as another:
        done = another.admin.relearn()

    assert ({"new": 1, "retracted": 1}, []) == (done.outcomes, memory.get_all())


def test_a_joke_that_earlier_rules_did_not_hear_takes_back_what_is_learned_now(memory, rules):
    """Both the statement and the joke are read for the first time: nothing is left of it."""
    say(memory, "Oslo!", "just kidding")
    rules.finds = {
        "Oslo!": [draft("I live in Oslo.", "Oslo!", fills=("lives in", "Oslo"))],
        "just kidding": [draft("just kidding", action="retract")],
    }
    done = memory.admin.relearn()

    assert ({"new": 1, "retracted": 1}, []) == (done.outcomes, memory.get_all())
    assert 0 == memory.admin.relearn().operation


# ------------------------------------------------------------------ flags and pins


def test_flags_by_shared_words_are_lifted(memory, clock, rules, monkeypatch):
    """Between two statements of rules that no slot brought together; a flag with a told one stays, and so does one by the predicate."""
    rules.finds = {
        "t1": [draft("The tea is green 绿茶", "t1")],
        "t2": [draft("The tea is black 红茶", "t2")],
        "t3": [draft("My mentor is Ann.", "t3", fills=("mentor", "Ann"))],
        "t4": [draft("My mentor is 李雷。", "t4", fills=("mentor", "李雷"))],
        "t5": [draft("The pot is old 旧壶", "t5")],
    }
    say(memory, *rules.finds)
    rows = {row.content: row for row in memory.get_all()}
    learned_now = memory.remember("We have no pot 没有壶").memory
    handle = memory._handle
    pairs = [
        (rows["The tea is green 绿茶"], rows["The tea is black 红茶"]),
        (rows["The pot is old 旧壶"], memory.get(learned_now.id)),
    ]
    for one, other in pairs:
        if not one.flag:
            changes = [
                UpdateMemory(a.n, {"flag": "conflict", "flagged_with": (b.id,)}, index_tokens(a))
                for a, b in ((one, other), (other, one))
            ]
            handle.store.apply(handle.writes(), changes, handle.cause("test"))
    assert 6 == sum(row.flag == "conflict" for row in memory.get_all())
    done = memory.admin.relearn()

    assert ["The tea is black 红茶", "The tea is green 绿茶"] == texts(done.unflagged)
    flagged = {row.content for row in memory.get_all() if row.flag}
    assert {"My mentor is Ann.", "My mentor is 李雷。", "The pot is old 旧壶", learned_now.content} == flagged
    memory.admin.undo(done.operation)
    assert 6 == sum(row.flag == "conflict" for row in memory.get_all())


def test_what_contradicted_an_archived_statement_is_marked_no_more(memory, rules):
    """The flag goes with the statement that it named, from what was told as well."""
    rules.finds = {"t1": [draft("My mentor is Ann.", "t1", fills=("mentor", "Ann"))]}
    say(memory, "t1")
    memory.remember("我的导师是李雷", subject="user", predicate="mentor", object="李雷", cardinality="unknown")
    assert [True, True] == [bool(row.flag) for row in memory.get_all()]
    rules.finds = {}
    done = memory.admin.relearn()

    assert (["My mentor is Ann."], ["我的导师是李雷"]) == (texts(done.archived), texts(done.unflagged))
    assert [None] == [row.flag for row in memory.get_all()]


@pytest.mark.parametrize("text", ["Standup's at 10 from now on.", "以后例会是十点。"])
def test_a_pin_on_what_is_no_rule_is_lifted(memory, rules, text):
    """It was used, so it stays, as a fact; with a pin of somebody's own it stays as it is; unused it goes."""
    rules.finds = {text: [draft(text, kind=Kind.RULE, pinned=True)]}
    say(memory, text)
    (row,) = memory.get_all()
    assert (Kind.RULE, True) == (row.kind, row.pinned)
    memory.feedback(row.id, "used")
    rules.finds = {}
    done = memory.admin.relearn()

    assert ([text], []) == (texts(done.unpinned), texts(done.archived))
    assert [(Kind.FACT, False)] == [(row.kind, row.pinned) for row in memory.get_all()]
    memory.admin.undo(done.operation)
    memory.update(row.id, pinned=False)
    memory.update(row.id, pinned=True)
    assert 0 == memory.admin.relearn().operation
    assert [(Kind.RULE, True)] == [(row.kind, row.pinned) for row in memory.get_all()]


@pytest.mark.parametrize("text", ["Answer in English this time.", "这次用英文回答。"])
def test_a_rule_for_a_task_is_no_longer_pinned(memory, rules, text):
    """It is a rule still, read as one that is not for ever: only the pin goes."""
    rules.finds = {text: [draft(text, kind=Kind.RULE, pinned=True)]}
    say(memory, text)
    rules.finds = {text: [draft(text, kind=Kind.RULE, session=True, priority="transient")]}
    done = memory.admin.relearn()

    assert ([text], (), ()) == (texts(done.unpinned), done.archived, done.learned)
    assert [(Kind.RULE, False)] == [(row.kind, row.pinned) for row in memory.get_all()]


def test_a_rule_that_is_read_as_a_statement_now_is_learned_as_one(memory, rules):
    """Nobody used it: the rule goes, and what it says is learned for what it is."""
    rules.finds = {"例会 at 10": [draft("例会 at 10", kind=Kind.RULE, pinned=True)]}
    say(memory, "例会 at 10")
    rules.finds = {"例会 at 10": [draft("例会 at 10")]}
    memory.admin.relearn()

    assert [("例会 at 10", False, False)] == [(row.content, row.pinned, row.kind is Kind.RULE) for row in memory.get_all()]


# ------------------------------------------------------------------ imports


def test_what_imported_turns_teach_waits_as_it_does_when_learned(memory, rules):
    """A candidate that the rules find no more goes, one that they find now waits to be confirmed, each once."""
    turns = [{"role": "user", "content": text, "session": "old", "origin": "import"} for text in ("a 早", "b 晚")]
    rules.finds = {"a 早": [draft("An apple 苹果", "a")]}
    memory.record(turns)
    memory.learn()
    rules.finds = {"b 晚": [draft("A pear 梨", "b")]}
    done = memory.admin.relearn(dry_run=True)
    assert {"An apple 苹果": "candidate"} == held(memory)
    assert (["An apple 苹果"], ["A pear 梨"]) == (texts(done.archived), texts(done.learned))
    memory.admin.relearn()
    memory.admin.relearn()

    assert {"An apple 苹果": OUTGROWN, "A pear 梨": "candidate"} == held(memory)
    rules.finds = {"a 早": [draft("An apple 苹果", "a")]}
    memory.admin.relearn()
    assert ["An apple 苹果"] == texts(entry.memory for entry in memory.admin.review())


# ------------------------------------------------------------------ in parts, cut off, beside others


def scene(memory, clock, rules) -> None:
    """A home of earlier rules: what goes, what comes, what was replaced wrongly, a flag, a pin, a joke."""
    rules.finds = {
        "一": [draft("Half past two 两点半", "一")],
        "two": [draft("I live in Oslo.", "two", fills=("lives in", "Oslo"))],
        "三": [draft("A video of 根特", "三", fills=("lives in", "根特"))],
        "four": [draft("Standup at 10 例会", "four", kind=Kind.RULE, pinned=True)],
        "五": [draft("My mentor is Ann.", "五", fills=("mentor", "Ann"))],
        "six": [draft("My mentor is 李雷。", "six", fills=("mentor", "李雷"))],
    }
    for text in ("一", "two", "三", "four", "五", "six", "七", "eight"):
        say(memory, text)
        clock.advance(days=1)
    (pinned,) = [row for row in memory.get_all() if row.pinned]
    memory.feedback(pinned.id, "used")
    older(memory)
    rules.finds = {
        "two": rules.finds["two"],
        "五": rules.finds["五"],
        "七": [draft("I drive a van.", "七", fills=("drives", "van"))],
        "eight": [draft("I drive a 卡车", "eight", fills=("drives", "卡车"))],
    }


def test_a_budget_is_kept_and_each_call_goes_on(memory, clock, rules):
    """No time at all reads one turn a call; it comes to what one call would, and one undo takes back all of it."""
    scene(memory, clock, rules)
    before = seen(memory)
    learned_now, left, calls = [], 8, 0
    while left:
        done = memory.admin.relearn(budget_s=0, progress=lambda *at: learned_now.append(at))
        assert (1, left - 1) == (done.turns, done.left)
        left, calls = done.left, calls + 1
        assert ("was interrupted" in " ".join(memory.status().troubles)) is (left > 0 or calls == 8)
    memory.admin.relearn(budget_s=0)
    assert [(n, 8) for n in range(1, 9)] == learned_now
    assert 8 == calls
    in_parts = seen(memory)
    memory.admin.undo(done.operation)
    assert {row[0][0]: row[0][1] for row in before}.items() <= {row[0][0]: row[0][1] for row in seen(memory)}.items()

    whole = memory.admin.relearn()
    assert [row for row in in_parts if row[0][1] == "active"] == [row for row in seen(memory) if row[0][1] == "active"]
    assert (["A video of 根特", "Half past two 两点半", "My mentor is 李雷。"], 8) == (texts(whole.archived), whole.turns)


@pytest.mark.parametrize("looks", [2, 3, 4, 5])
def test_time_that_ends_between_two_batches_leaves_what_was_not_read(memory, clock, rules, monkeypatch, looks):
    """At whichever look at the clock the budget ends, a run is over only when every turn was read."""
    scene(memory, clock, rules)
    monkeypatch.setattr(relearn, "BATCH", 1)
    ticks = itertools.count()
    monkeypatch.setattr(relearn, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    turns, left = 0, 8
    while left:
        done = memory.admin.relearn(budget_s=looks)
        turns, left = turns + done.turns, done.left

        assert 8 == turns + left


def test_a_statement_of_several_turns_is_judged_once(memory, rules, monkeypatch):
    """With the first of its turns, by all of them; none is read again for it in the batches behind."""
    monkeypatch.setattr(relearn, "BATCH", 1)
    rules.finds = {text: [draft("The red one 红", text)] for text in ("一", "two", "三")}
    say(memory, *rules.finds)
    handle = memory._handle
    (row,) = memory.get_all()
    handle.store.apply(handle.writes(), [UpdateMemory(row.n, {"importance": 0.1}, index_tokens(row))], handle.cause("test"))
    rules.finds = {"三": rules.finds["三"]}
    rules.read.clear()
    done = memory.admin.relearn()

    assert ((), 3, len("一二三二三")) == (done.archived, len(memory.get(row.id).sources), len(rules.read))


def test_a_dry_run_says_what_would_change_and_changes_nothing(memory, home, clock, rules):
    """The same lists as the run itself, and not a byte of the database is another."""
    scene(memory, clock, rules)
    before, number = seen(memory), memory.admin.journal(limit=1)[0].number
    said = memory.admin.relearn(dry_run=True)
    assert (before, number) == (seen(memory), memory.admin.journal(limit=1)[0].number)
    assert LearningState(1) == memory._handle.store.learning.state(memory._handle.own()[0])
    done = memory.admin.relearn()

    for name in ("archived", "learned", "unflagged", "unpinned"):
        assert texts(getattr(said, name)) == texts(getattr(done, name)) != [], name
    assert (True, 0, 8, 0) == (said.dry_run, said.operation, said.turns, said.left)
    assert done.operation > number


@pytest.fixture
def earlier(memory, home, clock, rules):
    """A closed home of earlier rules; copies of it are opened with the present ones."""
    scene(memory, clock, rules)
    memory.close()
    return lambda path: Memory(path if path.exists() else shutil.copytree(home, path), owner="user:mei", clock=clock)


def test_a_run_that_was_killed_goes_on_and_doubles_nothing(earlier, monkeypatch, tmp_path, some):
    """Before whichever write the process ends, the next call comes to what one call would have, under the same name of a run."""
    monkeypatch.setattr(relearn, "BATCH", 2)
    cut = Cut(monkeypatch)
    with earlier(tmp_path / "whole") as there:
        cut.before(0)
        there.admin.relearn()
        wanted, writes = seen(there), cut.writes
    assert writes > 10
    for at in some(range(1, writes + 1), 4):
        with earlier(tmp_path / str(at)) as there:
            cut.before(at)
            with pytest.raises(Killed):
                there.admin.relearn()
        cut.before(0)
        with earlier(tmp_path / str(at)) as there:
            done = there.admin.relearn()
            assert wanted == seen(there), f"killed before write {at}"
            assert 1 == len({change.run for change in there.admin.journal(limit=1_000) if change.run})
            there.admin.undo(done.operation)
            assert "A video of 根特" in texts(there.get_all())


def test_what_another_process_does_meanwhile_counts(memory, home, clock, rules, monkeypatch):
    """Somebody edits a statement after it was judged, before it is archived: it is judged again, and stays."""
    rules.finds = {"The red one.": [draft("The red one.")]}
    say(memory, "The red one.")
    (row,) = memory.get_all()
    rules.finds = {}
    apply, done = SqliteStore.apply, []
    with Memory(home, clock=clock) as other:

        def beside(store, scope, changes, cause, *rest):
            if cause.operation == "relearn" and store is memory._handle.store and not done and len(changes) and cause.run:
                done.append(other.update(row.id, tags=["mine"]))
            return apply(store, scope, changes, cause, *rest)

        monkeypatch.setattr(SqliteStore, "apply", beside)
        report = memory.admin.relearn()

    assert (1, ()) == (len(done), report.archived)
    assert ["The red one."] == texts(memory.get_all())


def test_after_an_undo_it_can_be_done_again(memory, clock, rules):
    """What the run had learned was undone with it: nobody took that out, so it is learned once more."""
    scene(memory, clock, rules)
    first = memory.admin.relearn()
    live = texts(memory.get_all())
    memory.admin.undo(first.operation)
    second = memory.admin.relearn()

    assert live == texts(memory.get_all())
    for name in ("archived", "learned", "unpinned"):
        assert texts(getattr(first, name)) == texts(getattr(second, name)), name


def test_a_run_is_not_undone_from_under_a_later_change(memory, clock, rules):
    """What was told since must be undone first; then all of the run can be."""
    scene(memory, clock, rules)
    done = memory.admin.relearn()
    clock.advance(days=1)
    later = memory.remember("I live in Rome.", subject="user", predicate="lives in", object="Rome", cardinality="single")
    with pytest.raises(CannotUndo, match=f"operation {later.operation}"):
        memory.admin.undo(done.operation)
    memory.admin.undo(later.operation)
    memory.admin.undo(done.operation)

    assert "A video of 根特" in texts(memory.get_all())


def test_an_earlier_operation_can_be_undone_when_the_run_was(memory, rules):
    """The run and its undo are as if neither had been."""
    rules.finds = {"一": [draft("Half past two 两点半", "一"), draft("A video of 根特", "一")]}
    say(memory, "一")
    first = memory.admin.journal(limit=1)[0].transaction
    rules.finds = {}
    run = memory.admin.relearn()
    with pytest.raises(CannotUndo):
        memory.admin.undo(first)
    memory.admin.undo(run.operation)
    memory.admin.undo(first)

    assert 1 == len(memory.get_all())


def test_nothing_is_read_again_while_memory_is_paused_or_learning_is_off(memory, home, clock, rules):
    """A pause refuses it; with `learn = off` nothing is proposed or changed."""
    rules.finds = {"一": [draft("Half past two 两点半", "一")]}
    say(memory, "一")
    older(memory)
    rules.finds = {}
    with Memory(home, clock=clock, learn="off") as off:
        assert (0, 0) == ((done := off.admin.relearn()).turns, done.operation)
        assert "--again" not in " ".join(off.status().troubles)
    memory.admin.pause(clock.now + timedelta(hours=1))
    with pytest.raises(Paused):
        memory.admin.relearn()
    with pytest.raises(InvalidInput):
        memory.admin.relearn(budget_s=-1)

    assert ["Half past two 两点半"] == texts(memory.get_all())


# ------------------------------------------------------------------ what status says


def proposed(memory) -> list[str]:
    return [line for line in memory.status().troubles if "yiku learn --again" in line]


def test_status_proposes_it_once_after_an_upgrade(memory, rules, monkeypatch):
    """A new home is silent, also with statements; one of earlier rules says one line, until it was read again, whatever that found."""
    assert [] == proposed(memory)
    rules.finds = {"一": [draft("Half past two 两点半", "一")]}
    say(memory, "一")
    assert [] == proposed(memory)
    assert LearningState(LEARNING_VERSION) == memory._handle.store.learning.state(memory._handle.own()[0])

    older(memory)
    assert 1 == len(proposed(memory))
    memory.admin.relearn(dry_run=True)
    assert 1 == len(proposed(memory))
    memory.admin.relearn()
    assert [] == proposed(memory)


def test_status_proposes_nothing_where_the_rules_learned_nothing(memory, rules):
    """An older home with what was told only has nothing to gain from it."""
    memory.remember("I live in Oslo.")
    say(memory, "早")
    older(memory)

    assert [] == proposed(memory)


def test_a_run_for_an_earlier_version_begins_anew(memory, clock, rules):
    """The rules changed again while it was cut short: all turns are read with the newest."""
    scene(memory, clock, rules)
    handle = memory._handle
    left = LearningState(1, target=LEARNING_VERSION - 1, run="relearn of the past", upto=1_000)
    handle.store.apply(handle.writes(), [SetLearning(left)], handle.cause("test"))

    assert 8 == memory.admin.relearn().turns
    assert reread.LEARNING_VERSION == handle.store.learning.state(handle.own()[0]).version
