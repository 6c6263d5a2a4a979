"""
Copy outside files into the vault, and update copies whose original changed, unless the copy was edited or removed.

A copy that somebody changed or removed here is theirs: it is left as it is, and named. To tell that, `documents/.copied` keeps for each
copy where it came from and what it held, as digests under the home's key: no path, no word. An erasure changes the copy, so that what
it cut out does not come back with the original.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from yiku.errors import StoreError
from yiku.files import notes as files
from yiku.files.vault import SMALL_BYTES, content_of, write_atomically
from yiku.flows.common.handle import Handle
from yiku.flows.notes.sync import sync_files
from yiku.types import SyncReport

NAME = "documents/.copied"
BATCH = 200  # copies that are made before it is noted where they came from
LIST_BYTES = 16 * SMALL_BYTES  # of that file
CHANGED_HERE = "was changed here since it was copied: it is left as it is"
REMOVED_HERE = "was removed here: it is not copied again"
TAKEN = "is there already, and is no copy of this file: rename one of them"

Progress = Callable[[int, int], object]
Digests = dict[str, list[str]]  # of a copy's path: those of where it came from, and of what it held


class Outcome(NamedTuple):
    """What is to be done with one file: `do` is add, change, keep or fail."""

    do: str
    why: str = ""
    content: bytes = b""
    digests: tuple[str, str] = ("", "")


def update(
    handle: Handle, root: Path, targets: dict[Path, str], *, dry_run: bool = False, progress: Progress | None = None
) -> SyncReport:
    """
    Bring the copies in step with their originals, and index those that changed.

    targets: the original files, and the paths of their copies in the vault
    """
    home = Path(handle.home).resolve()
    digests = _read_digests(root)
    added: list[str] = []
    changed: list[str] = []
    failed: dict[str, str] = {}
    fresh: list[str] = []
    unchanged = noted = 0
    for number, (original, target) in enumerate(targets.items(), start=1):
        outcome = _decide(handle, root, original, target, digests)
        if outcome.do == "fail":
            failed[target] = outcome.why
        elif outcome.do == "keep":
            unchanged += 1
        else:
            (added if outcome.do == "add" else changed).append(target)
            if not dry_run:
                write_atomically(root / target, outcome.content, below=home)
                fresh.append(target)
        if outcome.digests[0] and digests.get(key := _digest(handle, target)) != [*outcome.digests]:
            digests[key] = [*outcome.digests]
            noted += 1
        if noted >= BATCH and not dry_run:
            _index(handle, root, home, fresh, digests)
            fresh, noted = [], 0
        if progress is not None:
            progress(number, len(targets))
    if not dry_run and (fresh or noted):
        report = _index(handle, root, home, fresh, digests)
        failed |= report.failed or {}
    return SyncReport(added=tuple(added), changed=tuple(changed), unchanged=unchanged, failed=failed)


def _decide(handle: Handle, root: Path, original: Path, target: str, digests: Digests) -> Outcome:
    """Decide what becomes of one file."""
    try:
        content = content_of(original, at_most=files.LARGEST_BYTES)
    except (OSError, StoreError) as error:
        return Outcome("fail", getattr(error, "strerror", None) or str(error))
    origin, now = _digest(handle, str(original)), _digest(handle, content)
    known = digests.get(_digest(handle, target))
    mine = known is not None and known[0] == origin
    held = None
    with suppress(FileNotFoundError):
        try:
            held = files.read(root, target)[1] or b""
        except FileNotFoundError:
            raise
        except OSError as error:
            return Outcome("fail", error.strerror or str(error))
    if held is None:
        return Outcome("fail", REMOVED_HERE) if mine else Outcome("add", content=content, digests=(origin, now))
    if held == content:
        return Outcome("keep", digests=(origin, now))
    if known is None or not mine:
        return Outcome("fail", TAKEN)
    if _digest(handle, held) == known[1]:
        return Outcome("change", content=content, digests=(origin, now))
    return Outcome("keep") if known[1] == now else Outcome("fail", CHANGED_HERE)


def _index(handle: Handle, root: Path, home: Path, fresh: Sequence[str], digests: Digests) -> SyncReport:
    """Note where the copies come from, and index them."""
    write_atomically(root / NAME, json.dumps(digests).encode(), below=home)
    return sync_files(handle, fresh) if fresh else SyncReport()


def _read_digests(root: Path) -> Digests:
    """Return what is known of the copies; nothing where the file cannot be read: then each copy that differs is left alone."""
    try:
        given = json.loads(content_of(root / NAME, at_most=LIST_BYTES))
    except (OSError, ValueError, StoreError, RecursionError):
        return {}
    entries = given.items() if isinstance(given, dict) else ()
    return {
        key: value
        for key, value in entries
        if isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) for v in value)
    }


def _digest(handle: Handle, value: str | bytes) -> str:
    """A digest under the home's key."""
    raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    return handle.seal(f"copy\0{hashlib.sha256(raw).hexdigest()}").hex()
