"""
What a question asks for: the sort of value, whom it names, which predicates, and whether for how it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from yiku.rules.lexicon import Lexicon
from yiku.rules.lexicon.flags import (
    AMOUNT,
    ASKS_FIRST,
    AUX,
    BE,
    BEFORE,
    BEGINS_NAME,
    COMMON,
    DATED,
    EARLIER,
    IT,
    KIN,
    LIGHT,
    OWN,
    PERSON,
    PLACE,
    SEVERAL,
    SPEAKER,
    VERB,
    WAS,
    WHAT,
    WHEN,
    WHERE,
    WHO,
    YOU,
    YOUR,
)
from yiku.rules.statements import slots
from yiku.rules.statements.clause import Asked
from yiku.rules.statements.content import content
from yiku.rules.statements.subjects import Spoken, name_of, who_is_named
from yiku.rules.text.folding import folded
from yiku.rules.text.words import Word, flags_of, words

QUESTION_CHARS = 1_000


def question(text: str, lexicon: Lexicon) -> Asked:
    """What a question asks for."""
    said = text[:QUESTION_CHARS]
    small = folded(said)
    found = [word for word in words(small, 0, len(small), lexicon) if not word.sign]
    flags = flags_of(found)
    wanted = slots.wanted(found, small, lexicon)
    return Asked(
        sort=_asked_sort(found, flags, wanted, lexicon),
        subjects=frozenset(_asked_of(said, found)),
        wanted=wanted,
        content=content([word for word in found if not word.flags & KIN]) | {word.entry.kin for word in found if word.flags & KIN},
        several=bool(flags & SEVERAL),
        before=bool(flags & BEFORE) or bool(flags & EARLIER and flags & WAS),
    )


def _asked_of(said: str, found: Sequence[Word]) -> set[str]:
    """Whom a question names: the first somebody in it."""
    for place, word in enumerate(found):
        if word.flags & (KIN | OWN | PERSON) and not word.flags & (IT | YOU | YOUR):
            subject = who_is_named(said, found[place:], len(found) - place, Spoken())[0]
            if subject:
                return {subject}
        elif _is_named(said, found, place):
            return {name_of(word)}
        elif word.flags & VERB and not word.flags & (AUX | BE | WAS | ASKS_FIRST):
            break  # what stands behind the verb is no subject
    return set()


def _is_named(said: str, found: Sequence[Word], place: int) -> bool:
    word = found[place]
    if not word.cjk:
        return (
            place > 0
            and said[word.start].isupper()
            and not word.flags & (DATED | LIGHT | SPEAKER | COMMON)
            and not found[place - 1].flags & PLACE
        )
    return bool(word.flags & BEGINS_NAME)


def _asked_sort(found: Sequence[Word], flags: int, wanted: frozenset[str], lexicon: Lexicon) -> str:
    for bits, sort in ((WHERE, "place"), (WHEN, "time"), (WHO, "person"), (AMOUNT, "amount")):
        if flags & bits:
            return sort
    nouns = [word.entry.has for word in found if word.entry.has]
    if nouns:
        return lexicon.attributes[nouns[-1]]
    if wanted:
        return lexicon.predicates[min(wanted)].takes
    if flags & WHAT:
        return "thing"
    return "yes" if flags & ASKS_FIRST else "thing"
