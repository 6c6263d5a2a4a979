"""
Parse one time expression of a question from adjacent time words, and resolve it to a range of days.

The order of the pieces does not matter, so "March 5 2024", "5 March 2024" and 2024年3月5日 are one case: a year, a month
and a date. A time without a year is the last such that has begun, unless the question is about the future.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from yiku.rules.lexicon import UNKNOWN, built_in
from yiku.rules.lexicon.flags import ASKS, AUX, JOIN, PERSON, PLACE
from yiku.rules.values import days, holidays
from yiku.rules.values.days import UNIT_DAYS, day_of, month_of, part_of, week_of, weekend_of
from yiku.rules.values.holidays import Span
from yiku.rules.values.time_words import YEARS, Pieces, Token

YEARS_BACK = 9  # in which a day is looked for that does not come each year
MOST_GLUE = 2  # words between two pieces
_LED_BY = {  # the values in [at] of the words that make a time of a lone piece
    "month": ("sure", "perhaps"),
    "year": ("sure", "perhaps"),
    "season": ("sure", "perhaps"),
    "holiday": ("sure", "perhaps", "day"),
    "weekday": ("sure", "day"),
    "date": ("sure", "day"),
    "quarter": ("sure",),
    "unit": ("sure", "perhaps", "day"),
}
_WORD = re.compile(r"\s*([a-z]+)")
_Yearly = tuple[Callable[[int], Span], str]  # the days in a year, and how wide "around" them is


class Days(NamedTuple):
    """
    The meaning of a time expression.

    unit:  how wide "around" it is
    at:    its days in another year, where none was said
    weak:  it is dropped beside another time, or where the question asks for a habit
    """

    span: Span
    unit: str = "day"
    at: Callable[[int], Span] | None = None
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its time words; `small` is its folded text."""

    text: str
    small: str
    tokens: list[Token]
    today: date
    past: bool
    ahead: bool

    def is_adjacent(self, place: int) -> bool:
        """Whether nothing stands between this token and the one before it."""
        return place < len(self.tokens) and self.tokens[place].adjacent

    def says(self, place: int, name: str) -> str | None:
        """Return what a token says, of a class that is no piece."""
        return self.tokens[place].says.get(name) if 0 <= place < len(self.tokens) else None

    def lead(self, place: int) -> tuple[int, bool]:
        """Return the token that leads to this one, articles apart, or -1; and whether there is an article."""
        first = place
        while self.is_adjacent(place) and self.says(place - 1, "article"):
            place -= 1
        return place - 1 if self.is_adjacent(place) else -1, place < first


@dataclass(frozen=True, slots=True)
class Found:
    """A time expression: its tokens [first, stop), and whether the context confirms it."""

    first: int
    stop: int
    pieces: Pieces
    days: Days
    led: bool = True


def read(question: Question, first: int, understood: Pieces) -> Found | None:
    """Return the longest time that begins at a token; a bare date is completed by the understood month."""
    try:
        for pieces, stop in reversed([*collect(question, first)]):
            lone = bool(understood) and pieces.keys() <= {"date", "number", "unit"}
            meaning = {**understood, **pieces} if lone else pieces
            if (days := resolve(question, meaning, first)) and not ("shift" in pieces and _is_of(question, stop)):
                led = lone or _is_led(question, pieces, first, stop)
                return Found(first, stop, meaning, days, led)
    except (ValueError, OverflowError):  # no such day: 31 June
        pass
    return None


def collect(question: Question, first: int) -> Iterator[tuple[Pieces, int]]:
    """Yield the pieces from a token on, each time with one more, and the token behind them."""
    pieces: dict[str, Any] = {}
    glue = 0
    for place, token in enumerate(question.tokens[first : first + 16], first):
        if place > first and not question.is_adjacent(place):
            return
        if token.pieces:
            meaning, known = token.pieces, pieces.keys()
            if any(pieces.get(name, value) != value for name, value in meaning.items()) or not _may_follow(meaning, known):
                return
            pieces, glue = {**pieces, **meaning}, 0
            yield pieces, place + 1
        elif glue < MOST_GLUE and (token.says.get("mark") == "count" or ("glue" in token.says and pieces.keys() - {"number"})):
            glue += 1
        else:
            return


def _may_follow(meaning: Pieces, known: Set[str]) -> bool:
    """Whether these pieces may stand behind the others: 三天前, and not 前三天."""
    if "ago" in meaning:
        return not known.isdisjoint(("unit", "date", "weekday"))
    return not (("past" in meaning and known) or ("shift" in meaning and not known.isdisjoint(("unit", "number"))))


