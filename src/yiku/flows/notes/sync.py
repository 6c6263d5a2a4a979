"""
`sync`: update the notes index from the files of the vault, after applying edits of MEMORY.md and USER.md.

Look at every file from outside; what looks as it did when it was indexed is left alone. Read the others: one that holds the same
is left alone too, one that has moved takes its passages along, and of one that was edited only the passages that changed are
replaced. A file enters the index in one transaction, small ones several in one, and nothing is read while it is open.

Many files that are gone at once are more likely a folder that is not mounted than a wish: their passages stay until `force` says
that it is meant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from yiku.errors import Stale
from yiku.files import notes as files
from yiku.files.notes import Seen
from yiku.flows.common import checks, pause
from yiku.flows.common.handle import Handle
from yiku.flows.keep import transcripts
from yiku.flows.notes import publish
from yiku.flows.notes.page import Page, page, reindexed
from yiku.rules.pages import chunks
from yiku.rules.pages.chunks import tokens_of
from yiku.store.api import one_at_a_time
from yiku.types import DropFile, NoteFile, PublishReport, SyncReport

BATCH_CHARS = 1 << 18  # of text in a transaction, and
BATCH_FILES = 200
SETTLED_NS = 20_000_000  # after a change a file system may give the same time to another one
COARSE_NS, COARSE_SETTLED_NS = 1_000_000_000, 2_500_000_000  # one that knows only seconds
FEW_GONE, GONE_SHARE = 20, 0.2  # files that may be missing at once

Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class _Vault:
    """What a sync works on: the folder, and its files as the index has them."""

    handle: Handle
    root: Path
    known: Mapping[str, NoteFile]


class _Compared(NamedTuple):
    """A file that was read, compared with its row; before: that row, or the one of the path that it had."""

    change: Literal["added", "changed", "renamed", "unchanged"]
    page: Page
    before: NoteFile | None


@dataclass(frozen=True, slots=True)
class _Indexed:
    """
    What became of some files.

    changes: by path, how it compared with its row, and its path before
    absent:  paths at which nothing lies
    gone:    passages that left the index
    whole:   False where it was stopped
    """

    changes: Mapping[str, tuple[str, str | None]]
    failed: Mapping[str, str]
    absent: Sequence[str]
    gone: Sequence[int]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class _Synced:
    """What a sync did: to files that it read, to those that are gone, and how many it left alone."""

    indexed: _Indexed
    removed: Sequence[str] = ()
    held: Sequence[str] = ()
    gone: Sequence[int] = ()
    unread: int = 0

    def report(self, count: int, took_s: float, read: PublishReport) -> SyncReport:
        """count: passages in the index"""

        failed = self.indexed.failed

        def those(change: str) -> tuple[str, ...]:
            return tuple(path for path, (how, _) in self.indexed.changes.items() if how == change)

        return SyncReport(
            added=tuple(path for path in those("added") if path not in failed),
            changed=those("changed"),
            removed=tuple(self.removed),
            held=tuple(self.held),
            renamed={path: was for path, (_, was) in self.indexed.changes.items() if was},
            unchanged=self.unread + sum(path not in failed for path in those("unchanged")),
            failed=dict(failed),
            chunks=count,
            took_s=took_s,
            pages=read.pages,
            operations=read.operations,
        )


def sync(
    handle: Handle, *, force: bool = False, progress: Progress | None = None, stopped: Callable[[], bool] | None = None
) -> SyncReport:
    """
    Bring the index of notes in step with the files of this scope's vault.

    force:    read every file again, and believe that those which are gone are meant to be
    progress: told how many files are done, of how many
    stopped:  asked before each file; once it says so what was read is indexed, and the rest is left to the next sync
    Raises InvalidInput for a scope without a vault, Paused, and StoreBusy while another process is at it.
    """
    checks.flag(force, "force")
    checks.optional_call(progress, "progress")
    checks.optional_call(stopped, "stopped")
    tell, ended = progress or (lambda done, total: None), stopped or (lambda: False)
    transcripts.try_catch_up(handle)
    return _sync(handle, lambda vault: _sync_all(vault, force=force, progress=tell, stopped=ended), pages=True)


def sync_files(handle: Handle, paths: Iterable[str]) -> SyncReport:
    """Index these files of the vault, by their paths in it; missing ones leave the index."""

    every = [path for path in dict.fromkeys(paths) if files.source_of(path)]
    wanted = [path for path in every if files.is_utf_8(path)]
    unnamed = {path: files.NOT_UTF_8 for path in every if not files.is_utf_8(path)}

    def some(vault: _Vault) -> _Synced:
        indexed = _index(vault, wanted, ())
        indexed = replace(indexed, failed={**unnamed, **indexed.failed})
        removed = [path for path in indexed.absent if path in vault.known]
        return _Synced(indexed, removed=removed, gone=_drop(vault, removed))

    return _sync(handle, some, pages=any(path in files.PAGES for path in wanted))


class Pending(NamedTuple):
    """What a sync would find: files to read or drop, those that cannot be indexed, and those whose loss only `force` believes."""

    files: int = 0
    unfit: int = 0
    held: int = 0


def pending(handle: Handle) -> Pending:
    """What waits for a sync; nothing without a vault."""
    if handle.vault is None:
        return Pending()
    own = handle.own()
    known = {file.path: file for file in handle.store.notes.files(own[0])} if own else {}
    found = {one.path: one for one in files.scan(handle.vault) if isinstance(one, Seen)}
    settled = {path for path, one in found.items() if path in known and _looks_same(known[path], one)}
    missing, strange = known.keys() - found.keys(), found.keys() - known.keys()
    moved = {found[path].inode for path in strange}
    gone = sum(known[path].inode not in moved for path in missing)
    held = gone if _too_many(gone, len(known)) else 0
    return Pending(len(found) - len(settled) + len(missing) - held, sum(file.status != "indexed" for file in known.values()), held)


def _too_many(gone: int, known: int) -> bool:
    """Whether so many files are gone that an accident is likelier than a wish."""
    return gone > FEW_GONE and gone > GONE_SHARE * known


def _sync(handle: Handle, work: Callable[[_Vault], _Synced], *, pages: bool) -> SyncReport:
    """pages: read what people changed in MEMORY.md and USER.md first."""
    began = time.monotonic()
    handle.store.upkeep.ensure_open()
    pause.raise_if_paused(handle)
    root = publish.vault_of(handle)
    read = publish.apply_edits(handle) if pages else PublishReport(())
    with one_at_a_time(handle.paths.locks / "notes.lock", "another process is indexing notes"):
        own = handle.own()
        done = work(_Vault(handle, root, {file.path: file for file in handle.store.notes.files(own[0])} if own else {}))
        gone = [*done.indexed.gone, *done.gone]
        if gone and handle.vectors.exist():
            handle.vectors.remove(own[0], [("note", n) for n in gone])
        return done.report(handle.store.notes.count(handle.own()), time.monotonic() - began, read)


def _sync_all(vault: _Vault, *, force: bool, progress: Progress, stopped: Callable[[], bool]) -> _Synced:
    """Every file of the vault, or those up to where it is stopped: then none that is missing is taken for gone."""
    found, unseen = dict[str, Seen](), dict[str, str]()
    for one in files.scan(vault.root):
        if isinstance(one, Seen):
            found[one.path] = one
        else:
            unseen[one] = "it cannot be looked at" if files.is_utf_8(one) else files.NOT_UTF_8
    under = tuple(f"{path}/" for path in unseen)
    missing = [file for path, file in vault.known.items() if path not in found and not f"{path}/".startswith(under)]
    todo = [path for path, one in found.items() if force or not (path in vault.known and _is_same(vault.known[path], one))]
    indexed = _index(vault, todo, missing, progress, stopped)
    read = {*todo}
    unfit = {
        path: _why(file) for path, file in vault.known.items() if path in found and path not in read and file.status != "indexed"
    }
    indexed = replace(indexed, failed={**unseen, **unfit, **indexed.failed})
    done = _Synced(indexed, unread=len(found) - len(todo) - len(unfit))
    if not indexed.whole:
        return done
    moved = {was for _, was in indexed.changes.values()}
    gone = [file.path for file in missing if file.path not in moved]
    if _too_many(len(gone), len(vault.known)) and not force:
        return replace(done, held=gone)
    return replace(done, removed=gone, gone=_drop(vault, gone))


def _why(file: NoteFile) -> str:
    """Why a file is not indexed."""
    return f"{file.status}: {file.detail}"


def _is_same(file: NoteFile, one: Seen) -> bool:
    """Whether a file looks as it did, and was left alone long enough before that to be sure."""
    if not _looks_same(file, one):
        return False
    coarse = one.mtime_ns % COARSE_NS == 0 and one.ctime_ns % COARSE_NS == 0
    settled = file.seen_ns - max(one.mtime_ns, one.ctime_ns) > (COARSE_SETTLED_NS if coarse else SETTLED_NS)
    return settled and file.rules == chunks.VERSION


def _looks_same(file: NoteFile, one: Seen) -> bool:
    """Whether size, times and inode are what they were."""
    return (file.size, file.mtime_ns, file.ctime_ns, file.inode) == (one.size, one.mtime_ns, one.ctime_ns, one.inode)


# ------------------------------------------------------------------ files that are read, or gone


def _index(
    vault: _Vault,
    paths: Sequence[str],
    missing: Iterable[NoteFile],
    progress: Progress = lambda done, total: None,
    stopped: Callable[[], bool] = lambda: False,
) -> _Indexed:
    """Read files and index them, several in a transaction; missing: rows whose file may have been renamed to one of these."""
    changes, failed = dict[str, tuple[str, str | None]](), dict[str, str]()
    absent, gone, batch = list[str](), list[int](), list[_Compared]()
    origins = _Origins(missing)
    for place, path in enumerate(paths, 1):
        if stopped():
            break
        try:
            read = page(vault.handle, vault.root, path)
        except FileNotFoundError:
            absent.append(path)
        except OSError as error:
            failed[path] = error.strerror or str(error)
        else:
            if read.file.status != "indexed":
                failed[path] = _why(read.file)
            compared = _compare(read, vault.known.get(path), origins)
            changes[path] = compared.change, compared.before.path if compared.before and compared.change == "renamed" else None
            batch.append(compared)
            if len(batch) >= BATCH_FILES or sum(one.page.size for one in batch) >= BATCH_CHARS:
                gone += _write(vault, batch)
                batch = []
        progress(place, len(paths))
    else:
        return _Indexed(changes, failed, absent, gone + _write(vault, batch))
    return _Indexed(changes, failed, absent, gone + _write(vault, batch), whole=False)


class _Origins:
    """Rows whose file is missing, by hash and by inode; each is the origin of one renamed file."""

    def __init__(self, missing: Iterable[NoteFile]) -> None:
        rows = [*missing]
        self._rows: dict[bytes | int, NoteFile] = {file.inode: file for file in rows} | {
            file.hash: file for file in rows if file.hash
        }

    def take(self, file: NoteFile) -> NoteFile | None:
        """Return the row of the file that this one was; another does not get it."""
        found = self._rows.get(file.hash) or self._rows.get(file.inode)
        if found is not None:
            for key in (found.hash, found.inode):
                self._rows.pop(key, None)
        return found


def _compare(read: Page, before: NoteFile | None, origins: _Origins) -> _Compared:
    """Compare a file with its row, or with that of the path that it had."""
    if before is not None:
        same = (before.hash, before.status, before.rules) == (read.file.hash, read.file.status, read.file.rules)
        return _Compared("unchanged" if same else "changed", read, before)
    origin = origins.take(read.file)
    return _Compared("added" if origin is None else "renamed", read, origin)


def _write(vault: _Vault, batch: Sequence[_Compared]) -> list[int]:
    """Write files to the index in one transaction; return the passages that left it."""
    if not batch:
        return []
    scope = vault.handle.writes()
    try:
        return _apply(vault.handle, scope, batch)
    except Stale:  # an erasure took passages meanwhile: one after the other, each as it is now
        gone = list[int]()
        for one in batch:
            now = vault.handle.store.notes.files(scope, [one.before.path]) if one.before else []
            gone += _apply(vault.handle, scope, [one._replace(before=now[0] if now else None)])
        return gone


def _apply(handle: Handle, scope: int, batch: Sequence[_Compared]) -> list[int]:
    notes = handle.store.notes
    changes = [reindexed(one.page, one.before, notes.of_file(scope, one.before.n) if one.before else ()) for one in batch]
    handle.store.apply(scope, changes, handle.cause("sync notes"))
    return [n for change in changes for n in change.gone or ()]


def _drop(vault: _Vault, paths: Sequence[str]) -> list[int]:
    """Files that are gone leave the index; return their passages."""
    if not paths:
        return []
    scope, notes, gone = vault.handle.writes(), vault.handle.store.notes, list[int]()
    for start in range(0, len(paths), BATCH_FILES):
        among = [vault.known[path] for path in paths[start : start + BATCH_FILES]]
        changes = [DropFile(file.n, file.hash, tokens_of(notes.of_file(scope, file.n))) for file in among]
        vault.handle.store.apply(scope, changes, vault.handle.cause("sync notes"))
        gone += [n for change in changes for n in change.gone]
    return gone
