"""`consolidate`: decisions with their reasons, each made once, undoable as a whole."""

from datetime import timedelta

import pytest

from yiku import Memory
from yiku.errors import InvalidInput, StoreBusy
from yiku.flows.night import run as night_run
from yiku.flows.night.run import Night
from yiku.store.api import one_at_a_time
from yiku.types import State


@pytest.fixture
def ending(memory, clock):
    """A statement in each language that holds for a day."""
    day = clock.now + timedelta(days=1)
    memories = [memory.remember(text, expires_at=day).memory for text in ("The lift is out of order", "电梯今天坏了")]
    clock.advance(hours=25)
    return memories


def states(memory: Memory, memories) -> list[State]:
    return [memory.get(one.id).state for one in memories]


@pytest.mark.spec("S0-98", "S2-83", "S3-200")
def test_what_has_ended_is_archived_with_its_reason(memory, ending):
    """A day later both are asleep, and the report names each with the reason."""
    done = memory.admin.consolidate()

    assert {"expired": 2} == done.counts
    assert {one.id for one in ending} == {item.ids[0] for item in done.items}
    assert [State.ARCHIVED] * 2 == states(memory, ending)
    assert ["expired"] * 2 == [memory.get(one.id).reason for one in ending]
    assert done.finished


@pytest.mark.spec("T-06", "S0-05")
def test_a_second_night_finds_nothing_to_do(memory, ending):
    """Running twice changes nothing."""
    memory.admin.consolidate()
    before = len(memory.admin.journal())

    assert {} == memory.admin.consolidate().counts
    assert before == len(memory.admin.journal())


def test_undo_of_one_operation_takes_the_night_back(memory, ending):
    """All of the run is as before."""
    done = memory.admin.consolidate()
    memory.admin.undo(done.items[0].operation)

    assert [State.ACTIVE] * 2 == states(memory, ending)


def test_a_dry_run_tells_and_writes_nothing(memory, ending):
    """The same decisions, and the store as it was."""
    before = len(memory.admin.journal())
    planned = memory.admin.consolidate(dry_run=True)

    assert {"expired": 2} == planned.counts
    assert [State.ACTIVE] * 2 == states(memory, ending)
    assert before == len(memory.admin.journal())


def test_a_run_whose_time_is_up_goes_on_in_the_next_call(memory, ending):
    """Nothing is done in no time; the next call is the same run, and ends it."""
    first = memory.admin.consolidate(budget_s=0)
    second = memory.admin.consolidate()

    assert not first.finished
    assert second.finished
    assert first.run == second.run
    assert {"expired": 2} == second.counts


def test_a_run_that_began_in_the_future_is_not_gone_on_with(memory, clock):
    """A clock ran ahead while a night began; once it is right again, the next night decides by today."""
    stays = [memory.remember(text, expires_at="2026-09-01").memory for text in ("The gym is FitHub.", "健身房在滨江。")]
    trash = memory.remember("The locker code is 88.", ttl_days=1).memory
    clock.advance(days=3)
    memory.admin.consolidate()
    right = clock.now
    clock.advance(days=450)
    ahead = memory.admin.consolidate(budget_s=0)
    clock.now = right + timedelta(days=1)
    after = memory.admin.consolidate()

    assert not ahead.finished
    assert after.finished
    assert (clock.now, {}) == (after.at, after.counts)
    assert ahead.run != after.run
    assert [State.ACTIVE, State.ACTIVE, State.JUNK] == states(memory, [*stays, trash])


def test_one_process_at_a_time(memory, home):
    """A second one is told so."""
    with one_at_a_time(home / "locks" / "consolidate.lock", "busy"), pytest.raises(StoreBusy):
        memory.admin.consolidate()


@pytest.mark.parametrize("given", [{"mode": "heavy"}, {"phase": 8}, {"phase": -1}, {"dry_run": "yes"}, {"budget_s": "1"}])
def test_what_it_cannot_read_is_refused(memory, given):
    """With a typed error, and before anything is done."""
    with pytest.raises(InvalidInput):
        memory.admin.consolidate(**given)


@pytest.mark.parametrize("words", ["Ann lives in Oslo", "安住在奥斯陆", {"text": "tea time"}, ["a b"]])
def test_evidence_holds_no_words(memory, words):
    """Whatever a phase hands in as evidence: what somebody said has no place there."""
    statement = memory.remember("Ann lives in Oslo").memory
    handle = memory._handle
    run = handle.store.nights.runs(handle.writes())
    memory.admin.consolidate()
    run = handle.store.nights.runs(handle.writes())[0]
    with pytest.raises(ValueError, match="no text"):
        Night(handle, handle.writes(), run).decide("flagged", ids=[statement.id], reason="same", evidence={"found": words})

    assert [] == handle.store.nights.items(handle.writes(), run.id)
    assert night_run.OPERATION == "consolidate"
