"""
Where a sentence surely ends, for what must rather take too much than too little: erasing.

Where a sentence ends is not always sure ("Dr. Okonkwo", "No. 12B", "the 3. May", "Yahoo! Japan", 第3. 章). So a text is cut in
pieces at every end that may be one, as sentences.py finds the marks, and pieces are put together where the end between
them is in doubt.
"""

from __future__ import annotations

import re
from itertools import pairwise

from yiku.rules import shared_words
from yiku.rules.analyze import UNSPACED_RUN
from yiku.rules.lexicon import built_in
from yiku.rules.text.sentences import CLOSING, possible_ends

Range = tuple[int, int]  # characters, the end behind the last

STOPS = ".!?。！？；;…"  # what may end a sentence
INNER = frozenset(".!?")  # what may also stand inside a name or a word
NEAR_CHARS = 200  # around a stop, which say whether it ends something
PIECES_JOINED = 20  # by which a cut goes on where no end is sure
FRAGMENT_WORDS = 2  # behind "Yahoo!" so few words may belong to the name
_STOP_RUN = re.compile(rf"[{STOPS}]+")
_NEXT_WORDS = re.compile(rf"[^{STOPS}\n]*")
_ORDINAL = re.compile(r"第\d+$")
_MONTH = re.compile(rf"(?:{shared_words.MONTH})\b", re.IGNORECASE)
# Behind these a stop ends no sentence; in small letters.
_SHORT = frozenset(
    """
    dr mr mrs ms mx st no nr nos prof sr jr fr rev hon gen col maj capt cpt lt sgt gov sen rep approx ca vs etc cf e.g i.e eg ie
    ave rd blvd dept est fig vol vols ed eds inc ltd co corp llc bros mt ft tel ext apt bldg fl art sec ch pp p max min tsp tbsp lb oz
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun str bzw usw z.b ing dipl op opp
    """.split()
)


def pieces(text: str) -> list[str]:
    """A text cut at every end of a sentence that may be one; together they are the text."""
    return [text[start:end] for start, end in pairwise((0, *possible_ends(text)))]


def sure_sentences(text: str) -> list[str]:
    """The sentences of a text, cut only where an end is sure; together they are the text."""
    found: list[str] = []
    joined = 0
    position = 0
    for piece in pieces(text):
        if found and joined < PIECES_JOINED and not _ends_surely(text, position):
            found[-1] += piece
            joined += 1
        else:
            found.append(piece)
            joined = 0
        position += len(piece)
    return found


def _ends_surely(text: str, position: int) -> bool:
    """Whether a sentence surely ends before the piece that begins here."""
    start, end = _stops_before(text, position)
    if start == end:  # a line break, or a quotation that ends: "No." may be quoted, too
        quoted = text[max(0, start - NEAR_CHARS) : start]
        return quoted.rstrip(CLOSING) == quoted or quoted.rstrip(CLOSING)[-1:] not in INNER
    return not _is_doubtful(text, start, end)


def _stops_before(text: str, position: int) -> Range:
    """The stops in front of white space that ends here."""
    first = max(0, position - NEAR_CHARS)
    before = text[first:position].rstrip()
    return first + len(before.rstrip(STOPS)), first + len(before)


def _is_doubtful(text: str, start: int, end: int) -> bool:
    """Whether the stops there may be part of what is said, and end nothing."""
    stops, following = text[start:end], text[end : end + 1]
    if set(stops) - INNER or not following:
        return False
    near = text[max(0, start - NEAR_CHARS) : start]
    *chinese, own = UNSPACED_RUN.split(_last_word(near))
    word = own.casefold()
    if not following.isspace():
        return following.isalnum()
    gap = text[end : end + NEAR_CHARS]
    behind = gap.lstrip()
    known = word in _SHORT or built_in().is_abbreviation(word) or _is_dotted(word)
    short = stops == "." and (known or (len(word) == 1 and word.isalpha() and word.isascii()))
    if "\n" in gap[: len(gap) - len(gap.lstrip())]:
        return short
    if not behind or short:
        return short
    if stops == ".":
        ordinal = (word.isdigit() and len(word) <= 2 and _MONTH.match(behind)) or _ORDINAL.search(near)
        return behind[0].isdigit() or bool(ordinal)
    fragment = _NEXT_WORDS.match(behind)
    words = fragment[0].split() if fragment else []
    named = own[:1].isupper() and own != "I"
    return named and 0 < len(words) <= FRAGMENT_WORDS and (behind[0].isascii() or bool(chinese))


def _last_word(text: str) -> str:
    """The letters, digits and stops at a text's end."""
    at = len(text)
    while at and (text[at - 1].isalnum() or text[at - 1] in "._"):
        at -= 1
    return text[at:]


def _is_dotted(word: str) -> bool:
    """Whether it is short for several words: "e.g", "U.S", "p.m"."""
    return "." in word and all(len(part) == 1 and part.isalpha() for part in word.split("."))


def sure(text: str, start: int, end: int) -> Range:
    """A span up to ends that are sure, with the stops that end it."""
    for _ in range(PIECES_JOINED):
        stops = _STOP_RUN.match(text, end)
        if stops is None:
            break
        end = stops.end()
        if not _is_doubtful(text, *stops.span()):
            break
        following = _NEXT_WORDS.match(text, end)
        end = following.end() if following else end
        end = start + len(text[start:end].rstrip())
    for _ in range(PIECES_JOINED):
        stops_at, before = _stops_before(text, start)
        if stops_at == before or not _is_doubtful(text, stops_at, before):
            break
        start = max((text.rfind(stop, 0, stops_at) + 1 for stop in (*STOPS, "\n")), default=0)
        start += len(text[start:stops_at]) - len(text[start:stops_at].lstrip())
    return start, end
