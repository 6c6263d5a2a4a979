"""
`append_daily` and `promote`: add entries to daily logs, and lasting notes to MEMORY.md.

A daily log is added to at its end: an entry with the time of the speaker's local day. A note that should last goes into
MEMORY.md, under its topic, outside of the region that Yiku writes itself. The file comes first and is flushed; then it is
indexed, and where that cannot be now, the next sync does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from yiku.errors import InvalidInput, KeptOut, StoreBusy
from yiku.files.append import append
from yiku.files.pages import rewrite
from yiku.flows.common import checks, intake, pause
from yiku.flows.common.handle import Handle
from yiku.flows.find import context
from yiku.flows.notes import sync
from yiku.flows.notes.publish import exclusive_writer, vault_of
from yiku.rules.lexicon import lists
from yiku.rules.pages import choosing, daily, region
from yiku.rules.privacy import private
from yiku.types import Noted

NOTE_BYTES = 256 * 1024  # of one note
LOGS = "memory"  # the folder of daily logs


def append_daily(handle: Handle, text: str, metadata: Mapping[str, Any] | None = None, *, said_at: Any = None) -> Noted:
    """Add an entry to the log of the day on which it was said."""
    note_text = admit(handle, text, "text")
    known = None if metadata is None else intake.clean(handle, checks.metadata(metadata))
    at, _ = checks.said_at(said_at, now=handle.now())
    day = f"{at:%Y-%m-%d}"
    found: list[daily.Added] = []

    def add(page: str) -> str:
        found.append(daily.append(page, daily.entry(note_text, at, known), day))
        return found[-1].text[len(page) :]

    root = vault_of(handle)
    with exclusive_writer(handle):
        append(root / LOGS / f"{day}.md", add, below=Path(handle.home))
    return _locate(handle, f"{LOGS}/{day}.md", found[-1])


def promote(handle: Handle, text: str, *, topic: str | None = None, summary: str | None = None) -> Noted:
    """Add a note to MEMORY.md, at the end of the section of its topic; one that stands there already is not added again."""
    note_text = daily.note(admit(handle, text, "text"), None if summary is None else admit(handle, summary, "summary"))
    about = lists.label("page.notes", context.language(handle, note_text)) if topic is None else intake.name(handle, topic, "topic")
    found: list[daily.Added] = []

    def change(page: str) -> str:
        found.append(_below(page, about, note_text))
        return found[-1].text

    root = vault_of(handle)
    with exclusive_writer(handle):
        rewrite(root / choosing.MEMORY, change, below=Path(handle.home))
    return _locate(handle, choosing.MEMORY, found[-1])


def admit(handle: Handle, text: object, name: str) -> str:
    """A text that may be written down: whole, without private parts and secrets. Raises KeptOut where nothing else is in it."""
    handle.store.upkeep.ensure_open()
    pause.raise_if_paused(handle)
    note_text = intake.clean(handle, checks.text(text, name, at_most=NOTE_BYTES).strip("\n").rstrip())
    if note_text.startswith("[") and private.is_nothing(note_text):
        raise KeptOut("all of it is private")
    return note_text


def _below(page: str, topic: str, note_text: str) -> daily.Added:
    """The page with a note that leaves the region that Yiku writes as it was. Raises InvalidInput for one that would not."""
    added = daily.under_topic(page, topic, note_text, region.outside(page))
    if _managed(page) != _managed(added.text):
        raise InvalidInput("text has a line that is a marker of MEMORY.md, or of a conflict: quote or indent it")
    return added


def _managed(page: str) -> tuple[str, ...]:
    match region.find(page):
        case region.Page() as found:
            return found.version, found.digest, found.body
        case region.Broken() as broken:
            return ("broken", broken.why)
    return ()


def _locate(handle: Handle, path: str, added: daily.Added) -> Noted:
    """Where the note stands, once it can be found; where another process is indexing, that or the next sync sees to it."""
    with suppress(StoreBusy):
        sync.sync_files(handle, [path])
    return Noted(path, added.first, added.last, added.new)
