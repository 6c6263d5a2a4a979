"""
Find where a text states a given statement, and cut it out.

Three ways to find it, the most exact first: the span that the statement's source names; the statement's words, or those of its
source, wherever they stand (case, width, accents, punctuation and Chinese writing do not matter); and a sentence that says it in
other words, by filling the same slot with the same value. The first two are cut out to the character. Of the third nobody knows
where it ends, so the whole paragraph goes.

Each text is compared twice: as it was typed, and without Markdown, tags and invisible characters (rules/text/unmarked.py), so what
somebody put into a word does not hide it, and what they put into the target of a link is seen, too.

Whoever learned the statement may have stopped too early, at "Dr." So a cut goes on to the next end of a sentence that is sure.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from yiku.rules.deciding import slots
from yiku.rules.lexicon import built_in, lists
from yiku.rules.text import analyze
from yiku.rules.text.analyze import UNSPACED_RUN, fold, plain
from yiku.rules.text.safe_ends import pieces, spans, to_safe_ends
from yiku.rules.text.unmarked import unmarked
from yiku.types import SemanticMemory

T = TypeVar("T")
Range = tuple[int, int]  # characters, the end behind the last

WEIGHT = 12  # from here on a part of a statement is enough of it to be cut out; a Chinese character counts two
RUN_CHARS = 8  # of Chinese: so long a run is no part of another word by chance
KNOWN_WORDINGS = 4_096  # that are looked for in many texts
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_GAPS = re.compile(r"[\s.,;:!?。，；：！？、~…\"'“”‘’「」『』*_`]+")  # as analyze.plain leaves out, and marks of emphasis


# ------------------------------------------------------------------ where it is said


@dataclass(frozen=True, slots=True)
class Cuts:
    """The ranges cut out of a text, in order; `widened`: whole paragraphs, where it is paraphrased."""

    ranges: tuple[Range, ...]
    widened: bool = False


@dataclass(frozen=True, slots=True)
class Phrases:
    """
    What statements are found by, prepared once for many texts.

    wordings: the words in which they were said, by the run of each that the fewest of them have
    contents: what they say, as plain words, behind each other
    values:   those that fill a slot, by their values
    """

    wordings: Mapping[str, Sequence[str]]
    contents: str
    values: Mapping[str, Sequence[SemanticMemory]]


def phrases(statements: Sequence[SemanticMemory]) -> Phrases:
    """Prepare what these statements are found by."""
    every = dict.fromkeys(words for statement in statements for words in wordings(statement))
    said = {form: runs_of(form) for words in every for form in forms(words)}
    shared = Counter(run for runs in said.values() for run in runs)
    by_run: dict[str, list[str]] = {}
    for words, runs in said.items():
        if runs:
            by_run.setdefault(min(runs, key=lambda run: (shared[run], -len(run))), []).append(words)
    values: dict[str, list[SemanticMemory]] = {}
    for statement in statements:
        if statement.predicate and statement.object:
            values.setdefault(reads(statement.object), []).append(statement)
    return Phrases(by_run, "\0".join(reads(statement.content) for statement in statements), values)


def cuts(text: str, sought: Phrases, *, speaker: str | None, names: Sequence[str], spans: Iterable[Range] = ()) -> Cuts:
    """Find the ranges of a text that say one of the statements; `spans` are known to."""
    known = Folded(text)
    found = [to_safe_ends(text, *span) for span in spans]
    for words in [words for run, said in sought.wordings.items() if known.holds(run) for words in said]:
        found += [to_safe_ends(text, *place) for place in known.places(words)]
    ranges, widened = merge_ranges(found), False
    for start, end in _rest(text, ranges):
        words = reads(text[start:end])
        if weight(words) >= WEIGHT and _stands_in(words, sought.contents):  # a part of a statement
            ranges = merge_ranges([*ranges, to_safe_ends(text, *strip(text, start, end))])
        elif words and _fills(unmarked(text[start:end]).text, words, sought, speaker, names):
            around = [block for block in _paragraphs(text) if block[0] < end and start < block[1]]
            ranges, widened = merge_ranges([*ranges, (around[0][0], around[-1][1])]), True
    return Cuts(tuple(ranges), widened)


def wordings(statement: SemanticMemory) -> Iterator[str]:
    """Yield the wordings of a statement: its own, and those of its sources that say enough."""
    yield statement.content
    yield from (source.text for source in statement.sources if source.text and weight(plain(source.text)) >= WEIGHT)


@lru_cache(maxsize=KNOWN_WORDINGS)
def forms(words: str) -> tuple[str, ...]:
    """Return words as they were typed, and without markup, if that differs."""
    return tuple(dict.fromkeys((words, unmarked(words).text)))


def reads(text: str) -> str:
    """Return the folded words of a text without punctuation and markup."""
    return plain(unmarked(text).text)


def paragraphs_with(text: str, words: Collection[str]) -> list[Range]:
    """Return the paragraphs that hold one of these index terms, all if none are given."""
    paragraphs = {(start, end): analyze.tokens(text[start:end]) for start, end in _paragraphs(text)}
    return [block for block, has in paragraphs.items() if not words or not {*has.words, *has.characters}.isdisjoint(words)]


def _paragraphs(text: str) -> list[Range]:
    """Return the paragraphs of a text, stripped."""
    ends = [0, *(place for match in _BLANK_LINE.finditer(text) for place in match.span()), len(text)]
    blocks = (strip(text, start, end) for start, end in zip(ends[::2], ends[1::2], strict=True))
    return [(start, end) for start, end in blocks if start < end]


def says(sentence: str, sought: Phrases, *, speaker: str | None, names: Sequence[str]) -> bool:
    """Whether a sentence says one of the statements: by its words, or by its slot and value."""
    return bool(cuts(sentence, sought, speaker=speaker, names=names).ranges)


def _fills(sentence: str, words: str, sought: Phrases, speaker: str | None, names: Sequence[str]) -> bool:
    if not any(value in words for value in sought.values):
        return False
    slot = slots.read(sentence, speaker=speaker, names=names)
    if slot is None:
        return False
    same = sought.values.get(reads(slot.object), ())
    return any((slot.subject, slot.predicate) == (statement.subject, statement.predicate) for statement in same)


def _stands_in(part: str, whole: str) -> bool:
    """Whether words occur as whole words: "tea" is not in "teapot", 我喜欢茶 not in 我喜欢茶叶."""
    at = whole.find(part)
    while at >= 0 and not _is_apart(whole, at, at + len(part)):
        at = whole.find(part, at + 1)
    return at >= 0


def _is_apart(whole: str, start: int, end: int) -> bool:
    """Whether a part of a folded text has word boundaries at both ends."""
    before, after, part = whole[start - 1 : start] if start else "", whole[end : end + 1], whole[start:end]
    joints = (before + part[:1], part[-1:] + after)
    if any(len(joint) == 2 and joint.isalnum() and not UNSPACED_RUN.search(joint) for joint in joints):
        return False
    if not UNSPACED_RUN.match(after) or after in lists.words("erasing.particle"):
        return True
    *_, run, rest = ["", *UNSPACED_RUN.split(part)]
    return bool(rest) or not 0 < len(run) < RUN_CHARS


def weight(words: str) -> int:
    """Return the length of a text, Chinese characters counted twice."""
    return len(words) + sum(map(len, UNSPACED_RUN.findall(words)))


class Folded:
    """A text as it is compared: folded as it was typed, and folded without markup, each with a map back to the text."""

    def __init__(self, text: str) -> None:
        seen = unmarked(text)
        self._seen = seen
        self._typed = _View(text)
        self._read = _View(seen.text) if seen.pieces else self._typed

    def holds(self, words: str) -> bool:
        """Tell whether folded words occur, also inside of others."""
        return words in self._typed.folded or words in self._read.folded

    def places(self, words: str) -> list[Range]:
        """Return where words occur as whole words, in any case, width, accents and punctuation, with any marks inside."""
        typed, *unformatted = forms(words)
        found = self._typed.places(typed)
        if unformatted or self._read is not self._typed:
            found += [self._seen.span(*place) for place in self._read.places(unformatted[0] if unformatted else typed)]
        return sorted({*found})

    def with_marks(self, start: int, end: int) -> Range:
        """Return a range with the marks around it, if there are some at both ends."""
        return self._seen.widen(start, end)


class _View:
    """A folded text with a map back to its own characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self.folded = fold(text) if text.isascii() else "".join(map(fold, self._lines))
        self._origins: list[Range] = []  # of each character of the folded text, made when one is asked for

    def places(self, words: str) -> list[Range]:
        """Return where words occur as whole words."""
        runs = runs_of(words)
        if not runs or not all(run in self.folded for run in runs):
            return []
        found, at = list[Range](), 0
        while place := _stand(runs, self.folded, at):
            at = place[0] + 1  # another may begin inside of this one
            if _is_apart(self.folded, *place):
                found.append(self._own(*place))
        return found

    def _own(self, start: int, end: int) -> Range:
        """Map a folded range back to the text."""
        if self.text.isascii():
            return start, end
        if not self._origins:
            at = 0
            for line in self._lines:
                self._origins += [(at + first, at + last) for first, last in _origins(line)]
                at += len(line)
        return self._origins[start][0], self._origins[end - 1][1]


