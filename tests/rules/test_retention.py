"""Expiry of memories by kind, priority and session."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules.deciding import retention
from yiku.rules.deciding.retention import DAY
from yiku.rules.learning import extraction
from yiku.types import Kind, SemanticMemory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=5)


def until(kind=Kind.FACT, priority=None, **more):
    return retention.until(kind, priority, now=NOW, **more)


def life(*args, **more):
    """How long after NOW it is recalled; None for ever."""
    ends = until(*args, **more).expires_at
    return ends - NOW if ends else None


@pytest.mark.spec("S2-45", "S2-46", "S2-47", "S2-48", "S2-44")
def test_each_kind_has_its_default():
    """Preferences, skills and rules of behaviour are permanent, rules pinned; a lesson lives a week; a fact is left open."""
    assert ["permanent"] * 4 == [until(kind).priority for kind in (Kind.PREFERENCE, Kind.SKILL, Kind.RULE, Kind.PERSONA_TRAIT)]
    assert [True, False, False] == [until(kind).pinned for kind in (Kind.RULE, Kind.PREFERENCE, Kind.FACT)]
    assert [7 * DAY, None, None] == [life(kind) for kind in (Kind.ERROR, Kind.FACT, Kind.RULE)]
    assert until(Kind.FACT).priority is None


@pytest.mark.spec("S2-49", "S2-51", "S2-52")
@pytest.mark.parametrize(
    ("priority", "lives"), [("transient", DAY), ("short_term", 3 * DAY), ("long_term", 30 * DAY), ("permanent", None)]
)
def test_each_priority_has_its_length(priority, lives):
    """A day, three days, thirty days, for ever."""
    assert (priority, lives) == (until(Kind.FACT, priority).priority, life(Kind.FACT, priority))


@pytest.mark.spec("S2-53")
def test_each_duration_that_a_model_names_has_an_end():
    """Each is a priority, and so a time in the row; three days stand for a week, and each use renews them."""
    lives = {name: life(Kind.FACT, priority, session=name == "session") for name, priority in extraction.DURATIONS.items()}

    assert {"permanent": None, "30d": 30 * DAY, "7d": 3 * DAY, "24h": DAY, "session": DAY} == lives


def test_a_time_said_outright_is_the_end():
    """It wins over every priority; nothing permanent expires, whatever else was said."""
    assert ("long_term", LATER) == until(Kind.FACT, "long_term", expires_at=LATER)[:2]
    assert (None, LATER) == until(Kind.PREFERENCE, expires_at=LATER)[:2]
    assert ("permanent", None) == until(Kind.FACT, "permanent", expires_at=LATER)[:2]


def test_a_passing_thing_ends_with_its_session_or_after_a_day():
    """C-15: what is for this session ends with it, and after 24 hours at the latest."""
    assert LATER == until(Kind.FACT, "transient", session=True, session_ends=LATER).expires_at
    assert NOW + DAY == until(Kind.FACT, session=True, session_ends=NOW + 3 * DAY).expires_at
    assert DAY == life(Kind.FACT, session=True)


@pytest.mark.spec("S2-48")
def test_a_rule_for_a_task_ends_a_day_after_its_session():
    """C-10: it holds while the session goes on, however long that is; a rule of behaviour never ends."""
    open_ended, ended = until(Kind.RULE, session=True), until(Kind.RULE, "permanent", session=True, session_ends=LATER)

    assert (None, False) == (open_ended.expires_at, open_ended.pinned)
    assert (LATER + DAY, "transient") == (ended.expires_at, ended.priority)
    assert (None, True) == (until(Kind.RULE, "permanent").expires_at, until(Kind.RULE, "permanent").pinned)


def memory(**columns):
    return SemanticMemory(
        id="m", line="m", content="x", said_at=NOW, confirmed_at=NOW, valid_from=NOW, created_at=NOW, updated_at=NOW, **columns
    )


def test_what_is_used_lives_longer():
    """C-40: each use renews the term of a priority and ttl_days; an end that was said outright, and `permanent`, stay."""
    used = NOW + 2 * DAY
    short = memory(priority="short_term", expires_at=NOW + 3 * DAY)
    lesson = memory(kind=Kind.ERROR, **until(Kind.ERROR)._asdict())
    ttl = memory(ttl_days=10, auto_delete_at=NOW + 10 * DAY)

    assert {"expires_at": used + 3 * DAY} == retention.renewal(short, used)
    assert {"expires_at": used + 30 * DAY} == retention.renewal(lesson, used)
    assert {"auto_delete_at": used + 10 * DAY} == retention.renewal(ttl, used)
    assert {} == retention.renewal(short, NOW - DAY)  # nothing moves back
    for fixed in (memory(expires_at=LATER), memory(priority="transient", expires_at=LATER), replace(short, priority="permanent")):
        assert {} == retention.renewal(fixed, used)
