"""
Where a text says a statement, and what is left of the text without it.

Three ways to find it, the most exact first: the span that the statement's source names; the statement's words, or those of its
source, wherever they stand (case, width, accents, punctuation and Chinese writing do not matter); and a sentence that says it in
other words, by filling the same slot with the same value. The first two are cut out to the character. Of the third nobody knows
where it ends, so the whole paragraph goes.

Whoever learned the statement may have stopped too early, at "Dr." So a cut goes on to the next end of a sentence that is sure.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TypeVar

from yiku.rules import analyze, slots
from yiku.rules.analyze import UNSPACED_RUN, fold, plain
from yiku.rules.text.sure import pieces, sure
from yiku.types import SemanticMemory

T = TypeVar("T")
Range = tuple[int, int]  # characters, the end behind the last

MARKS = {"en": "[erased]", "zh": "[已抹去]"}
WEIGHT = 12  # from here on a part of a statement is enough of it to be cut out; a Chinese character counts two
RUN_CHARS = 8  # of Chinese: so long a run is no part of another word by chance
KNOWN_WORDINGS = 4_096  # that are looked for in many texts
_PARTICLES = frozenset("的了吧呢啊吗呀哦嘛啦着过")  # what may follow a Chinese statement without being part of its last word
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_GAP = r"[\s.,;:!?。，；：！？、~…\"'“”‘’「」『』]"  # as analyze.plain leaves out


# ------------------------------------------------------------------ where it is said


def paragraph(text: str, start: int, end: int) -> Range:
    """The block of lines around a span, up to empty lines, without white space at its ends."""
    first = max((match.end() for match in _BLANK_LINE.finditer(text, 0, start)), default=0)
    blank = _BLANK_LINE.search(text, end)
    last = blank.start() if blank else len(text)
    block = text[first:last]
    return first + len(block) - len(block.lstrip()), first + len(block.rstrip())


@dataclass(frozen=True, slots=True)
class Cuts:
    """What is cut out of a text, in order; `widened`: whole paragraphs, since it is said there in other words."""

    ranges: tuple[Range, ...]
    widened: bool = False


def cuts(
    text: str, statements: Sequence[SemanticMemory], *, speaker: str | None, names: Sequence[str], spans: Iterable[Range] = ()
) -> Cuts:
    """What of a text says one of the statements; `spans` are known to."""
    folded = Folded(text)
    found = [sure(text, *span) for span in spans]
    for words in dict.fromkeys(words for statement in statements for words in wordings(statement)):
        found += [sure(text, *place) for place in folded.places(words)]
    ranges, widened = joined(found), False
    told = [(statement, plain(statement.content)) for statement in statements]
    for start, end in _rest(text, ranges):
        words = plain(text[start:end])
        if weight(words) >= WEIGHT and any(_stands_in(words, content) for _, content in told):  # a part of the statement
            ranges = joined([*ranges, sure(text, *stripped(text, start, end))])
        elif words and any(_fills(text[start:end], words, statement, speaker, names) for statement in statements):
            ranges, widened = joined([*ranges, paragraph(text, start, end)]), True
    return Cuts(tuple(ranges), widened)


def wordings(statement: SemanticMemory) -> Iterator[str]:
    """The words in which a statement was said: its own, and those of its sources that tell enough."""
    yield statement.content
    yield from (source.text for source in statement.sources if source.text and weight(plain(source.text)) >= WEIGHT)


def paragraphs_with(text: str, words: Collection[str]) -> list[Range]:
    """The blocks of lines that hold one of these words of the index."""
    found, start = [], 0
    for end in [*(match.end() for match in _BLANK_LINE.finditer(text)), len(text)]:
        told = analyze.tokens(text[start:end])
        if not words or not {*told.words, *told.characters}.isdisjoint(words):
            found.append(stripped(text, start, end))
        start = end
    return [(start, end) for start, end in found if start < end]


def says(sentence: str, statement: SemanticMemory, *, speaker: str | None, names: Sequence[str]) -> bool:
    """Whether a sentence says a statement: with its words, or by filling its slot with its value."""
    words, told = plain(sentence), plain(statement.content)
    if not words or not told:
        return False
    if _stands_in(told, words) or (weight(words) >= WEIGHT and _stands_in(words, told)):
        return True
    return _fills(sentence, words, statement, speaker, names)


def _fills(sentence: str, words: str, statement: SemanticMemory, speaker: str | None, names: Sequence[str]) -> bool:
    if not statement.predicate or not statement.object or (value := plain(statement.object)) not in words:
        return False
    slot = slots.read(sentence, speaker=speaker, names=names)
    return slot is not None and (slot.subject, slot.predicate, plain(slot.object)) == (
        statement.subject,
        statement.predicate,
        value,
    )


def _stands_in(part: str, whole: str) -> bool:
    """Whether words stand among others as words: "tea" is not in "teapot", 我喜欢茶 not in 我喜欢茶叶."""
    at = whole.find(part)
    while at >= 0:
        if _is_apart(whole, at, at + len(part)):
            return True
        at = whole.find(part, at + 1)
    return False


def _is_apart(whole: str, start: int, end: int) -> bool:
    """Whether a part of a folded text ends where words end."""
    before, after, part = whole[start - 1 : start] if start else "", whole[end : end + 1], whole[start:end]
    return not _joins(before, part[:1]) and not (_joins(part[-1:], after) or _goes_on(part, after))


def _joins(left: str, right: str) -> bool:
    """Whether two characters are inside one word of letters and digits."""
    return all(side.isalnum() and not UNSPACED_RUN.match(side) for side in (left, right))


def _goes_on(part: str, after: str) -> bool:
    """Whether a Chinese word may go on behind its last character here."""
    if not UNSPACED_RUN.match(after) or after in _PARTICLES:
        return False
    runs = UNSPACED_RUN.findall(part)
    return bool(runs) and part.endswith(runs[-1]) and len(runs[-1]) < RUN_CHARS


def weight(words: str) -> int:
    """How much a text says: its characters, a Chinese one twice."""
    return len(words) + sum(map(len, UNSPACED_RUN.findall(words)))


@dataclass(slots=True)
class Folded:
    """A text in the form in which words are compared, and the way back to its own characters."""

    text: str
    lines: list[str] = field(init=False)
    folded: str = field(init=False)
    starts: list[int] = field(init=False)  # of the lines, in the text
    folded_starts: list[int] = field(init=False)
    _places: dict[int, list[Range] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = [self.text] if self.text.isascii() else self.text.splitlines(keepends=True) or [""]
        folded = [fold(line) for line in self.lines]
        self.folded = "".join(folded)
        self.starts = [0, *accumulate(map(len, self.lines))][:-1]
        self.folded_starts = [0, *accumulate(map(len, folded))][:-1]

    def places(self, words: str) -> list[Range]:
        """Where words stand in the text, as words, in whatever case, width, accents and punctuation."""
        runs = _runs(words)
        if not runs or not all(run in self.folded for run in runs):
            return []
        pattern = _of_runs(runs)
        found = [match.span() for match in pattern.finditer(self.folded)]
        return [(self._own(start)[0], self._own(end - 1)[1]) for start, end in found if _is_apart(self.folded, start, end)]

    def _own(self, at: int) -> Range:
        """The characters of the text that a character of its folded form stands for."""
        k = bisect_right(self.folded_starts, at) - 1
        line, start = self.lines[k], self.starts[k]
        if line.isascii():
            return start + at - self.folded_starts[k], start + at - self.folded_starts[k] + 1
        if k not in self._places:
            self._places[k] = _clusters(line)
        places = self._places[k]
        if places is None:  # no way back: the whole line is meant
            return start, start + len(line.rstrip("\r\n"))
        first, last = places[at - self.folded_starts[k]]
        return start + first, start + last


def _clusters(line: str) -> list[Range] | None:
    """For each character of the folded line the characters of the line that it came from."""
    found: list[Range] = []
    made: list[str] = []
    start = 0
    while start < len(line):
        end = start + 1
        while end < len(line) and (
            unicodedata.combining(line[end]) or line[end] in "\uff9e\uff9f" or "\u1160" <= line[end] <= "\u11ff"
        ):
            end += 1
        one = fold(line[start:end])
        made.append(one)
        found += [(start, end)] * len(one)
        start = end
    return found if "".join(made) == fold(line) else None


@lru_cache(maxsize=KNOWN_WORDINGS)
def _runs(words: str) -> tuple[str, ...]:
    """Words in the form in which they are compared, Chinese apart from others."""
    return tuple(run for word in plain(words).split(" ") for run in UNSPACED_RUN.split(word) if run)


@lru_cache(maxsize=KNOWN_WORDINGS)
def _of_runs(runs: tuple[str, ...]) -> re.Pattern[str]:
    """What finds words in a folded text; between Chinese and others there may be a space or none."""
    told = re.escape(runs[0])
    for left, right in pairwise(runs):
        loose = UNSPACED_RUN.match(left) or UNSPACED_RUN.match(right)
        told += f"{_GAP}{'*' if loose else '+'}{re.escape(right)}"
    return re.compile(told)


# ------------------------------------------------------------------ what is left


def joined(ranges: Iterable[Range]) -> list[Range]:
    """Ranges in order, those that overlap as one, without empty ones."""
    found: list[Range] = []
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def without(text: str, ranges: Iterable[Range], kept: Sequence[Range]) -> list[Range]:
    """Ranges, less what of them is kept, and no white space at their ends."""
    found: list[Range] = []
    for start, end in ranges:
        at = start
        for first, last in kept:
            if at < last and first < end:
                found.append(stripped(text, at, max(at, first)))
                at = last
        if at < end:
            found.append(stripped(text, at, end))
    return [(start, end) for start, end in found if start < end]


def stripped(text: str, start: int, end: int) -> Range:
    """A range without white space at its ends."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def _rest(text: str, ranges: Sequence[Range]) -> Iterator[Range]:
    """The sentences of what stands outside of ranges."""
    start = 0
    for first, last in [*ranges, (len(text), len(text))]:
        position = start
        for sentence in pieces(text[start:first]):
            yield position, position + len(sentence)
            position += len(sentence)
        start = last


