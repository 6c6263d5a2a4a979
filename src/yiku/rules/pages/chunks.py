"""
Split a Markdown file into chunks to index and embed, each with its lines and the headings above it.

A chunk is one run of the file, of at most CHUNK_TOKENS, and ends between blocks where that is possible; a block that is longer is
cut between its lines, a line between its sentences, a sentence between its characters. Inside a section a chunk begins with the
end of the one before, at most OVERLAP_TOKENS of it, so that what is cut apart is found with its context.

Where a file is cut depends on the text around the cut alone: at headings, and at blocks whose hash says so. So an edit changes
the chunks around it, and those behind it are the same again, whatever the lines in which they stand now.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

from yiku.rules.lexicon import built_in
from yiku.rules.pages.blocks import Block, blocks, lines, title
from yiku.rules.text import analyze
from yiku.rules.text.chunk import cost
from yiku.rules.text.sentences import ends
from yiku.types import Note, Passage, Tokens

CHUNK_TOKENS = 400
OVERLAP_TOKENS = 80
FROM_HEADING = CHUNK_TOKENS // 4  # tokens from which on a heading begins a chunk of its own
FROM_LANDMARK = CHUNK_TOKENS // 2  # and a block whose hash says so
ONE_IN = 4  # of the blocks are such
HASHED_CHARS = 80  # of a block
HEADING_CHARS = 80  # of a heading that are kept
HEADINGS = " > "  # between one heading and the one below it
VERSION = "1"  # of these rules: what was cut by other ones is cut anew
_BREAKS = re.compile("\n")
_TOKEN_CHARS = 5  # no token of the estimate has more


class _Unit(NamedTuple):
    """A part of a file that is cut no further, as text[start:end]; its tokens, and whether a chunk may begin with it."""

    start: int
    end: int
    level: int
    cost: float
    landmark: bool


def chunks(text: str) -> list[Passage]:
    """The chunks of a file, in order. Every character that is not space is in one; a line ends with a line feed."""
    starts = [0, *(match.end() for match in _BREAKS.finditer(text))]
    found = []
    for start, end, heading in _spans(text):
        first, last = bisect_right(starts, start), bisect_right(starts, end - 1)
        found.append(Passage(first, last, heading, text[start:end]))
    return found


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each chunk starts and ends, and the headings above it."""
    path: list[tuple[int, str]] = []
    run: list[_Unit] = []
    begin, spent = 0, 0.0  # of the chunk that is open, with what it repeats
    for unit in _units(text):
        spent += cost(text[run[-1].end : unit.start]) if run else 0.0
        if run and (reason := _reason_to_cut(run, unit, spent)):
            kept = _headings_behind(run)
            closed, run = run[: len(run) - kept], run[len(run) - kept :]
            yield begin, closed[-1].end, _above(text, path, closed)
            begin = run[0].start if run else unit.start
            if not run and reason != "heading":
                begin = _overlap(text, closed, unit.start, CHUNK_TOKENS - unit.cost)
            spent = cost(text[begin : unit.start])
        elif not run:
            begin, spent = unit.start, 0.0
        run.append(unit)
        spent += unit.cost
    if run:
        yield begin, run[-1].end, _above(text, path, run)


def _reason_to_cut(run: Sequence[_Unit], unit: _Unit, spent: float) -> str:
    """Why a chunk ends before this unit; empty where it goes on."""
    if run[-1].level and spent + unit.cost <= CHUNK_TOKENS:
        return ""  # text under a heading stays with it
    if unit.level and spent >= FROM_HEADING:
        return "heading"
    if spent + unit.cost > CHUNK_TOKENS:
        return "full"
    return "landmark" if unit.landmark and spent >= FROM_LANDMARK else ""


def _headings_behind(run: Sequence[_Unit]) -> int:
    """How many headings a run ends with; they go with what they stand over, unless there is nothing else."""
    return next((place for place, unit in enumerate(reversed(run)) if not unit.level), 0)


