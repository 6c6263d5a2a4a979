"""
Parse what a question asks for: the sort of value, subjects, predicates, and whether it is about the past.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from yiku.rules.lexicon import Lexicon, built_in, lists
from yiku.rules.lexicon import flags as F
from yiku.rules.statements import slots
from yiku.rules.statements.clause import Asked
from yiku.rules.statements.subjects import Discourse, name_of, who_is_named
from yiku.rules.text.folding import folded
from yiku.rules.text.words import Word, content, flags_of, words

QUESTION_CHARS = 1_000


def question(text: str, lexicon: Lexicon) -> Asked:
    """Parse a question."""
    said = text[:QUESTION_CHARS]
    small = folded(said)
    found = [word for word in words(small, 0, len(small), lexicon) if not word.sign]
    flags = flags_of(found)
    wanted = slots.wanted(found, small, lexicon)
    return Asked(
        sort=_asked_sort(found, flags, wanted, lexicon),
        subjects=frozenset(_asked_of(said, found)),
        wanted=wanted,
        content=content([word for word in found if not word.flags & F.KIN])
        | {word.entry.kin for word in found if word.flags & F.KIN},
        several=bool(flags & F.SEVERAL),
        before=asks_how_it_was(small, found, lexicon) or bool(flags & F.EARLIER and flags & F.WAS),
    )


def asks_how_it_was(small: str, asking: Sequence[Word], lexicon: Lexicon) -> bool:
    """
    Whether a question asks about the past: previously, earlier. The past month and three days before are times.

    asking: the words of the folded text that ask
    """
    meant, apart, ends = lists.words("asking.past"), list[tuple[int, int]](), list[int]()
    for match in lists.looked_for("asking.past", "asking.past_else").finditer(small):
        if match[0] not in meant:
            apart.append(match.span())
        elif any(word.start <= match.start() < word.end for word in asking):
            ends.append(match.end())
    did = lexicon.lists.get("asking.auxiliary", ())
    past = any(word.flags & F.WAS or word.text in did for word in asking)
    for place, word in enumerate(asking):
        begins = word.flags & F.BEFORE or (past and word.flags & F.EARLIER)
        if begins and not (place and asking[place - 1].flags & (F.UNIT | F.BE)) and not any(s <= word.start < e for s, e in apart):
            ends.append(next((asking[n - 1].end for n in range(place + 1, len(asking)) if not asking[n].inside), asking[-1].end))
    return any(not _is_counted([word for word in asking if word.start >= end]) for end in ends)


def what_came_after(small: str, every: Sequence[Word]) -> list[Word]:
    """The words of what ended the time that a question about the past asks for: `before the move`, 换工作之前."""
    came: list[Word] = []
    for match in lists.looked_for("asking.until").finditer(small):
        if any(word.cjk and word.start <= match.start() < word.end for word in every):
            start = max((word.end for word in every if word.sign and word.end <= match.start()), default=0)
            came += [word for word in every if start <= word.start and word.end <= match.start()]
        else:
            end = min((word.start for word in every if word.sign and word.start >= match.end()), default=len(small))
            came += [word for word in every if match.end() <= word.start and word.end <= end]
    return came


def _is_counted(following: Sequence[Word]) -> bool:
    """Whether a unit follows within two words: the past month, 过去三天."""
    for word in following[:2]:
        if word.flags & F.UNIT:
            return True
        if word.flags & (F.ASKS | F.VERB):
            break
    return False


def stated(text: str) -> frozenset[str]:
    """Return the content words of a text."""
    small = folded(text)
    return content(words(small, 0, len(small), built_in()))


def names_of(name: str) -> Sequence[str]:
    """Return all names of an attribute and of those near it: boss, 主管, team lead … for manager; empty for any other word."""
    known = built_in().words.get(name)
    return _attributes().get(known.has if known is not None and known.has else name, ())


@cache
def _attributes() -> dict[str, list[str]]:
    """Names of each attribute, then of those that a question for it finds, too."""
    found: dict[str, list[str]] = {}
    for word, entry in built_in().words.items():
        if entry.has:
            found.setdefault(entry.has, []).append(word)
    near = {name: line.split() for line in lists.words("slots.near") for name in line.split()}
    return {
        name: [*own, *(word for each in near.get(name, ()) if each != name for word in found[each])] for name, own in found.items()
    }


def _asked_of(said: str, found: Sequence[Word]) -> set[str]:
    """Return the first person that a question names."""
    for place, word in enumerate(found):
        if word.flags & (F.KIN | F.OWN | F.PERSON) and not word.flags & (F.IT | F.YOU | F.YOUR):
            subject = who_is_named(said, found[place:], len(found) - place, Discourse())[0]
            if subject:
                return {subject}
        elif _is_named(said, found, place):
            return {name_of(word)}
        elif word.flags & F.VERB and not word.flags & (F.AUX | F.BE | F.WAS | F.ASKS_FIRST):
            break  # what stands behind the verb is no subject
    return set()


def _is_named(said: str, found: Sequence[Word], place: int) -> bool:
    word = found[place]
    if not word.cjk:
        return (
            place > 0
            and said[word.start].isupper()
            and not word.flags & (F.DATED | F.LIGHT | F.SPEAKER | F.COMMON)
            and not found[place - 1].flags & F.PLACE
        )
    return bool(word.flags & F.BEGINS_NAME)


def _asked_sort(found: Sequence[Word], flags: int, wanted: frozenset[str], lexicon: Lexicon) -> str:
    for bits, sort in ((F.WHERE, "place"), (F.WHEN, "time"), (F.WHO, "person"), (F.AMOUNT, "amount")):
        if flags & bits:
            return sort
    nouns = [word.entry.has for word in found if word.entry.has]
    if nouns:
        return lexicon.attributes[nouns[-1]]
    if wanted:
        return lexicon.predicates[min(wanted)].takes
    if flags & F.WHAT:
        return "thing"
    return "yes" if flags & F.ASKS_FIRST else "thing"
