"""
Compare values by a canonical form: three and 3, 30 s and 30000 ms, 国庆节 and 1 October, 深圳 and Shenzhen are equal.

A value is brought into one form, token by token: dates, times of day, amounts and numbers (rules/values/measures.py), and
what remains as words under their one name. Two values are the same when their forms are, or fit each other: a date told
without its year fits any year, a weight told in pounds that in kilos. Tomorrow is seen from the day on which it was said.
A version is not a number: 1.2 and 1.20 are two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache

from yiku.rules.lexicon import lists
from yiku.rules.text.analyze import fold, tokens
from yiku.rules.values import measures
from yiku.rules.values.dates import date, time_of_day
from yiku.rules.values.measures import COUNTED, Piece, scan

LONGEST = 160  # characters of a value in which numbers and times are read; a longer one is compared by its words
NAMED = 1_000  # characters of one whose words get their one name; a longer one is compared as it is folded
TIMES = "@%"  # what a token of a day begins with, and one of an hour
ROUGHLY = 0.03  # of an amount that is told as about so much
ROUNDING = 0.005  # of one that is told in other measures: who converts, rounds
Reader = Callable[[Sequence[Piece], int, datetime | None], tuple[str, int] | None]
_READERS: tuple[Reader, ...] = (date, time_of_day, measures.amount)
_ANY_DAY = datetime(2020, 6, 1, tzinfo=UTC)  # what sort a value is does not depend on the day
_KEPT_SIGNS = frozenset("+-/:")
_DAY_AND_MONTH = re.compile(r"(\d{1,2})\.([01]\d)\.")  # 14.09.
_BESIDE = re.compile(r"([^()（）]*\S)\s*[(（]([^()（）]+)[)）]")
_APART = re.compile(r"(?<=\d)'(?=\d{3}(?!\d))")
_AMOUNT = re.compile(r"#([\d.]+)((?:[a-z]+\d?)?(?:/y)?)")
_YEAR = re.compile(r"@(?:\d{4}|[-?])-")
_IS_HOUR = re.compile(r"#\d{1,2}")


def same(one: str, said_at: datetime, other: str, other_at: datetime) -> bool:
    """Whether two values are equal, each as of the time it was said."""
    first, second = form(one, said_at), form(other, other_at)
    if first == second or _fit(first.split(), second.split()) or _nearly(first, second, one, other):
        return True
    for a, at, b, b_at in ((one, said_at, other, other_at), (other, other_at, one, said_at)):
        if (match := _BESIDE.fullmatch(a.strip())) and not _BESIDE.fullmatch(b.strip()):
            names = match.groups() if sort_of(match[2]) == "when" else match.groups()[:1]
            return any(same(part, at, b, b_at) for part in names)  # 下周二（5月12日）: either names it
    return False


def _fit(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two values match token by token, ignoring counters; level 4 is the 4th level."""
    first, second = ([token for token in tokens if token != COUNTED] for tokens in (first, second))
    if len(first) == 2 and sum(token[0] == "#" for token in first) == 1 and first[::-1] == second:
        return True
    return len(first) == len(second) > 0 and all(a == b or _fits(a, b) or _fits(b, a) for a, b in zip(first, second, strict=True))


def _fits(short: str, full: str) -> bool:
    """Whether a partial token matches a full one: a day of any year, an hour of either half of the day."""
    if short[0] == full[0] == "@" and "-" in short and "-" in full:
        day, other = _YEAR.sub("", short), _YEAR.sub("", full)
        return other in (day, f"{day[3:]}-{day[:2]}") if short[1] == "?" else day == other and short[1] == "-"
    if full[0] == "%" and ":" in full:
        hour = short[1:] + ":00" if short[0] == "#" else short[2:] if short[:2] == "%?" else ""
        hours, _, minutes = hour.partition(":")
        return minutes == full[-2:] and hours.isdecimal() and (int(hours) - int(full[-5:-3])) % 12 == 0
    amount = _AMOUNT.fullmatch(full)
    if amount is None or short[0] != "#":
        return False
    if amount[2] == "pct":
        return short == measures.token(float(amount[1]) / 100)
    return short == f"#{amount[1]}" and amount[2] in _money()


@cache
def _money() -> frozenset[str]:
    """Currencies, whose amounts also match bare numbers: 一千二 and 1200元."""
    return frozenset(unit.partition(" ")[2] for unit in lists.named("forms.sign").values())


