"""
Index documents and skills (`index_document`, `index_skill`), copying those outside the vault into it first.

A copy never takes the place of another file: a person may have edited it there. Copies that nobody changed here may be brought in step
with their originals (copies.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from yiku.files import notes as files
from yiku.files.vault import content_of, expand_home, write_atomically
from yiku.flows.common import checks, pause
from yiku.flows.common.handle import Handle
from yiku.flows.notes import copies
from yiku.flows.notes.publish import vault_of
from yiku.flows.notes.sync import sync_files
from yiku.types import SyncReport

MOST_FILES = 10_000  # of a folder


def document(
    handle: Handle, path: object, *, update: bool = False, dry_run: bool = False, progress: copies.Progress | None = None
) -> SyncReport:
    """
    Index a file or folder, which belongs into documents/.

    update:  bring copies in step with originals that were edited; what was changed here is left and named, and the rest goes on
    dry_run: with `update` only say what would be done
    """
    checks.flag(update, "update")
    checks.optional_call(progress, "progress")
    if not checks.flag(dry_run, "dry_run") and not update:
        return _add(handle, path, "documents")
    if not update:
        checks.refuse("dry_run", "is for update=True")
    handle.store.upkeep.ensure_open()
    pause.raise_if_paused(handle)
    root, given = vault_of(handle).resolve(), _check_path(path)
    if given.is_relative_to(root):
        checks.refuse("path", f"{given} lies in the vault: there is nothing to copy")
    if pause.switched_off(str(given), handle.settings.private_folders) is not None:
        checks.refuse("path", f"{given} is in a folder that is switched off")
    targets = _targets(given, "documents")
    return copies.update(handle, root, targets, dry_run=dry_run, progress=progress)


def skill(handle: Handle, path: object) -> SyncReport:
    """Index a file or folder, which belongs into skills/."""
    return _add(handle, path, "skills")


def _add(handle: Handle, path: object, folder: str) -> SyncReport:
    handle.store.upkeep.ensure_open()
    pause.raise_if_paused(handle)
    root, given = vault_of(handle).resolve(), _check_path(path)
    targets = _targets(given, folder)
    if given.is_relative_to(root):
        paths = [one.relative_to(root).as_posix() for one in targets]
        if not any(map(files.source_of, paths)):
            checks.refuse("path", f"{given} lies in the home, but in none of {', '.join(f'{name}/' for name in files.FOLDERS)}")
        return sync_files(handle, paths)
    originals = {one: _content(one) for one, target in targets.items() if files.is_utf_8(target)}
    contents = {one: copies.admitted(handle, content) for one, content in originals.items()}
    for one, original in originals.items():
        target = targets[one]
        with suppress(FileNotFoundError):
            if files.read(root, target)[1] not in (original, contents[one]):
                checks.refuse("path", f"{target} is there already, and holds something else: edit it there, or remove it")
    for one, content in contents.items():
        if not (root / targets[one]).exists():
            write_atomically(root / targets[one], content, below=Path(handle.home).resolve())
    return sync_files(handle, targets.values())


def _targets(given: Path, folder: str) -> dict[Path, str]:
    """The files that are meant, and the paths of their copies in the vault. Raises InvalidInput where there are none."""
    found = list(_files(given))
    if not found:
        checks.refuse("path", f"{given} has no file that ends with {', '.join(files.ENDINGS)}")
    return {one: f"{folder}/{one.relative_to(given.parent).as_posix()}" for one in found}


def _check_path(path: object) -> Path:
    """The file or folder that is meant. Raises InvalidInput where there is none."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(text := os.fspath(path), str) or not text.strip() or "\0" in text:
        checks.refuse("path", "must be the path of a file or folder")
    try:
        return expand_home(text).resolve(strict=True)
    except (OSError, RuntimeError, UnicodeEncodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        checks.refuse("path", f"{text[:200]!r}: {reason}")


def _files(given: Path) -> Iterator[Path]:
    """A file, or those of a folder that can be indexed; no link is followed."""
    if given.is_file():
        if given.name.lower().endswith(files.ENDINGS):
            yield given
        return
    count = 0
    for folder, folders, names in os.walk(given, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if not name.startswith(".") and name.lower().endswith(files.ENDINGS) and path.is_file() and not path.is_symlink():
                if (count := count + 1) > MOST_FILES:
                    checks.refuse("path", f"{given} has over {MOST_FILES:,} files: index its folders one by one")
                yield path


def _content(path: Path) -> bytes:
    try:
        return content_of(path, at_most=files.LARGEST_BYTES)
    except OSError as error:
        checks.refuse("path", f"{path}: {error.strerror}")
