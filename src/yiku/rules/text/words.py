"""
Split text into words with offsets and lexicon classes, in one pass, longest phrase first.

Where words are written without spaces the longest word of the lexicon is taken at each place, and what it does not know
stays together as one unknown word. A contraction gives its two words, both at its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from yiku.rules.lexicon import UNKNOWN, Entry, Lexicon
from yiku.rules.lexicon.flags import (
    BEGINS_NAME,
    CAN,
    DAY,
    EMPTY,
    HOUR,
    LIGHT,
    MONTH,
    NUMBER,
    ORDINAL,
    PLACE,
    PLAN,
    TIME,
    UNIT,
    VERB,
)
from yiku.rules.text import analyze
from yiku.rules.text.analyze import UNSPACED

MANY_CHARS = 3  # a word must be longer to be looked up without the ending of its plural
NAME_CHARS = (2, 3)  # characters of a name of a person, where no capitals tell it
_SPACED = rf"(?:[a-z0-9]|(?![{UNSPACED}a-z0-9])[^\W_])+"
_TOKEN = re.compile(rf"([{UNSPACED}]+)|({_SPACED}(?:(?:['._@/:+#·\-]|(?<=\d),(?=\d\d\d(?!\d))){_SPACED})*[%+#]*)|(\S)")
_RUN, _WORD = 1, 2  # groups of it


@dataclass(slots=True, eq=False)
class Word:
    """
    A token with its place in the text.

    text:   folded
    flags:  the bits of its classes (lexicon/flags.py); those of a phrase stand at its first word, its other words have none
    entry:  what the lexicon knows of it
    known:  whether the lexicon has it, alone or in a phrase
    sign:   it is punctuation
    inside: it stands in a phrase, behind its first word
    cjk:    it is of a script that is written without spaces
    about:  what it is about (`content`), once that was asked
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
    about: Sequence[str] | None = None


def words(folded: str, start: int, end: int, lexicon: Lexicon) -> list[Word]:
    """Return the words of folded[start:end]."""
    found: list[Word] = []
    for match in _TOKEN.finditer(folded, start, end):
        if match.lastindex == _WORD:
            found += _split_at_spaces(match[0], match.start(), lexicon)
        elif match.lastindex == _RUN:
            found += _run(match[0], match.start(), lexicon)
        else:
            found.append(Word(match.start(), match.end(), match[0], sign=True))
    _phrases(found, lexicon)
    for place, word in enumerate(found):
        if len(word.text) == 1 and word.known and not word.cjk and word.text.isalpha():
            neighbours = (each for each in found[max(0, place - 1) : place + 2] if each.cjk)
            if any(each.end == word.start or each.start == word.end for each in neighbours):
                word.flags, word.entry, word.known = 0, UNKNOWN, False  # A型: no article
        word.flags |= lexicon.marks.get(word.text, 0)
        if not word.known:
            word.flags |= _by_form(word, lexicon)
        elif word.flags & MONTH and word.flags & (PLAN | CAN):
            _tell_month(found, place)
    return found


def _tell_month(found: Sequence[Word], place: int) -> None:
    """Disambiguate a word that is a month and a verb (may) by its neighbours."""
    word, neighbours = found[place], [*found[max(0, place - 1) : place], *found[place + 1 : place + 2]]
    if any(each.text[0].isdigit() for each in neighbours) or (place and found[place - 1].flags & PLACE):
        word.flags &= TIME
    else:
        word.flags &= ~TIME
        word.entry = UNKNOWN


def _by_form(word: Word, lexicon: Lexicon) -> int:
    """Return the flags that a word's form implies: an hour, an ordinal, a Chinese name."""
    text = word.text
    if text[0].isdigit():
        return (HOUR if text.endswith(lexicon.endings["hour"]) else 0) | (
            ORDINAL if text.endswith(lexicon.endings["ordinal"]) else 0
        )
    return BEGINS_NAME if word.cjk and text[0] in lexicon.firsts and len(text) in NAME_CHARS else 0


def flags_of(some: Iterable[Word]) -> int:
    """Return the flags of all these words."""
    bits = 0
    for word in some:
        bits |= word.flags
    return bits


def first_with(some: Sequence[Word], bits: int) -> int:
    """Return the place of the first word with one of these flags, the length if there is none."""
    for place, word in enumerate(some):
        if word.flags & bits:
            return place
    return len(some)


def content(some: Iterable[Word]) -> frozenset[str]:
    """Return the content words under one name in both languages, without function words and words of time and change."""
    found: set[str] = set()
    for word in some:
        if word.about is None:
            word.about = _about(word)
        found.update(word.about)
    return frozenset(found)


def _about(word: Word) -> Sequence[str]:
    """Return the concepts of a word, else its stem, else the bigrams of unknown characters."""
    if word.entry.means:
        return word.entry.means
    if word.sign or word.flags & (EMPTY | DAY):
        return ()
    if not word.cjk:
        return analyze.tokens(word.text).words
    run = word.text
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _word(start: int, end: int, text: str, lexicon: Lexicon) -> Word:
    entry = lexicon.words.get(text)
    if entry is None and len(text) > MANY_CHARS:
        entry = _singular(text, lexicon)
    return Word(start, end, text) if entry is None else Word(start, end, text, entry.flags, entry, True)


def _singular(text: str, lexicon: Lexicon) -> Entry | None:
    """Look up a plural by its singular."""
    for ending, singular in lexicon.plurals:
        if text.endswith(ending) and (entry := lexicon.words.get(text.removesuffix(ending) + singular)) is not None:
            return entry if entry.means or entry.sorts else None
    return None


def _split_at_spaces(text: str, start: int, lexicon: Lexicon) -> list[Word]:
    end = start + len(text)
    if (parts := lexicon.contractions.get(text)) is not None:
        return [_word(start, end, part, lexicon) for part in parts]
    if not text.endswith(lexicon.endings["clitic"]):
        return [_word(start, end, text, lexicon)]
    clitic = next(each for each in lexicon.endings["clitic"] if text.endswith(each))
    cut = end - len(clitic)
    return [_word(start, cut, text.removesuffix(clitic), lexicon), _word(cut, end, clitic, lexicon)]


def _run(run: str, start: int, lexicon: Lexicon) -> Iterator[Word]:
    """Segment a run without spaces, longest word first."""
    place = unknown = 0
    while place < len(run):
        for size in lexicon.runs.get(run[place], ()):
            text = run[place : place + size]
            entry = lexicon.words.get(text) or (UNKNOWN if text in lexicon.compounds else None)
            if entry is not None and len(text) == size and (size > 1 or not place or _may_be_alone(run[place - 1], entry, lexicon)):
                if unknown < place:
                    yield Word(start + unknown, start + place, run[unknown:place], cjk=True)
                place += size
                yield Word(start + place - size, start + place, text, entry.flags, entry, True, cjk=True)
                unknown = place
                break
        else:
            place += 1
    if unknown < len(run):
        yield Word(start + unknown, start + len(run), run[unknown:], cjk=True)


def _may_be_alone(before: str, entry: Entry, lexicon: Lexicon) -> bool:
    """Whether a single character is a word here: a unit only after a number, none in 阿司匹林."""
    if not entry.flags & UNIT or entry.flags & (VERB | LIGHT | NUMBER):
        return True
    number = lexicon.words.get(before)
    return number is not None and bool(number.flags & NUMBER)


def _phrases(found: list[Word], lexicon: Lexicon) -> None:
    """Move the classes of each phrase to its first word."""
    texts = tuple([word.text for word in found])
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
