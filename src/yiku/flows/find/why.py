"""
Collect the provenance of a statement: its sources, versions, changes, and the prompts and pages that showed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from yiku.files.notes import PAGES
from yiku.flows.common import turn_texts
from yiku.flows.common.handle import Handle
from yiku.flows.common.lookup import find_memory
from yiku.flows.find.said_later import mark
from yiku.rules.deciding import conflict
from yiku.rules.pages import why as rules
from yiku.rules.text.analyze import language_of
from yiku.types import ChangeRow, Memories, SemanticMemory, State, Turn, Turns, Why, Words


def why(handle: Handle, id: str) -> Why:
    """Explain a memory. Raises NotFound, Ambiguous, InvalidInput."""
    found = find_memory(handle, id, handle.reads())
    number = handle.store.scope(found.scope)
    scopes = [] if number is None else [number]
    (found,) = mark(handle, handle.store.with_details([found]))
    versions = _versions(handle, scopes, found)
    ids = {id for id in (*found.flagged_with, found.said_later) if id}
    others = handle.store.memories(handle.reads(), Memories(ids=sorted(ids))) if ids else []
    done = Why(
        memory=found,
        current=next((one for one in versions if one.live and one.id != found.id and _behind(found, one)), None),
        words=_words(handle, scopes, found),
        replaced=tuple(one for one in versions if one.id != found.id and _behind(one, found)),
        others=tuple(others),
        changes=_changes(handle, scopes, [one for one in versions if one.line == found.line]),
        pages=_pages(handle, scopes, found),
    )
    language = handle.settings.language
    return replace(done, page=rules.page(done, language_of(found.content) if language == "auto" else language))


def _versions(handle: Handle, scopes: Sequence[int], found: SemanticMemory) -> list[SemanticMemory]:
    """Return the versions of its line, and those of its slot, in the order in which they were said."""
    rows = handle.store.memories(scopes, Memories(line=found.line))
    if found.slot is not None:
        rows += handle.store.memories(scopes, Memories(slot=found.slot))
    return sorted({row.n: row for row in rows}.values(), key=conflict.key)


def _behind(earlier: SemanticMemory, later: SemanticMemory) -> bool:
    """Tell whether one version was followed by another: it was replaced, and said before it."""
    if earlier.superseded_by == later.id:
        return True
    replaced = earlier.superseded_by is not None or earlier.state is not State.ACTIVE
    return replaced and conflict.key(earlier) < conflict.key(later)


def _words(handle: Handle, scopes: Sequence[int], found: SemanticMemory) -> tuple[Words, ...]:
    """Return what each source of a memory said, as it stands in its turn."""
    ids = [source.turn for source in found.sources if source.turn]
    turns = {turn.id: turn for turn in handle.store.turns(scopes, Turns(ids=ids, hidden=True))} if ids else {}
    sources = sorted(found.sources, key=lambda source: (source.said_at, source.place))
    words: list[Words] = []
    for source in sources:
        turn = turns.get(source.turn or "")
        if turn is None:
            words.append(Words(source, None if source.turn else source.text or found.content))
        else:
            words.append(Words(source, _said(handle, turn, source.start, source.end, source.text or found.content), turn.role))
    return tuple(words)


def _said(handle: Handle, turn: Turn, start: int | None, end: int | None, statement: str) -> str:
    """Return the words at a place in a turn; without one, those that say it, or the whole turn."""
    content = turn_texts.content(handle, turn)
    if start is not None and end is not None and end <= len(content):
        return content[start:end]
    return statement if turn_texts.span(handle, turn, statement) else content


def _changes(handle: Handle, scopes: Sequence[int], versions: Sequence[SemanticMemory]) -> tuple[ChangeRow, ...]:
    rows = [version.n for version in versions]
    found = [
        change
        for table in ("memories", "memory_sources")
        for change in (handle.store.journal(scopes, table=table, row_ns=rows) if rows else ())
    ]
    return tuple(sorted(found, key=lambda change: change.number))


def _pages(handle: Handle, scopes: Sequence[int], found: SemanticMemory) -> tuple[str, ...]:
    """Return the published pages whose last version shows it."""
    return tuple(
        name
        for name in PAGES
        if scopes
        and (versions := handle.store.page_versions(scopes[0], name))
        and any(entry.id == found.id for entry in versions[-1].entries)
    )
