"""
Select the statements for a prompt's section of known facts: those on MEMORY.md, updated, and the newest.

A prompt is built for each message, so it reads some two hundred rows of any store. What replaced a published statement takes its
place at once; what was forgotten or expired is gone at once. Where no page was ever published, the newest statements are all.
"""

from __future__ import annotations

from collections.abc import Sequence

from yiku.flows.common.handle import Handle
from yiku.flows.find.said_later import mark
from yiku.rules.pages import choosing
from yiku.types import Memories, SemanticMemory, State

NEWEST = 100  # statements beside the published ones
UNPUBLISHED = 300  # statements where there are none
HOPS = 5  # from a published statement to what replaced it, and on


def statements(handle: Handle) -> list[SemanticMemory]:
    """Return statements of the scope that is written, each marked where a later one contradicts it."""
    own = handle.own()
    if not own:
        return []
    known = handle.store.page_versions(own[0], choosing.MEMORY)
    ids = [entry.id for entry in known[-1].entries if entry.id] if known else []
    newest = Memories(
        states=(State.ACTIVE,),
        current=True,
        unexpired_at=handle.now(),
        order="said",
        newest_first=True,
        limit=NEWEST if known else UNPUBLISHED,
    )
    rows = [*_as_they_stand(handle, own, ids), *handle.store.memories(own, newest)]
    return mark(handle, [*{row.n: row for row in rows}.values()])


def _as_they_stand(handle: Handle, own: Sequence[int], ids: Sequence[str]) -> list[SemanticMemory]:
    """The statements of these ids, each replaced by what replaced it."""
    found: list[SemanticMemory] = []
    for _ in range(HOPS):
        rows = handle.store.memories(own, Memories(ids=ids)) if ids else []
        found += [row for row in rows if not row.superseded_by]
        ids = [row.superseded_by for row in rows if row.superseded_by]
    return found
