"""
Importer of vaults: folders of Markdown as Obsidian and basic-memory keep them.

The files are copied to documents/<name of the folder>/ and indexed as notes; nothing is moved, and the vault stays where it is. Links
(`[[…]]`), properties at the beginning and lists of observations stay as they are written: they are text, and found as such. A second
run brings in what was edited or added there. A note that was changed or removed here is left as it is, and named.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from yiku.errors import InvalidInput
from yiku.interfaces.importers import Consumed, Place, places
from yiku.types import ImportReport

if TYPE_CHECKING:
    from yiku.memory import Memory

ENDINGS = (".md", ".markdown", ".txt")
LOOKED_AT = 50  # files that may say that a folder is a vault
HEAD_BYTES = 2_000
OTHER = "other files"
_PERMALINK = re.compile(r"\A\ufeff?---\r?\n(?:[^\n]*\n){0,40}?permalink:", re.IGNORECASE)


def files(path: Path) -> list[Path]:
    """Return the folder itself, or a file. Raises InvalidInput where there is nothing to copy."""
    if not path.exists():
        raise InvalidInput(f"{path}: no such file or folder")
    return [path] if any(name.lower().endswith(ENDINGS) for name in _names(path)) else []


def is_vault(path: Path) -> bool:
    """Tell whether a folder is a vault: it has Obsidian's settings, or notes with the permalink that basic-memory gives them."""
    if not path.is_dir():
        return False
    if (path / ".obsidian").is_dir():
        return True
    notes = (Path(name) for name in _names(path) if name.endswith(".md"))
    heads = (places.head_of(note, HEAD_BYTES).decode("utf-8", "replace") for note in islice(notes, LOOKED_AT))
    return any(_PERMALINK.match(head) for head in heads)


def size(path: Path) -> int:
    """Return the bytes of all notes."""
    return sum(os.path.getsize(name) for name in _names(path) if name.lower().endswith(ENDINGS) and os.path.isfile(name))


def take(memory: Memory, place: Place, *, dry_run: bool, source: str, consumed: Consumed | None = None) -> ImportReport:
    """Copy and index the notes of a folder. Raises InvalidInput, Paused, StoreBusy, StorageFull."""
    if not isinstance(place, Path):
        raise InvalidInput(f"{place}: notes inside an archive are not read: unpack it")
    done = memory.notes.index_document(place, update=True, dry_run=dry_run)
    if consumed is not None:
        consumed(size(place))
    others = Counter(OTHER for name in _names(place) if not name.lower().endswith(ENDINGS))
    failed = [(1, f"{path} {why}") for path, why in sorted((done.failed or {}).items())]
    came_in = len(done.added) + len(done.changed)
    return ImportReport(
        source=source,
        records=came_in + done.unchanged + len(failed) + others[OTHER],
        turns=0,
        memories=0,
        known=done.unchanged,
        skipped=dict(others),
        problems=tuple(failed),
        sessions=0,
        dry_run=dry_run,
        notes=came_in,
    )


def _names(path: Path) -> Iterator[str]:
    """Yield the files of a folder, without hidden ones; or the file itself."""
    if path.is_file():
        yield str(path)
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(names) if not name.startswith("."))
