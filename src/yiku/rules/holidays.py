"""
When a holiday is: the days that people mean by its name, in a given year.

Most fall on a date, some on the n-th weekday of a month, Easter by its own arithmetic, and the Chinese
ones by the moon. The lunar table was computed from the new moons and the sun's longitude (Meeus,
Astronomical Algorithms, chapters 25 and 49, Beijing time) and its leap months compared with the
published calendar; it ends where we stopped, and a year outside it is a ValueError.

A span is half-open and as long as people celebrate: 国庆 is a week, Christmas begins on its eve.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache

Span = tuple[date, date]  # first day, and the day after the last

# Year, then month and day of 春节, 端午, 七夕, 中秋 and 重阳.
_LUNAR = """
2000 0205 0606 0806 0912 1006
2001 0124 0625 0825 1001 1025
2002 0212 0615 0815 0921 1014
2003 0201 0604 0804 0911 1004
2004 0122 0622 0822 0928 1022
2005 0209 0611 0811 0918 1011
2006 0129 0531 0731 1006 1030
2007 0218 0619 0819 0925 1019
2008 0207 0608 0807 0914 1007
2009 0126 0528 0826 1003 1026
2010 0214 0616 0816 0922 1016
2011 0203 0606 0806 0912 1005
2012 0123 0623 0823 0930 1023
2013 0210 0612 0813 0919 1013
2014 0131 0602 0802 0908 1002
2015 0219 0620 0820 0927 1021
2016 0208 0609 0809 0915 1009
2017 0128 0530 0828 1004 1028
2018 0216 0618 0817 0924 1017
2019 0205 0607 0807 0913 1007
2020 0125 0625 0825 1001 1025
2021 0212 0614 0814 0921 1014
2022 0201 0603 0804 0910 1004
2023 0122 0622 0822 0929 1023
2024 0210 0610 0810 0917 1011
2025 0129 0531 0829 1006 1029
2026 0217 0619 0819 0925 1018
2027 0206 0609 0808 0915 1008
2028 0126 0528 0826 1003 1026
2029 0213 0616 0816 0922 1016
2030 0203 0605 0805 0912 1005
2031 0123 0624 0824 1001 1024
2032 0211 0612 0812 0919 1012
2033 0131 0601 0801 0908 1001
2034 0219 0620 0820 0927 1020
2035 0208 0610 0810 0916 1009
2036 0128 0530 0828 1004 1027
2037 0215 0618 0817 0924 1017
2038 0204 0607 0807 0913 1007
2039 0124 0527 0826 1002 1026
2040 0212 0614 0814 0920 1014
2041 0201 0603 0803 0910 1003
2042 0122 0622 0822 0928 1022
2043 0210 0611 0811 0917 1011
2044 0130 0531 0731 1005 1029
2045 0217 0619 0819 0925 1018
2046 0206 0608 0808 0915 1008
2047 0126 0529 0827 1004 1027
2048 0214 0615 0816 0922 1016
2049 0202 0604 0805 0911 1005
2050 0123 0623 0823 0930 1024
"""
_LUNAR_DAYS = ("spring", "dragon boat", "qixi", "mid-autumn", "double ninth")


def dates(name: str, year: int) -> Span:
    """The days of a holiday in the year that it is named by. Raises ValueError when we do not know them."""
    if name in _FIXED:
        month, day, days = _FIXED[name]
        first = date(year, month, day)
    else:
        first, days = _MOVING[name](year)
    return first, first + timedelta(days=days)


def named(words: str) -> str:
    """The holiday that is called so: words in small letters, as `ENGLISH` and `CHINESE` have them."""
    return _BY_WORDS[words.replace("'", "").removesuffix(" day").removesuffix("节")]


@cache
def _lunar() -> dict[int, dict[str, date]]:
    rows = (row.split() for row in _LUNAR.split("\n") if row)
    return {
        int(year): {name: date(int(year), int(on[:2]), int(on[2:])) for name, on in zip(_LUNAR_DAYS, days, strict=True)}
        for year, *days in rows
    }


def _by_moon(name: str, before: int, days: int) -> Callable[[int], tuple[date, int]]:
    """A holiday of the table: how many days before it one begins to celebrate, and for how long."""

    def first(year: int) -> tuple[date, int]:
        if year not in _lunar():
            raise ValueError(f"no lunar dates for {year}")
        return _lunar()[year][name] - timedelta(days=before), days

    return first


def _nth(month: int, weekday: int, n: int, days: int = 1, after: int = 0) -> Callable[[int], tuple[date, int]]:
    """The n-th such weekday (Monday is 0) of a month; n = -1 is the last. Then so many days `after` it."""

    def first(year: int) -> tuple[date, int]:
        if n < 0:
            end = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
            return end - timedelta(days=(end.weekday() - weekday) % 7 - after), days
        start = date(year, month, 1)
        return start + timedelta(days=(weekday - start.weekday()) % 7 + 7 * (n - 1) + after), days

    return first


def _easter(year: int) -> tuple[date, int]:
    """From Good Friday to Easter Monday, by the Gregorian computus."""
    century, golden = year // 100, year % 19
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    rest = (32 + 2 * (century % 4) + 2 * (year % 100 // 4) - epact - year % 100 % 4) % 7
    late = (golden + 11 * epact + 22 * rest) // 451
    month, day = divmod(epact + rest - 7 * late + 114, 31)
    return date(year, month, day + 1) - timedelta(days=2), 4


def _qingming(year: int) -> tuple[date, int]:
    """Three days around the sun's fifteenth degree; right from 2000 to 2099."""
    return date(year, 4, int(year % 100 * 0.2422 + 4.81) - year % 100 // 4 - 1), 3


_FIXED = {  # month, day, days
    "new year": (1, 1, 3),
    "valentine": (2, 14, 1),
    "women": (3, 8, 1),
    "st patrick": (3, 17, 1),
    "may day": (5, 1, 5),
    "children": (6, 1, 1),
    "independence": (7, 4, 1),
    "teacher": (9, 10, 1),
    "national": (10, 1, 8),
    "halloween": (10, 31, 1),
    "singles": (11, 11, 1),
    "double twelve": (12, 12, 1),
    "winter solstice": (12, 21, 2),
    "christmas eve": (12, 24, 1),
    "christmas": (12, 24, 3),
    "new year eve": (12, 31, 1),
}
_MOVING: dict[str, Callable[[int], tuple[date, int]]] = {
    "spring eve": _by_moon("spring", 1, 1),
    "spring": _by_moon("spring", 1, 16),  # from the eve to the lanterns
    "lantern": _by_moon("spring", -14, 1),
    "dragon boat": _by_moon("dragon boat", 1, 3),
    "qixi": _by_moon("qixi", 0, 1),
    "mid-autumn": _by_moon("mid-autumn", 1, 3),
    "double ninth": _by_moon("double ninth", 0, 1),
    "qingming": _qingming,
    "easter": _easter,
    "mother": _nth(5, 6, 2),
    "memorial": _nth(5, 0, -1),
    "father": _nth(6, 6, 3),
    "labor": _nth(9, 0, 1),
    "thanksgiving": _nth(11, 3, 4, days=4),
    "black friday": _nth(11, 3, 4, after=1),
}

_BY_WORDS = {
    words: name
    for name, said in {
        "new year": "new year|new years|元旦",
        "new year eve": "new year eve|new years eve|跨年夜",
        "valentine": "valentine|valentines|情人",
        "women": "international womens|womens|妇女",
        "st patrick": "st patricks|st. patricks",
        "may day": "may|五一|五一劳动|劳动|international workers",
        "children": "childrens|儿童|六一|六一儿童",
        "independence": "independence|4th of july|fourth of july",
        "teacher": "teachers|教师",
        "national": "chinese national|国庆|十一",
        "halloween": "halloween|万圣",
        "singles": "singles|双十一|双11",
        "double twelve": "双十二|双12",
        "winter solstice": "winter solstice|冬至",
        "christmas eve": "christmas eve|xmas eve|平安夜|圣诞前夜",
        "christmas": "christmas|xmas|圣诞",
        "spring eve": "chinese new year eve|chinese new years eve|除夕|大年三十|年三十",
        "spring": "chinese new year|chinese new years|lunar new year|spring festival|春|过年|新春|春假|大年",
        "lantern": "lantern festival|元宵|正月十五",
        "dragon boat": "dragon boat festival|端午",
        "qixi": "qixi|qixi festival|七夕",
        "mid-autumn": "mid-autumn festival|mid-autumn|moon festival|中秋",
        "double ninth": "double ninth festival|重阳",
        "qingming": "qingming|qingming festival|tomb sweeping|tomb-sweeping|清明",
        "easter": "easter|easter sunday|easter weekend|复活",
        "mother": "mothers|母亲",
        "memorial": "memorial",
        "father": "fathers|父亲",
        "labor": "labor|labour",
        "thanksgiving": "thanksgiving|感恩",
        "black friday": "black friday|黑五",
    }.items()
    for words in said.split("|")
}

ENGLISH = (
    r"(?:(?:christmas|xmas|(?:chinese )?new year(?:'?s)?) eve|(?:chinese |lunar )new year(?:'?s)?|spring festival|lantern festival|dragon boat festival"
    r"|qixi(?: festival)?|mid-autumn(?: festival)?|moon festival|double ninth festival|qingming(?: festival)?|tomb[ -]sweeping day|chinese national day"
    r"|christmas(?: day)?|xmas|new year(?:'?s)?(?: day)?|thanksgiving(?: day)?|halloween|easter(?! eggs?\b)(?: sunday| weekend)?|valentine'?s(?: day)?"
    r"|(?:mother'?|father'?|teacher'?|children'?|(?:international )?women'?)s'? day|st\.? patrick'?s day|may day|(?:international workers'|memorial|labou?r|independence|singles'?) day"
    r"|(?:4th|fourth) of july|black friday|winter solstice)\b"
)
CHINESE = (
    r"(?:圣诞前夜|圣诞节?(?!树|老人|歌|袜|帽|卡|快乐)|平安夜|元旦|跨年夜|情人节|妇女节|五一劳动节|劳动节|(?<![一二三四五六七八九十百\d])五一(?!路|广场|大道|街|村|口|线|商|新|国|绿|校|农|站|大桥)"
    r"|六一儿童节|儿童节|六一(?=节|期间|那天|当天)|教师节|国庆节?|(?<![一二三四五六七八九双二\d])十一(?=期间|假期|长假|黄金周|小长假|前后|那几天)|万圣节|双十一|双11|双十二|双12|冬至|除夕|大年三十|年三十"
    r"|春节|新春|过年(?=期间|的时候|那|前|后|时|回)|元宵节|元宵(?=期间|那天|当天|晚|前|后)|正月十五|端午节?|七夕节?|中秋节?|重阳节?|清明节?(?!上河图)|复活节|母亲节|父亲节|感恩节|黑五)"
)