def _is_of(question: Question, stop: int) -> bool:
    """Whether a time is that of something else: the last week of my trip."""
    return question.is_adjacent(stop) and question.says(stop, "fore") == "of"


def _is_led(question: Question, pieces: Pieces, first: int, stop: int) -> bool:
    """Whether the context confirms an ambiguous time: may, march, 18号, 1/2."""
    token, doubt = question.tokens[first], question.tokens[first].says.get("doubt")
    if not doubt and len(pieces) > 1 and pieces.keys() != {"unit", "weekday"}:
        return True
    lead, article = question.lead(first)
    at, name = question.says(lead, "at"), next((name for name in pieces if name != "unit"), "unit")
    if doubt:
        return at in _LED_BY["date"] or (doubt == "version" and not re.search(r"[a-z]\s*$", question.small[: token.start]))
    if token.sure:
        following = question.tokens[stop].says if question.is_adjacent(stop) else {}
        match name:
            case "date":
                return "tail" in following or "behind" in following
            case "unit":
                return at is not None or token.start == 0
            case "weekday":
                return not (question.is_adjacent(first) and "number" in question.tokens[first - 1].pieces)
        return name != "season"
    if name not in _LED_BY:
        return True
    word = _WORD.match(question.small, token.end)
    follows = built_in().words.get(word[1], UNKNOWN).flags if word else 0
    if name == "date" and word and not follows & (PERSON | AUX | ASKS | JOIN | PLACE):  # on the 18th floor
        return False
    if name == "year" and word and not follows and word[1].endswith(tuple(ending for ending, _ in built_in().plurals)):
        return False  # in 2000 steps
    if name in ("season", "unit") and not article:
        return False
    return at in (("sure",) if token.says.get("name") == "unsure" else _LED_BY[name])


def resolve(question: Question, pieces: Pieces, first: int) -> Days | None:
    """
    Return the days that pieces mean together; None if they are no time.

    Raises ValueError or OverflowError for a day that does not exist.
    """
    p, year = _plain(pieces, question.today)
    yearly = _yearly(p)
    if yearly is None:
        if p and year is not None:
            return None
        return _relative(question, p, first) if p else Days(month_of(year or 0, 1, 12), "year")
    at, unit = yearly
    if "shift" in p and "unit" not in p:
        return Days(days.nearest(at, p["shift"], question.today), unit) if year is None else None
    return Days(at(year), unit) if year is not None else _in_year(question, at, unit)


def _plain(pieces: Pieces, today: date) -> tuple[dict[str, Any], int | None]:
    """Normalize the pieces, and separate the year."""
    p = dict(pieces)
    year = p.pop("year", None)
    if p.get("unit") == "year" and "shift" in p and "number" not in p:  # March of last year
        year = p.pop("shift")
        del p["unit"]
    if "month" in p and "number" in p and "date" not in p:
        p["date"] = p.pop("number")
    if "date" in p and ("ago" in p or "past" in p) and "unit" not in p:  # 三日前
        p["number"], p["unit"] = p.pop("date"), "day"
    if "count" in p and "month" not in p:
        p["number"] = p.pop("count")
    if year is not None and [*p] == ["part"]:
        p["unit"] = "year"
    if "month" in p and "part" in p:
        p.pop("unit", None)
    return p, today.year + year if year is not None and abs(year) < YEARS_BACK else year


def _yearly(p: Pieces) -> _Yearly | None:
    """Return what comes each year."""
    match sorted(p):
        case ["month"] | ["month", "shift"]:
            return lambda year: month_of(year, p["month"]), "month"
        case ["date", "month"]:
            return lambda year: day_of(date(year, p["month"], int(p["date"]))), "day"
        case ["month", "part"]:
            return lambda year: part_of(month_of(year, p["month"]), p["part"]), "day"
        case ["month", "ordinal", "unit"] | ["month", "shift", "unit"] if p.get("shift", -1) == -1:
            return lambda year: days.nth_of(month_of(year, p["month"]), p.get("ordinal", 0) - 1, p["unit"]), "week"
        case ["season"] | ["season", "shift"]:
            return lambda year: month_of(year, p["season"], 3), "season"
        case ["quarter"]:
            return lambda year: month_of(year, 3 * p["quarter"] - 2, 3), "season"
        case ["holiday"] | ["holiday", "shift"]:
            return lambda year: holidays.dates(p["holiday"], year), "holiday"
        case ["part", "unit"] if p["unit"] == "year" and p["part"] in days.MONTHS_OF_PART:
            return lambda year: part_of(month_of(year, 1, 12), p["part"]), "season"
    return None


