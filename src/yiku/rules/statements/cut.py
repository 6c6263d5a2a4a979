"""
Split a sentence into clauses: after a comma, colon or conjunction if what follows can stand alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from yiku.rules.lexicon import flags as F
from yiku.rules.statements.values import is_number
from yiku.rules.text.words import Word, flags_of

_STATES = F.VERB | F.REQUEST | F.RETRACT | F.JOKE | F.REPORT
_BREAKS = frozenset(",;:—–()")
WORDS_AHEAD = 7  # words behind a joining word in which a clause must have its verb
UNSPACED_CLAUSE = 4  # characters that tell something; so much between commas is a clause where no spaces are written


def without_asides(found: Sequence[Word]) -> list[Word]:
    """Drop marks in square brackets, which stand for redacted text."""
    if not any(word.text == "[" for word in found):
        return [*found]
    kept: list[Word] = []
    place = 0
    while place < len(found):
        if found[place].text == "[" and [word.text for word in found[place + 2 : place + 3]] == ["]"]:
            place += 3
            continue
        kept.append(found[place])
        place += 1
    return kept


def parts_of(found: Sequence[Word], quotes: Collection[int]) -> list[list[Word]]:
    """Return the words of a sentence by clause; a quotation is a clause of its own."""
    parts: list[list[Word]] = [[]]
    for place, word in enumerate(found):
        if not (word.sign or word.flags & F.JOIN):
            parts[-1].append(word)
            continue
        dash = word.text == "-" and place and word.start > found[place - 1].end
        if word.start in quotes and parts[-1]:
            parts.append([])
            continue
        breaks = word.sign and (word.text in _BREAKS or dash)
        said = breaks and place + 1 < len(found) and flags_of(parts[-1]) & (F.JOKE | F.RETRACT)  # just kidding, …
        begins = (breaks or word.flags & F.JOIN) and parts[-1] and (said or _stands_alone(found, place + 1 if breaks else place))
        if begins and not breaks:
            parts.append([])
        parts[-1].append(word)
        if begins and breaks:
            parts.append([])
    return _joined(parts)


def _joined(parts: list[list[Word]]) -> list[list[Word]]:
    """Merge parts that state nothing into the next one, the last into the one before."""
    whole: list[list[Word]] = []
    waiting: list[Word] = []
    for part in parts:
        waiting += part
        if _states(waiting):
            whole.append(waiting)
            waiting = []
    if not all(word.sign for word in waiting):
        if whole and not flags_of(whole[-1]) & (F.JOKE | F.RETRACT):
            whole[-1] += waiting
        else:
            whole.append(waiting)
    return whole


def _states(part: Sequence[Word]) -> bool:
    """Whether words have a verb, or a noun with a value."""
    if flags_of(part) & _STATES:
        return True
    telling = [word for word in part if not word.sign and not is_number(word) and not word.flags & (F.EMPTY | F.TIME)]
    if any(word.cjk for word in telling) and sum(len(word.text) for word in telling) >= UNSPACED_CLAUSE:
        return True
    return any(map(is_number, part)) and bool(telling)


def _stands_alone(found: Sequence[Word], place: int) -> bool:
    """Whether a clause may begin here: a subject and a verb, or a verb after a conjunction."""
    joined = False
    while place < len(found) and (found[place].sign or found[place].flags & (F.JOIN | F.ALSO)):
        joined, place = joined or bool(found[place].flags & F.JOIN), place + 1
    if place >= len(found):
        return False
    first = found[place]
    if first.cjk or first.flags & (F.RETRACT | F.JOKE):
        return True  # where no spaces are written a comma is enough
    ahead = _until_break(found, place)
    if first.flags & (
        F.PERSON | F.OWN | F.ARTICLE | F.KIN | F.SUPPOSE | F.REQUEST | F.ASKS | F.STANDING | F.CORRECT | F.NOW | F.DENY
    ):
        return any(word.flags & (F.VERB | F.REQUEST) for word in ahead)
    if first.flags & F.ASKS_FIRST and ahead[1:2] and ahead[1].flags & (F.PERSON | F.OWN | F.ARTICLE):
        return True
    if first.flags & F.VERB:
        return joined
    return any(word.flags & F.VERB for word in ahead[1:4])


def _until_break(found: Sequence[Word], place: int) -> list[Word]:
    part = []
    for word in found[place : place + WORDS_AHEAD]:
        if word.sign and word.text in _BREAKS:
            break
        part.append(word)
    return part
