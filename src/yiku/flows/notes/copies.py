"""
Copy outside files into the vault, and update copies whose original changed, unless the copy was edited or removed.

A copy that somebody changed or removed here is theirs: it is left as it is, and named. To tell that, `documents/.copied` keeps for each
copy where it came from and what it held, as digests under the home's key: no path, no word. Sentences that were erased here are cut out
of a copy before it is written, so they do not come back with the original.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from yiku.errors import StoreError
from yiku.files import notes as files
from yiku.files.vault import SMALL_BYTES, content_of, write_atomically
from yiku.flows.common import tombstones
from yiku.flows.common.handle import Handle
from yiku.flows.notes.page import text_of
from yiku.flows.notes.sync import sync_files
from yiku.types import SyncReport

NAME = "documents/.copied"
BATCH = 200  # copies that are made before it is noted where they came from
PART_CHARS = 1 << 16  # of a file, in which erased sentences are looked for at a time
LIST_BYTES = 16 * SMALL_BYTES  # of that file
CHANGED_HERE = "was changed here since it was copied: it is left as it is"
REMOVED_HERE = "was removed here: it is not copied again"
TAKEN = "is there already, and is no copy of this file: rename one of them"

Progress = Callable[[int, int], object]
Digests = dict[str, list[str]]  # of a copy's path: those of where it came from, and of what it held


class Outcome(NamedTuple):
    """What is to be done with one file: `do` is add, change, index, keep or fail; index: the copy is there, and not in the index."""

    do: str
    why: str = ""
    content: bytes = b""
    digests: tuple[str, str] = ("", "")


class _Vault(NamedTuple):
    """What a file is compared with: the copies made before, and the paths in the index."""

    handle: Handle
    root: Path
    digests: Digests
    indexed: Container[str]
    dry_run: bool


def update(
    handle: Handle, root: Path, targets: dict[Path, str], *, dry_run: bool = False, progress: Progress | None = None
) -> SyncReport:
    """
    Bring the copies in step with their originals, and index those that changed.

    targets: the original files, and the paths of their copies in the vault
    """
    home, own = Path(handle.home).resolve(), handle.own()
    digests = _read_digests(root)
    indexed = {file.path for file in handle.store.notes.files(own[0])} if own else set[str]()
    vault = _Vault(handle, root, digests, indexed, dry_run)
    came_in: dict[str, list[str]] = {"add": [], "change": [], "index": []}
    failed: dict[str, str] = {}
    fresh: list[str] = []
    unchanged = noted = 0
    for number, (original, target) in enumerate(targets.items(), start=1):
        outcome = _decide(vault, original, target)
        if outcome.do == "fail":
            failed[target] = outcome.why
        elif outcome.do == "keep":
            unchanged += 1
        else:
            came_in[outcome.do].append(target)
            if not dry_run:
                if outcome.do != "index":
                    write_atomically(root / target, outcome.content, below=home)
                fresh.append(target)
        if outcome.digests[0] and digests.get(key := _digest(handle, target)) != [*outcome.digests]:
            digests[key] = [*outcome.digests]
            noted += 1
        if noted >= BATCH and not dry_run:
            failed |= _index(handle, root, home, fresh, digests)
            fresh, noted = [], 0
        if progress is not None:
            progress(number, len(targets))
    if not dry_run and (fresh or noted):
        failed |= _index(handle, root, home, fresh, digests)
    added, changed = (
        tuple(path for do in how for path in came_in[do] if path not in failed) for how in (("add", "index"), ("change",))
    )
    return SyncReport(added=added, changed=changed, unchanged=unchanged, failed=failed)


def admitted(handle: Handle, content: bytes) -> bytes:
    """Return what a file holds without the sentences that were erased here; what is not UTF-8 is as it is."""
    if not handle.store.erasures.last():
        return content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    left = "".join(tombstones.without_erased(handle, part) for part in _parts(text))
    return content if left == text else left.encode()


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts that end behind a paragraph, else behind a line."""
    start = 0
    while start < len(text):
        paragraph = text.find("\n\n", start + PART_CHARS, start + 2 * PART_CHARS)
        end = (paragraph if paragraph >= 0 else text.find("\n", start + PART_CHARS)) + 1 or len(text)
        yield text[start:end]
        start = end


def _decide(vault: _Vault, original: Path, target: str) -> Outcome:
    """Decide what becomes of one file."""
    handle = vault.handle
    try:
        given = content_of(original, at_most=files.LARGEST_BYTES)
    except (OSError, StoreError) as error:
        return Outcome("fail", getattr(error, "strerror", None) or str(error))
    if not files.is_utf_8(target):
        return Outcome("fail", files.NOT_UTF_8)
    if (unfit := text_of(given))[1] != "indexed":
        return Outcome("fail", f"{unfit[1]}: {unfit[2]}")
    origin = _digest(handle, str(original))
    known = vault.digests.get(_digest(handle, target))
    mine = known is not None and known[0] == origin
    try:
        held = files.read(vault.root, target)[1] or b""
    except FileNotFoundError:
        held = None
    except OSError as error:
        return Outcome("fail", error.strerror or str(error))
    if held is None and mine:
        return Outcome("fail", REMOVED_HERE)
    if held is None and vault.dry_run:
        return Outcome("add")  # whatever was erased of it
    content = given if held == given else admitted(handle, given)  # an erasure cuts what lies here itself
    now = _digest(handle, content)
    if held is None:
        return Outcome("add", content=content, digests=(origin, now))
    keep = "keep" if target in vault.indexed else "index"
    if held == content:
        return Outcome(keep, digests=(origin, now))
    if known is None or not mine:
        return Outcome("fail", TAKEN)
    if _digest(handle, held) == known[1]:
        return Outcome("change", content=content, digests=(origin, now))
    return Outcome(keep) if known[1] in (now, _digest(handle, given)) else Outcome("fail", CHANGED_HERE)


def _index(handle: Handle, root: Path, home: Path, fresh: Sequence[str], digests: Digests) -> dict[str, str]:
    """Note where the copies come from, and index them; return those that failed, with the reason."""
    write_atomically(root / NAME, json.dumps(digests).encode(), below=home)
    return dict(sync_files(handle, fresh).failed or {}) if fresh else {}


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
