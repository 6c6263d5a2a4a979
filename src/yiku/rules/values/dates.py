"""
Parse dates and times of day from a value's scanned tokens, relative to the time when it was said.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from datetime import datetime, timedelta

from yiku.rules.values.measures import Piece, Read, day_of, is_digit, number, past, says

_YEARS = range(1_900, 2_100)  # a number among these may be a year
_CENTURY = 40  # 八七年 is 1987, 一三年 2013
_BEHIND_NOON = {"afternoon": 1, "evening": 1, "noon": 1, "night": 6}  # parts of a day, and their first hour behind noon
_SHORT = 3  # letters of a month that is not told when it stands alone: may


def date(pieces: Sequence[Piece], at: int, said_at: datetime | None) -> Read | None:
    """Parse a day, month or weekday: 12 June, tomorrow, next Friday, 明年三月五号, 九月底."""
    if (value := says(pieces, at, "date")) is not None:
        return value, at + 1
    if (near := says(pieces, at, "near")) is not None and said_at is not None:
        return _token(said_at + timedelta(days=int(near))), at + 1
    return _weekday(pieces, at, said_at) or _calendar(pieces, at, said_at)


def _token(day: datetime) -> str:
    return day_of(day.year, day.month, day.day)


def _weekday(pieces: Sequence[Piece], at: int, said_at: datetime | None) -> Read | None:
    """Parse a weekday; `this` and `next` give its date. Next to a date it adds nothing."""
    week = says(pieces, at, "week")
    place = at + (week is not None)
    value = says(pieces, place, "weekday")
    if value is None:
        return None
    day = int(value) - 1
    if week is not None and said_at is not None:
        ahead = (day - said_at.weekday()) % 7 if week == "coming" else day - said_at.weekday() + int(week)
        return _token(said_at + timedelta(days=ahead)), place + 1
    return _calendar(pieces, past(pieces, place + 1, "of"), said_at) or (f"@w{day}", place + 1)


def _calendar(pieces: Sequence[Piece], at: int, said_at: datetime | None) -> Read | None:
    """Parse a date from its parts, in the order of either language: the 12th of June, 2026年国庆, 今年最后一天."""
    found: dict[str, int | str] = {}
    end = at
    while (part := _part_of_date(pieces, past(pieces, end, "of"), said_at, found)) and found.keys().isdisjoint(part[0]):
        found |= part[0]
        end = part[1]
    year, month, day = (int(found.get(name, 0)) for name in ("year", "month", "day"))
    if "last" in found and (month or year):
        return day_of(year, month or 12, monthrange(year or _YEARS[3], month or 12)[1]), end
    if month:
        certain = day or year or "stretch" in found or pieces[end - 1].cjk or len(pieces[end - 1].text) > _SHORT
        return (f"{day_of(year, month, day)}{found.get('stretch', '')}", end) if certain else None
    if day:
        following = pieces[end] if end < len(pieces) else None
        counts = following is not None and following.text.isalpha() and not following.reads  # the 4th level, 5号楼
        return (f"#{day}" if counts else f"@d{day}"), end
    return (f"#{year}", end) if year and "of" not in found else None


def _part_of_date(
    pieces: Sequence[Piece], at: int, said_at: datetime | None, found: dict[str, int | str]
) -> tuple[dict[str, int | str], int] | None:
    """Parse one part of a date; `of`: it is relative to when it was said."""
    if said_at is not None and (years := says(pieces, at, "years")) is not None:
        return {"year": said_at.year + int(years), "of": "year"}, at + 1
    if said_at is not None and (months := says(pieces, at, "months")) is not None:
        year, month = divmod(said_at.year * 12 + said_at.month - 1 + int(months), 12)
        return {"year": year, "month": month + 1, "of": "month"}, at + 1
    if (value := says(pieces, at, "month")) is not None:
        return {"month": int(value)}, at + 1
    if (value := says(pieces, at, "holiday")) is not None:
        return {"month": int(value[:2]), "day": int(value[3:])}, at + 1
    if says(pieces, at, "lastday") is not None:
        return {"last": 1}, at + 1
    if "month" in found and (value := says(pieces, at, "stretch")) is not None:
        return {"stretch": value}, at + 1
    return _number_of_date(pieces, at, "month" in found)


def _number_of_date(pieces: Sequence[Piece], at: int, of_month: bool) -> tuple[dict[str, int | str], int] | None:
    """Parse a number as part of a date, by its suffix or its month."""
    if (counted := number(pieces, at)) is None or counted[0] % 1:
        return None
    value, end = int(counted[0]), counted[1]
    if says(pieces, end, "yearend") is not None:
        if end == at + 2 and is_digit(pieces[at]) and is_digit(pieces[at + 1]):
            value += 1_900 if value >= _CENTURY else 2_000
        return ({"year": value}, end + 1) if value in _YEARS else None
    if says(pieces, end, "monthend") is not None and 0 < value <= 12:
        return {"month": value}, end + 1
    if says(pieces, end, "dayend") is not None and 0 < value <= 31:
        return {"day": value}, end + 1
    if of_month and value in _YEARS:
        return {"year": value}, end
    month = past(pieces, end, "of")
    has_month = of_month or (says(pieces, month, "month") is not None and not pieces[month].cjk)
    hour = any(says(pieces, end, kind) is not None for kind in ("part", "hour", "unit"))
    return ({"day": value}, end) if has_month and 0 < value <= 31 and not hour else None


def time_of_day(pieces: Sequence[Piece], at: int, _: datetime | None) -> Read | None:
    """Parse a time of day: 3pm, 15:00, quarter past 4, eleven at night, 下午三点半, noon."""
    part = says(pieces, at, "part")
    place = at + (part is not None)
    named, minutes = says(pieces, place, "clock"), says(pieces, place, "past")
    vague = named is None
    if named is not None:
        hour, minute, end = int(named[:2]), int(named[3:]), place + 1
    elif counted := number(pieces, place + (minutes is not None)):
        hour, minute, end = int(counted[0]), int(minutes or 0), counted[1]
        marked = minutes is not None or says(pieces, end, "hour") is not None
        if says(pieces, end, "hour") is not None:
            minute, end = _minutes(pieces, end + 1)
        if not marked and (part or says(pieces, end, "part") is None or pieces[at].cjk):
            return None
    else:
        part_of_day = part or says(pieces, at, "part_alone")
        return (f"%{part_of_day}", at + 1) if part_of_day and at else None
    if hour > 24:
        return None
    if part is None and (part := says(pieces, end, "part")) is not None:
        end += 1
    if part == "morning" or (part in ("evening", "night") and hour == 12):
        hour %= 12
    elif part and _BEHIND_NOON[part] <= hour < 12:
        hour += 12
    total = (hour * 60 + minute) % 1_440
    return f"%{'?' if vague and not part and hour <= 12 else ''}{total // 60:02}:{total % 60:02}", end


def _minutes(pieces: Sequence[Piece], at: int) -> tuple[int, int]:
    """Parse the minutes after an hour: 半, 一刻, 二十分."""
    count, end = number(pieces, at) or (0.0, at)
    each = says(pieces, end, "minute")
    minutes = count * (60 if count < 1 else int(each or 1))
    return (int(minutes), end + (each is not None)) if minutes < 60 else (0, at)
