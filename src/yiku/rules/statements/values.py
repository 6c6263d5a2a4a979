"""
Extract typed values from a clause: times, amounts, contacts, places and names, with offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from yiku.rules.lexicon import flags as F
from yiku.rules.statements.clause import Value
from yiku.rules.text.analyze import fold
from yiku.rules.text.words import Word
from yiku.rules.values import measures

HOUR_CHARS = 2  # of a number behind `at`, which is an hour then
MOST_OF_AN_AMOUNT = 8  # words of one behind its first unit
_INSIDE_TIME = frozenset("-/:,")


def values(text: str, part: Sequence[Word]) -> tuple[Value, ...]:
    """Return the values of a clause, in order."""
    return tuple(_values(text, part))


def _values(text: str, part: Sequence[Word]) -> Iterator[Value]:
    place = 0
    while place < len(part):
        word, end = part[place], place
        if (word.flags & (F.TIME | F.NUMBER) and not word.flags & F.BE) or word.text[0].isdigit() or word.flags & F.CURRENCY:
            if (end := _time_until(part, place)) > place:
                yield _value("time", part, place, end)
            elif (end := _amount_until(text, part, place)) > place:
                hour = (
                    place
                    and part[place - 1].flags & F.CLOCK
                    and end == place + 1
                    and is_number(word)
                    and len(word.text) <= HOUR_CHARS
                )
                yield _value("time" if hour else "amount", part, place, end)
        elif "@" in word.text[1:-1]:
            end = place + 1
            yield _value("contact", part, place, end)
        elif not word.sign and (end := _name_until(text, part, place)) > place:
            before = part[place - 1].flags if place else 0
            if before & F.THE and place > 1:
                before = part[place - 2].flags
            yield _value("place" if before & F.PLACE and not before & F.FROM else "name", part, place, end)
        place = max(end, place + 1)


def _value(sort: str, part: Sequence[Word], start: int, end: int) -> Value:
    own = part[start:end]
    dated = sort == "time" and any(map(_is_dated, own))
    exact = dated or any(is_number(word) or _is_clock(word) for word in own)
    return Value(sort, part[start].start, part[end - 1].end, " ".join(word.text for word in own), dated, exact)


def _is_dated(word: Word) -> bool:
    return bool(word.flags & (F.DATED | F.AHEAD | F.NAMES_A_DAY)) or _is_date(word)


def is_number(word: Word) -> bool:
    """Whether a word is a number, in digits or in words."""
    return word.text[0].isdigit() or bool(word.flags & F.NUMBER)


def _is_clock(word: Word) -> bool:
    return word.text[0].isdigit() and (":" in word.text or bool(word.flags & F.HOUR))


def _is_date(word: Word) -> bool:
    """Whether a word is a date: 4th, 2026-11-04, 5/4; not a range such as 3-6."""
    if not word.text[0].isdigit():
        return False
    return bool(word.flags & F.ORDINAL) or word.text.count("-") > 1 or "/" in word.text


def _time_until(part: Sequence[Word], place: int) -> int:
    """Return the end of a time that begins here, the place itself if there is none."""
    end = last = place
    sure = False
    while end < len(part):
        word = part[end]
        goes_on = sure and word.inside  # Friday of next Friday
        if goes_on or word.flags & F.TIME or _is_clock(word) or _is_date(word) or (word.flags & F.PART_OF_TIME and end > place):
            sure, last = True, end + 1
        elif sure and _is_counted(part, end):
            break
        elif is_number(word) and (end == place or not is_number(part[end - 1]) or part[end - 1].cjk):
            last = end + 1 if sure else last
        elif not (end > place and (word.text in _INSIDE_TIME or word.flags & F.IN_TIME)):
            break
        end += 1
    return last if sure else place


def _is_counted(part: Sequence[Word], place: int) -> bool:
    """Whether a number of something begins here that is no time: `4500 euros` of `monthly 4500 euros`."""
    while place < len(part) and is_number(part[place]):
        place += 1
    return place < len(part) and bool(part[place].flags & F.UNIT) and not part[place].flags & (F.TIME | F.PART_OF_TIME)


def _amount_until(text: str, part: Sequence[Word], place: int) -> int:
    """Return the end of an amount that begins here: a number with its unit, or several of them (1米75, 5 ft 10)."""
    end = place + 1 if part[place].flags & F.CURRENCY else place
    if end >= len(part) or not is_number(part[end]):
        return place
    while end < len(part) and (
        is_number(part[end]) or (part[end].flags & F.AND and end + 1 < len(part) and part[end + 1].flags & F.NUMBER)
    ):
        end += 1
    if end + 1 < len(part) and part[end].text == "°":
        return end + 2
    while end < len(part) and part[end].flags & F.UNIT:
        end += 1
    behind = part[end : end + MOST_OF_AN_AMOUNT]
    if any(map(is_number, behind[:2])):  # behind a unit, or a joining word
        last = measures.quantity_end(fold(text[part[place].start : behind[-1].end]))
        end += sum(len(fold(text[part[place].start : word.end])) <= last for word in behind)
    return end


def _name_until(text: str, part: Sequence[Word], place: int) -> int:
    """Return the end of a name that begins here: capitalised words, or unknown characters after a preposition."""
    end, word = place, part[place]
    if word.inside:
        return place
    while end < len(part):
        if part[end].text == "." and place < end < len(part) - 1 and text[part[end + 1].start].isupper():
            end += 1  # Dr. Okonkwo
        if (
            part[end].sign
            or not text[part[end].start].isupper()
            or part[end].flags & (F.PERSON | F.OWN | F.LIGHT | F.COMMON | F.JOKE)
        ):
            break
        end += 1
    is_place = any(each.startswith("place_") for each in word.entry.means)
    if end > place:
        return end if place or end > place + 1 or is_place or not word.known else place
    if is_place:
        return place + 1
    unspaced = word.cjk and not word.known and len(word.text) > 1
    return place + 1 if unspaced and place and part[place - 1].flags & (F.PLACE | F.ARTICLE) else place
