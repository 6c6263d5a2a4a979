"""
Scan a value of either language into pieces (digits, dates, known words), and parse numbers and amounts with units.

A text is scanned into pieces: digits, and the longest words that the lexicon has for values, each with all that it may
be (`second` is a unit and the 2nd). A reader begins at a piece and gives one token and where it ended, or nothing:

    #3  #1800s  #2.5m  #12000usd/y     a number, an amount in the smallest unit of its sort, by the year
    @2026-03-05  @--03-05  @?-03-07    a date, one without its year, one that is March or July
    @2026-03  @--09end  @w2  @d5       a month, a part of one, a weekday, a day of some month
    %15:00  %?03:00  %evening          a time of day, one by day or by night, a part of the day
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache

from yiku.rules.lexicon import built_in
from yiku.rules.text.analyze import UNSPACED, UNSPACED_RUN, fold

Read = tuple[str, int]  # a token, and the place behind its last piece

_FILES = frozenset(("forms", "numbers", "units", "times"))
_NOT_READ = frozenset(("thing", "about"))  # lists of `forms` for others
_SPACED = rf"(?:(?![{UNSPACED}])[^\W_])"
_TOKEN = re.compile(rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d+(?:[.,:/]\d+)*|{_SPACED}+(?:['.@/:+#-]{_SPACED}+)*[+#]*|\S")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d{1,2}|\d+,\d{1,2}")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d)?")
_LONG = 3  # letters; "a mile" is an amount, "a bar" is none
_WITH_DECIMALS = frozenset(("1 m", "1 cny"))  # what may follow with its decimals: 一米七五, 两块五
# A lone number behind the first unit is one of the second, of which so many make the first: 5 ft 10, 11 stone 4, 1 hour 20.
_SMALLER = {"~0.3048 m": ("~0.0254 m", 12), "~6350.29 g": ("~453.592 g", 14), "3600 s": ("60 s", 60)}
MOST_DIGITS = 15  # of a number; more are an id
COUNTED = "*"  # behind the number of what is only counted: 16台, 7 people
_YEAR_S = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, sign or run of digits; `reads`: its possible kinds and the value as each."""

    text: str
    start: int
    end: int
    reads: Mapping[str, str]

    @property
    def cjk(self) -> bool:
        """Whether it is written without spaces."""
        return UNSPACED_RUN.match(self.text) is not None


# ------------------------------------------------------------------ pieces


@lru_cache(maxsize=4_096)
def scan(folded: str) -> tuple[Piece, ...]:
    """Split a folded text into pieces; unknown text becomes words, signs and single characters."""
    known, lengths = _word_kinds()
    found: list[Piece] = []
    at = 0
    while match := _TOKEN.search(folded, at):
        at = match.start()
        if match[0][0].isdecimal():
            found.append(Piece(match[0], at, match.end(), _of_digits(match[0])))
        else:
            sizes = (size for size in lengths.get(folded[at], ()) if folded[at : at + size] in known and _ends(folded, at + size))
            end = at + size if (size := next(sizes, 0)) else at + 1 if UNSPACED_RUN.match(match[0]) else match.end()
            found.append(Piece(folded[at:end], at, end, known.get(folded[at:end], {}) if size else {}))
        at = found[-1].end
    return tuple(found)


@cache
def _word_kinds() -> tuple[Mapping[str, Mapping[str, str]], Mapping[str, Sequence[int]]]:
    """Return the words of values with their kinds, and their lengths by first letter, longest first."""
    known: dict[str, dict[str, str]] = defaultdict(dict)
    for name, words in built_in().lists.items():
        file, kind, *rest = name.split(".", 2)
        if file in _FILES and kind not in _NOT_READ:
            kind = "counted" if rest == ["count"] else kind
            for word in words:
                known[fold(word)].setdefault(kind, *rest or ("",))
    lengths: dict[str, set[int]] = defaultdict(set)
    for word in known:
        lengths[word[0]].add(len(word))
    return dict(known), {first: sorted(sizes, reverse=True) for first, sizes in lengths.items()}


