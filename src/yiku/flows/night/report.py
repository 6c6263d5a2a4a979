"""
Build the report of a run: its decisions with the current texts of the memories, and which were undone since.
"""

from __future__ import annotations

from collections.abc import Sequence

from yiku.errors import NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.keep.undo_run import named, undone_of
from yiku.rules.night import report as rules
from yiku.rules.text.analyze import language_of
from yiku.types import Memories, NightItem, NightRun, RunReport, State

SAMPLE = 50  # memories


def report(handle: Handle, run: str | None = None) -> RunReport:
    """
    Return the report of a run, by its name or the end of it; of the last one if none is named.

    Raises NotFound where there is no such run, and InvalidInput.
    """
    own = handle.own()
    runs = handle.store.nights.runs(own[0]) if own else []
    if run is None:
        found = next(iter(runs), None)
    else:
        name = named(handle, checks.name(run, "run"))
        found = next((one for one in runs if one.id == name), None)
    if found is None:
        what = "no night has run in this scope yet" if run is None else f"there is no night {run[:80]!r}"
        raise NotFound(what, "`yiku consolidate` runs one.")
    items = handle.store.nights.items(own[0], found.id)
    return of_run(handle, own, found, items)


def of_run(handle: Handle, own: Sequence[int], run: NightRun, items: Sequence[NightItem]) -> RunReport:
    """Return the report of a run with these decisions."""
    ids = sorted({*rules.names(items)})
    rows = handle.store.memories(own, Memories(ids=ids)) if ids else []
    texts = {row.id: row.content for row in rows}
    back = undone_of(handle, run.id) if any(item.operation for item in items) else frozenset()
    page = rules.page(run, items, texts, back, language(handle, own))
    return RunReport(run=run, items=tuple(items), texts=texts, undone=back, page=page)


def language(handle: Handle, own: Sequence[int]) -> str:
    """Return the language in which the night writes for people: the one set, or that of what was said last."""
    if handle.settings.language != "auto":
        return handle.settings.language
    newest = Memories(states=(State.ACTIVE,), current=True, order="said", newest_first=True, limit=SAMPLE)
    return language_of(" ".join(row.content for row in handle.store.memories(own, newest)))
