"""
Migrate Memory System's JSON Lines to Yiku: import in one transaction, verify by count and hash, keep a copy of what came in.

Every record has a Yiku id that is made of its old one. So a run that was killed has done nothing or all of it, and one that is
repeated finds everything there and changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from yiku import Memory, Turn
from yiku.errors import KeptOut, NotFound
from yiku.types import OperationRecord
from yiku_compat.memory_system import lines, old_home
from yiku_compat.memory_system.homes import MemoryDir, folder_of, opened
from yiku_compat.memory_system.ids import PREFIX, external, made
from yiku_compat.memory_system.old_home import OldHome, OldRecord
from yiku_compat.migration import Migrated, NotVerified

COPIES = "copies"  # of a home: an erasure removes from here whatever holds what was erased
PAGE = 5_000  # rows read at a time
DIGITS = 12  # of the hash in the name of a backup


def migrate_jsonl_to_sqlite(memory_dir: MemoryDir) -> Migrated:
    """Migrate the JSON Lines of a memory folder into the Yiku home in it. Raises NotFound, NotVerified, YikuError."""
    return _migrate(folder_of(memory_dir), opened(memory_dir), None)


def migrate(old: Path, home: Path | str, *, scope: str | None = None, progress: Callable[[int], object] | None = None) -> Migrated:
    """Migrate an old memory folder into a Yiku home elsewhere. Raises NotFound, NotVerified, YikuError."""
    with Memory(home, scope=scope) as memory:
        return _migrate(old, memory, progress)


def _migrate(old: Path, memory: Memory, progress: Callable[[int], object] | None) -> Migrated:
    found = _without_private(memory, old_home.read(old))
    now = _written(found)
    line_of, after = _chains(found.records)
    changes = [lines.memory(one, now, successor=after.get(one.id), line=line_of.get(one.id, one.id)) for one in found.records]
    changes += [lines.turn(one, now) for one in found.pending]
    given = [{name: value for name, value in change.items() if value is not None} for change in changes]
    header = {"type": "operation", "at": datetime.now(UTC).isoformat(), "operation": "import", "changes": len(given)}
    report = memory.admin.import_(
        [OperationRecord(0, memory.scope, None, header, tuple(enumerate(given)))] if given else [],
        source="memory_system",
        trust=True,
    )
    if progress is not None:
        progress(len(given))
    records = [*found.records, *found.pending]
    refused = [(records[number].id, why) for number, why in report.problems]
    erased = report.skipped.get("erased", 0)
    double, missing = _verify(memory, found, {id for id, _ in refused}, erased)
    done = Migrated(
        read=len(records) + found.same + len(found.skipped),
        imported=report.memories + report.turns - double * bool(report.memories),
        known=report.known,
        merged=found.same + double * bool(report.memories),
        skipped=(*found.skipped, *refused, *((("", "erased here before"),) * erased)),
        sha256=found.sha256,
    )
    if old_home.read(old).sha256 != found.sha256:
        raise NotVerified(f"{old} was written to meanwhile")
    backup = _back_up(found, old, Path(memory.settings.home), [record.content for record in missing])
    if not (report_file := backup / "report.json").exists():
        report_file.write_text(json.dumps(asdict(done), ensure_ascii=False, indent=1), encoding="utf-8")
    return done


def _without_private(memory: Memory, found: OldHome) -> OldHome:
    """Move what is private as a whole to what is skipped."""
    for records in (found.records, found.pending):
        private = [one for one in records if "<" in one.content and not _cleaned(memory, one.content)]
        found.skipped += [(one.id, "is private") for one in private]
        records[:] = [one for one in records if one not in private]
    return found


def _back_up(found: OldHome, old: Path, home: Path, erased: Sequence[str]) -> Path:
    """Copy the files that were read into the home, once, without lines that say what was erased; a copy has its name when it is whole."""
    folder = home / COPIES / f"jsonl-{found.sha256[:DIGITS]}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".jsonl-", dir=folder.parent) as made:
        for path in found.files:
            to = Path(made) / "whole" / path.relative_to(old)
            to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            to.write_bytes(old_home.without(path.read_bytes(), erased))
            to.chmod(0o600)
            with open(to, "rb") as file:
                os.fsync(file.fileno())
        (Path(made) / "whole").mkdir(mode=0o700, exist_ok=True)
        if not folder.exists():
            (Path(made) / "whole").rename(folder)
    return folder


def _written(found: OldHome) -> datetime:
    """Return when the old home was last written: the time of records that have none."""
    last = max((path.stat().st_mtime for path in found.files), default=0.0)
    return datetime.fromtimestamp(last, UTC)


def _chains(records: Sequence[OldRecord]) -> tuple[dict[str, str], dict[str, str]]:
    """
    Return for each record that was superseded the one that did it, and for all of them the line that they are versions of.

    What leads back to itself, or to a record that is not there, is no chain: the record stays what it is.
    """
    there = {record.id for record in records}
    after: dict[str, str] = {}
    for record in records:
        successor = record.fields.get("superseded_by")
        if record.fields.get("superseded") and isinstance(successor, str) and successor in there and successor != record.id:
            after[record.id] = successor
    line: dict[str, str] = {}
    for id in list(after):
        if id not in after:
            continue
        path, end = [id], after[id]
        while end in after and end not in path and end not in line:
            path.append(end)
            end = after[end]
        if end in path:  # it leads back
            for each in path[path.index(end) :]:
                after.pop(each, None)
        root = line.get(end, end)
        line |= dict.fromkeys((*path, end), root)
    return line, after


def _verify(memory: Memory, found: OldHome, refused: set[str], erased: int) -> tuple[int, list[OldRecord]]:
    """
    Compare what is stored with what was read: how many, and of each the hash of its words.

    Returns how many have the words of another one, and those that were erased here before. Raises NotVerified.
    """
    stored = _stored(memory, found)
    missing, other = list[OldRecord](), list[str]()
    for record in (*found.records, *found.pending):
        if record.id in refused:
            continue
        if (hashed := stored.get(external(record.id))) is None:
            missing.append(record)
        elif hashed[0] != _hash(record.content) and hashed[0] != _hash(_cleaned(memory, record.content)):
            other.append(record.id)
    if len(missing) > erased or other:
        named = ", ".join([*(record.id for record in missing), *other][:5])
        raise NotVerified(f"{len(missing)} of {len(found.records) + len(found.pending)} are missing, {len(other)} differ: {named}")
    return sum(stored[external(one.id)][1] for one in found.records if external(one.id) in stored), missing


def _stored(memory: Memory, found: OldHome) -> Mapping[str, tuple[str, bool]]:
    """Return the hash of the words of each imported row by its external id, and whether another has the same words."""
    rows: dict[str, tuple[str, bool]] = {}
    last: Any = 0
    while True:
        page = memory.admin.sql(
            "select n, external_id, content, coalesce(reason, '') from yiku_memories"
            " where n > ? and external_id like ? order by n limit ?",
            [last, f"{PREFIX}%", PAGE],
            limit=PAGE,
            timeout_s=60.0,
        ).rows
        for n, id, content, why in page:
            rows.setdefault(str(id), (_hash(str(content)), "same words" in str(why)))
            last = n
        if len(page) < PAGE:
            break
    for record in found.pending:
        with suppress(NotFound):
            rows[external(record.id)] = (_hash(cast(Turn, memory.get(made(record.id))).content), False)
    return rows


def _cleaned(memory: Memory, content: str) -> str:
    """Return a text as Yiku keeps it: without credentials and private parts."""
    try:
        return memory.remember(content, dry_run=True).memory.content
    except KeptOut:
        return ""


def _hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