def _ends(folded: str, end: int) -> bool:
    """Whether a known word may end here, not inside another word."""
    around = folded[end - 1 : end + 1]
    return len(around) < 2 or UNSPACED_RUN.search(around) is not None or not (around.isalnum() or around[1] in "+#'")


def _of_digits(text: str) -> Mapping[str, str]:
    """Classify digits as a number, a time of day or a date; versions and addresses are none."""
    if _NUMBER.fullmatch(text) and len(text) <= MOST_DIGITS:
        whole, comma, decimals = text.rpartition(",")
        continental = comma and "." not in decimals and ("." in whole or len(decimals) != 3)  # 3.450,00
        return {"number": f"{whole.replace('.', '')}.{decimals}" if continental else text.replace(",", "")}
    if (clock := _CLOCK.fullmatch(text)) and int(clock[1]) <= 24 and clock[2] < "60":
        return {"clock": f"{int(clock[1]):02}:{clock[2]}"}
    sign = next((sign for sign in "-/." if sign in text), " ")
    parts = text.split(sign)
    numbers = [*map(int, parts)] if all(map(str.isdecimal, parts)) else []
    match sign, [len(part) for part in parts]:
        case "-" | "/", [4, 1 | 2, 1 | 2]:
            return _dated(parts[0], numbers[1], numbers[2])
        case ".", [1 | 2, 1 | 2, 4]:
            return _dated(parts[2], numbers[1], numbers[0])
        case "/", [1 | 2, 4]:
            return {"date": day_of(parts[1], numbers[0], 0)} if 0 < numbers[0] <= 12 else {}
        case "/", [1 | 2, 1 | 2] | [1 | 2, 1 | 2, 4]:
            first, second = sorted(numbers[:2])
            either = 0 < first < second <= 12  # 03/07 is the third of July or the seventh of March
            return {"date": f"@?-{first:02}-{second:02}"} if either else _dated("".join(parts[2:]), first, second)
    return {}


def _dated(year: str, month: int, day: int) -> Mapping[str, str]:
    return {"date": day_of(year, month, day)} if 0 < month <= 12 and 0 < day <= 31 else {}


def day_of(year: str | int | None, month: int, day: int) -> str:
    """Return the token of a day or a month."""
    return f"@{year or '-'}-{month:02}" + (f"-{day:02}" if day else "")


def says(pieces: Sequence[Piece], at: int, kind: str) -> str | None:
    """Return the value of a piece as a kind, None if it is not one."""
    return pieces[at].reads.get(kind) if 0 <= at < len(pieces) else None


def past(pieces: Sequence[Piece], at: int, *kinds: str) -> int:
    """Skip the pieces of these kinds."""
    while any(says(pieces, at, kind) is not None for kind in kinds):
        at += 1
    return at


# ------------------------------------------------------------------ numbers


def number(pieces: Sequence[Piece], at: int) -> tuple[float, int] | None:
    """Parse a number: 12.5, three hundred and five, two and a half, half a dozen, 三千五, 二〇二六."""
    parts: list[float] = []
    last: list[str] = []  # what the pieces said, so far
    while (place := _next(pieces, at, parts)) is not None:
        digits = pieces[place].reads["number"]
        value = float(digits.lstrip("x"))
        if digits[0] == "x":
            low = sum(part for part in parts if part < value or value < 1) or 1
            parts = [*(part for part in parts if part >= value >= 1), low * value]
        elif place == at and parts and is_digit(pieces[place]) and is_digit(pieces[place - 1]):
            parts[-1] = 10 * parts[-1] + value
        else:
            parts.append(value)
        last.append(digits)
        at = place + 1
    if not parts or sum(parts) >= 10**MOST_DIGITS:
        return None
    if len(last) > 1 and is_digit(pieces[at - 1]) and (scale := last[-2])[0] == "x" and float(scale[1:]) >= 100:
        parts[-1] *= float(scale[1:]) / 10  # 一万二, 四千三
    return sum(parts), at


