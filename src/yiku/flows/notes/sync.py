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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

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
from yiku.types import DropFile, NoteFile, SyncReport

BATCH_CHARS = 1 << 18  # of text in a transaction, and
BATCH_FILES = 200
SETTLED_NS = 20_000_000  # after a change a file system may give the same time to another one
COARSE_NS, COARSE_SETTLED_NS = 1_000_000_000, 2_500_000_000  # one that knows only seconds
FEW_GONE, GONE_SHARE = 20, 0.2  # files that may be missing at once

Progress = Callable[[int, int], object]


@dataclass(slots=True)
class Run:
    """One sync: what it works on, and what it did so far."""

    handle: Handle
    root: Path
    known: dict[str, NoteFile]
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    unchanged: int = 0
    gone: list[int] = field(default_factory=list)  # passages that left the index
    missing: dict[bytes | int, NoteFile] = field(default_factory=dict)  # by hash and inode, those that may have been renamed
    waiting: list[tuple[Page, NoteFile | None]] = field(default_factory=list)

    def report(self, count: int, took_s: float) -> SyncReport:
        """What was done; count: passages in the index."""
        return SyncReport(
            added=tuple(self.added),
            changed=tuple(self.changed),
            removed=tuple(self.removed),
            held=tuple(self.held),
            renamed=self.renamed,
            unchanged=self.unchanged,
            failed=self.failed,
            chunks=count,
            took_s=took_s,
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
    return _sync(handle, lambda run: _whole(run, force=force, progress=tell, stopped=ended), pages=True)


def sync_files(handle: Handle, paths: Iterable[str]) -> SyncReport:
    """Index these files of the vault, by their paths in it; missing ones leave the index."""

    wanted = [path for path in dict.fromkeys(paths) if files.source_of(path)]

    def some(run: Run) -> None:
        gone = [path for path in wanted if not _read_file(run, path) and path in run.known]
        _flush(run)
        _drop(run, gone)

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


def _sync(handle: Handle, work: Callable[[Run], None], *, pages: bool) -> SyncReport:
    """pages: read what people changed in MEMORY.md and USER.md first."""
    began = time.monotonic()
    handle.store.upkeep.ensure_open()
    pause.raise_if_paused(handle)
    root = publish.vault_of(handle)
    read = publish.apply_edits(handle).pages if pages else ()
    with one_at_a_time(handle.paths.locks / "notes.lock", "another process is indexing notes"):
        own = handle.own()
        run = Run(handle, root, {file.path: file for file in handle.store.notes.files(own[0])} if own else {})
        work(run)
        if run.gone and handle.vectors.exist():
            handle.vectors.remove(own[0], [("note", n) for n in run.gone])
        return replace(run.report(handle.store.notes.count(handle.own()), time.monotonic() - began), pages=read)


def _whole(run: Run, *, force: bool, progress: Progress, stopped: Callable[[], bool]) -> None:
    """Every file of the vault, or those up to where it is stopped: then none that is missing is taken for gone."""
    found, unseen = dict[str, Seen](), list[str]()
    for one in files.scan(run.root):
        if isinstance(one, Seen):
            found[one.path] = one
        else:
            unseen.append(one)
            run.failed[one] = "it cannot be looked at, or its name is not UTF-8"
    under = tuple(f"{path}/" for path in unseen)
    missing = [file for path, file in run.known.items() if path not in found and not f"{path}/".startswith(under)]
    run.missing = {file.inode: file for file in missing} | {file.hash: file for file in missing if file.hash}
    todo = [path for path, one in found.items() if force or not (path in run.known and _is_same(run.known[path], one))]
    run.unchanged = len(found) - len(todo)
    for place, path in enumerate(todo, 1):
        if stopped():
            return _flush(run)
        _read_file(run, path)
        progress(place, len(todo))
    _flush(run)
    moved = {*run.renamed.values()}
    gone = [file.path for file in missing if file.path not in moved]
    if _too_many(len(gone), len(run.known)) and not force:
        run.held += gone
    else:
        _drop(run, gone)


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


# ------------------------------------------------------------------ one file


def _read_file(run: Run, path: str) -> bool:
    """Read a file, and have what it holds wait for the next transaction; False where it is not there."""
    try:
        read = page(run.handle, run.root, path)
    except FileNotFoundError:
        return False
    except OSError as error:
        run.failed[path] = error.strerror or str(error)
        return True
    before = run.known.get(path)
    if read.file.status != "indexed":
        run.failed[path] = f"{read.file.status}: {read.file.detail}"
    if before is not None:
        same = (before.hash, before.status, before.rules) == (read.file.hash, read.file.status, read.file.rules)
        if same:
            run.unchanged += 1
        else:
            run.changed.append(path)
    elif (before := _find_moved(run, read)) is not None:
        run.renamed[path] = before.path
    else:
        run.added.append(path)
    run.waiting.append((read, before))
    if len(run.waiting) >= BATCH_FILES or sum(one.size for one, _ in run.waiting) >= BATCH_CHARS:
        _flush(run)
    return True


def _find_moved(run: Run, read: Page) -> NoteFile | None:
    """The file that this one was, by what it holds or by its inode."""
    found = run.missing.get(read.file.hash) or run.missing.get(read.file.inode)
    if found is not None:
        for key in (found.hash, found.inode):
            run.missing.pop(key, None)
    return found


def _flush(run: Run) -> None:
    """The files that wait enter the index, in one transaction."""
    waiting, run.waiting = run.waiting, []
    if not waiting:
        return
    scope = run.handle.writes()
    try:
        _apply(run, scope, waiting)
    except Stale:  # an erasure took passages meanwhile: one after the other, each as it is now
        for read, before in waiting:
            now = run.handle.store.notes.files(scope, [before.path]) if before else []
            _apply(run, scope, [(read, now[0] if now else None)])


def _apply(run: Run, scope: int, waiting: Sequence[tuple[Page, NoteFile | None]]) -> None:
    notes = run.handle.store.notes
    changes = [reindexed(read, before, notes.of_file(scope, before.n) if before else ()) for read, before in waiting]
    run.handle.store.apply(scope, changes, run.handle.cause("sync notes"))
    run.gone += [n for change in changes for n in change.gone or ()]


def _drop(run: Run, paths: Sequence[str]) -> None:
    """Files that are gone leave the index."""
    if not paths:
        return
    scope, notes = run.handle.writes(), run.handle.store.notes
    for start in range(0, len(paths), BATCH_FILES):
        among = [run.known[path] for path in paths[start : start + BATCH_FILES]]
        changes = [DropFile(file.n, file.hash, tokens_of(notes.of_file(scope, file.n))) for file in among]
        run.handle.store.apply(scope, changes, run.handle.cause("sync notes"))
        run.gone += [n for change in changes for n in change.gone]
        run.removed += [file.path for file in among]
