"""
Check and repair a home, also one whose store cannot be opened.

Both look from outside, so they also work on a store that cannot be opened. `check` writes nothing. `repair`
keeps the damaged file in damaged/, builds a whole store from what can be read there and from the backups,
and puts it in place; an older, emptied or foreign file is only taken for the store when that is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from yiku.errors import Damaged, ForeignStore, HomeMissing, InvalidInput, NotFound, StoreMismatch
from yiku.files import blobs, inbox, mirror, transcripts, vault
from yiku.flows.common import checks, tombstones
from yiku.flows.common.handle import Handle, local_time
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.erase import finish
from yiku.flows.erase.reapply import reapply
from yiku.flows.home.rebuild import rebuild as rebuild_home
from yiku.flows.home.transcripts import set_aside_newer
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.pages import chunks
from yiku.rules.privacy import scopes
from yiku.rules.text import analyze
from yiku.store.api import IdentityFile, SqliteStore, Vectors, offline, one_at_a_time
from yiku.types import Cause, Checked, Repaired, Settings

DEPTHS: tuple[offline.Depth, ...] = ("quick", "full", "deep")
WORDS = offline.Tokenizers(tokens, tool_tokens, index_tokens, chunks.index_tokens)
Say = Callable[[str], None]


def no_progress(_: str) -> None:
    """Ignore progress."""


# ------------------------------------------------------------------ check


def check(place: vault.Home, depth: str = "full", progress: Say | None = None) -> Checked:
    """Check a home; writes nothing. Raises HomeMissing."""
    checks.optional_call(progress, "progress")
    say = progress or no_progress
    chosen = next((known for known in DEPTHS if known == depth), None)
    if chosen is None:
        raise InvalidInput(f"depth must be one of {', '.join(DEPTHS)}, not {checks.shown(depth)}")
    lost = place.lost()
    if not place.exists() and lost is None:
        raise HomeMissing(str(place.root))
    began = time.monotonic()
    findings = offline.Findings(_key(place), say=say)
    offline.check_store(findings, place.database, chosen, _mark(place).read(), WORDS)
    if lost is not None:
        findings.problems.append(lost)
    else:
        findings.run_check("erasures", _missing_erasures(place))
    if depth == "deep":
        findings.run_check("blobs", _blobs(findings, place))
        findings.run_check("backups", _backups(findings, place))
        _look_at_transcripts(findings, place)
        _look_at_inbox(findings, place)
    return Checked(chosen, dict(findings.looked_at), tuple(findings.problems), tuple(findings.notes), time.monotonic() - began)


def _missing_erasures(place: vault.Home) -> Iterator[str]:
    """Yield erasures that files record and the database lacks."""
    found = offline.read_erasures(place.database)
    if found is not None and (missing := tombstones.mirrored_ids(place, found[0]) - found[1]):
        yield f"{len(missing):,} {'erasure is' if len(missing) == 1 else 'erasures are'} undone: an older copy lies over this home"


def _mark(place: vault.Home) -> IdentityFile:
    return IdentityFile(place.database.with_name("store.id"))


def _key(place: vault.Home) -> bytes:
    """Return the key file's content; empty if unreadable, which shows in the journal's chain."""
    with suppress(OSError, ValueError):
        return bytes.fromhex(vault.content_of(place.key_file).decode("ascii"))
    return b""


def _blobs(findings: offline.Findings, place: vault.Home) -> Iterator[str]:
    """Check each blob against its name, and that each one referred to exists."""
    there = {path.stem for path in place.blobs.glob("*/*.z")}
    for name in sorted(there | offline.named_blobs(place.database)):
        findings.count_checked("blobs")
        try:
            blobs.get_bytes(place.blobs, name)
        except Damaged:
            yield f"blob {name} is not what its name says"
        except NotFound:
            yield f"blob {name}, which a turn or an attachment names, is not there"


def _backups(findings: offline.Findings, place: vault.Home) -> Iterator[str]:
    for path in _copies(place):
        findings.count_checked("backups")
        yield from (f"backup {path.name}: {problem}" for problem in offline.check_backup(path))


def _look_at_transcripts(findings: offline.Findings, place: vault.Home) -> None:
    """Note lines of transcripts that are not as they were written, and files of lost turns: derived, so no problem of the home."""
    for path in transcripts.files(place):
        name = path.relative_to(place.root)
        broken = [line.number for line in transcripts.lines(path) if isinstance(line, transcripts.Broken) and not line.torn]
        findings.count_checked("transcripts")
        if broken:
            count = f"{len(broken):,} lines are" if len(broken) > 1 else "a line is"
            findings.notes.append(f"{name}: {count} not Yiku's, or not as written; the first is line {broken[0]}")
    if left := len(transcripts.lost(place)):
        findings.notes.append(f"transcripts/lost/ has {left:,} files with turns that the database lacks: yiku repair --rebuild")


def _look_at_inbox(findings: offline.Findings, place: vault.Home) -> None:
    """Note lines of the inbox that are no events: what hooks have captured is there until it is recorded."""
    for path in inbox.every_file(place):
        broken = 0
        for line in inbox.events(path):
            findings.count_checked("captured events")
            broken += isinstance(line, inbox.Broken)
        if broken:
            what = "a line that is no event" if broken == 1 else f"{broken:,} lines that are no events"
            findings.notes.append(f"inbox/{path.name} has {what}, or not as written")


def _copies(place: vault.Home) -> list[Path]:
    """Return the backups, newest first."""
    if place.backups.is_symlink():  # not ours
        return []
    found = [path for path in place.backups.glob("*.db") if not path.name.startswith(".")]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


# ------------------------------------------------------------------ repair


def repair(
    place: vault.Home,
    *,
    dry_run: bool = False,
    accept: bool = False,
    rebuild: Settings | None = None,
    progress: Say | None = None,
) -> Repaired:
    """
    Repair a home, or with `dry_run` say what that would do.

    accept:  take the database that is there for the one of this home, though `store.id` means another
    rebuild: bring turns back from transcripts as well, and learn from them again with these settings
    Raises HomeMissing, StoreBusy while another program has it open, StoreMismatch and ForeignStore where only a
    person can say which file is right, Damaged when nothing can be read and no backup is there.
    """
    checks.flag(dry_run, "dry_run")
    checks.flag(accept, "accept")
    checks.optional_call(progress, "progress")
    if accept and rebuild is not None:
        raise InvalidInput("accept and rebuild are two steps: first the one, then the other")
    mark = _mark(place)
    if not place.exists() and place.lost() is None:
        raise HomeMissing(str(place.root))
    gone = _settings_and_key_gone(place)
    place.prepare()
    with one_at_a_time(place.write_lock, "another program is writing", timeout_s=10.0):
        repaired = _accept(place, mark, dry_run) if accept else _repair(place, mark, dry_run, progress or no_progress, rebuild)
    undone = tuple(_missing_erasures(place))
    begun_anew = accept and (place.database.exists() or bool(repaired.problems))
    if not dry_run and (undone or begun_anew):
        _reapply_erasures(place, renumbered=begun_anew)
    repaired = replace(repaired, problems=(*repaired.problems, *undone))
    if rebuild is not None:
        done = rebuild_home(place, rebuild, repaired, progress or no_progress)
        return replace(done, lost=(*done.lost, *gone)) if done.problems else done
    if repaired.problems and not dry_run and (left := set_aside_newer(place)):
        more = f"turns in {left:,} {'transcript' if left == 1 else 'transcripts'}, until `yiku repair --rebuild` brings them back"
        return replace(repaired, lost=(*repaired.lost, more))
    return repaired


def _settings_and_key_gone(place: vault.Home) -> tuple[str, ...]:
    """What else of a home is gone that nothing can bring back."""
    gone = [] if place.settings.exists() else ["yiku.toml: the settings are the defaults, and nobody owns this home"]
    if not place.key_file.exists():
        gone.append("key: what was erased is known by ids alone, and secrets get other marks")
    return tuple(gone)


def _repair(place: vault.Home, mark: IdentityFile, dry_run: bool, say: Say, rebuild: Settings | None) -> Repaired:
    key = place.key()
    here = offline.read_identity(place.database)
    meant = mark.read() or here
    findings = offline.Findings(key, say=say)
    offline.check_store(findings, place.database, "deep", meant, WORDS)
    problems = tuple(findings.problems)
    if not problems:
        if mark.read() is None and here is not None and not dry_run:
            mark.write(*here)
        return Repaired(problems, {}, (), None, dry_run)
    if here is not None and meant is not None and here[0] != meant[0]:
        raise StoreMismatch(f"{place.database} belongs to another home; `yiku repair --accept` accepts it for this one")
    theirs = offline.is_foreign(place.database)
    copies = [
        path for path in _copies(place) if (of := offline.read_identity(path, copied=True)) and (meant is None or of[0] == meant[0])
    ]
    if not copies and (theirs or not offline.has_tables(place.database)) and (theirs or rebuild is None):
        if theirs:
            raise ForeignStore(str(place.database))
        how = "`yiku repair --accept` begins with an empty one, `--rebuild` with what transcripts hold"
        why = f"nothing can be read in {place.database}, and there is no backup; {how}"
        raise (StoreMismatch if meant or place.lost() else Damaged)(why)
    now = datetime.now(UTC)
    done = offline.rebuild(
        place.database,
        kept=place.root / "damaged" / f"{now:%Y%m%dT%H%M%S%fZ}",
        readable=not theirs,
        backups=copies,
        mark=meant,
        analyzer=analyze.VERSION,
        key=key,
        cause=Cause("repair", now),
        words=WORDS,
        dry_run=dry_run,
    )
    if not dry_run and (put := offline.read_identity(place.database)) is not None:
        mark.write(*put, clean_shutdown=True)
    return Repaired(problems, done.rows, tuple(done.lost), str(done.kept) if done.kept else None, dry_run, tuple(done.mended))


def _accept(place: vault.Home, mark: IdentityFile, dry_run: bool) -> Repaired:
    """Accept the present database, or create a new one numbered after the lost one."""
    lost = place.lost()
    expected, here = mark.read(), offline.read_identity(place.database)
    if offline.is_foreign(place.database):
        raise ForeignStore(str(place.database))
    if here is None and offline.has_tables(place.database):
        raise Damaged(f"{place.database}: repair it without --accept")
    problems = (f"store.id means store {expected[0][:8]}… with {expected[1]:,} changes",) if expected and expected != here else ()
    if lost is not None:
        problems = (lost, *problems)
    if dry_run or not problems:
        return Repaired(problems, {}, (), None, dry_run)
    kept = place.root / "damaged" / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
    if there := place.database.exists() or mark.path.exists():
        offline.keep_damaged(place.database, mark.path, kept)
    Vectors(place.vectors).drop()  # numbers that other texts had may be given again
    if here is None:
        offline.remove(place.database, mark.path)
    else:
        mark.write(*here)
    return Repaired(problems, {}, (), str(kept) if there else None, dry_run)


def _reapply_erasures(place: vault.Home, *, renumbered: bool) -> None:
    """
    Apply the home's erasures to an older database that took its place.

    renumbered: apply every erasure that has a file, since a store made in the place of a lost one numbers its rows anew
    """
    store = SqliteStore(place.database, gate=place.write_lock, analyzer=analyze.VERSION, key=place.key())
    try:
        handle = Handle(
            store, Settings(home=str(place.root)), scopes.PUBLIC, local_time, str(place.root), Vectors(place.vectors), store.key
        )
        reapply(handle, [*tombstones.unknown_erasures(place, store), *(mirror.read_all(place) if renumbered else ())])
        with suppress(NotFound):
            finish.resume(handle)
    finally:
        store.close()
