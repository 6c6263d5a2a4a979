"""
Make, list and verify online backups, and restore a home from one.

A backup is one file of backups/: the database as it was at one moment, read back row by row before it gets its
name. Long contents are named by their hash and never change, so their blobs stay where they are. A backup to
another folder is the whole home, which opens as one on any machine: settings and key go with it.

Restoring prepares the content of a backup in a file of its own (today's schema, nothing that was erased since,
every number behind those that were given) and then puts it in the place of the store's at once. What was there
before is a backup too, so restoring can be taken back. A home whose database does not open any more is
restored by `restore_damaged`: the file is moved to damaged/ and the prepared one takes its name.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from yiku.errors import ForeignStore, InvalidInput, NotFound, StoreBusy, StoreError
from yiku.files import sweep, transcripts
from yiku.files.vault import Home, as_store_error, flush_folder
from yiku.flows.common import checks, tombstones
from yiku.flows.common.handle import Handle, local_time, retry_if_stale
from yiku.flows.erase.reapply import reapply
from yiku.flows.home.transcripts import discard, set_aside_newer
from yiku.rules.text import analyze
from yiku.store import api
from yiku.store.api import IdentityFile, SqliteStore, Store, Vectors, one_at_a_time
from yiku.types import Backup, BackupFile, Copied, Restored, Settings

NIGHTLY_KEPT = 7
NIGHTLY_AFTER = timedelta(hours=20)  # so that one a day is made by whoever works at about the same hour
OVERDUE_AFTER = timedelta(days=3)
AFTER_AN_ANSWER_BYTES = 6 << 20  # of a database that is copied and read back in 200 ms (30 MB/s on 2 cores, measured)
LOCK_S = 60.0  # one backup at a time waits so long for another
MADE_BY_HAND, NIGHTLY, BEFORE_RESTORE = "yiku", "nightly", "before-restore"
_TIME = re.compile(r"-(\d{8}T\d{6}\.\d{6}Z)\.db$")
_TIME_FORM = "%Y%m%dT%H%M%S.%fZ"
_LEFT_HERE = frozenset("backups locks damaged vectors transcripts reserve store.id yiku.db yiku.db-wal yiku.db-shm".split())


# ------------------------------------------------------------------ making one


def backup(handle: Handle, to: str | os.PathLike[str] | None = None, *, nightly: bool = False, merge: bool = True) -> Backup | None:
    """
    Copy everything in one snapshot, and read the copy back.

    to:      a new or empty folder outside: the whole home goes there
    nightly: only when none was made in the last 20 hours; of the nightly ones, 7 are kept. None when there was nothing to do
    merge:   after a nightly one, merge the segments of the indexes too
    """
    home = Home(handle.home)
    if checks.flag(nightly, "nightly") and to is not None:
        checks.refuse("nightly", "is for backups in the home")
    if nightly and (handle.settings.backups == "off" or home.backups.is_symlink() or not due(home.backups, handle.now())):
        return None
    if to is not None:
        return _copy_home(handle, home, checks.path(to, "to"))
    try:
        with _one_at_a_time(home, 0 if nightly else LOCK_S):
            began = time.monotonic()
            path = _free_name(home.backups, NIGHTLY if nightly else MADE_BY_HAND, handle.now())
            copied = retry_if_stale(handle, lambda: handle.store.upkeep.copied(path))
            if nightly:
                _prune(home.backups, path)
                with suppress(StoreError):  # the copy is made; the next night merges
                    if merge:
                        handle.store.upkeep.merge()
            return _report(path, copied, began, _missing(home, copied))
    except StoreBusy:
        if nightly:  # another process is making it
            return None
        raise


def backups(handle: Handle) -> list[BackupFile]:
    """Return the backups in the home, newest first."""
    handle.store.upkeep.ensure_open()
    found = [path for path in _files(Home(handle.home).backups) if not path.name.startswith(".")]
    listed = [BackupFile(name=path.name, made_at=_made_at(path), bytes=path.stat().st_size) for path in found]
    return sorted(listed, key=lambda one: (one.made_at, one.name), reverse=True)


def due(folder: Path, now: datetime) -> bool:
    """Tell whether a nightly backup is due; backups dated in the future do not count."""
    made = [_made_at(path) for path in _files(folder) if path.name.startswith(f"{NIGHTLY}-")]
    return not any(timedelta(0) <= now - at < NIGHTLY_AFTER for at in made)


def quick_backup_due(home: Home) -> bool:
    """Tell whether a backup is due and quick enough for a one-shot command. A new home waits a day."""
    now = local_time()
    try:
        if now.timestamp() - home.settings.stat().st_mtime < NIGHTLY_AFTER.total_seconds():
            return False
        if home.backups.is_symlink():
            return False
        return home.database.stat().st_size <= AFTER_AN_ANSWER_BYTES and due(home.backups, now)
    except OSError:
        return False


def overdue(handle: Handle) -> str | None:
    """Return a line for `status` if the last backup is old or missing."""
    made = [_made_at(path) for path in _files(Home(handle.home).backups)]
    if handle.settings.backups == "off" or handle.store.upkeep.about()["read_only"]:
        return None
    if Home(handle.home).backups.is_symlink():
        return "backups/ is a link, so no backup is made: remove the link, or run `yiku backup --to` another folder"
    if not made:
        small = handle.store.upkeep.about()["bytes"] <= AFTER_AN_ANSWER_BYTES  # the next writing command makes one
        return None if small else "there is no backup yet: run `yiku backup`"
    days = (handle.now() - max(made)).days
    return f"the last backup is {days} days old: run `yiku backup`" if days >= OVERDUE_AFTER.days else None


def _report(path: Path, copied: Copied, began: float, left_out: tuple[str, ...]) -> Backup:
    turns, memories, changes = (copied.rows[table] for table in ("conversation_turns", "memories", "changes"))
    return Backup(
        path=str(path),
        bytes=sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size,
        turns=turns[1],
        memories=memories[1],
        changes=changes[0],
        seconds=round(time.monotonic() - began, 3),
        left_out=left_out,
    )


def _missing(home: Home, copied: Copied) -> tuple[str, ...]:
    """Return the blobs that a copy refers to and the home lacks."""
    return tuple(f"blob {name}" for name in sorted(copied.blobs) if not (home.blobs / name[:2] / f"{name}.z").is_file())


def _files(folder: Path) -> list[Path]:
    if folder.is_symlink() or not folder.is_dir():  # what belongs to a home lies in it
        return []
    return [path for path in folder.iterdir() if path.suffix == ".db" and path.is_file() and not path.is_symlink()]


def _made_at(path: Path) -> datetime:
    """Return the time in its name, else that of the file."""
    if named := _TIME.search(path.name):
        with suppress(ValueError):
            return datetime.strptime(named[1], _TIME_FORM).replace(tzinfo=UTC)
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _free_name(folder: Path, kind: str, now: datetime) -> Path:
    """Return an unused name that sorts after older ones of its kind."""
    at = now.astimezone(UTC)
    while (path := folder / f"{kind}-{at.strftime(_TIME_FORM)}.db").exists():
        at += timedelta(microseconds=1)
    return path


def _prune(folder: Path, newest: Path) -> None:
    """Keep the newest nightly backups, always including the one just verified."""
    nightly = sorted(path for path in _files(folder) if path.name.startswith(f"{NIGHTLY}-") and path != newest)
    for path in nightly[: max(0, len(nightly) + 1 - NIGHTLY_KEPT)]:
        path.unlink(missing_ok=True)


@contextmanager
def _one_at_a_time(home: Home, timeout_s: float) -> Iterator[None]:
    """Lock backups of a home, removing leftovers of killed processes. Raises InvalidInput for a link."""
    if home.backups.is_symlink():
        raise InvalidInput(f"{home.backups} is a link, and what belongs to a home lies in it: remove the link")
    with one_at_a_time(home.locks / "backup.lock", "another process makes or restores a backup", timeout_s):
        for path in home.backups.glob(".*") if home.backups.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        yield


# ------------------------------------------------------------------ moving a home


def _copy_home(handle: Handle, home: Home, target: Path) -> Backup:
    """Copy the whole home to a new folder, complete or not at all."""
    if target.is_relative_to(home.root):
        checks.refuse("to", "must lie outside the home")
    try:
        occupied = target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir())))
    except OSError as error:  # its name is too long, or it may not be looked into
        raise as_store_error(error, target) from error
    if occupied:
        raise InvalidInput(f"{target} is not an empty folder")
    began = time.monotonic()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir(mode=0o700)
        copied = retry_if_stale(handle, lambda: handle.store.upkeep.copied(temporary / "yiku.db"))
        left_out = (*_copy_files(home.root, temporary), *_missing(Home(temporary), copied))
        IdentityFile(temporary / "store.id").write(copied.store_id, copied.rows["changes"][0])
        _flush(temporary)
        temporary.rename(target)
        flush_folder(target.parent)
    except OSError as error:
        raise as_store_error(error, target) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return _report(target, copied, began, left_out)


def _copy_files(source: Path, target: Path) -> Iterator[str]:
    """Copy the home's files except the database, machine-specific ones and those being written; return skipped names."""
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        lost = name.parts[:2] == ("transcripts", transcripts.LOST)  # what the copied database does not know
        if (name.parts[0] in _LEFT_HERE and not lost) or any(map(sweep.TEMPORARY.fullmatch, name.parts)):
            continue
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            yield str(name)
        elif path.is_dir():
            (target / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        else:
            try:
                shutil.copyfile(path, target / name, follow_symlinks=False)
            except FileNotFoundError:  # such as a lock of git that was let go meanwhile
                yield str(name)
            else:
                (target / name).chmod(0o600)


def _flush(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        api.offline.fsync(path)


# ------------------------------------------------------------------ going back to one


def restore_backup(handle: Handle, name: str, *, dry_run: bool = False) -> Restored:
    """
    Restore the store from a backup; its previous content is kept as a backup.

    Raises NotFound, Damaged when the backup is not sound, ForeignStore when it is of another home; then nothing has changed.
    """
    home, store = Home(handle.home), handle.store
    checks.flag(dry_run, "dry_run")
    store.upkeep.about()  # a memory that was closed says so
    with _one_at_a_time(home, LOCK_S):
        path, copied = _find_backup(home, name)
        if copied.store_id != store.store_id:
            raise ForeignStore(str(path))
        restored = replace(_outcome(home, path, copied, store), dry_run=dry_run)
        if dry_run:
            return restored
        with _prepare(home, path, handle.key) as prepared, store.exclusive():
            restored = _outcome(home, path, copied, store)
            before = _free_name(home.backups, BEFORE_RESTORE, handle.now())
            store.upkeep.copied(before)
            cause = handle.cause("restore backup", f"from {path.name}")
            sweep = partial(sweep_erased, replace(handle, store=prepared))
            number = store.upkeep.restore(prepared.upkeep, cause, prepared.scope(handle.scope) or 0, sweep)
        discard(home)
        return replace(restored, kept=before.name, operation=number)


def restore_damaged(
    settings: Settings, scope: str, key: bytes, name: str, *, clock: Callable[[], datetime] = local_time, dry_run: bool = False
) -> Restored:
    """Restore a home whose database is damaged, foreign or missing; it is moved to damaged/."""
    home = Home(settings.home)
    mark = IdentityFile(home.root / "store.id")
    with _one_at_a_time(home, LOCK_S):
        path, copied = _find_backup(home, name)
        seen = mark.read()
        ours = seen if seen is not None and seen[0] == copied.store_id else None
        restored = replace(_outcome(home, path, copied, None), dry_run=dry_run)
        if dry_run:
            return restored
        writing = one_at_a_time(home.write_lock, "another program is writing", settings.busy_timeout_s)
        with _prepare(home, path, key) as prepared, writing:
            handle = Handle(prepared, settings, scope, clock, str(home.root), Vectors(home.vectors), key)
            aside = _free_name(home.root / "damaged", "yiku", handle.now()).with_suffix("")
            cause = handle.cause("restore backup", f"from {path.name}")
            number = prepared.upkeep.resume_numbering(home.database, ours, cause, prepared.scope(scope) or 0)
            sweep_erased(handle)
            prepared.close()
            api.offline.install(prepared.path, home.database, aside)
            mark.write(copied.store_id, number)
        set_aside_newer(home)
        return replace(restored, aside=str(aside.relative_to(home.root)), operation=number)


def sweep_erased(handle: Handle) -> None:
    """Apply erasures made since the backup to the prepared store."""
    reapply(handle, [*tombstones.unknown_erasures(Home(handle.home), handle.store), *handle.store.erasures.all()])


def _find_backup(home: Home, name: str) -> tuple[Path, Copied]:
    """Return the backup of this name, verified."""
    known = {path.name: path for path in _files(home.backups)}
    path = known.get(checks.name(name, "name")) or known.get(f"{name}.db")
    if path is None:
        raise NotFound(f"there is no backup {name[:80]}", "`yiku backups` lists them.")
    return path, api.offline.read_backup(path)


def _outcome(home: Home, path: Path, copied: Copied, store: Store | None) -> Restored:
    """Return what the store has beyond the backup, as far as that can be read."""
    more = store.upkeep.since({table: last for table, (last, _) in copied.rows.items()}) if store is not None else {}
    return Restored(
        name=path.name,
        made_at=_made_at(path),
        changes=more.get("changes"),
        turns=more.get("conversation_turns"),
        memories=more.get("memories"),
        missing=_missing(home, copied),
    )


@contextmanager
def _prepare(home: Home, path: Path, key: bytes) -> Iterator[SqliteStore]:
    """Unpack a backup as a store of its own, migrated to the current schema."""
    folder = home.backups / f".restoring-{secrets.token_hex(6)}"
    folder.mkdir(mode=0o700)
    try:
        api.offline.unpack_backup(path, folder / "yiku.db")
        lock = folder / "write.lock"
        with closing(SqliteStore(folder / "yiku.db", gate=lock, analyzer=analyze.VERSION, key=key)) as prepared:
            yield prepared
    finally:
        shutil.rmtree(folder, ignore_errors=True)
