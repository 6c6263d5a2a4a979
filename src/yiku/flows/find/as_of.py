"""
Select the rows that were recorded by a given time (`as_of`), or were valid at one (`valid_at`).

rules/deciding/history.py decides for one row; this module reads the journal and the successors it needs.
`as_of` rewinds; `valid_at` judges by what is known now; both together judge by what was known then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from yiku.flows.common.handle import Handle
from yiku.rules.deciding import history
from yiku.types import ChangeRow, Memories, SemanticMemory, State, Turn


def recorded(handle: Handle, memories: Sequence[SemanticMemory], as_of: datetime | None) -> list[SemanticMemory]:
    """Return these rows as recorded at a time, without later ones; None means now."""
    if as_of is None:
        return [*memories]
    changes = _changes(handle, "memories", [memory.n for memory in memories], as_of)
    return [then for m in memories if (then := history.rewind(m, changes.get(m.n, ()), as_of)) is not None]


def visible(
    handle: Handle,
    memories: Sequence[SemanticMemory],
    as_of: datetime | None,
    valid_at: datetime | None,
    *,
    versions: bool = False,
) -> list[SemanticMemory]:
    """Return the rows that were live at `as_of`, or valid at `valid_at`; with `versions` also retired ones."""
    found = recorded(handle, memories, as_of)
    if valid_at is not None:
        by_id = {memory.id: memory for memory in (*found, *_successors(handle, found, as_of))}
        then = zip(found, _awake(handle, found, as_of, valid_at), strict=True)
        return [memory for memory, was in then if history.held(was, by_id.get(was.superseded_by or ""), valid_at)]
    if versions:
        return [memory for memory in found if memory.state is State.ACTIVE]
    return [memory for memory in found if history.recallable(memory, as_of or handle.now())]


def turns_at(handle: Handle, turns: Sequence[Turn], as_of: datetime | None, valid_at: datetime | None) -> list[Turn]:
    """Return the turns recorded and visible at one time, and said up to another."""
    said = [turn for turn in turns if valid_at is None or turn.said_at <= valid_at]
    if as_of is None:
        return said
    changes = _changes(handle, "turn_state", [turn.n for turn in said], as_of)
    then = [replace(t, hidden_at=changes[t.n][-1].before["hidden_at"]) if changes.get(t.n) else t for t in said]  # type: ignore[index]
    return [turn for turn in then if turn.recorded_at <= as_of and turn.hidden_at is None]


def _awake(
    handle: Handle, memories: Sequence[SemanticMemory], as_of: datetime | None, valid_at: datetime
) -> Iterator[SemanticMemory]:
    """Yield the rows as they stood before nights put them away, where that was after `valid_at`."""
    changes = _changes(handle, "memories", [memory.n for memory in memories if history.put_away(memory)], valid_at)
    for memory in memories:
        known = [change for change in changes.get(memory.n, ()) if as_of is None or change.at <= as_of]
        yield history.awake(memory, known)


def _successors(handle: Handle, memories: Sequence[SemanticMemory], as_of: datetime | None) -> list[SemanticMemory]:
    """Return what superseded these versions, also if a filter excluded it."""
    known = {memory.id for memory in memories}
    missing = [memory.superseded_by for memory in memories if memory.superseded_by and memory.superseded_by not in known]
    found = handle.store.memories(handle.reads(), Memories(ids=missing)) if missing else []
    return recorded(handle, found, as_of)


def _changes(handle: Handle, table: str, ns: Sequence[int], since: datetime) -> dict[int, list[ChangeRow]]:
    """Return the changes of these rows since a time, newest first."""
    found: dict[int, list[ChangeRow]] = {}
    for change in handle.store.journal(handle.reads(), table=table, row_ns=ns, since=since) if ns else ():
        found.setdefault(change.row, []).append(change)
    return found