def _next(pieces: Sequence[Piece], at: int, parts: Sequence[float]) -> int | None:
    """Return the place of the next part of a number, None if it ends."""
    place = at
    while says(pieces, place, "one") is not None or (
        parts and place < len(pieces) and (pieces[place].text == "-" or not {"and", "counter"}.isdisjoint(pieces[place].reads))
    ):
        place += 1
    digits = says(pieces, place, "number")
    if digits is None or not digits.lstrip("x").replace(".", "").isdecimal():
        return None
    value, joined = float(digits.lstrip("x")), place > at
    if not parts:
        is_standalone = value == 10 if digits[0] == "x" else not joined
        return place if is_standalone or (joined and (digits[0] == "x" or value < 1)) else None
    if "unit" in pieces[place].reads:
        return None
    if digits[0] == "x":
        return place if not joined or parts[-1] < 1 else None
    if 0 < value < 1:
        return place if parts[-1] >= 1 and (joined or pieces[place].cjk) else None
    if not joined and is_digit(pieces[place]) and is_digit(pieces[place - 1]):
        return place
    word = not pieces[place].text[0].isdecimal() or pieces[place].start == pieces[place - 1].end
    return place if word and value < _lowest(parts[-1]) and (not joined or parts[-1] >= 20) else None


def is_digit(piece: Piece) -> bool:
    """Whether a piece is a Chinese digit."""
    return piece.cjk and piece.reads.get("number", "").isdecimal()


def _lowest(value: float) -> int:
    """Return the place value of the last nonzero digit."""
    place = 1
    while value >= 10 * place and value % (10 * place) == 0:
        place *= 10
    return place


# ------------------------------------------------------------------ amounts


def amount(pieces: Sequence[Piece], at: int, _: datetime | None) -> Read | None:
    """Parse an amount with its unit and period: $12,500, an hour and a half, 七斤二两, 90 km/h, 每月三千元."""
    if (period := _period(pieces, at)) and (found := _quantity(pieces, period[2])) and (found[1] or found[2] == len(pieces)):
        return _rate(*found[:2], *period[:2]), found[2]
    if (found := _quantity(pieces, at)) is None:
        return None
    quantity, unit, end = found
    if period := _period(pieces, end):
        return _rate(quantity, unit, *period[:2]), period[2]
    counted = not unit and says(pieces, end, "counter") is not None
    return token(quantity, unit) + (f" {COUNTED}" if counted else ""), end + counted


def quantity_end(text: str) -> int:
    """Return the end of the amount that a folded text begins with, all its units with it (1米75, 5 ft 10); 0 if there is none."""
    pieces = scan(text)
    found = _quantity(pieces, 0) if pieces else None
    return pieces[found[2] - 1].end if found and found[1] else 0


def _quantity(pieces: Sequence[Piece], at: int) -> tuple[float, str, int] | None:
    """Parse a quantity: its size, its sort and its end."""
    if (times := says(pieces, at, "count")) is not None:
        return float(times), "times", at + 1
    before = says(pieces, at, "before") or says(pieces, at, "sign")
    found = number(pieces, at + (before is not None)) or _a_unit(pieces, at)
    if found is None:
        return None
    quantity, end = found
    if before and (scale := says(pieces, end, "of_money")) is not None:
        quantity, end = quantity * float(scale), end + 1
    if says(pieces, end, "over") is not None and (of := number(pieces, end + 1)):
        return of[0] / max(quantity, 1), "", of[1]
    place = past(pieces, end, *(("of", "one") if quantity < 1 else ("counter",)))
    unit = before or says(pieces, place, "unit")
    if unit is None:
        return None if _is_a_word(pieces, at, end, quantity) else (quantity, "", end)
    factor, sort = _unit(unit)
    total, end = quantity * factor, place + (says(pieces, place, "unit") is not None)
    while more := _more(pieces, end, unit):
        unit = more[1]
        total, end = total + more[0], more[2]
    return total, sort, end


