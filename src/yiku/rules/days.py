"""
Days, and what the readers of English and of Chinese times share: spans of days, numbers in words, the question under way.

A span is half-open. What asks for a day that does not exist raises ValueError or OverflowError, as `date` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from yiku.rules.holidays import Span

UNIT_DAYS = {
    "day": 1,
    "night": 1,
    "week": 7,
    "weekend": 7,
    "fortnight": 14,
    "month": 30,
    "quarter": 91,
    "year": 365,
    "decade": 3650,
}
COUNT = (
    r"(?:\d{1,3}|an?|the|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a )?couple(?: of)?|(?:a )?few|several)"
)
ZH_COUNT = r"[一二两三四五六七八九十几\d]{1,3}"
ZH_UNIT = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year", "季度": "quarter"}


TO = re.compile(r"\s*(?:(?:-|–|—|~|\b(?:to|until|till?|through|thru)\b|直到|至|到)\s*)+(?:the\s+)?")
AND = re.compile(r"\s*(?:(?:[,、&]|\b(?:and|or)\b|以及|[和及与跟或])\s*)+(?:the\s+|在)?")

_LAST_WORD = re.compile(r"([a-z']+|[^\sa-z])\s*$")


class Days(NamedTuple):
    """What a reader says: the days, how wide «around» them is, their days in another year when none was said."""

    span: Span
    unit: str = "day"
    at: Callable[[int], Span] | None = None
    weak: bool = False


@dataclass(slots=True)
class Found:
    """One time where it stands in the text."""

    start: int
    end: int
    days: Days


@dataclass(slots=True)
class Said:
    """The question under way."""

    text: str
    small: str  # the same in small letters
    today: date
    past: bool  # it tells of what was
    future: bool  # it asks for what will be
    times: list[Found]  # found so far, in the language that is being read

    def before(self, place: int) -> str:
        """The word before a place, or the sign."""
        match = _LAST_WORD.search(self.small[max(0, place - 20) : place])
        return match[1] if match else ""

    def since_last(self, place: int) -> str | None:
        """What stands between the time found last and a place; None when there is none."""
        return self.small[self.times[-1].end : place] if self.times else None


Reader = Callable[[re.Match[str], Said], Days | None]


class Rule(NamedTuple):
    """How a time is said: the words (in Chinese: characters) that begin it, with 0 for a number; its pattern; what reads it."""

    starts: str
    pattern: str
    read: Reader


def day_of(day: date) -> Span:
    return day, day + timedelta(days=1)


def week_of(day: date) -> Span:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=7)


def month_of(year: int, month: int, count: int = 1) -> Span:
    """`count` whole months; month may lie outside 1 to 12 and is then of a year before or after."""
    end = year * 12 + month - 1 + count
    return date(*_carried(year * 12 + month - 1), 1), date(*_carried(end), 1)


def _carried(months: int) -> tuple[int, int]:
    return months // 12, months % 12 + 1


def part_of(span: Span, part: str) -> Span:
    """A part of a month (its thirds), or of a year (its first or last two months, its middle four, its halves)."""
    first, end = span
    if (end - first).days > 31:
        ahead, months = {"start": (0, 2), "middle": (4, 4), "end": (10, 2), "first half": (0, 6), "second half": (6, 6)}[part]
        return month_of(first.year, first.month + ahead, months)
    tenth, twentieth = first + timedelta(days=10), first + timedelta(days=20)
    half = first + timedelta(days=15)
    return {
        "start": (first, tenth),
        "middle": (tenth, twentieth),
        "end": (twentieth, end),
        "from the middle": (tenth, end),
        "to the middle": (first, twentieth),
        "first half": (first, half),
        "second half": (half, end),
    }[part]


def in_year(said: Said, at: Callable[[int], Span], unit: str, year: int | None = None) -> Days:
    """Its days in the year that is said; else the last that have begun, or the next when the future is meant."""
    if year is not None:
        return Days(at(year), unit)
    this = said.today.year
    for candidate in range(this, this + 9) if said.future else range(this + 1, this - 9, -1):
        try:
            span = at(candidate)
        except ValueError:  # 29 February, or the end of a table
            continue
        if (span[1] > said.today) if said.future else (span[0] <= said.today):
            return Days(span, unit, at)
    raise ValueError("in no year")


def back(said: Said, n: float, unit: str, slack: int | None = None) -> Span:
    """So long ago, with the slack of a number that is hardly meant to the day."""
    if unit in ("hour", "minute"):
        return day_of(said.today - timedelta(hours=n if unit == "hour" else n / 60))
    days = round(n * UNIT_DAYS[unit])
    if unit == "month" and n == int(n):
        year, month = _carried(said.today.year * 12 + said.today.month - 1 - int(n))
        days = (said.today - date(year, month, min(said.today.day, (month_of(year, month)[1] - timedelta(days=1)).day))).days
    if slack is None:
        slack = {"day": 0 if n < 4 else 1, "night": 0, "week": 3, "weekend": 3, "fortnight": 3, "month": 15, "quarter": 45}.get(
            unit, 183
        )
        slack = round(slack * min(1, n)) if unit in ("month", "year") else slack
    day = said.today - timedelta(days=days)
    return day - timedelta(days=slack), day + timedelta(days=slack + 1)


_NUMBERS: dict[str, float] = {
    word: n for n, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_NUMBERS |= {"a": 1, "an": 1, "the": 1, "couple": 2, "couple of": 2, "few": 4, "several": 5, "几": 4, "半": 0.5}
_DIGITS = {**{digit: n for n, digit in enumerate("〇一二三四五六七八九")}, "零": 0, "两": 2}


def number(word: str) -> float:
    """The number that digits, an English or a Chinese word say; for «a few» the middle of what is meant."""
    if word.isdecimal():
        return int(word)
    if (word := word.removeprefix("a ")) in _NUMBERS:
        return _NUMBERS[word]
    if "十" in word:
        tens, _, ones = word.partition("十")
        ones = ones.replace("十", "")  # 十十月 is no number; a question that has it is answered all the same
        return (_whole(tens) if tens else 1) * 10 + (_whole(ones) if ones else 0)
    return _whole(word)


def _whole(word: str) -> int:
    return int("".join(str(_DIGITS.get(digit, digit)) for digit in word))


def nearest(at: Callable[[int], Span], shift: int, today: date) -> Span:
    """Of the same time in neighbouring years: the last that is over, that of this year, the next that has not begun."""
    years = [at(today.year + n) for n in (-2, -1, 0, 1)]
    if shift < 0:
        return [span for span in years if span[1] <= today][-1]
    if shift > 0:
        return next(span for span in [*years, at(today.year + 2)] if span[0] > today)
    return next((span for span in years if span[0] <= today < span[1]), years[2])


def last_numbered(today: date, day: int, shift: int | None) -> date:
    if shift is not None:
        return month_of(today.year, today.month + shift)[0].replace(day=day)
    for back in range(12):
        first, end = month_of(today.year, today.month - back)
        if (found := first + timedelta(days=day - 1)) <= today and day >= 1 and found < end:
            return found
    raise ValueError("no such day")


def last_weekend(today: date) -> Span:
    """The weekend that has begun last."""
    saturday = today - timedelta(days=(today.weekday() - 5) % 7)
    return saturday, saturday + timedelta(days=2)
