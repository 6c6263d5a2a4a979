"""Selecting rows by transaction time (`as_of`) and validity time (`valid_at`)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from yiku.rules.deciding import history
from yiku.types import ChangeRow, SemanticMemory, State

START = datetime(2026, 3, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def memory(**fields: object) -> SemanticMemory:
    return replace(
        SemanticMemory(
            n=1,
            id="m",
            line="m",
            content="x",
            said_at=day(1),
            confirmed_at=day(1),
            valid_from=day(1),
            created_at=day(1),
            updated_at=day(1),
        ),
        **fields,
    )


def change(number: int, at: datetime, before: dict[str, object]) -> ChangeRow:
    return ChangeRow(number, number, at, None, None, "test", "update", "memories", 1, 1, None, before)


def test_a_row_is_rewound_change_by_change() -> None:
    """Each change after the time is taken back, the newest first; those before stay."""
    now = memory(state=State.ARCHIVED, importance=0.9)
    changes = [
        change(9, day(9), {"state": State.ACTIVE}),
        change(5, day(5), {"importance": 0.7}),
        change(3, day(3), {"importance": 0.5}),
    ]

    assert (State.ACTIVE, 0.9) == _seen(history.rewind(now, changes, day(6)))
    assert (State.ACTIVE, 0.7) == _seen(history.rewind(now, changes, day(4)))
    assert history.rewind(now, changes, day(0)) is None


def _seen(memory: SemanticMemory | None) -> tuple[State, float]:
    assert memory is not None
    return memory.state, memory.importance


def test_what_held_is_judged_by_nothing_that_was_said_later() -> None:
    """A correction of day 9 that reaches back to day 2 does not change what held on day 5, as then known."""
    old = memory(superseded_by="new", valid_to=day(2))
    new = memory(id="new", said_at=day(9), valid_from=day(2))

    assert history.held(old, new, day(5))
    assert not history.held(new, None, day(5))
    assert not history.held(old, new, day(9))
    assert history.held(new, None, day(9))


def test_what_expired_or_was_forgotten_did_not_hold() -> None:
    """An expiry ends it, and what left memory is not asked."""
    assert history.held(memory(expires_at=day(4)), None, day(3))
    assert not history.held(memory(expires_at=day(4)), None, day(4))
    assert not history.held(memory(state=State.ARCHIVED), None, day(3))


def test_what_a_night_put_away_stood_until_then() -> None:
    """Its night is taken back, and what came before it stays: what was forgotten and then became junk is still forgotten."""
    junk = memory(state=State.JUNK, reason="auto-delete")
    junked = change(9, day(9), {"state": State.ARCHIVED, "reason": "expired"})
    expired = change(5, day(5), {"state": State.ACTIVE, "reason": None})
    forgotten = change(4, day(4), {"state": State.ACTIVE, "reason": None})

    assert (State.ACTIVE, None) == _was(history.awake(junk, [junked, expired, forgotten]))
    assert (State.ARCHIVED, "expired") == _was(history.awake(junk, [junked]))
    was_forgotten = change(9, day(9), {"state": State.ARCHIVED, "reason": "forgotten"})
    assert (State.ARCHIVED, "forgotten") == _was(history.awake(junk, [was_forgotten, forgotten]))
    assert (State.ARCHIVED, "rejected") == _was(history.awake(memory(state=State.ARCHIVED, reason="rejected"), [expired]))


def _was(memory: SemanticMemory) -> tuple[State, str | None]:
    return memory.state, memory.reason


def test_what_says_until_when_holds_until_then() -> None:
    """Without an end it holds; at its end it does no more."""
    assert history.holds(memory(), day(9))
    assert history.holds(memory(valid_to=day(4)), day(3))
    assert not history.holds(memory(valid_to=day(4)), day(4))
