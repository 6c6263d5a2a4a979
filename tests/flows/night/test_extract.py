"""Learning pending turns at night, once, and episodes of sessions that nobody ended."""

import shutil

import pytest

from yiku import Memory


@pytest.fixture
def later(home, clock, blank):
    """A memory that learns only when it is told to."""
    shutil.copytree(blank, home)
    with Memory(home, owner="user:mei", names=["Mei"], clock=clock, learn="later") as memory:
        yield memory


def say(memory: Memory, session: str = "s1") -> None:
    memory.record_turn("user", "I live in Oslo and I work as a nurse.", session=session)
    memory.record_turn("assistant", "Noted.", session=session)
    memory.record_turn("user", "我妹妹叫小雨，她住在成都。", session=session)


@pytest.mark.spec("S2-05", "S2-11", "S2-68", "S2-77", "S3-43", "S3-196")
def test_turns_that_wait_are_learned_from_at_night(later, clock):
    """In both languages; the report names what was added, and undo takes it back with the rest of the run."""
    say(later)
    clock.advance(hours=12)
    done = later.admin.consolidate()
    contents = " ".join(one.content for one in later.get_all())

    assert "Oslo" in contents
    assert "小雨" in contents
    assert 0 == sum(later.status().waiting.values())
    assert {one.id for one in later.get_all()} <= {id for item in done.items for id in item.ids}
    operation = next(item.operation for item in done.items if item.operation)
    later.admin.undo(operation)
    assert [] == later.get_all()


@pytest.mark.spec("T-26", "S0-89")
def test_a_turn_that_was_learned_from_is_not_read_again(memory, clock):
    """What was learned at once is not learned at night; relations of what is learned are there."""
    say(memory)
    before = memory.get_all()
    clock.advance(hours=12)
    done = memory.admin.consolidate()

    assert [one.id for one in before] == [one.id for one in memory.get_all()]
    assert {"episode-missing"} == {item.reason for item in done.items}


@pytest.mark.spec("S3-89", "S3-235", "S3-196")
def test_a_session_that_nobody_ended_gets_its_episode(memory, clock):
    """After two idle hours, once; what is said later gets another one, and ending it then tells no turn twice."""
    say(memory)
    clock.advance(hours=1)
    memory.admin.consolidate()
    early = memory.sessions.episodes()
    clock.advance(hours=2)
    memory.admin.consolidate()
    memory.admin.consolidate()
    first = memory.sessions.episodes()
    memory.record_turn("user", "The train leaves at nine. 火车九点开。", session="s1")
    memory.sessions.end("s1")
    both = memory.sessions.episodes()

    assert [] == early
    assert ["daily_consolidation"] == [one.source for one in first]
    assert ["session_end", "daily_consolidation"] == [one.source for one in both]
    assert both[0].first_turn != both[1].first_turn


def test_an_episode_that_was_taken_back_is_not_told_again(memory, clock):
    """The next night leaves it."""
    say(memory)
    clock.advance(hours=12)
    done = memory.admin.consolidate()
    memory.admin.undo(next(item.operation for item in done.items if item.reason == "episode-missing"))
    clock.advance(hours=24)

    assert {} == memory.admin.consolidate().counts
    assert [] == memory.sessions.episodes()


@pytest.mark.spec("S0-101")
def test_a_light_run_only_learns_from_what_waits(later, clock):
    """No episode, and nothing falls asleep."""
    say(later)
    statement = later.remember("The lift is broken. 电梯坏了。", priority="transient").memory
    clock.advance(hours=30)
    done = later.admin.consolidate("light")

    assert {"learned"} == {item.reason for item in done.items}
    assert later.get(statement.id).live
    assert [] == later.sessions.episodes()


def test_a_dry_run_says_what_waits(later, clock):
    """And learns nothing."""
    say(later)
    clock.advance(hours=12)
    done = later.admin.consolidate(dry_run=True)

    assert ["waiting: 3 turns to learn from", "waiting: 1 session without an episode"] == [*done.notes]
    assert [] == later.get_all()