def mark(text: str) -> str:
    """What stands where a text was, in its language."""
    return MARKS["zh" if UNSPACED_RUN.search(text) else "en"]


def cut_out(text: str, ranges: Iterable[Range]) -> str:
    """The text with a mark in the place of each range."""
    parts, at = [], 0
    for start, end in ranges:
        parts += [text[at:start], mark(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def around(text: str, ranges: Iterable[Range]) -> list[str]:
    """The whole sentences that ranges lie in: by these the text is known when it comes again."""
    found, position, wanted = [], 0, joined(ranges)
    spans: list[Range] = []
    for piece in pieces(text):
        spans.append((position, position + len(piece)))
        position += len(piece)
    for start, end in wanted:
        inside = [piece for piece in spans if piece[0] < end and start < piece[1]]
        found.append(text[inside[0][0] : inside[-1][1]] if inside else text[start:end])
    return found


def rewritten(value: T, text: Callable[[str], str]) -> T:
    """A JSON value with each text in it, names of fields too, as a function has it."""
    if isinstance(value, str):
        return text(value)  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {text(key): rewritten(entry, text) for key, entry in value.items()}  # type: ignore[return-value]
    if isinstance(value, (list, tuple)):
        return type(value)(rewritten(entry, text) for entry in value)
    return value
