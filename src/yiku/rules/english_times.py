"""
The times of an English question, and dates in digits: 18 January 2025, last March, on the 18th, two weeks ago, 2025-01-18.

Each rule is a pattern and the reader that says which days it means; the order is that of precedence.
A word that is often no time (may, march, spring, June, a bare year) needs a word beside it that says so.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from yiku.rules import holidays
from yiku.rules.days import (
    AND,
    COUNT,
    TO,
    UNIT_DAYS,
    Days,
    Rule,
    Said,
    back,
    day_of,
    in_year,
    last_numbered,
    last_weekend,
    month_of,
    nearest,
    number,
    part_of,
    week_of,
)
from yiku.rules.holidays import Span
from yiku.rules.shared_words import MONTH

_MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_WEEKDAYS = {name: n for n, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_RELATIVE = {"last": -1, "previous": -1, "this": 0, "next": 1}
_PARTS = {
    "early": "start",
    "beginning": "start",
    "start": "start",
    "mid": "middle",
    "middle": "middle",
    "late": "end",
    "end": "end",
}
_IN = frozenset("in during since until till throughout late early mid between within".split())
_BESIDE_A_TIME = _IN | frozenset("from through to and or before after of for by around on - – ( ,".split())
_NAMES = ("apr", "jun", "aug", "jan")  # names of people, too
_VERBS = ("may", "mar")

_B = r"(?<![\w./:-])"  # begins a word
_M = rf"(?:{MONTH})\b\.?"
_Y = r"(?:(?:19|20)\d\d(?![\w/:-]|\.\d)|(?:last|this|next) year\b)"
_W = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
_S = r"(?:spring|summer|autumn|fall|winter)\b"
_D = r"\d\d?(?:st|nd|rd|th)?"
_ISO_END = r"(?![\w/]|[.-]\d)"


def _numeric(match: re.Match[str], said: Said) -> Days | None:
    if match["sep"] == "." and (said.before(match.start()) or "on") not in _BESIDE_A_TIME and said.before(match.start()).isascii():
        return None  # a version: PyCharm 2024.1.2
    return Days(day_of(date(int(match["y"]), int(match["m"]), int(match["d"]))))


def _iso_month(match: re.Match[str], said: Said) -> Days:
    return Days(month_of(int(match["y"]), int(match["m"])), "month")


def _slashed(match: re.Match[str], said: Said) -> Days | None:
    """1/18 with or without a year, where only one reading exists; a fraction of something is no date."""
    a, b, year = int(match["a"]), int(match["b"]), match["y"]
    if match["sep"] == "." or a > 12:  # day first
        a, b = b, a
    elif b <= 12 and a != b:
        return None
    if year is None and (
        said.before(match.start())
        not in {"on", "since", "until", "before", "after", "from", "to", "between", "and", "在", "于", "自"}
    ):
        return None
    if year is None and (match["sep"] == "." or "24/7" in match[0]):
        return None
    given = int(year) + (2000 if year and len(year) == 2 else 0) if year else None
    return in_year(said, lambda y: day_of(date(y, a, b)), "day", given)


def _year(words: str | None, said: Said) -> int | None:
    if not words:
        return None
    return int(words) if words.isdecimal() else said.today.year + _RELATIVE[words.split()[0]]


def _month_day(match: re.Match[str], said: Said) -> Days | None:
    name, month = match["m"], _MONTHS[match["m"][:3]]
    if not match["d"][-1].isalpha() and not match["y"] and name in ("may", "march", "mar"):
        place = match.start("m")
        if not said.text[place].isupper() and said.before(match.start()) not in _BESIDE_A_TIME:
            return None  # «may 5 people come», «march 5 miles»
    first = int(match["d"].rstrip("sthndr"))
    last = int(match["e"].rstrip("sthndr")) if match["e"] else first
    return in_year(
        said, lambda y: (date(y, month, first), date(y, month, last) + timedelta(days=1)), "day", _year(match["y"], said)
    )


def _month_year(match: re.Match[str], said: Said) -> Days:
    return Days(month_of(_year(match["y"], said) or 0, _MONTHS[match["m"][:3]]), "month")


def _part_of(match: re.Match[str], said: Said) -> Days | None:
    """Early March, the end of last month, the first half of 2024."""
    part = next((part for word, part in _PARTS.items() if word in match["p"]), "")
    part = "first half" if "first half" in match["p"] else "second half" if "second half" in match["p"] else part
    shift, what = _RELATIVE[match["r"]] if match["r"] else 0, match["x"]
    if what == "month":
        return Days(part_of(month_of(said.today.year, said.today.month + shift), part))
    if what == "week":
        return None
    if what == "year" or what[0].isdecimal():
        whole = month_of(said.today.year + shift if what == "year" else int(what), 1, 12)
        return Days(part_of(whole, part), "month")
    year = _year(match["y"], said)
    return in_year(said, lambda y: part_of(month_of(y, _MONTHS[what[:3]]), part), "day", year)


def _week_of(match: re.Match[str], said: Said) -> Days:
    """The first week of March: its first seven days; the last: its last."""
    month, n = _MONTHS[match["m"][:3]], ("first", "second", "third", "fourth", "last").index(match["o"])

    def at(year: int) -> Span:
        first, end = month_of(year, month)
        if match["u"] == "day":
            return day_of(end - timedelta(days=1) if n == 4 else first + timedelta(days=n))
        days = (end - timedelta(days=7), end) if n == 4 else (first + timedelta(days=7 * n), first + timedelta(days=7 * n + 7))
        if match["u"] == "weekend":
            saturday = days[0] + timedelta(days=(5 - days[0].weekday()) % 7)
            return saturday, saturday + timedelta(days=2)
        return days

    return in_year(said, at, "week", _year(match["y"], said))


def _relative_name(match: re.Match[str], said: Said) -> Days:
    """Last March, last Friday, last summer, next June: the nearest that is not going on."""
    shift, what, today = _RELATIVE[match["r"]], match["x"], said.today
    if what in _WEEKDAYS:
        if shift < 0:
            return Days(day_of(today - timedelta(days=(today.weekday() - _WEEKDAYS[what] - 1) % 7 + 1)))
        return Days(day_of(week_of(today)[0] + timedelta(days=_WEEKDAYS[what] + 7 * shift)))
    if what in _SEASONS:
        return Days(nearest(lambda y: month_of(y, _SEASONS[what], 3), shift, today), "season")
    return Days(nearest(lambda y: month_of(y, _MONTHS[what[:3]]), shift, today), "month")


def _relative_unit(match: re.Match[str], said: Said) -> Days | None:
    """Last week, this month, next year, last night, this morning."""
    shift, unit, today = _RELATIVE[match["r"]], match["u"], said.today
    match unit:
        case "night" if shift < 0:
            return Days(day_of(today - timedelta(days=1)))
        case "night" | "morning" | "afternoon" | "evening":
            return Days(day_of(today)) if shift == 0 else None
        case "week":
            return Days(week_of(today + timedelta(days=7 * shift)), "week")
        case "weekend":
            saturday = week_of(today + timedelta(days=7 * shift))[0] + timedelta(days=5)
            return Days((saturday, saturday + timedelta(days=2)))
        case "month":
            return Days(month_of(today.year, today.month + shift), "month")
        case "quarter":
            return Days(month_of(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * shift, 3), "season")
    return Days(month_of(today.year + shift, 1, 12), "year")


def _ago(match: re.Match[str], said: Said) -> Days:
    n, unit, weekday = number(match["n"]), match["u"], match["w"] or match["v"]
    if "few" in match["n"] or "several" in match["n"]:
        days = round(UNIT_DAYS.get(unit, 0) * n)
        return Days(back(said, n, unit, slack=round(days * 0.75) if days else None), unit)
    if weekday:
        centre = back(said, n, unit, slack=0)[0]
        return Days(day_of(centre + timedelta(days=(_WEEKDAYS[weekday] - centre.weekday() + 3) % 7 - 3)))
    return Days(back(said, n, unit), unit if unit in ("day", "week", "month", "year") else "day")


def _rolling(match: re.Match[str], said: Said) -> Days:
    """The last ten days, the past month: up to and with today."""
    word = match["n"] or "one"
    n = number(word) * (1.5 if "few" in word else 1)
    start = said.today - timedelta(days=round(n * UNIT_DAYS[match["u"]]))
    return Days((start, said.today + timedelta(days=1)), "day")


_NEAR_DAYS = {"the day before yesterday": -2, "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "the day after tomorrow": 2}


def _near_day(match: re.Match[str], said: Said) -> Days | None:
    if match[0] in ("today", "tonight") and not said.past:
        return None  # what is to be done today was said before
    return Days(day_of(said.today + timedelta(days=_NEAR_DAYS[match[0]])))


def _season(match: re.Match[str], said: Said) -> Days | None:
    if not match["y"] and said.before(match.start()) not in _IN | {"over", "before", "after", "of"}:
        return None
    return in_year(said, lambda y: month_of(y, _SEASONS[match["s"]], 3), "season", _year(match["y"], said))


def _quarter(match: re.Match[str], said: Said) -> Days | None:
    if not match["y"] and said.before(match.start()) not in _IN and not match["told"]:
        return None
    word = match["q"]
    if word[0] == "h":
        return in_year(said, lambda y: month_of(y, 6 * int(word[1]) - 5, 6), "season", _year(match["y"], said))
    n = int(word[1]) if word[0] == "q" else ("first", "second", "third", "fourth").index(word.split()[0]) + 1
    return in_year(said, lambda y: month_of(y, 3 * n - 2, 3), "season", _year(match["y"], said))


def _decade(match: re.Match[str], said: Said) -> Days:
    return Days(month_of(int(match["y"]), 1, 120), "year")


def _holiday(match: re.Match[str], said: Said) -> Days | None:
    words, name = match["h"], holidays.named(match["h"])
    before = said.before(match.start())
    if (
        not match["r"]
        and not match["y"]
        and "eve" not in words.split()
        and before not in _BESIDE_A_TIME | {"over", "at", "last", "the", "near", "celebrate"}
    ):
        return None  # a Christmas gift was bought at some other time

    def at(year: int) -> Span:
        return holidays.dates(name, year)

    if match["r"]:
        return Days(nearest(at, _RELATIVE[match["r"]], said.today), "holiday")
    return in_year(said, at, "holiday", _year(match["y"], said))


def _ordinal(match: re.Match[str], said: Said) -> Days | None:
    """On the 18th: the last that was."""
    if not match["r"] and said.before(match.start()) not in {"on", "since", "until", "before", "after"}:
        return None
    shift = _RELATIVE[match["r"]] if match["r"] else 0
    return Days(day_of(last_numbered(said.today, int(match["d"].rstrip("sthndr")), shift if match["r"] else None)))


def _bare_year(match: re.Match[str], said: Said) -> Days | None:
    if said.before(match.start()) not in _BESIDE_A_TIME - {"on", "(", "within"} | {"year", "around", "than"}:
        return None
    return Days(month_of(int(match["y"]), 1, 12), "year")


def _bare_weekday(match: re.Match[str], said: Said) -> Days | None:
    if said.before(match.start()) != "on":
        return None
    n = _WEEKDAYS[match["x"]]
    return Days(day_of(said.today - timedelta(days=(said.today.weekday() - n) % 7)), weak=True)


def _the_weekend(match: re.Match[str], said: Said) -> Days:
    return Days(last_weekend(said.today), weak=True)


def _bare_month(match: re.Match[str], said: Said) -> Days | None:
    """In March; but «May I», «they march», «the gift from April» and «Jan said» name no month."""
    name, word = match["m"][:3], said.before(match.start())
    joined = (between := said.since_last(match.start())) is not None and (TO.fullmatch(between) or AND.fullmatch(between))
    ended = re.match(r"\s*(?:$|[?.,!;]|(?:to|until|till|through|and|or|did|was|were|in|on)\b|-)", said.small[match.end() :])
    ranged = re.match(rf"\s*(?:(?:to|until|till|through)\b|-|(?:and|or) {_M})", said.small[match.end() :])
    if word not in _IN and not joined and not ranged:
        if word not in _BESIDE_A_TIME or word in ("(", ","):
            return None
        if name in (*_NAMES, *_VERBS) and (word not in ("before", "after", "by", "around") or not ended):
            return None
    if ranged and name in _VERBS and word not in _IN | {"from"} and not said.text[match.start()].isupper():
        return None
    return in_year(said, lambda y: month_of(y, _MONTHS[name]), "month")


_MONTH_WORDS = "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec december"
_WEEKDAY_WORDS = "monday tuesday wednesday thursday friday saturday sunday"
_COUNT_WORDS = "0 a an the one two three four five six seven eight nine ten eleven twelve couple few several"
_HOLIDAY_WORDS = (
    "last this next christmas xmas chinese lunar new spring lantern dragon qixi mid moon double qingming tomb thanksgiving halloween easter valentine"
    " valentines mother mothers father fathers teacher teachers children childrens international women womens st may memorial labor labour independence"
    " singles 0 fourth black winter"
)
RULES = (
    Rule("0", rf"{_B}(?P<y>(?:19|20)\d\d)(?P<sep>[-/.])(?P<m>\d\d?)[-/.](?P<d>\d\d?)(?:t\d\d:\d\d[\d:.z]*)?{_ISO_END}", _numeric),
    Rule("0", rf"{_B}(?P<y>20[0-4]\d)(?P<sep>)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?![\w.-])", _numeric),
    Rule("0", rf"{_B}(?P<a>\d\d?)(?P<sep>[/.])(?P<b>\d\d?)(?:[/.](?P<y>\d{{4}}|\d\d))?{_ISO_END}", _slashed),
    Rule("0", rf"{_B}(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2]|[1-9])(?![\w/-]|\.\d)", _iso_month),
    Rule(
        "the first second third fourth last",
        rf"{_B}(?:the )?(?P<o>first|second|third|fourth|last) (?P<u>weekend|week|day) (?:of|in) (?P<m>{_M})(?:,? (?:of )?(?P<y>{_Y}))?",
        _week_of,
    ),
    Rule(
        "the very early mid late beginning start middle end first second",
        rf"{_B}(?P<p>early|mid|late|(?:the )?(?:very )?(?:beginning|start|middle|end|first half|second half) (?:of|in))(?: in)?[ -](?:the month of )?(?:(?P<r>last|this|next) )?(?:the )?(?P<x>{_M}|month\b|week\b|year\b|(?:19|20)\d\d\b)(?:,? (?:of )?(?P<y>{_Y}))?",
        _part_of,
    ),
    Rule(
        _MONTH_WORDS,
        rf"{_B}(?P<m>{_M}),? ?(?:the )?(?P<d>{_D})(?: ?(?:-|–|to|through) ?(?:the )?(?P<e>{_D}))?(?![\w%:]|[./]\d| ?[ap]m\b)(?:,? (?:of |in )?(?P<y>{_Y}))?",
        _month_day,
    ),
    Rule(
        "0 the",
        rf"{_B}(?:the )?(?P<d>{_D})(?: ?(?:-|–|to) ?(?:the )?(?P<e>{_D}))? (?:of )?(?P<m>{_M})(?:,? (?:of |in )?(?P<y>{_Y}))?",
        _month_day,
    ),
    Rule(_MONTH_WORDS, rf"{_B}(?P<m>{_M}),? (?:of |in )?(?P<y>{_Y})", _month_year),
    Rule(
        f"{_COUNT_WORDS} {_WEEKDAY_WORDS}",
        rf"{_B}(?:(?P<w>{_W}) )?(?P<n>{COUNT}) (?P<u>day|night|weekend|week|fortnight|month|quarter|year|hour|minute|decade)s? ago\b(?: on (?P<v>{_W}))?",
        _ago,
    ),
    Rule(
        "in over during within for throughout",
        rf"{_B}(?:(?:in|over|during|within|for|throughout) (?:the |my |our )?(?:last|past|previous) (?:(?P<n>{COUNT}) )?(?P<u>day|night|weekend|week|month|quarter|year)s?\b(?! of))",
        _rolling,
    ),
    Rule(
        "the these last past previous",
        rf"{_B}(?:the |these )?(?:last|past|previous) (?P<n>{COUNT}) (?P<u>day|night|weekend|week|month|quarter|year)s?\b(?! of)",
        _rolling,
    ),
    Rule("the past", rf"{_B}(?:the )?past (?P<n>)(?P<u>day|week|month|quarter|year)\b(?! of)", _rolling),
    Rule("last this next previous", rf"{_B}(?P<r>last|this|next|previous) (?:past )?(?P<x>{_M}|{_W}|{_S})", _relative_name),
    Rule(
        "last this next previous",
        rf"{_B}(?P<r>last|this|next|previous) (?P<u>weekend|week|month|quarter|year|night|morning|afternoon|evening)\b(?! of| version| edition)",
        _relative_unit,
    ),
    Rule(
        "the yesterday today tonight tomorrow",
        r"\b(?:the day before yesterday|yesterday|today|tonight|tomorrow|the day after tomorrow)\b",
        _near_day,
    ),
    Rule("the spring summer autumn fall winter", rf"{_B}(?:the )?(?P<s>{_S})(?: of|,)? (?P<y>{_Y})", _season),
    Rule("the", rf"{_B}the (?P<y>)(?P<s>{_S})(?! (?:of|semester|term|line|back|through)\b)", _season),
    Rule(
        "the q h first second third fourth",
        rf"{_B}(?:the )?(?P<q>[qh][1-4]|(?:first|second|third|fourth) quarter)\b(?:(?:,? (?:of )?|[/-])(?P<y>{_Y}))?(?P<told> (?:report|results|goals|okrs?|plan|budget|review|earnings|numbers|revenue|sales)\b)?",
        _quarter,
    ),
    Rule("the", r"\bthe (?P<y>(?:19|20)\d0)s\b", _decade),
    Rule(_HOLIDAY_WORDS, rf"{_B}(?:(?P<r>last|this|next) )?(?P<h>{holidays.ENGLISH})(?:,? (?:of |in )?(?P<y>{_Y}))?", _holiday),
    Rule(
        "the",
        rf"{_B}the (?P<d>\d\d?(?:st|nd|rd|th))(?: of (?P<r>last|this|next) month)?(?= ?(?:$|[?.,!;]|(?:at|and|did|was|in the)\b))",
        _ordinal,
    ),
    Rule(
        "0",
        rf"{_B}(?P<y>(?:19|20)\d\d)\b(?![/:-]|\.\d|%| (?!was\b|is\b|has\b|does\b|this\b)[a-z]+s\b| (?:people|usd|rmb|dollars|km|mg|kcal)\b)",
        _bare_year,
    ),
    Rule(_WEEKDAY_WORDS, rf"{_B}(?P<x>{_W})", _bare_weekday),
    Rule("on over during at", r"\b(?:on|over|during|at) the weekend\b(?! of)", _the_weekend),
    Rule(_MONTH_WORDS, rf"{_B}(?P<m>{_M})(?!')", _bare_month),
)
