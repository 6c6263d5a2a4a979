"""
Phase 6, indexes: merge search segments, drop unused rows, update transcripts and the backup; no memory changes.

Records of files that say nothing go after 90 days, undoable; one whose file is gone is marked, where its whole path is known.
Tags that nothing carries, first results of old calls, old versions of pages and old accesses are dropped. Then the transcripts
follow, the backup is made if one is due, and the segments of the search index are merged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from yiku.errors import StoreError
from yiku.flows.home import backup
from yiku.flows.keep import attach, transcripts
from yiku.flows.night.run import OPERATION, Night
from yiku.types import Attachment, Drop, KeepItem, NightItem, Prune, Put, Records

KEPT = timedelta(days=90)
EMPTY, FILE_GONE, FILE_BACK, UNUSED = "attachment-empty", "file-gone", "file-back", "unused"  # reasons
BATCH = 500  # records that are read at once


def attachments(night: Night) -> Iterator[NightItem]:
    """Drop old records of files that say nothing, and mark those whose file is gone. A row with content always stays."""
    for one in _attachments(night):
        if _says_nothing(one) and one.said_at < night.now - KEPT:
            if not night.decided("purged", one.id):  # it was dropped once, and somebody brought it back
                item = night.decide("purged", [Drop(one)], ids=[one.id], reason=EMPTY)
                yield from [item] if item else []
        elif _changed(one) and not night.taken_back(one.changed):
            known = replace(one, missing=not one.missing)
            action, reason = ("flagged", FILE_GONE) if known.missing else ("confirmed", FILE_BACK)
            item = night.decide(action, [Put(known, attach.tokens(known))], ids=[one.id], reason=reason)  # type: ignore[arg-type]
            yield from [item] if item else []


def _attachments(night: Night) -> Iterator[Attachment]:
    store, after = night.handle.store, 0
    while not night.over():
        found = store.records(Attachment, [night.scope], Records(after=after, limit=BATCH))
        yield from found
        if len(found) < BATCH:
            return
        after = found[-1].n


def _changed(one: Attachment) -> bool:
    """Tell whether a file is gone, or is back; of a path from some folder nobody knows which file it is."""
    path = one.local_path
    return path is not None and os.path.isabs(path) and one.missing is os.path.exists(path)


def _says_nothing(one: Attachment) -> bool:
    return not (
        one.description
        or one.transcription
        or one.extracted_text
        or one.linked_memory_ids
        or one.episode_id
        or one.blob
        or one.tags
    )


def prune(night: Night) -> Iterator[NightItem]:
    """Drop what nothing refers to any more."""
    if night.dry_run or night.over():
        return
    store, cause = night.handle.store, night.handle.cause(OPERATION, UNUSED)
    item = NightItem(phase=night.phase, action="purged", ids=(), reason=UNUSED, evidence={}, at=night.handle.now())
    counts = store.apply(night.scope, [Prune(night.now - KEPT, KeepItem(night.run.id, item))], cause).rows[0]
    if any(counts):
        yield replace(item, evidence=dict(zip(Prune.COUNTED, counts, strict=True)))


def copies(night: Night) -> Iterator[NightItem]:
    """Bring the transcripts up to date, and let their old copies go: each turn stays in the database."""
    if not night.dry_run and not night.over():
        transcripts.try_catch_up(night.handle)
    yield from ()


def merge(night: Night) -> Iterator[NightItem]:
    """Make the backup if one is due, and merge the segments; what failed is a note."""
    if not night.dry_run and not night.over():
        try:
            backup.backup(night.handle, nightly=True, merge=False)
        except StoreError as error:
            night.notes.append(f"no backup: {error.detail or type(error).__name__}")
        try:
            night.handle.store.upkeep.merge()
        except StoreError as error:
            night.notes.append(f"the segments were not merged: {error.detail or type(error).__name__}")
    yield from ()
