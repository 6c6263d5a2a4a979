"""
Link imported versions of a statement and those that were here into one chain, in the order in which they were said.

While an import runs, a statement whose slot or words have other versions here is archived with the reason WAITING.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.rules.deciding import conflict
from yiku.rules.deciding.slots import index_tokens
from yiku.types import Expect, Kind, Memories, SemanticMemory, State, UpdateMemory

WAITING = "imported: waits for its place among what is known"


def present_versions(handle: Handle, memory: SemanticMemory) -> list[SemanticMemory]:
    """Return active versions with the same slot or words."""
    own = handle.own()
    if not own:
        return []
    if memory.slot is not None:
        return handle.store.memories(own, Memories(slot=memory.slot, states=(State.ACTIVE,), order="said"))
    same = Memories(hash=memory.content_hash, states=(State.ACTIVE,), current=True)
    return [row for row in handle.store.memories(own, same) if row.kind is memory.kind]


def join_chains(handle: Handle) -> None:
    """Link imported and existing versions into one chain, in the order said."""
    own = handle.own()
    archived = handle.store.memories(own, Memories(states=(State.ARCHIVED,))) if own else []
    places: dict[tuple[str | None, bytes, Kind | None], list[int]] = {}
    for memory in archived:
        if memory.reason == WAITING:
            place = (memory.slot, b"", None) if memory.slot else (None, memory.content_hash, memory.kind)
            places.setdefault(place, []).append(memory.n)
    for ns in places.values():
        retry_if_stale(handle, lambda ns=ns: _join_chain(handle, ns))  # type: ignore[misc]


def _join_chain(handle: Handle, ns: Sequence[int]) -> None:
    back = handle.store.memories(handle.own(), Memories(ns=ns))
    present = present_versions(handle, back[0])
    updates = conflict.rejoin(back, present)
    led = _led_to(handle, updates)
    updates = _with_details_of_the_same_words(handle, updates, sorted((*back, *present), key=conflict.key))
    changes = [
        UpdateMemory(row.n, {"reason": None, **columns} if row in back else columns, index_tokens(row)) for row, columns in updates
    ]
    changes += [UpdateMemory(row.n, {"line": line}, index_tokens(row)) for row, line in led]
    expect = Expect(rows={row.n: row.changed for row in (*back, *present, *(row for row, _ in led))})
    handle.store.apply(handle.writes(), changes, handle.cause("import", "joined in the order of saying"), expect)


def _with_details_of_the_same_words(
    handle: Handle, updates: Sequence[conflict.Update], chain: Sequence[SemanticMemory]
) -> list[conflict.Update]:
    """Give the last version the tags and the pin of those before it that say the same words, as when they are said again."""
    live, *before = handle.store.with_details([*takewhile(lambda row: row.content_hash == chain[-1].content_hash, reversed(chain))])
    wanted: dict[str, Any] = {"tags": tuple(dict.fromkeys(tag for row in (*reversed(before), live) for tag in row.tags))}
    wanted |= {"pinned": True} if any(row.pinned for row in before) else {}
    kept = {name: value for name, value in wanted.items() if getattr(live, name) != value}
    of = {row.n: (row, columns) for row, columns in updates}
    if kept:
        of[live.n] = (chain[-1], {**of[live.n][1], **kept} if live.n in of else kept)
    return [*of.values()]


def _led_to(handle: Handle, updates: Sequence[conflict.Update]) -> list[tuple[SemanticMemory, str]]:
    """Return what the moved statements superseded under other slots, each with the line into which it follows them."""
    moved = [(row, columns["line"]) for row, columns in updates if "line" in columns]
    stays = {row.n for row, _ in updates}
    before: dict[str | None, list[SemanticMemory]] = {}
    for old in {row.line for row, _ in moved}:
        for row in handle.store.memories(handle.own(), Memories(line=old)):
            if row.n not in stays:
                before.setdefault(row.superseded_by, []).append(row)
    for row, line in moved:  # what follows is moved, too: the list grows
        moved += [(earlier, line) for earlier in before.pop(row.id, ())]
    return [(row, line) for row, line in moved if row.n not in stays]