def _in_year(question: Question, at: Callable[[int], Span], unit: str) -> Days:
    """Return its last days that have begun, or the next if the future is meant."""
    this = question.today.year
    for year in range(this, this + YEARS_BACK) if question.ahead else range(this + 1, this - YEARS_BACK, -1):
        try:
            span = at(year)
        except ValueError:  # 29 February
            continue
        if (span[1] > question.today) if question.ahead else (span[0] <= question.today):
            return Days(span, unit, at)
    raise ValueError("in no year")


def _relative(question: Question, p: Pieces, first: int) -> Days | None:
    """Return the days of a time that is told from today."""
    today, unit, shift = question.today, p.get("unit", ""), p.get("shift", 0)
    n = p.get("number", 1)
    match sorted(p.keys() - {"vague"}):
        case ["day"] if p["day"] or question.past:  # what is to be done today was said before
            return Days(day_of(today + timedelta(days=p["day"])))
        case ["recent"]:
            return Days((today - timedelta(days=p["recent"]), today))
        case ["date"]:
            return Days(day_of(days.last_numbered(today, p["date"])))
        case ["decade"] if p["decade"] in YEARS:
            return Days(month_of(p["decade"], 1, 120), "year")
        case ["ago", "number", "unit"]:
            return Days(days.ago(today, n, unit, vague="vague" in p), unit if unit in ("week", "month", "year") else "day")
        case ["ago", "number", "unit", "weekday"]:
            since, until = days.ago(today, n, unit)
            centre = since + (until - since) / 2
            return Days(day_of(centre + timedelta(days=(p["weekday"] - centre.isoweekday() + 3) % 7 - 3)))
        case ["ago", "number", "weekday"]:  # two Thursdays ago
            return Days(day_of(today - timedelta(days=(today.isoweekday() - p["weekday"] - 1) % 7 + 1 + 7 * (round(n) - 1))))
        case ["past", "unit"] | ["number", "past", "unit"]:
            return _rolling(today, n, unit, vague="vague" in p)
        case ["number", "shift", "unit"] if shift in (-1, 0) and (shift, n, unit) != (0, 1, "day"):
            return _rolling(today, n, unit, vague="vague" in p)
        case ["shift", "unit"]:
            lead, article = question.lead(first)
            in_the_last = shift == -1 and article and question.says(lead, "at")
            return _rolling(today, 1, unit, vague=False) if in_the_last else _shifted_days(today, shift, unit)
        case ["date", "shift", "unit"] if unit == "month":
            return Days(day_of(month_of(today.year, today.month + shift)[0].replace(day=p["date"])))
        case ["part", "shift", "unit"] if unit == "month":
            return Days(part_of(month_of(today.year, today.month + shift), p["part"]))
        case ["part", "unit"] if unit == "month":
            this, last = (part_of(month_of(today.year, today.month - back), p["part"]) for back in (0, 1))
            return Days(this if this[0] <= today else last)
        case ["shift", "weekday"] if shift < 0:
            return Days(day_of(today - timedelta(days=(today.isoweekday() - p["weekday"] - 1) % 7 + 1)))
        case ["shift", "weekday"] | ["shift", "unit", "weekday"]:
            return Days(day_of(week_of(today)[0] + timedelta(days=p["weekday"] - 1 + 7 * shift)))
        case ["weekday"] | ["unit", "weekday"]:
            return Days(day_of(today - timedelta(days=(today.isoweekday() - p["weekday"]) % 7)), weak=True)
        case ["unit"] if unit == "weekend":
            return Days(weekend_of(today - timedelta(days=5)), weak=True)
    return None


def _rolling(today: date, n: float, unit: str, *, vague: bool) -> Days | None:
    """Return so many units up to and with today."""
    length = round(UNIT_DAYS.get(unit, 0) * n * (days.A_FEW_MORE if vague else 1))
    return Days((today - timedelta(days=length), today + timedelta(days=1))) if length else None


def _shifted_days(today: date, shift: int, unit: str) -> Days | None:
    """Return last week, this month, next quarter."""
    match unit:
        case "week":
            return Days(week_of(today + timedelta(days=7 * shift)), "week")
        case "weekend":
            return Days(weekend_of(today + timedelta(days=7 * shift)))
        case "month":
            return Days(month_of(today.year, today.month + shift), "month")
        case "quarter":
            return Days(month_of(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * shift, 3), "season")
    return None
