"""
Read any item by its id (memory, turn, note, episode, attachment), or the passages of a note by its path.

A path is looked up among the files of the index, never opened, so none leads out of the vault.
"""

from __future__ import annotations

from contextlib import suppress

from yiku.errors import Ambiguous, NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.find import browse
from yiku.rules.finding.pack import Item
from yiku.types import Attachment, Episode, Note, Records

WHOLE_ID = 36  # characters
SUFFIX = 8  # characters, at least, of the id of an episode or attachment


def read_item(handle: Handle, id: str) -> Item:
    """Return an item by its id or the end of it; see Agent.get."""
    with suppress(NotFound):
        return browse.get(handle, id)
    name = checks.name(id, "id").lstrip("#").lower()
    found: list[Item] = []
    select = Records(ids=[name]) if len(name) == WHOLE_ID else Records(suffix=name, limit=2)
    if len(name) >= SUFFIX:
        found += handle.store.records(Episode, handle.reads(), select)
        found += handle.store.records(Attachment, handle.reads(), select)
    if len(found) > 1:
        raise Ambiguous(f"the id {id[:40]} fits {', '.join(item.id for item in found)}")
    if not found:
        raise NotFound(f"there is nothing with the id {id[:80]}")
    return found[0]


def read_note(handle: Handle, path: str) -> list[Note]:
    """Return the passages of a note, in order; see Agent.note."""
    name, own = checks.name(path, "path"), handle.own()
    files = handle.store.notes.files(own[0], [name]) if own else []
    if not files:
        raise NotFound(f"there is no note {name[:120]} in the index", "`yiku sync` reads the files of the vault.")
    return sorted(handle.store.notes.of_file(own[0], files[0].n), key=lambda note: note.start_line)
