"""
Select what a maintenance run examines: statements changed since the last one, and those with similar words.

A night costs what changed: each changed statement is looked up in the search index by its own words, as a question is, and
only the few that share most of them are read. How many words are shared makes candidates; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from yiku.flows.night.run import Night
from yiku.rules.finding import score
from yiku.rules.text import analyze
from yiku.types import Memories, SemanticMemory, State

BATCH = 500  # statements that are read at a time
NEAREST = 8  # statements compared with one
COMMON_ROWS = 300  # a term in more rows than this is not looked up
TERMS = 12  # of a statement by which it is looked up
REMEMBERED = 50_000  # statements of which a run remembers the neighbours
SHARE = 0.6  # of the terms looked up that a neighbour has
BY_HAND = frozenset(("update", "confirm", "reject", "restore", "undo"))  # operations that are a person's word


def since(night: Night) -> int:
    """Return the number of the last change that a finished run has seen; 0 if there was none."""
    runs = night.handle.store.nights.runs(night.scope)
    return max((run.seen for run in runs if run.mode == "full" and run.finished_at is not None), default=0)


def changed(night: Night) -> Iterator[SemanticMemory]:
    """Yield the live statements that changed since the last finished run, oldest first, as their batch was read."""
    for ns in _changed_ns(night):
        select = Memories(ns=ns, states=(State.ACTIVE,), current=True, unexpired_at=night.now)
        yield from night.handle.store.memories([night.scope], select)


def _changed_ns(night: Night) -> Iterator[Sequence[int]]:
    store, last = night.handle.store, since(night)
    if not last:  # the first night looks at everything
        n = 0
        while rows := store.memories([night.scope], Memories(after=n, states=(State.ACTIVE,), current=True, limit=BATCH)):
            n = rows[-1].n
            yield [row.n for row in rows]
        return
    seen = set[int]()
    while done := store.journal([night.scope], table="memories", after=last, limit=BATCH):
        last = done[-1].number
        fresh = {change.row for change in done} - seen
        seen |= fresh
        yield sorted(fresh)


def neighbours(night: Night, row: SemanticMemory, share: float = SHARE) -> list[SemanticMemory]:
    """Return the live statements that have this share of the words of one, those that have most first."""
    known = night.found.get((row.n, share))
    ns = _sharing(night, row, share) if known is None else known
    if len(night.found) < REMEMBERED:
        night.found[row.n, share] = ns
    if not ns:
        return []
    select = Memories(ns=ns, states=(State.ACTIVE,), current=True, unexpired_at=night.now)
    rows = {other.n: other for other in night.handle.store.memories([night.scope], select)}
    return [rows[n] for n in ns if n in rows]


def _sharing(night: Night, row: SemanticMemory, share: float) -> list[int]:
    import numpy as np

    terms = analyze.question(row.content)
    asked = (terms.words or terms.characters)[:TERMS]
    written = {other: word for word in asked if not word.isascii() for other in analyze.writings(word)}
    postings = night.handle.store.postings("memory", [night.scope], (*asked, *written), past=False, cap=COMMON_ROWS)
    found = [posting for posting in score.in_one_writing(postings, written).found if len(posting.ns)]
    if not found:
        return []
    ns, counts = np.unique(np.concatenate([posting.ns for posting in found]), return_counts=True)
    enough = (counts >= share * len(found)) & (ns != row.n)
    ns, counts = ns[enough], counts[enough]
    order = np.lexsort((ns, -counts))[:NEAREST]
    return [int(n) for n in ns[order]]


def untouched(night: Night, rows: Sequence[SemanticMemory]) -> bool:
    """Whether nobody has said by hand how these statements shall be: what a person took back is not done again."""
    done = night.handle.store.journal([night.scope], table="memories", row_ns=[row.n for row in rows])
    return not any(change.operation in BY_HAND for change in done)


def stops(night: Night, rows: Iterator[SemanticMemory]) -> Iterator[SemanticMemory]:
    """Yield rows until the night has to stop."""
    for row in rows:
        if night.over():
            return
        yield row
