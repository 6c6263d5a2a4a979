"""Which memories fade with age (temporary ones, guesses), and which never do (rules, pins, plain statements)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules.night import ends, fading
from yiku.types import Kind, SemanticMemory, Standing

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROW = SemanticMemory(
    id="a", line="a", content="班车从四号门出发", said_at=NOW, confirmed_at=NOW, valid_from=NOW, created_at=NOW, updated_at=NOW
)
TEN_YEARS = NOW + timedelta(days=3650)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kind": Kind.RULE, "standing": Standing.BELIEF},
        {"pinned": True, "priority": "short_term"},
        {"priority": "permanent", "standing": Standing.SUMMARY},
        {"priority": "long_term", "retrieved": 1, "used": 1},
    ],
)
@pytest.mark.spec("S3-50", "S2-82")
def test_what_never_falls_asleep_by_age(given):
    """Not after ten years."""
    assert None is fading.decide(replace(ROW, **given), TEN_YEARS)


@pytest.mark.parametrize("given", [{"priority": "short_term"}, {"standing": Standing.BELIEF}, {"standing": Standing.SUMMARY}])
@pytest.mark.spec("S2-80", "S3-199")
def test_what_does(given):
    """After ten years, at the latest."""
    assert "archive" == fading.decide(replace(ROW, **given), TEN_YEARS)


@pytest.mark.spec("S2-50", "S3-198")
def test_the_days_of_a_priority_are_kept_whatever_the_weight():
    """Three days from the last use; what has an end, until that."""
    row = replace(ROW, priority="short_term", importance=0.0)

    assert [None, "archive"] == [fading.decide(row, NOW + timedelta(days=days)) for days in (2, 3)]
    used = replace(row, used=1, last_used=NOW + timedelta(days=2))
    assert [None, None] == [fading.decide(used, NOW + timedelta(days=days)) for days in (3, 4)]
    ending = replace(row, expires_at=NOW + timedelta(days=9))
    assert [None, "archive"] == [fading.decide(ending, NOW + timedelta(days=days)) for days in (8, 9)]


def test_junk_goes_after_thirty_days():
    """Only what became junk because its days were over."""
    row = replace(ROW, reason=ends.DUE)

    assert [False, True] == [ends.purgeable(row, NOW + timedelta(days=days)) for days in (29, 30)]
    assert not ends.purgeable(replace(row, reason="forgotten"), TEN_YEARS)
