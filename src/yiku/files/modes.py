"""
Check the file permissions of a home: folders 0700, files 0600.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from yiku.files.vault import Home

OTHERS = 0o077  # group and others
WRITING = 0o022
NAMED = 3  # files in a line


def troubles(place: Home, *, read_only: bool) -> Iterator[str]:
    """
    Yield a line with advice for each path others can access, or we cannot use.

    read_only: the database cannot be written either, which is told elsewhere
    """
    folders = [
        place.root,
        *(path for path in (place.blobs, place.backups, place.locks, place.vectors.parent, place.inbox) if path.is_dir()),
    ]
    for folder in folders:
        if (mode := _mode(folder)) & OTHERS:
            what = "change" if mode & WRITING else "look into"
            yield f"others may {what} {folder} (mode {mode:o}): chmod 700 {folder}"
    files = [path for folder in folders if folder not in (place.blobs, place.locks) for path in sorted(folder.iterdir())]
    exposed = [path for path in files if path.is_file() and _mode(path) & OTHERS]
    if exposed:
        names = [str(path.relative_to(place.root)) for path in exposed]
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        may = "change" if any(_mode(path) & WRITING for path in exposed) else "read"
        yield f"others may {may} {', '.join(names[:NAMED])}{more} in {place.root} (mode {_mode(exposed[0]):o}): chmod 600"
    if not read_only and not os.access(place.locks, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        yield f"{place.locks} cannot be written: whatever needs a lock there fails; chmod 700 {place.locks}"


def _mode(path: Path) -> int:
    """Return the permissions of a path; 0 for a link or a missing file."""
    try:
        found = path.lstat().st_mode
    except OSError:
        return 0
    return 0 if stat.S_ISLNK(found) else stat.S_IMODE(found)