def _nearly(first: str, second: str, *texts: str) -> bool:
    """Whether two amounts of one sort are equal up to rounding: 178 lb and 81 kg, 12 miles and about 19 km."""
    one, other = _AMOUNT.fullmatch(first), _AMOUNT.fullmatch(second)
    if one is None or other is None or not one[2] == other[2] != "":
        return False
    pair = sorted((float(one[1]), float(other[1])))
    return pair[1] - pair[0] <= _rounding(*texts) * pair[1]


def _rounding(*texts: str) -> float:
    """Return the relative tolerance for the amounts of these texts."""
    folded = [fold(text) for text in texts]
    if any(lists.has(text, "forms.about") for text in folded):
        return ROUGHLY
    return ROUNDING if any(piece.reads.get("unit", "")[:1] == "~" for text in folded for piece in scan(text[:LONGEST])) else 0


def forget() -> None:
    """Clear the caches of values."""
    form.cache_clear()
    scan.cache_clear()


@lru_cache(maxsize=4_096)
def form(text: str, said_at: datetime | None = None) -> str:
    """Return the canonical form of a value as of the time it was said."""
    folded = _APART.sub("", " ".join(fold(text).split())).strip(" ,!。，！~～")
    if day := _DAY_AND_MONTH.fullmatch(folded):
        return measures.day_of(None, int(day[2]), int(day[1]))
    folded = folded.strip(" .")
    if len(folded) > NAMED:
        return folded
    pieces = scan(folded)
    known = _wholes().get(folded[pieces[1].start :] if len(pieces) > 1 and "leading" in pieces[0].reads else folded)
    return known or " ".join(_forms(pieces, said_at, _READERS if len(folded) <= LONGEST else ()))


def _forms(pieces: Sequence[Piece], said_at: datetime | None, readers: Sequence[Reader]) -> Iterator[str]:
    """Yield the canonical tokens of a value: parsed amounts and dates, and names of words."""
    at, run = 0, ""
    while at < len(pieces):
        piece = pieces[at]
        found = (reader(pieces, at, said_at) for reader in readers if piece.reads)
        token, end = next(filter(None, found), ("", at + 1))
        if run and (token or not piece.cjk or piece.start != pieces[at - 1].end or "dropped" in piece.reads):
            yield _name(run)
            run = ""
        if token:
            yield token
        elif "dropped" in piece.reads:
            pass
        elif piece.cjk:
            run += piece.text
        elif piece.text[0].isalnum() or piece.text in _KEPT_SIGNS or unicodedata.category(piece.text[0]) == "So":
            yield _name(piece.text)
        at = end
    if run:
        yield _name(run)


def _name(word: str) -> str:
    """Return the canonical name of a word: peanuts and 花生, colour and color; else its stem."""
    return _things().get(word) or _things().get(_stem(word), _stem(word))


def _stem(word: str) -> str:
    return next(iter(tokens(word).words), word) if word.isascii() else word


@cache
def _things() -> Mapping[str, str]:
    """Words of things and cities with their names, their stems too."""
    every = {fold(word): name for table in ("forms.thing", "synonyms.city") for word, name in lists.named(table).items()}
    return {_stem(word): name for word, name in every.items() if " " not in word} | every


@cache
def _wholes() -> Mapping[str, str]:
    """What has one name as a whole, said in several words or one."""
    values = {fold(word): name for word, name in lists.named("synonyms.value").items()}
    return {**_things(), **values}


def thing(text: str) -> str:
    """Return the canonical form of an item of a multi-valued slot: no article, no plural, no count."""
    folded = fold(text).strip()
    pieces = scan(folded)
    counted = len(pieces) > 2 and measures.is_digit(pieces[0]) and "counter" in pieces[1].reads  # 两只猫
    start = next((piece.start for piece in pieces[2 * counted :] if "leading" not in piece.reads), 0)
    return form(folded[start:]) or folded


def sort_of(text: str) -> str:
    """Return the sort of a value: when, a unit, count or number; empty for words."""
    tokens = form(text, _ANY_DAY).split()
    if any(token[0] in TIMES for token in tokens) and all(token[0] in TIMES or _IS_HOUR.fullmatch(token) for token in tokens):
        return "when"
    if tokens and (amount := _AMOUNT.match(tokens[0])):
        return amount[2].partition("/")[0] or ("number" if len(tokens) == 1 and amount[0] == tokens[0] else "count")
    return ""
