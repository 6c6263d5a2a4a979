"""
Detect spans in which somebody else speaks: quotations, and text after a lead-in such as `the mail says:`.

A short quotation without punctuation is a name or a title, and the speaker's own. Between two quotations of a paragraph nothing is
surely the speaker's: what is quoted may hold marks itself, put there to end the quotation early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from yiku.rules.lexicon import flags as F
from yiku.rules.text import lazy
from yiku.rules.text.sentences import is_wide
from yiku.rules.text.words import Word, flags_of

LONG_QUOTE = 16  # characters; a shorter one is a name or a title
_MARK = lazy.compile(r'["「」『』]')  # of folded text
_PARAGRAPH = lazy.compile(r"\n[ \t\r\u3000]{0,40}\n|$")
_OWN_LEAD = F.REMEMBER | F.STANDING | F.CORRECT  # remember this:, from now on:

Span = tuple[int, int]


def sayings(small: str, start: int, end: int) -> list[Span]:
    """Return where others speak between marks in a stretch of folded text, one span a paragraph."""
    found: list[Span] = []
    while start < end:
        over = min(paragraph_end(small, start), end)
        if said := [*_said(small, start, over)]:
            found.append((said[0][0], said[-1][1]))
        start = over + 1
    return found


def paragraph_end(text: str, start: int) -> int:
    """Return where the paragraph that holds a place ends."""
    match = _PARAGRAPH.search(text, start)
    return match.start() if match else len(text)


def _said(small: str, start: int, end: int) -> Iterator[Span]:
    """Yield the quotations that are speech; one that is never closed goes on to the end."""
    opened = -1
    for mark in _MARK.finditer(small, start, end):
        place = mark.start()
        if opened >= 0:
            if _is_saying(small[opened : place + 1]):
                yield opened, place + 1
            opened = -1
        elif mark[0] in "「『" or _may_open(small, place):
            opened = place
    if opened >= 0 and _is_saying(f"{small[opened:end]}'"):
        yield opened, end


def _may_open(small: str, place: int) -> bool:
    """Whether a straight mark may open: 27\" is a measure."""
    before, behind = small[place - 1 : place], small[place + 1 : place + 2]
    return not (before.isascii() and before.isalnum()) and not behind.isspace()


def _is_saying(quotation: str) -> bool:
    """Whether a quotation is speech, not a name or title: long, with punctuation, or with nothing in it."""
    inner = quotation[1:-1]
    if not inner or inner[-1] in ",，":  # "…," said Ann
        return True
    weight = sum(2 if is_wide(character) else 1 for character in inner)
    return weight >= LONG_QUOTE or any(mark in inner.strip(", ") for mark in ",.!?。")


def led(text: str, found: Sequence[Word]) -> Span | None:
    """
    Return where others speak behind a lead in a sentence: from its colon to the end of the paragraph, or of the text where it ends a line.

    found: the words of the sentence
    """
    for place, word in enumerate(found):
        if word.text == ":" and _leads(flags_of(found[:place])):
            ends_line = not text[word.end :].partition("\n")[0].strip()
            return word.start, len(text) if ends_line else paragraph_end(text, word.end)
    return None


def _leads(flags: int) -> bool:
    """Whether words announce the words of others: `the mail says`, `I found this on a web page`, `translate this`."""
    if flags & _OWN_LEAD:
        return False
    return bool(
        flags & (F.REPORT | F.WORKS_ON | F.MATERIAL) or (flags & F.TEXT and flags & F.VERB and not (flags & F.BE and flags & F.MY))
    )
