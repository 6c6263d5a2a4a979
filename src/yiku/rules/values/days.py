"""
Compute day ranges: weeks, months and their parts, durations ago, the nearest occurrence of yearly days.

A span is half-open. A day that does not exist raises ValueError or OverflowError, as `date` does.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from yiku.rules.values.holidays import Span

UNIT_DAYS = {
    "day": 1, "night": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365, "decade": 3650
}  # fmt: skip
EXACT_DAYS = 3  # up to so many days ago a number is meant to the day
VAGUE = 0.75  # of "a few days ago": how far it may be off
A_FEW_MORE = 1.5  # "the last few days" are at most so many times as many
MONTHS_OF_PART = {"start": (0, 2), "middle": (4, 4), "end": (10, 2), "first half": (0, 6), "second half": (6, 6)}
_DAYS_OF_PART = {
    "start": (0, 10),
    "middle": (10, 20),
    "end": (20, 31),
    "from the middle": (10, 31),
    "to the middle": (0, 20),
    "first half": (0, 15),
    "second half": (15, 31),
}


def day_of(day: date) -> Span:
    return day, day + timedelta(days=1)


def week_of(day: date) -> Span:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=7)


def month_of(year: int, month: int, count: int = 1) -> Span:
    """Return `count` whole months; a month outside 1 to 12 is one of a year before or after."""
    first, end = year * 12 + month - 1, year * 12 + month - 1 + count
    return date(first // 12, first % 12 + 1, 1), date(end // 12, end % 12 + 1, 1)


def weekend_of(day: date) -> Span:
    """Return the weekend of the week that a day is in."""
    monday, end = week_of(day)
    return monday + timedelta(days=5), end


def part_of(span: Span, part: str) -> Span:
    """Return a part of a year (in months) or of a month (its thirds or halves)."""
    first, end = span
    if (end - first).days > 31:
        ahead, months = MONTHS_OF_PART[part]
        return month_of(first.year, first.month + ahead, months)
    since, until = _DAYS_OF_PART[part]
    return first + timedelta(days=since), min(end, first + timedelta(days=until))


def ago(today: date, n: float, unit: str, *, vague: bool = False) -> Span:
    """Return the days meant by a duration ago: the larger the unit, the wider the range."""
    if unit in ("hour", "minute"):
        return day_of(today - timedelta(hours=n if unit == "hour" else n / 60))
    days = round(n * UNIT_DAYS[unit])
    slack = round(days * VAGUE) if vague else 0 if days <= EXACT_DAYS else max(1, int(UNIT_DAYS[unit] * min(1, n) / 2))
    day = today - timedelta(days=days)
    return day - timedelta(days=slack), day + timedelta(days=slack + 1)


def nth_of(month: Span, n: int, unit: str) -> Span:
    """Return a day, week or weekend of a month, the first for n = 0, the last for -1: a week is seven days from its first on."""
    length = timedelta(days=1 if unit == "day" else 7)
    since = month[1] - length if n < 0 else month[0] + n * length
    if unit == "weekend":
        since += timedelta(days=(5 - since.weekday()) % 7)
        return since, since + timedelta(days=2)
    if unit not in ("day", "week"):
        raise ValueError(f"no {unit} of a month")
    return since, since + length


def nearest(at: Callable[[int], Span], shift: int, today: date) -> Span:
    """Return the last (-1), this year's (0) or the next (1) occurrence of a yearly range."""
    years = [at(today.year + n) for n in range(-3, 4)]
    if shift < 0:
        return [span for span in years if span[1] <= today][shift]
    if shift > 0:
        return [span for span in years if span[0] > today][shift - 1]
    return next((span for span in years if span[0] <= today < span[1]), years[3])


def last_numbered(today: date, day: int) -> date:
    """Return the last occurrence of a day of the month: the 31st may be two months ago."""
    for back in range(12):
        first, end = month_of(today.year, today.month - back)
        if day >= 1 and (found := first + timedelta(days=day - 1)) <= today and found < end:
            return found
    raise ValueError("no such day")
