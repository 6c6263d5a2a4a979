"""
Dates of holidays in a given year, from their rules in the lexicon (`[holiday]` in clock.toml).

    12-25             month and day
    11:4:4            month, n, weekday: the fourth Thursday of November (Monday is 1; n = -1 is the last)
    easter, qingming  by their own arithmetic
    lunar 8-15        month and day of the Chinese calendar, from the table below
    …, -1 to 1        the days around it that people celebrate
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache

Span = tuple[date, date]  # first day, and the day after the last

CELEBRATED_AT_MOST = 3  # days after its own; more are a holiday from work, and "the day after" it comes after all of them
_LUNAR_DAYS = ("1-1", "5-5", "7-7", "8-15", "9-9")
# Year, then month and day of these. Computed from the new moons and the sun's longitude (Meeus, Astronomical Algorithms,
# chapters 25 and 49, Beijing time); leap months compared with the published calendar.
_LUNAR = """
2000 0205 0606 0806 0912 1006 2001 0124 0625 0825 1001 1025 2002 0212 0615 0815 0921 1014 2003 0201 0604 0804 0911 1004
2004 0122 0622 0822 0928 1022 2005 0209 0611 0811 0918 1011 2006 0129 0531 0731 1006 1030 2007 0218 0619 0819 0925 1019
2008 0207 0608 0807 0914 1007 2009 0126 0528 0826 1003 1026 2010 0214 0616 0816 0922 1016 2011 0203 0606 0806 0912 1005
2012 0123 0623 0823 0930 1023 2013 0210 0612 0813 0919 1013 2014 0131 0602 0802 0908 1002 2015 0219 0620 0820 0927 1021
2016 0208 0609 0809 0915 1009 2017 0128 0530 0828 1004 1028 2018 0216 0618 0817 0924 1017 2019 0205 0607 0807 0913 1007
2020 0125 0625 0825 1001 1025 2021 0212 0614 0814 0921 1014 2022 0201 0603 0804 0910 1004 2023 0122 0622 0822 0929 1023
2024 0210 0610 0810 0917 1011 2025 0129 0531 0829 1006 1029 2026 0217 0619 0819 0925 1018 2027 0206 0609 0808 0915 1008
2028 0126 0528 0826 1003 1026 2029 0213 0616 0816 0922 1016 2030 0203 0605 0805 0912 1005 2031 0123 0624 0824 1001 1024
2032 0211 0612 0812 0919 1012 2033 0131 0601 0801 0908 1001 2034 0219 0620 0820 0927 1020 2035 0208 0610 0810 0916 1009
2036 0128 0530 0828 1004 1027 2037 0215 0618 0817 0924 1017 2038 0204 0607 0807 0913 1007 2039 0124 0527 0826 1002 1026
2040 0212 0614 0814 0920 1014 2041 0201 0603 0803 0910 1003 2042 0122 0622 0822 0928 1022 2043 0210 0611 0811 0917 1011
2044 0130 0531 0731 1005 1029 2045 0217 0619 0819 0925 1018 2046 0206 0608 0808 0915 1008 2047 0126 0529 0827 1004 1027
2048 0214 0615 0816 0922 1016 2049 0202 0604 0805 0911 1005 2050 0123 0623 0823 0930 1024
"""


def dates(rule: str, year: int) -> Span:
    """Return the days of a holiday in a year; the whole year if it is outside the table."""
    day, _, reach = rule.partition(", ")
    first, _, last = (reach or "0 to 0").partition(" to ")
    on = _day(day, year)
    if on is None:
        return date(year, 1, 1), date(year + 1, 1, 1)
    return on + timedelta(days=int(first)), on + timedelta(days=int(last) + 1)


def own_day(rule: str, span: Span) -> Span:
    """Return the day that a short holiday is named after, of the days on which it is celebrated; a longer one as it is."""
    first, _, last = (rule.partition(", ")[2] or "0 to 0").partition(" to ")
    if int(last) > CELEBRATED_AT_MOST or not int(first) <= 0 <= int(last):
        return span
    on = span[0] - timedelta(days=int(first))
    return on, on + timedelta(days=1)


def _day(rule: str, year: int) -> date | None:
    if rule.startswith("lunar "):
        return _lunar().get((year, rule.removeprefix("lunar ")))
    if rule == "easter":
        return _easter(year)
    if rule == "qingming":  # the sun's fifteenth degree; right from 2000 to 2099
        return date(year, 4, int(year % 100 * 0.2422 + 4.81) - year % 100 // 4)
    if ":" in rule:
        return _nth(year, *map(int, rule.split(":")))
    return date.fromisoformat(f"{year:04}-{rule}")


@cache
def _lunar() -> dict[tuple[int, str], date]:
    table, width = _LUNAR.split(), 1 + len(_LUNAR_DAYS)
    return {
        (int(year), name): date(int(year), int(day[:2]), int(day[2:]))
        for year, *days in (table[start : start + width] for start in range(0, len(table), width))
        for name, day in zip(_LUNAR_DAYS, days, strict=True)
    }


def _nth(year: int, month: int, n: int, weekday: int) -> date:
    """Return the n-th such weekday of a month; the last for n = -1."""
    first = date(year, month, 1)
    if n > 0:
        return first + timedelta(days=(weekday - first.isoweekday()) % 7 + 7 * (n - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.isoweekday() - weekday) % 7)


def _easter(year: int) -> date:
    """Return Easter Sunday by the Gregorian computus."""
    century, golden = year // 100, year % 19
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    rest = (32 + 2 * (century % 4) + 2 * (year % 100 // 4) - epact - year % 100 % 4) % 7
    late = (golden + 11 * epact + 22 * rest) // 451
    month, day = divmod(epact + rest - 7 * late + 114, 31)
    return date(year, month, day + 1)
