"""Fading and junk at night: what is archived, what is purged, and that all but purged memories come back."""

import shutil
from dataclasses import replace
from datetime import timedelta

import pytest

from yiku import Memory
from yiku.errors import CannotUndo, NotFound
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.night import fading
from yiku.types import Kind, Memories, SemanticMemory, Standing, State, UpdateMemory

PASSING = {"en": "The shuttle leaves from gate four", "zh": "班车从四号门出发"}


def night(memory: Memory, **given):
    return memory.admin.consolidate(**given)


def passing(memory: Memory, half_life_days: float | None = None, **given) -> list[SemanticMemory]:
    """A passing statement in each language; `half_life_days` as a file that was imported says."""
    statements = [memory.remember(text, **{"priority": "short_term", **given}).memory for text in PASSING.values()]
    if half_life_days is not None:
        handle, store = memory._handle, memory._handle.store
        changes = [
            UpdateMemory(one.n, {"half_life_days": half_life_days, "expires_at": None}, index_tokens(memory.get(one.id)))
            for one in statements
        ]
        store.apply(handle.writes(), changes, handle.cause("import"))
    return statements


def states(memory: Memory, statements) -> set[State]:
    return {memory.get(one.id).state for one in statements}


@pytest.mark.spec("S2-50", "S3-51")
def test_a_short_term_statement_lives_three_days(memory, clock):
    """It is there on the third day, and asleep on the fourth."""
    statements = passing(memory)
    clock.advance(days=2, hours=23)
    night(memory)

    assert {State.ACTIVE} == states(memory, statements)
    clock.advance(hours=2)
    night(memory)

    assert {State.ARCHIVED} == states(memory, statements)


@pytest.mark.spec("S3-200", "S2-83")
def test_a_transient_statement_lives_a_day(memory, clock):
    """In both languages."""
    statements = passing(memory, priority="transient")
    clock.advance(hours=23)
    night(memory)
    before = states(memory, statements)
    clock.advance(hours=2)
    night(memory)

    assert {State.ACTIVE} == before
    assert {State.ARCHIVED} == states(memory, statements)


@pytest.mark.spec("S3-64")
def test_use_renews_what_ends_with_its_priority(memory, clock):
    """Used on the second day, it is there on the fifth."""
    statements = passing(memory)
    clock.advance(days=2)
    for one in statements:
        memory.feedback(one.id, "used")
    clock.advance(days=2, hours=12)
    night(memory)

    assert {State.ACTIVE} == states(memory, statements)


@pytest.mark.spec("S2-79", "S2-80", "S3-198", "S3-199", "S3-50", "S3-65")
def test_what_nobody_asked_for_falls_asleep_when_little_of_its_weight_is_left(memory, clock):
    """By its own half-life: kept while much is left, archived and not deleted when less than a tenth is."""
    statements = passing(memory, half_life_days=0.5, importance=1.0)
    used = memory.remember("The ferry leaves from pier two. 渡轮从二号码头出发。", priority="short_term").memory
    memory.feedback(used.id, "used")
    memory.feedback(used.id, "used")
    clock.advance(days=3, hours=12)
    done = night(memory)

    assert {("archived", "faded")} == {(item.action, item.reason) for item in done.items if item.ids[0] != used.id}
    assert [(State.ARCHIVED, 1.0)] * 2 == [(memory.get(one.id).state, memory.get(one.id).importance) for one in statements]
    assert [one.id for one in statements] == [memory.restore(one.id).memories[0].id for one in statements]


def test_what_fades_takes_its_flag_with_it(memory, clock):
    """What it seemed to contradict is flagged no more; undone, both are."""
    one, other = passing(memory, half_life_days=0.5)
    kept = memory.update(other.id, priority="permanent")
    handle, pair = memory._handle, ((one, kept), (kept, one))
    marks = [UpdateMemory(row.n, {"flag": "conflict", "flagged_with": (rival.id,)}, index_tokens(row)) for row, rival in pair]
    handle.store.apply(handle.writes(), marks, handle.cause("flag"))
    clock.advance(days=5)
    (item,) = night(memory).items
    after = memory.get(kept.id)
    memory.admin.undo(item.operation)

    assert ("faded", one.id) == (item.reason, item.ids[0])
    assert (None, ()) == (after.flag, after.flagged_with)
    assert ("conflict", (one.id,)) == (memory.get(kept.id).flag, memory.get(kept.id).flagged_with)


@pytest.mark.spec("S2-81", "S2-82")
def test_what_has_less_than_a_third_left_is_demoted_first(memory, clock):
    """It has another day as transient; what has more left is kept as it is."""
    statements = passing(memory, half_life_days=1.5, importance=0.9)
    kept = memory.remember("The gym is on the third floor. 健身房在三楼。", importance=0.9).memory
    clock.advance(days=5)
    night(memory)
    found = [memory.get(one.id) for one in statements]

    assert {("transient", clock.now + timedelta(days=1))} == {(one.priority, one.expires_at) for one in found}
    assert memory.get(kept.id) == kept