def _origins(line: str) -> list[Range]:
    """Map each character of a folded line to its origin, to the whole line if that is unclear."""
    found: list[Range] = []
    made: list[str] = []
    start = 0
    while start < len(line):
        end = start + 1
        while end < len(line) and (
            unicodedata.combining(line[end]) or line[end] in "\uff9e\uff9f" or "\u1160" <= line[end] <= "\u11ff"
        ):
            end += 1
        made.append(fold(line[start:end]))
        found += [(start, end)] * len(made[-1])
        start = end
    folded = fold(line)
    return found if "".join(made) == folded else [(0, len(line.rstrip("\r\n")))] * len(folded)


def forget() -> None:
    """Clear the caches of wordings."""
    runs_of.cache_clear()
    forms.cache_clear()


@lru_cache(maxsize=KNOWN_WORDINGS)
def runs_of(words: str) -> tuple[str, ...]:
    """Split words into comparable runs, Chinese apart from others."""
    return tuple(run for word in plain(words).split(" ") for run in UNSPACED_RUN.split(word) if run)


def _stand(runs: Sequence[str], folded: str, at: int) -> Range | None:
    """Find the first place where runs follow each other; between Chinese and others space is optional."""
    while (start := folded.find(runs[0], at)) >= 0:
        end = start + len(runs[0])
        for left, right in pairwise(runs):
            gap = _GAPS.match(folded, end)
            last = gap.end() if gap is not None else end
            loose = UNSPACED_RUN.match(left) or UNSPACED_RUN.match(right)
            if (last == end and not loose) or not folded.startswith(right, last):
                break
            end = last + len(right)
        else:
            return start, end
        at = start + 1
    return None


