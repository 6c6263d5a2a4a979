"""
Write, prune and delete the files of `reports/`: the current summary of a memory, days, maintenance runs.

    reports/snapshot.md                    what matters most now
    reports/days/2026-03-01.md             a day: its sessions, and what was learned
    reports/2026-03-02-0300-39f7023c.md    a run for a person, and .json for programs, which has no words

All of it is made of the database, with texts cut short, so an erasure removes every file with words instead of looking for some
in them. Of runs and days the newest KEPT are kept. The files are private, and git ignores them.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from yiku.errors import InvalidInput
from yiku.files.vault import as_store_error, content_of, flush_folder, write_atomically

FOLDER, DAYS, SNAPSHOT = "reports", "days", "snapshot.md"
KEPT = 30  # runs, and days
LARGEST_BYTES = 1 << 20
_RUN = re.compile(r"\d{4}-\d\d-\d\d-\d{4}-[0-9a-f]{8}\.(?:md|json)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.md")


def write(root: Path, name: str, text: str, *, below: Path) -> bool:
    """
    Write a file of the reports unless it holds this already; return whether it was written.

    root: the vault; below: the home, from which on no link is followed
    Raises InvalidInput for a folder that is a link, and StoreError where it cannot be written.
    """
    path = root / FOLDER / name
    for folder in (root / FOLDER, path.parent):
        if folder.is_symlink():
            raise InvalidInput(f"{folder} is a link; what belongs to a home lies in it")
    with suppress(OSError):
        if content_of(path, at_most=LARGEST_BYTES) == text.encode():
            return False
    write_atomically(path, text.encode(), below=below)
    return True


def remove(root: Path, name: str) -> None:
    """Remove a file of the reports, if it is there."""
    path = root / FOLDER / name
    if (root / FOLDER).is_symlink() or path.parent.is_symlink():
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise as_store_error(error, path) from error


def prune(root: Path) -> int:
    """Remove the oldest reports of runs and days, and return how many; what has another name is somebody else's."""
    removed = 0
    for folder, form in ((root / FOLDER, _RUN), (root / FOLDER / DAYS, _DAY)):
        if folder.is_symlink() or not folder.is_dir():
            continue
        names = sorted(path.name for path in folder.iterdir() if form.fullmatch(path.name))
        runs = sorted({name.rpartition(".")[0] for name in names})
        gone = set(runs[:-KEPT])
        for name in names:
            if name.rpartition(".")[0] in gone:
                try:
                    (folder / name).unlink(missing_ok=True)
                except OSError as error:
                    raise as_store_error(error, folder / name) from error
                removed += 1
    return removed


def clear(root: Path) -> int:
    """Remove every file that may hold words, of whatever day, and return how many. The next night makes what it needs again."""
    removed = 0
    for folder, form in ((root / FOLDER, _RUN), (root / FOLDER / DAYS, _DAY)):
        if folder.is_symlink() or not folder.is_dir():
            continue
        gone = [path for path in folder.iterdir() if path.name == SNAPSHOT or (form.fullmatch(path.name) and path.suffix == ".md")]
        for path in gone:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise as_store_error(error, path) from error
        removed += len(gone)
        if gone:
            flush_folder(folder)
    return removed
