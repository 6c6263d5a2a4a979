"""
Find sentence ends that are beyond doubt, so that erasure cuts too much text rather than too little.

Where a sentence ends is not always sure ("Dr. Okonkwo", "No. 12B", "the 3. May", "Yahoo! Japan", 第3. 章). So a text is cut in
pieces at every end that may be one, as sentences.py finds the marks, and pieces are put together where the end between
them is in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate, pairwise

from yiku.rules.lexicon import built_in, lists
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import CLOSING, possible_ends

Range = tuple[int, int]  # characters, the end behind the last

STOPS = ".!?。！？；;…"  # what may end a sentence
INNER = frozenset(".!?")  # what may also stand inside a name or a word
NEAR_CHARS = 200  # around a stop, which say whether it ends something
PIECES_JOINED = 20  # by which a cut goes on where no end is sure
FRAGMENT_WORDS = 2  # behind "Yahoo!" so few words may belong to the name
_STOP_RUN = re.compile(rf"[{STOPS}]+")
_NEXT_WORDS = re.compile(rf"[^{STOPS}\n]*")
_LAST_WORD = re.compile(r"[\w.]*")  # read from the end


def pieces(text: str) -> list[str]:
    """Cut a text at every possible sentence end; the pieces tile it."""
    return [text[start:end] for start, end in pairwise((0, *possible_ends(text)))]


def safe_sentences(text: str) -> list[str]:
    """Cut a text only at sentence ends beyond doubt; the pieces tile it."""
    found: list[str] = []
    joined = 0
    for start, end in spans(pieces(text)):
        if found and joined < PIECES_JOINED and not _ends_surely(text, start):
            found[-1] += text[start:end]
            joined += 1
        else:
            found.append(text[start:end])
            joined = 0
    return found


def spans(parts: Iterable[str]) -> list[Range]:
    """Return the spans of consecutive parts."""
    return [*pairwise((0, *accumulate(map(len, parts))))]


def to_safe_ends(text: str, start: int, end: int) -> Range:
    """Widen a span to sentence ends beyond doubt, final punctuation included."""
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


def _ends_surely(text: str, position: int) -> bool:
    """Whether a sentence ends beyond doubt before this place."""
    start, end = _stops_before(text, position)
    if start == end:  # a line break, or a quotation that ends: "No." may be quoted, too
        quoted = text[max(0, start - NEAR_CHARS) : start]
        return quoted.rstrip(CLOSING) == quoted or quoted.rstrip(CLOSING)[-1:] not in INNER
    return not _is_doubtful(text, start, end)


def _stops_before(text: str, position: int) -> Range:
    """Return the span of the punctuation before the white space that ends here."""
    first = max(0, position - NEAR_CHARS)
    before = text[first:position].rstrip()
    return first + len(before.rstrip(STOPS)), first + len(before)


def _is_doubtful(text: str, start: int, end: int) -> bool:
    """Whether punctuation may be part of a name or a number and end nothing."""
    stops, following = text[start:end], text[end : end + 1]
    if set(stops) - INNER or not following:
        return False
    if not following.isspace():
        return following.isalnum()
    near = text[max(0, start - NEAR_CHARS) : start]
    last = _LAST_WORD.match(near[::-1])
    *cjk_runs, word = UNSPACED_RUN.split(last[0][::-1] if last else "")
    gap = text[end : end + NEAR_CHARS]
    rest = gap.lstrip()
    if stops == "." and _is_short(folded(word)):
        return True
    if not rest or "\n" in gap[: len(gap) - len(rest)]:
        return False
    if stops == ".":
        month = len(word) <= 2 and built_in().is_month(_first_word(rest))
        counted = bool(cjk_runs) and cjk_runs[-1].endswith(tuple(lists.words("erasing.ordinal")))
        return rest[0].isdigit() or (word.isdigit() and (month or counted))
    words = (_NEXT_WORDS.match(rest) or [""])[0].split()
    named = word[:1].isupper() and (len(word) > 1 or not built_in().is_person(folded(word)))
    return named and 0 < len(words) <= FRAGMENT_WORDS and (rest[0].isascii() or bool(cjk_runs))


def _is_short(word: str) -> bool:
    """Whether a word is an abbreviation: Dr, e.g, an initial."""
    initials = all(len(part) == 1 and part.isalpha() for part in word.split("."))
    return (
        built_in().is_abbreviation(word) or word in lists.words("erasing.short") or (initials and (word.isascii() or "." in word))
    )


def _first_word(text: str) -> str:
    return folded(re.split(r"\W", text[:NEAR_CHARS], maxsplit=1)[0])