def _above(text: str, path: list[tuple[int, str]], run: Sequence[_Unit]) -> str:
    """The headings above the first words of a run; `path` goes on with those inside it."""
    found = None
    for unit in run:
        if unit.level:
            while path and path[-1][0] >= unit.level:
                path.pop()
            if name := title(text[unit.start : unit.end])[:HEADING_CHARS]:
                path.append((unit.level, name))
        elif found is None:
            found = HEADINGS.join(name for _, name in path)
    return HEADINGS.join(name for _, name in path) if found is None else found


def _overlap(text: str, closed: Sequence[_Unit], until: int, room: float) -> int:
    """
    Where the end of a chunk begins that the next one repeats: whole lines, else sentences, else nothing.

    until: where the next one's own text begins; room: tokens that are left in it
    """
    room = min(room, OVERLAP_TOKENS)
    first = max(closed[0].start, until - int(room * _TOKEN_CHARS))
    tail = text[first:until]
    opening = [0] if first == closed[0].start else []
    for places in ([*opening, *(match.end() for match in _BREAKS.finditer(tail))], [*opening, *ends(tail, built_in())]):
        found, spent, end = until, 0.0, len(tail)
        for place in reversed(places):
            spent, end = spent + cost(tail[place:end]), place
            if spent > room:
                break
            if not tail[place : place + 1].isspace() and place < len(tail):
                found = first + place
        if found < until:
            return found
    return until


def passage(heading: str, text: str) -> str:
    """What is indexed and embedded of a chunk: its text under its headings."""
    return f"{heading}\n{text}" if heading else text


def index_tokens(heading: str, text: str) -> Tokens:
    """What a chunk is found by. Never changes for a row."""
    return analyze.tokens(passage(heading, text))


def tokens_of(notes: Iterable[Note]) -> dict[int, Tokens]:
    """The tokens that passages are indexed with, by number."""
    return {note.n: index_tokens(note.heading, note.text) for note in notes}


# ------------------------------------------------------------------ units


def _units(text: str) -> Iterator[_Unit]:
    """Blocks; of one that is too long its lines, sentences or pieces."""
    for block in blocks(text):
        price = cost(text[block.start : block.end])
        if price <= CHUNK_TOKENS:
            marked = crc32(text[block.start : min(block.end, block.start + HASHED_CHARS)].encode(errors="replace")) % ONE_IN == 0
            yield _Unit(block.start, block.end, block.level, price, marked)
        else:
            yield from _pieces(text, block)


def _pieces(text: str, block: Block) -> Iterator[_Unit]:
    """The lines of a block that is too long; of a line that is too long its sentences, of such a sentence its pieces."""
    for line in lines(text[block.start : block.end]):
        price = cost(line.text)
        if price <= CHUNK_TOKENS:
            if line.text.strip():
                yield _Unit(block.start + line.start, block.start + line.end, 0, price, False)
            continue
        at = 0
        for end in ends(line.text, built_in()):
            for first, last in _short(line.text, at, end):
                yield _Unit(
                    block.start + line.start + first, block.start + line.start + last, 0, cost(line.text[first:last]), False
                )
            at = end


def _short(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, without the space around it, in pieces that fit into a chunk."""
    if cost(line[start:end]) <= CHUNK_TOKENS:
        whole = [(start, end)]
    else:
        costs = [*accumulate(cost(line[i : i + _TOKEN_CHARS]) for i in range(start, end, _TOKEN_CHARS))]
        whole, first, spent = [], start, 0.0
        for place, total in enumerate(costs):
            if total - spent > CHUNK_TOKENS - _TOKEN_CHARS:
                last = start + place * _TOKEN_CHARS
                whole.append((first, last))
                first, spent = last, costs[place - 1]
        whole.append((first, end))
    for first, last in whole:
        words = line[first:last]
        if stripped := words.strip():
            begin = first + words.index(stripped[0])
            yield begin, begin + len(stripped)