# ------------------------------------------------------------------ what is left


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Merge overlapping ranges, sorted, without empty ones."""
    found: list[Range] = []
    for start, end in sorted(each for each in ranges if each[0] < each[1]):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def without(text: str, ranges: Iterable[Range], kept: Sequence[Range]) -> list[Range]:
    """Subtract kept ranges, and strip white space."""
    found: list[Range] = []
    for at, end in ranges:
        left = at
        for first, last in [*kept, (end, end)]:
            if left < last and first <= end:
                found.append(strip(text, left, max(left, first)))
                left = last
    return [(start, end) for start, end in found if start < end]


def strip(text: str, start: int, end: int) -> Range:
    """Strip white space from a range."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def _rest(text: str, ranges: Sequence[Range]) -> Iterator[Range]:
    """Yield the sentences outside of ranges."""
    start = 0
    for first, last in [*ranges, (len(text), len(text))]:
        yield from ((start + at, start + end) for at, end in spans(pieces(text[start:first])))
        start = last


def marks() -> tuple[str, ...]:
    """Return the redaction marks of all languages."""
    return built_in().lists["erasing.mark"]


def mark(text: str) -> str:
    """Return the redaction mark in the language of a text."""
    is_cjk = UNSPACED_RUN.search(text) is not None
    return next(each for each in marks() if (UNSPACED_RUN.search(each) is not None) is is_cjk)


def cut_out(text: str, ranges: Iterable[Range]) -> str:
    """Replace each range by a mark."""
    parts, at = [], 0
    for start, end in ranges:
        parts += [text[at:start], mark(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def around(text: str, ranges: Iterable[Range]) -> list[str]:
    """Return the whole sentences that ranges lie in, by which the text is recognized when it comes back."""
    sentences = spans(pieces(text))
    inside = [[each for each in sentences if each[0] < end and start < each[1]] for start, end in merge_ranges(ranges)]
    return [text[each[0][0] : each[-1][1]] for each in inside if each]


def rewrite_texts(value: T, text: Callable[[str], str]) -> T:
    """Map every text of a JSON value, names of fields too."""
    if isinstance(value, str):
        return text(value)  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {text(key): rewrite_texts(entry, text) for key, entry in value.items()}  # type: ignore[return-value]
    if isinstance(value, (list, tuple)):
        return type(value)(rewrite_texts(entry, text) for entry in value)
    return value