@pytest.mark.spec("S0-10", "S0-99", "S3-49", "T-07")
def test_weight_is_a_function_of_the_row_and_the_time(clock):
    """It falls with age to the half after a half-life; a use lifts it, and that lift fades; importance itself stays."""
    row = SemanticMemory(
        id="a",
        line="a",
        content="x",
        importance=0.5,
        half_life_days=10,
        said_at=clock.now,
        confirmed_at=clock.now,
        valid_from=clock.now,
        created_at=clock.now,
        updated_at=clock.now,
    )
    half_life = timedelta(days=10 * 1.5)
    used = replace(row, used=3, last_used=clock.now)

    assert fading.effective(row, clock.now) == pytest.approx(0.5)
    assert fading.effective(row, clock.now + half_life) == pytest.approx(0.25)
    assert fading.effective(used, clock.now) > 0.6
    lift = [fading.effective(used, clock.now + timedelta(weeks=week)) for week in range(4)]
    assert sorted(lift, reverse=True) == lift


@pytest.mark.parametrize(
    "given", [{"kind": "rule"}, {"pinned": True, "priority": "long_term"}, {"priority": "permanent"}, {"kind": "preference"}, {}]
)
def test_what_a_person_said_in_plain_words_never_falls_asleep(memory, clock, given):
    """Rules, pins, what is permanent, and plain statements: after ten years they are as they were."""
    statements = [memory.remember(text, **given).memory for text in ("Answer in short sentences please", "回答要简短一些")]
    clock.advance(days=3650)
    night(memory)

    assert {State.ACTIVE} == states(memory, statements)


def test_a_belief_fades_and_a_fact_of_the_same_words_does_not(memory, clock):
    """Ten days of half-life: after a year nothing is left of a guess."""
    guess = memory.remember("Ann may like tea", standing="belief").memory
    fact = memory.remember("Bo likes tea").memory
    clock.advance(days=365)
    done = night(memory)

    assert [(guess.id,)] == [item.ids for item in done.items]
    assert Kind.FACT is fact.kind or Standing.FACT is fact.standing
    assert memory.get(fact.id).live


@pytest.mark.spec("S0-81", "S0-82", "T-10")
def test_what_is_to_be_deleted_is_junk_for_a_month_and_then_gone(memory, clock):
    """Nothing of it is left in any table or index, and it can be told again."""
    statements = [memory.remember(text, ttl_days=7, tags=["shuttle"], entities=["gate"]).memory for text in PASSING.values()]
    clock.advance(days=8)
    first = night(memory)
    was = states(memory, statements)
    clock.advance(days=31)
    second = night(memory)

    assert {"junked": 2} == first.counts
    assert {State.JUNK} == was
    assert {"purged": 2} == second.counts
    for one in statements:
        with pytest.raises(NotFound):
            memory.get(one.id)
    stats = memory.admin.stats()
    assert (0, 0) == (stats.tags, stats.entities)
    assert () == memory.admin.check("deep").problems
    assert memory.remember(PASSING["zh"]).memory.live


def test_junk_is_brought_back_by_restore(memory, clock):
    """And stays: its end is lifted, and the next night leaves it alone."""
    statements = [memory.remember(text, ttl_days=7).memory for text in PASSING.values()]
    clock.advance(days=8)
    night(memory)
    for one in statements:
        memory.restore(one.id)
    clock.advance(days=60)

    assert {} == night(memory).counts
    assert {State.ACTIVE} == states(memory, statements)
    assert len(memory.recall("shuttle gate 班车")) >= 1


def test_what_was_undone_is_not_done_again(memory, clock):
    """The next nights leave alone what somebody took back."""
    statements = passing(memory)
    clock.advance(days=4)
    done = night(memory)
    memory.admin.undo(done.items[0].operation)
    clock.advance(days=30)

    assert {} == night(memory).counts
    assert {State.ACTIVE} == states(memory, statements)


@pytest.mark.spec("T-06", "S3-39")
def test_a_missed_week_equals_seven_nights(home, clock, blank, tmp_path):
    """The same states whether the night ran each day or once at the end."""
    found = []
    for name, every in (("each", 1), ("once", 7)):
        folder = tmp_path / name
        shutil.copytree(blank, folder)
        start = clock.now
        with Memory(folder, owner="user:mei", names=["Mei"], clock=clock) as memory:
            for i, priority in enumerate(["transient", "short_term", "long_term", "permanent", None] * 4):
                details = {"priority": priority} if priority else {"ttl_days": i % 5 + 1}
                memory.remember(f"Lamp {i} burns oil 第{i}盏灯", importance=i / 20, **details)
            for _ in range(0, 7, every):
                clock.advance(days=every)
                memory.admin.consolidate()
            found.append([(one.content, one.state, one.reason, one.importance) for one in everything(memory)])
        clock.now = start

    assert found[0] == found[1]
    assert {State.ACTIVE, State.ARCHIVED, State.JUNK} == {state for _, state, *_ in found[0]}


def everything(memory: Memory) -> list[SemanticMemory]:
    return memory._handle.store.memories(memory._handle.own(), Memories())


def test_undo_of_a_run_names_what_is_gone_for_good(memory, clock):
    """What was purged stays gone and is named; the rest of the run is taken back, and the next night leaves it so."""
    memory.remember("The gate is shut. 大门关着。", ttl_days=1)
    clock.advance(days=2)
    memory.admin.consolidate()
    statements = passing(memory)
    clock.advance(days=31)
    done = memory.admin.consolidate()
    with pytest.raises(CannotUndo, match=f'erased or lost; `yiku undo "{done.run}"` takes back the rest'):
        memory.admin.undo(done.items[0].operation)
    back = memory.admin.undo_run(done.run)

    assert {"expired": 2, "purged": 1} == done.counts
    assert 1 == len(back.skipped)
    assert {State.ACTIVE} == states(memory, statements)
    assert {} == memory.admin.consolidate().counts
