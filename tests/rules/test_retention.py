"""How long a memory is kept: kinds, priorities and durations, in both languages."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules.deciding import retention
from yiku.rules.deciding.retention import DAY
from yiku.types import Kind, SemanticMemory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=5)


def until(kind=Kind.FACT, priority=None, duration=None, **more):
    return retention.until(kind, priority, duration, now=NOW, **more)


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
    assert (None, False) == (until(Kind.FACT).priority, until(Kind.FACT).with_session)


@pytest.mark.spec("S2-49", "S2-51", "S2-52")
@pytest.mark.parametrize(
    ("words", "lives"),
    [
        ("transient TRANSIENT 临时", DAY),
        ("short_term SHORT_TERM short-term 短期", 3 * DAY),
        ("long_term Long-Term 长期", 30 * DAY),
        ("permanent PERMANENT 永久 永久", None),
    ],
)
def test_each_priority_has_its_length(words, lives):
    """A day, three days, thirty days, for ever: in any spelling, and in Chinese."""
    found = {(until(Kind.FACT, word).priority, life(Kind.FACT, word), until(Kind.FACT, word).unread) for word in words.split()}

    assert {(words.split()[0], lives, ())} == found


@pytest.mark.spec("S2-53")
@pytest.mark.parametrize(
    ("duration", "lives"),
    [
        ("7d", 7 * DAY),
        ("24h", DAY),
        ("２４Ｈ", DAY),
        ("two weeks", 14 * DAY),
        ("a week", 7 * DAY),
        ("90 minutes", timedelta(minutes=90)),
        ("三天", 3 * DAY),
        ("24小时", DAY),
        ("两个星期", 14 * DAY),
        ("半个小时", timedelta(minutes=30)),
        ("999999y", 36_500 * DAY),
    ],
)
def test_a_duration_gives_the_end(duration, lives):
    """What was said outright wins over every priority, and is not stretched."""
    kept = until(Kind.FACT, "permanent", duration)

    assert lives == kept.expires_at - NOW
    assert (None, False, ()) == (kept.priority, kept.pinned, kept.unread)


@pytest.mark.parametrize("duration", ["permanent", "forever", "always", "永久", "永远", "Permanently"])
def test_for_ever_has_no_end(duration):
    """Nothing permanent expires or is deleted, whatever else was said."""
    kept = until(Kind.FACT, "transient", duration, ttl_days=3, expires_at=LATER)

    assert ("permanent", None, None, None) == (kept.priority, kept.expires_at, kept.auto_delete_at, kept.ttl_days)


def test_a_passing_thing_ends_with_its_session_or_after_a_day():
    """C-15: what is for this session ends with it, and after 24 hours at the latest."""
    assert DAY == life(Kind.FACT, "transient")
    assert LATER == until(Kind.FACT, "transient", "session", session_ends=LATER).expires_at
    assert NOW + DAY == until(Kind.FACT, None, "本次会话", session_ends=NOW + 3 * DAY).expires_at
    assert DAY == life(Kind.FACT, None, "session")
    assert until(Kind.FACT, None, "this conversation").with_session and not until(Kind.FACT, "transient").with_session


@pytest.mark.spec("S2-48")
def test_a_rule_for_a_task_ends_a_day_after_its_session():
    """C-10: it holds while the session goes on, however long that is; a rule of behaviour never ends."""
    open_ended, ended = until(Kind.RULE, None, "session"), until(Kind.RULE, "permanent", "session", session_ends=LATER)
    day = until(Kind.RULE, "permanent", "24h")

    assert (None, True, False) == (open_ended.expires_at, open_ended.with_session, open_ended.pinned)
    assert (LATER + DAY, "transient") == (ended.expires_at, ended.priority)
    assert (NOW + DAY, True) == (day.expires_at, day.with_session)
    assert NOW + 3 * DAY == until(Kind.RULE, None, "24h", session_ends=NOW + 2 * DAY).expires_at
    assert (None, True) == (until(Kind.RULE, "permanent").expires_at, until(Kind.RULE, "permanent").pinned)


def test_ttl_days_say_when_it_is_junk():
    """C-14: ttl_days compute auto_delete_at; a time said outright is the end of recall."""
    kept = until(Kind.FACT, "long_term", ttl_days=10)

    assert (None, NOW + 10 * DAY, 10) == (kept.expires_at, kept.auto_delete_at, kept.ttl_days)
    assert (LATER, None) == (until(Kind.PREFERENCE, expires_at=LATER).expires_at, until(Kind.PREFERENCE, expires_at=LATER).priority)
    assert {"priority", "expires_at", "auto_delete_at", "ttl_days", "pinned"} == set(kept.columns())


@pytest.mark.parametrize("word", ["quux", "〇天", "-3d", "3 fortnights", "d", "很久", "7d7d"])
def test_words_that_say_nothing_are_named(word):
    """An unknown word changes nothing, and is given back."""
    assert (None, (word, word)) == (until(Kind.FACT, word, word).expires_at, until(Kind.FACT, word, word).unread)


def memory(**columns):
    return SemanticMemory(
        id="m", line="m", content="x", said_at=NOW, confirmed_at=NOW, valid_from=NOW, created_at=NOW, updated_at=NOW, **columns
    )


def test_what_is_used_lives_longer():
    """C-40: each use renews the term of a priority and ttl_days; an end that was said outright, and `permanent`, stay."""
    used = NOW + 2 * DAY
    short = memory(priority="short_term", expires_at=NOW + 3 * DAY)
    lesson = memory(kind=Kind.ERROR, **{**until(Kind.ERROR).columns()})
    ttl = memory(ttl_days=10, auto_delete_at=NOW + 10 * DAY)

    assert {"expires_at": used + 3 * DAY} == retention.renewed(short, used)
    assert {"expires_at": used + 30 * DAY} == retention.renewed(lesson, used)
    assert {"auto_delete_at": used + 10 * DAY} == retention.renewed(ttl, used)
    assert {} == retention.renewed(short, NOW - DAY)  # nothing moves back
    for fixed in (memory(expires_at=LATER), memory(priority="transient", expires_at=LATER), replace(short, priority="permanent")):
        assert {} == retention.renewed(fixed, used)