def _more(pieces: Sequence[Piece], at: int, unit: str) -> tuple[float, str, int] | None:
    """Parse what is added to an amount: 30 minutes to two hours, 10 inches to 5 ft, the decimals of 一米七五."""
    factor, sort = _unit(unit)
    start = past(pieces, at, "and")
    found = number(pieces, start)
    if found is None:
        return None
    quantity, end = found
    following = says(pieces, end, "unit")
    if following is not None:
        less, other = _unit(following)
        return (quantity * less, following, end + 1) if other == sort and less < factor and sort != "times" else None
    if quantity < 1:
        return quantity * factor, unit, end
    if start > at or not _ends_amount(pieces, end):
        return None
    if unit in _WITH_DECIMALS and _joins_decimals(pieces, at):
        digits = "".join(piece.reads["number"] for piece in pieces[at:end])
        return float(f"0.{digits if digits.isdecimal() else round(quantity)}") * factor, "", end
    less_unit, most = _SMALLER.get(unit, ("", 0))
    return (quantity * _unit(less_unit)[0], "", end) if quantity < most else None


def _joins_decimals(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a number behind a unit is its decimals: right behind it in Chinese, two digits in English (1 m 75)."""
    return pieces[at].start == pieces[at - 1].end if pieces[at - 1].cjk else len(pieces[at].text) == 2


def _ends_amount(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a lone number before this place counts nothing: 5 ft 10 tall, not 5 ft 10 monitors."""
    if at == len(pieces) or not pieces[at].text[0].isalnum() or not {"dropped", "and"}.isdisjoint(pieces[at].reads):
        return True
    return pieces[at].cjk and {"counted", "counter"}.isdisjoint(pieces[at].reads)


def _unit(unit: str) -> tuple[float, str]:
    """Return the factor and the sort of a unit; counters have no sort."""
    factor, _, sort = unit.strip("~").rpartition(" ")
    return (float(factor), sort) if factor else (1.0, "")


def _a_unit(pieces: Sequence[Piece], at: int) -> tuple[float, int] | None:
    """Parse an article as one of a spelled-out unit: a mile, an hour."""
    if says(pieces, at, "one") is None or says(pieces, at + 1, "unit") is None:
        return None
    spelled = len(pieces[at + 1].text) > _LONG and "number" not in pieces[at + 1].reads
    return (1.0, at + 1) if spelled else None


def _is_a_word(pieces: Sequence[Piece], at: int, end: int, quantity: float) -> bool:
    """Whether a lone number is part of a word: 三 in 三文鱼, half in half-brother."""
    if end == len(pieces) or end > at + 1 or not (quantity < 1 or pieces[at].cjk):
        return False
    following = pieces[end]
    return quantity < 1 or (following.cjk and following.start == pieces[at].end and not following.reads)


def _period(pieces: Sequence[Piece], at: int) -> tuple[float, str, int] | None:
    """Parse a period: a month, every 12 hours, 每天."""
    if says(pieces, at, "per") is None:
        return None
    count = number(pieces, at + 1)
    quantity, end = count or (1.0, at + 1)
    factor, sort = _unit(says(pieces, end, "unit") or "")
    return (quantity * factor, sort, end + 1) if sort in ("s", "mo") and quantity else None


def _rate(quantity: float, sort: str, period: float, of: str) -> str:
    """Return a rate by the year; a frequency as the time between two occurrences."""
    if sort == "times" and quantity:
        return token(period / quantity, of)
    return token(quantity * (round(_YEAR_S / period) if of == "s" else 12 / period), f"{sort}/y")


def token(quantity: float, sort: str = "") -> str:
    """Return the token of an amount; degrees in Celsius."""
    if sort in ("degc", "degf"):
        quantity, sort = round((quantity - 32) / 1.8 if sort == "degf" else quantity, 1), "degc"
    return f"#{round(quantity, 9):.15g}{sort}"
