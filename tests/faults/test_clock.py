"""
R25: clocks that jump, stand still or change offset: order by sequence, ids unique and ascending, nothing lost.

The clock is what the machine says it is: a dead battery says 2016, a bad time server says next year, a
laptop crosses a border. What was said without a time is said now, and now is after what was said before.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import integrity
import pytest
from sampling import drawn_for

from yiku import Memory

START = datetime.fromisoformat("2026-03-29T01:30:00+01:00")  # half an hour before Oslo's clocks go forward
SUMMER = timezone(timedelta(hours=2))

JUMPS: dict[str, Callable[[datetime], datetime]] = {
    "a day back": lambda now: now - timedelta(days=1),
    "ten years back": lambda now: now - timedelta(days=3_652),
    "400 days ahead": lambda now: now + timedelta(days=400),
    "summer time": lambda now: (now + timedelta(minutes=30)).astimezone(SUMMER),
    "winter time": lambda now: (now + timedelta(minutes=1)).astimezone(timezone(timedelta(hours=1))),
    "the same microsecond": lambda now: now,
}


class Clock:
    """Says what it is told, and moves a little at each look unless it stands."""

    def __init__(self, *, stands: bool = False) -> None:
        self.now, self.step = START, timedelta(0 if stands else 0.25)

    def __call__(self) -> datetime:
        self.now += self.step
        return self.now


def lived_through(home: Path, jumps: list[Callable[[datetime], datetime]], clock: Clock) -> None:
    """Record, remember and look, before and after each jump, in one handle and in fresh ones; all of it holds."""
    ids: list[str] = []
    towns: list[str] = []
    lanterns: list[str] = []
    line = ""
    for i, jump in enumerate([lambda now: now, *jumps]):
        clock.now = jump(clock.now)
        with Memory(home, owner="user:mei", clock=clock) as memory:
            fresh = [memory.record_turn("user", f"turn {i} {k} 轮", session="s").id for k in range(3)]
            fresh += memory.record([{"role": "user", "content": f"轮 {i} {k}"} for k in range(12)], session="s").ids
            towns.append(f"I live in Town{i}镇")
            outcome = memory.remember(towns[-1])
            memory.remember(f"Statement {i} 陈述", expires_at=clock.now + timedelta(days=3_000), ttl_days=3_000)
            memory.feedback(outcome.memory.id, "used")
            lanterns += [f"The lantern hangs in room {i} 号"]
            line = memory.update(line, lanterns[-1]).id if line else memory.remember(lanterns[-1]).memory.id
            assert sorted(fresh) == fresh, "ids of one handle ascend"
            assert towns[-1] == memory.recall("where do I live?")[0].text, "what was told last is live"
            ids += fresh
            _looked_at(memory)
            assert [f"turn {i} {k} 轮" for k in range(3)] == [memory.get(id).content for id in fresh[:3]]
    with Memory(home, owner="user:mei", clock=clock) as memory:
        assert lanterns == [version.content for version in memory.history(line)], "an update is after what it updates"
    _in_order(home, clock, ids, towns)


def _looked_at(memory: Memory) -> None:
    """Every verb that looks, at every sort of time."""
    for at in (None, START - timedelta(days=5_000), START, START + timedelta(days=500)):
        memory.recall("where do I live? 我住在哪", as_of=at, valid_at=at)
        memory.get_all(as_of=at, valid_at=at)
    memory.timeline(since=START)
    memory.context("Town 镇")
    memory.status()
    memory.admin.stats()


def _in_order(home: Path, clock: Clock, ids: list[str], towns: list[str]) -> None:
    with Memory(home, owner="user:mei", clock=clock) as memory:
        turns = sorted((memory.get(id) for id in ids), key=lambda turn: turn.position)
        assert ids == [turn.id for turn in turns], "turns lie in the order in which they were recorded"
        assert len(ids) == len({*ids}) == memory.admin.stats().turns
        assert towns == [version.content for version in memory.history("where do I live")], "versions lie in the order of telling"
        numbers = [change.number for change in memory.admin.journal(limit=10_000)]
        assert sorted(numbers, reverse=True) == numbers
    integrity.check(home / "yiku.db")


@pytest.mark.parametrize(("jump", "stands"), drawn_for("jumps")([(jump, stands) for jump in JUMPS for stands in (False, True)], 4))
@pytest.mark.long
def test_R25_a_jump_of_the_clock_changes_no_order_and_loses_nothing(home: Path, jump: str, stands: bool) -> None:
    """There, and back again."""
    lived_through(home, [JUMPS[jump], JUMPS["the same microsecond"], lambda now: START], Clock(stands=stands))


def jumped_at_random(home: Path, chance: random.Random, jumps: int) -> None:
    """A sequence of jumps of every size."""
    sequence = [chance.choice([*JUMPS.values(), _anywhere(chance)]) for _ in range(jumps)]
    lived_through(home, sequence, Clock(stands=chance.random() < 0.3))


def _anywhere(chance: random.Random) -> Callable[[datetime], datetime]:
    at = START + timedelta(days=chance.uniform(-3_652, 400), microseconds=chance.randrange(10**6))
    offset = timezone(timedelta(minutes=chance.choice((-720, -570, 0, 60, 330, 840))))
    return lambda now: at.astimezone(offset)


@pytest.mark.spec("S2-33")
def test_R25_a_thousand_ids_of_one_microsecond_are_unique_and_ascend(home: Path) -> None:
    """Also across more than a millisecond can count, and when the clock goes back in between."""
    clock = Clock(stands=True)
    with Memory(home, owner="user:mei", clock=clock) as memory:
        ids = [*memory.record([{"role": "user", "content": f"{i}"} for i in range(5_000)]).ids]
        clock.now -= timedelta(days=3_652)
        ids += memory.record([{"role": "user", "content": f"早 {i}"} for i in range(100)]).ids

    assert sorted({*ids}) == ids


@pytest.mark.parametrize("ahead", [timedelta(days=1, seconds=1), timedelta(days=400), timedelta(days=365_000)], ids=str)
def test_R25_what_was_said_in_the_future_counts_as_now_and_says_so(home: Path, ahead: timedelta) -> None:
    """More than a day ahead of the clock: taken, dated now, and the row carries what was given. Up to a day it stands."""
    clock = Clock(stands=True)
    with Memory(home, owner="user:mei", clock=clock) as memory:
        turn = memory.record_turn("user", "明天 tomorrow", said_at=START + ahead)
        statement = memory.remember("I live in Oslo", said_at=START + ahead).memory
        near = memory.remember("Ann likes tea 茶", said_at=START + timedelta(hours=23)).memory

        assert START == turn.said_at == statement.said_at
        assert "ahead" in turn.metadata["clock"] and "ahead" in statement.reason
        assert (START + timedelta(hours=23), None) == (near.said_at, near.reason)


@pytest.mark.parametrize("year", [1970, 1971, 1999, 2038, 2106, 9998])
def test_R25_a_home_is_made_opened_and_read_whatever_the_year(home: Path, year: int) -> None:
    """A machine without a battery, and one far ahead: nothing fails, and everything is there in today's time again."""
    with Memory(home, owner="user:mei", clock=lambda: datetime(year, 1, 2, tzinfo=UTC)) as memory:
        id = memory.remember("I live in Oslo 奥斯陆").memory.id
        memory.record_turn("user", "早")
        _looked_at(memory)
    with Memory(home, owner="user:mei", clock=Clock()) as memory:
        assert "I live in Oslo 奥斯陆" == memory.get(id).content
        assert 1 == memory.admin.stats().turns
