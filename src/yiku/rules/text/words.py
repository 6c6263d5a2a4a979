"""
The words of a sentence with their places and their classes in the lexicon: one pass, longest phrase first.

Where words are written without spaces the longest word of the lexicon is taken at each place, and what it does not know
stays together as one unknown word. A contraction gives its two words, both at its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from yiku.rules.analyze import UNSPACED
from yiku.rules.lexicon import UNKNOWN, Entry, Lexicon
from yiku.rules.lexicon.flags import BEGINS_NAME, HOUR, MONTH, ORDINAL, PLACE, PLAN, TIME

MANY_CHARS = 3  # a word must be longer to be looked up without the ending of its plural
NAME_CHARS = (2, 3)  # characters of a name of a person, where no capitals tell it
_SPACED = rf"(?:(?![{UNSPACED}])[^\W_])+"
_TOKEN = re.compile(rf"([{UNSPACED}]+)|({_SPACED}(?:(?:['._@/:+#\-]|(?<=\d),(?=\d\d\d(?!\d))){_SPACED})*[%+#]*)|(\S)")


@dataclass(slots=True)
class Word:
    """
    A word where it stands in the text.

    text:   folded
    flags:  the bits of its classes (lexicon/flags.py); those of a phrase stand at its first word, its other words have none
    entry:  what the lexicon knows of it
    known:  whether the lexicon has it, alone or in a phrase
    sign:   it is punctuation
    inside: it stands in a phrase, behind its first word
    cjk:    it is of a script that is written without spaces
    """

    start: int
    end: int
    text: str
    flags: int = 0
    entry: Entry = UNKNOWN
    known: bool = False
    sign: bool = False
    inside: bool = False
    cjk: bool = False


def words(folded: str, start: int, end: int, lexicon: Lexicon) -> list[Word]:
    """The words of folded[start:end]."""
    found: list[Word] = []
    for match in _TOKEN.finditer(folded, start, end):
        if match[2]:
            found += _spaced(match[2], match.start(), lexicon)
        elif match[1]:
            found += _run(match[1], match.start(), lexicon)
        else:
            found.append(Word(match.start(), match.end(), match[3], sign=True))
    _phrases(found, lexicon)
    for place, word in enumerate(found):
        word.flags |= lexicon.marks.get(word.text, 0) | _by_form(word, lexicon)
        if word.flags & MONTH and word.flags & PLAN:  # a month, and a verb: may
            beside = [*found[max(0, place - 1) : place], *found[place + 1 : place + 2]]
            dated = any(each.text[0].isdigit() for each in beside) or bool(place and found[place - 1].flags & PLACE)
            word.flags &= ~PLAN if dated else ~TIME
            word.entry = word.entry if dated else UNKNOWN
    return found


def _by_form(word: Word, lexicon: Lexicon) -> int:
    """The bits that its form gives a word: a number that ends as an hour or a day, characters that may be a name."""
    if word.text[0].isdigit():
        hour, ordinal = (word.text.endswith(lexicon.endings[name]) for name in ("hour", "ordinal"))
        return (HOUR if hour else 0) | (ORDINAL if ordinal else 0)
    fewest, most = NAME_CHARS
    return BEGINS_NAME if word.cjk and not word.known and fewest <= len(word.text) <= most and word.text[0] in lexicon.firsts else 0


def flags_of(some: Sequence[Word]) -> int:
    """The bits of all these words."""
    return reduce(or_, (word.flags for word in some), 0)


def _word(start: int, end: int, text: str, lexicon: Lexicon) -> Word:
    entry = lexicon.words.get(text)
    if entry is None and len(text) > MANY_CHARS:
        entry = _singular(text, lexicon)
    return Word(start, end, text) if entry is None else Word(start, end, text, entry.flags, entry, True)


def _singular(text: str, lexicon: Lexicon) -> Entry | None:
    """What the lexicon knows of a thing that is named in the plural."""
    for ending, singular in lexicon.plurals:
        entry = lexicon.words.get(text.removesuffix(ending) + singular) if text.endswith(ending) else None
        if entry is not None:
            return entry if entry.means or entry.sorts else None
    return None


def _spaced(text: str, start: int, lexicon: Lexicon) -> Iterator[Word]:
    end = start + len(text)
    if text in lexicon.contractions:
        for part in lexicon.contractions[text]:
            yield _word(start, end, part, lexicon)
        return
    clitic = next((each for each in lexicon.endings["clitic"] if text.endswith(each)), "")
    yield _word(start, end - len(clitic), text.removesuffix(clitic), lexicon)
    if clitic:
        yield _word(end - len(clitic), end, clitic, lexicon)


def _run(run: str, start: int, lexicon: Lexicon) -> Iterator[Word]:
    """The words of a run without spaces."""
    place = unknown = 0
    while place < len(run):
        known = next(
            (n for n in lexicon.runs.get(run[place], ()) if place + n <= len(run) and run[place : place + n] in lexicon.words), 0
        )
        if known:
            if unknown < place:
                yield Word(start + unknown, start + place, run[unknown:place], cjk=True)
            text = run[place : place + known]
            yield Word(start + place, start + place + known, text, lexicon.words[text].flags, lexicon.words[text], True, cjk=True)
            unknown = place + known
        place += known or 1
    if unknown < len(run):
        yield Word(start + unknown, start + len(run), run[unknown:], cjk=True)


def _phrases(found: list[Word], lexicon: Lexicon) -> None:
    """Give the classes of a phrase to its first word, and take those of the others."""
    texts = tuple(word.text for word in found)
    place, last = 0, len(found) - 1
    while place < last:
        following = texts[place + 1]
        for phrase in lexicon.phrases.get(texts[place], ()):
            size = len(phrase.words)
            if phrase.words[1] == following and texts[place : place + size] == phrase.words:
                part = found[place : place + size]
                first = part[0]
                first.flags = phrase.entry.flags or flags_of(part)  # of a phrase that is a concept alone, those of its words
                first.entry, first.known = phrase.entry, True
                for each in part[1:]:
                    each.flags, each.entry, each.known, each.inside = 0, UNKNOWN, True, True
                place += size - 1
                break
        place += 1


__all__ = ["Word", "flags_of", "words"]
