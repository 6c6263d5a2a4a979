"""
Rebuild a damaged store from readable rows and backups, and report what was lost.

1. The damaged file is copied, byte for byte with its WAL, to a folder where it stays; only that copy is read.
2. A new store is built beside it. Each table is read in order, row by row where a page stops it; turns and
   memories count only if their digest holds. What is missing comes from the backups, newest first.
3. What was lost is named: in the report, and in the journal, so that its numbers go on without a gap.
   Links to what is not there are cleared. Sessions, index, counters and chain are made anew.
4. The new store is checked like any other, and takes the old one's name.

A kill at any moment leaves the damaged store or the whole one under that name. That takes one step more:
the old WAL must go before the new file comes, so the damaged file is first replaced by itself with its WAL
worked in. The callers hold the gate.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import Damaged, StoreBusy
from yiku.store import check, column_file, connect, copy, damaged_rows, erase, index, pages, records, row_codec, schema, write
from yiku.store.damaged_file import UNREADABLE, fetch_all
from yiku.types import Cause

COPIED_BYTES = 1 << 20  # at a time
WHAT = {
    "conversation_turns": "turn",
    "memories": "memory",
    "episodes": "episode",
    "scratchpad": "scratchpad",
    "attachments": "attachment",
}
# The rows of a table whose last change took them away.
DROPPED = "select row_n from (select row_n, action, max(number) from changes where tbl = ? group by row_n) where action = 'delete'"
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510  # the bytes that SQLite locks in a database that somebody has open


def rebuild(
    database: Path,
    *,
    kept: Path,
    readable: bool = True,
    backups: Sequence[Path],
    mark: tuple[str, int] | None,
    analyzer: str,
    key: bytes,
    cause: Cause,
    words: check.Tokenizers,
    dry_run: bool = False,
) -> damaged_rows.Recovered:
    """
    Replace a damaged store by a sound one; with `dry_run` only report what it would contain.

    kept:     the folder in which the damaged file is kept
    readable: it is one of ours, and what can be read there counts
    Raises StoreBusy while another process has the store
    open, and Damaged, with nothing changed, when what was built is not whole.
    """
    done = damaged_rows.Recovered()
    work = kept.with_name(f".{kept.name}.{secrets.token_hex(4)}")  # gets its name when all that is in it is there
    with ExitStack() as last:
        descriptor = last.enter_context(_exclusive_lock(database))
        kept.parent.mkdir(mode=0o700, exist_ok=True)
        for left in kept.parent.glob(".*"):  # of a repair that was killed
            shutil.rmtree(left)
        aside = work / kept.name
        aside.mkdir(mode=0o700, parents=True)
        last.callback(shutil.rmtree, work, ignore_errors=True)
        files = [path for path in (database, _wal(database)) if path.exists()]
        for path in files:
            _copy(path, aside / path.name, descriptor if path == database else None)
        new, sources = work / "new.db", [aside / database.name] if files and readable else []
        _build(new, sources, backups, done, mark=mark, analyzer=analyzer, key=key, cause=cause, words=words)
        _check(new, key, words)
        if dry_run:
            return done
        if files:
            before = _with_wal_applied(aside / database.name, work / "before.db") if len(files) > 1 else None
            done.kept = _rename_kept(aside, kept)
            if before is not None:
                last.enter_context(_exclusive_lock(before))
                before.rename(database)
                copy.fsync(database.parent)
        for side_file in (_wal(database), Path(f"{database}-shm")):
            side_file.unlink(missing_ok=True)
        copy.fsync(database.parent)
        new.rename(database)
        copy.fsync(database.parent)
        column_file.remove(database.with_name("vectors"))  # of rows that may be lost
    return done


# ------------------------------------------------------------------ the files


@contextmanager
def _exclusive_lock(database: Path) -> Iterator[int | None]:
    """
    Lock the database file as SQLite does, so that no other process has it open.

    Gives the descriptor; to close any other of the same file would drop the lock.
    """
    try:
        descriptor = os.open(database, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield None
        return
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise StoreBusy(f"another program has {database.name} open; close it") from error
        raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _wal(database: Path) -> Path:
    return Path(f"{database}-wal")


def _copy(path: Path, to: Path, descriptor: int | None = None) -> Path:
    """Copy a file and flush it, reading from the locking descriptor if there is one."""
    with ExitStack() as last:
        source = last.enter_context(path.open("rb")).fileno() if descriptor is None else descriptor
        target = last.enter_context(os.fdopen(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb"))
        at = 0
        while part := os.pread(source, COPIED_BYTES, at):
            target.write(part)
            at += len(part)
    copy.fsync(to)
    return to


def keep_damaged(database: Path, mark: Path, kept: Path) -> None:
    """Keep a copy of a database, its WAL and its identity file. Raises StoreBusy if another process has it open."""
    with _exclusive_lock(database) as descriptor:
        kept.mkdir(mode=0o700, parents=True)
        for path in (database, _wal(database), mark):
            if path.exists():
                _copy(path, kept / path.name, descriptor if path == database else None)
        copy.fsync(kept)
        copy.fsync(kept.parent)


def remove(database: Path, mark: Path) -> None:
    """Remove the database so that the next open creates a new one. The identity file goes last."""
    for path in (_wal(database), Path(f"{database}-shm"), database, mark):
        path.unlink(missing_ok=True)
        copy.fsync(path.parent)


def _rename_kept(aside: Path, kept: Path) -> Path:
    """Give the folder of damaged files its final name."""
    for shared in aside.glob("*-shm"):  # SQLite made it to read the copy
        shared.unlink()
    copy.fsync(aside)
    aside.rename(kept)
    copy.fsync(kept.parent)
    return kept


def _with_wal_applied(damaged: Path, to: Path) -> Path | None:
    """Return a copy of the damaged file with its WAL applied; None if SQLite fails."""
    wal = _wal(damaged)
    _copy(damaged, to)
    _copy(wal, _wal(to))
    try:
        connection = pages.without_verification(connect.open_connection(to, durability="full", network=False, busy_timeout_s=0))
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            connection.close()
    except UNREADABLE:
        return None
    copy.fsync(to)
    return to


# ------------------------------------------------------------------ building


def _build(
    new: Path,
    damaged: Sequence[Path],
    backups: Sequence[Path],
    done: damaged_rows.Recovered,
    *,
    mark: tuple[str, int] | None,
    analyzer: str,
    key: bytes,
    cause: Cause,
    words: check.Tokenizers,
) -> None:
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = connect.open_connection(new, durability="full", network=False, busy_timeout_s=0)
    try:
        schema.migrate(connection, new, analyzer=analyzer, key=key, network=False)
        connection.pragma("foreign_keys", "OFF")
        with write.transaction(connection):
            guards = _drop_unique_indexes(connection)
            damaged_rows.recover(connection, damaged, backups, done)
            _repeat_erasures(connection)
            _set_identity(connection, mark, analyzer, key, cause)
            _restore_parents(connection, done)
            journal = _rebuild_journal(connection, done, mark, key, cause)
            _repair_links(connection, journal)
            _repair_sessions(connection)
            _report_lost(connection, done)
            _add_missing_journal_rows(connection, journal)
            for sql in guards:
                connection.execute(sql)
            _rebuild_indexes(connection, words)
            for table, number in done.highest.items():
                connection.execute("update sqlite_sequence set seq = max(seq, ?) where name = ?", (number, table))
                missing = "where not exists (select 1 from sqlite_sequence where name = ?1)"
                connection.execute(f"insert into sqlite_sequence (name, seq) select ?1, ?2 {missing}", (table, number))
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connection.close()
    for side_file in (_wal(new), Path(f"{new}-shm")):
        side_file.unlink(missing_ok=True)
    copy.fsync(new)


def _drop_unique_indexes(connection: apsw.Connection) -> list[str]:
    """Drop the unique indexes on live rows until conflicts are resolved; return their SQL."""
    found = fetch_all(connection, "select name, sql from sqlite_schema where name in ('one_live_value', 'one_live_text')")
    for name, _ in found:
        connection.execute(f"drop index {name}")
    connection.execute("delete from meta")
    return [sql for _, sql in found]


def _check(new: Path, key: bytes, words: check.Tokenizers) -> None:
    look = check.Findings(key)
    connection = connect.open_connection(new, durability="full", network=False, busy_timeout_s=0)
    try:
        check.check_connection(look, connection, "deep", words)
    finally:
        connection.close()
    if look.problems:
        raise Damaged(f"what was built is not whole, so nothing was changed: {'; '.join(look.problems[:3])}")


# ------------------------------------------------------------------ making it whole


def _repeat_erasures(connection: apsw.Connection) -> None:
    """Delete erased rows again that an older backup brought back."""
    erase.name_erasures(connection)
    for (erased,) in fetch_all(connection, "select rows from erasures"):
        for table, ids in _erased_ids(json.loads(erased)).items():
            connection.execute(f"delete from {table} where id in (select value from json_each(?))", (json.dumps(ids),))


def _erased_ids(erased: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the ids of rows deleted by an erasure; redacted turns are not among them."""
    turns = erased["turns"] if erased["session"] or erased["whole_scope"] else []
    others = {table: list(erased.get("records", {}).get(table, ())) for table in records.KINDS}
    return {"memories": list(erased["memories"]), "conversation_turns": list(turns), **others}


def _set_identity(connection: apsw.Connection, mark: tuple[str, int] | None, analyzer: str, key: bytes, cause: Cause) -> None:
    """Keep the store's identity, write the current index version, and continue the digest chain."""
    connection.execute("delete from meta where key in ('analyzer', 'key')")
    connection.execute("insert into meta (key, value) values ('analyzer', ?)", (analyzer,))
    store_id = mark[0] if mark else secrets.token_hex(16)
    connection.execute("insert or ignore into meta (key, value) values ('store_id', ?)", (store_id,))
    write.register_key(connection, key, cause.at)


def _restore_parents(connection: apsw.Connection, done: damaged_rows.Recovered) -> None:
    """Delete rows whose parent is missing; create placeholder scopes and sessions."""
    for table in ("sessions", "conversation_turns", "memories", *records.KINDS):
        sql = f"select distinct scope_id from {table} where scope_id not in (select id from scopes)"
        for (number,) in connection.execute(sql).fetchall():
            connection.execute("insert into scopes (id, name, created_at) values (?, ?, 0)", (number, f"lost:{number}"))
            done.lost.append(f"the name of scope {number}: it is lost:{number} now")
    sql = "select distinct session_n, scope_id from conversation_turns where session_n not in (select n from sessions)"
    for number, scope in connection.execute(sql).fetchall():
        sql = "insert into sessions (n, scope_id, id, started_at, ended_at) values (?, ?, ?, 0, 0)"
        connection.execute(sql, (number, scope, f"lost-{number}"))
        done.lost.append(f"the name of session {number}: it is lost-{number} now")
    for table in ("turn_state", "turn_work"):
        connection.execute(f"delete from {table} where turn_n not in (select n from conversation_turns)")
    for table in damaged_rows.DETAILS:
        connection.execute(f"delete from {table} where memory_n not in (select n from memories)")
    connection.execute("delete from memory_tag_rel where tag_id not in (select id from memory_tags)")
    connection.execute("update memory_sources set turn = null where turn not in (select id from conversation_turns)")
    connection.execute(write.UNPLACED)
    connection.execute("""
        insert into memory_sources (scope_id, memory_n, seq, origin, said_at, offset_min, recorded_at, place)
        select scope_id, n, 1, origin, said_at, offset_min, created_at, place from memories
        where n not in (select memory_n from memory_sources)""")


def _rebuild_journal(
    connection: apsw.Connection, done: damaged_rows.Recovered, mark: tuple[str, int] | None, key: bytes, cause: Cause
) -> write.Journal:
    """Fill the gaps of the journal with one row each, and compute its digest chain anew."""
    numbers = [number for (number,) in connection.execute("select number from changes order by number")]
    ends = [*numbers, 1 + max(numbers[-1] if numbers else 0, mark[1] if mark else 0, done.highest.get("changes", 0))]
    for before, after in zip([0, *numbers], ends, strict=True):
        if missing := after - before - 1:
            header = (after - 1, after - 1, 0, row_codec.micros(cause.at), cause.operation, check.LOST, "changes", 0, missing)
            sql = f"insert into changes ({write.CHAINED}, digest) values ({index.placeholders(range(10))})"
            connection.execute(sql, (*header, b""))
            done.lost.append(f"journal rows {before + 1:,} to {after - 1:,}")
    previous = b""
    for chained in fetch_all(connection, f"select {write.CHAINED} from changes order by number"):
        previous = write.digest(key, b"" if chained[5] == write.RESTART else previous, chained)
        connection.execute("update changes set digest = ? where number = ?", (previous, chained[0]))
    journal = write.Journal(connection, 0, cause, key)
    journal.restart()
    return journal


def _repair_links(connection: apsw.Connection, journal: write.Journal) -> None:
    """Make each successor exist, and each slot and text have one live row, the one said last."""
    sql = """
        select n, scope_id, id, line, superseded_by, flagged_with, state, standing, slot, kind, content_hash, flag from memories
        order by scope_id, said_at desc, place desc, n desc"""
    there: dict[tuple[int, str], str] = {}  # scope and id: line
    later: dict[tuple[int, str], str] = {}  # scope and line: the version said next
    live: dict[tuple[Any, ...], tuple[str, str]] = {}  # slot or text: id and line of the row that is live
    found = fetch_all(connection, sql)
    there.update({(row[1], row[2]): row[3] for row in found})
    for n, scope, id, line, superseded_by, flagged_with, state, standing, slot, kind, text, flag in found:
        changes: dict[str, Any] = {}
        if superseded_by is not None and there.get((scope, superseded_by)) != line:
            changes["superseded_by"] = later.get((scope, line))
            changes |= {} if changes["superseded_by"] else {"valid_to": None}
        marked = json.loads(flagged_with) if flagged_with else []
        if (valid := [one for one in marked if (scope, one) in there]) != marked:
            changes |= {"flagged_with": row_codec.dumps(valid), "flag": flag if valid else None}
        if state == "active" and changes.get("superseded_by", superseded_by) is None:
            places: list[tuple[Any, ...]] = [(scope, kind, text)]
            if slot is not None and standing == "fact" and changes.get("flag", flag) is None:
                places.append((scope, slot))
            rival = next((live[place] for place in places if place in live), None)
            if rival is None:
                live.update(dict.fromkeys(places, (id, line)))
            elif rival[1] == line:
                changes["superseded_by"] = rival[0]
            else:
                changes |= {"state": "archived", "reason": f"repair: {rival[0]} was said later"}
        if changes:
            _change(connection, journal, scope, n, changes)
        later[scope, line] = id
    dead = f"select n from memories where not ({check.LIVE})"
    connection.execute(f"update memory_relations set superseded = memory_n in ({dead})")


def _change(connection: apsw.Connection, journal: write.Journal, scope: int, n: int, changes: dict[str, Any]) -> None:
    names = row_codec.MEMORY_DIGESTED.split(", ")
    row = dict(
        zip(names, index.fetch_one(connection, f"select {row_codec.MEMORY_DIGESTED} from memories where n = ?", n), strict=True)
    )
    number = journal.note("update", "memories", n, {name: row[name] for name in changes}, scope=scope)
    row |= changes
    written = {**changes, "digest": row_codec.digest([row[name] for name in names]), "changed": number}
    assignments = ", ".join(f"{name} = ?" for name in written)
    connection.execute(f"update memories set {assignments} where n = ?", (*written.values(), n))


def _repair_sessions(connection: apsw.Connection) -> None:
    """Recompute counts, times and next positions of sessions."""
    connection.execute("delete from sessions where n not in (select session_n from conversation_turns)")
    connection.execute("""
        update sessions set turns = max(turns, t.next), started_at = t.first, ended_at = t.last
        from (select session_n, max(position) + 1 as next, min(said_at) as first, max(said_at) as last
              from conversation_turns group by session_n) t where t.session_n = sessions.n""")


def _report_lost(connection: apsw.Connection, done: damaged_rows.Recovered) -> None:
    """Report ids the file mentions that were not recovered; erased ones are not lost."""
    erasures = [_erased_ids(json.loads(rows)) for (rows,) in fetch_all(connection, "select rows from erasures")]
    for table, what in WHAT.items():
        there = {n for (n,) in connection.execute(f"select n from {table}")}
        erased = {id for ids in erasures for id in ids[table]}
        named = {n: id for (of, n), id in done.known.items() if of == table and n not in there and id not in erased}
        sql = "select row_n, count from changes where tbl = ? and action = 'insert'"
        rows = {n for first, count in connection.execute(sql, (table,)) for n in range(first, first + count)} - there
        rows -= {n for (n,) in connection.execute(DROPPED, (table,))}
        named = {n: id for n, id in named.items() if n in rows or table not in records.KINDS}
        erased_from = "records" if table in records.KINDS else table
        gone = index.fetch_one(connection, "select total(count) from changes where tbl = ? and action = 'erase'", erased_from)[0]
        nameless = sorted(rows - {*named})[int(gone) :]
        done.lost += [f"{what} {id}" for id in named.values()] + [f"{what} in row {n}" for n in nameless]


def _add_missing_journal_rows(connection: apsw.Connection, journal: write.Journal) -> None:
    """Add journal rows for recovered rows and for missing ones."""
    differ = int(index.fetch_one(connection, f"select count(*) - ({check.TURNS_TOLD}) from conversation_turns")[0])
    missing = index.fetch_one(connection, "select total(s.turns) - (select count(*) from conversation_turns) from sessions s")[0]
    accounted = "select total(count) from changes where tbl = 'conversation_turns' and action in ('erase', ?)"
    more = max(0, int(missing - index.fetch_one(connection, accounted, check.LOST)[0]))  # lost in their sessions, as positions show
    lost = max(more, -differ)
    if lost:
        journal.note(check.LOST, "conversation_turns", 0, count=lost)
    if differ + lost:
        journal.note(check.FOUND, "conversation_turns", 0, count=differ + lost)
    last = "select max(number) from changes where tbl in ('memories', 'memory_sources') and row_n = m.n"
    for n, scope in fetch_all(connection, f"select n, scope_id from memories m where ({last}) is null"):
        journal.note(check.FOUND, "memories", n, {}, scope=scope)
    connection.execute(f"update memories as m set changed = ({last})")
    for table in records.KINDS:
        connection.execute(f"delete from {table} where n in ({DROPPED})", (table,))  # a backup may have brought it
        last = f"select max(number) from changes where tbl = '{table}' and row_n = r.n"
        for n, scope in fetch_all(connection, f"select n, scope_id from {table} r where ({last}) is null"):
            journal.note(check.FOUND, table, n, {}, scope=scope)
        connection.execute(f"update {table} as r set changed = ({last})")


def _rebuild_indexes(connection: apsw.Connection, words: check.Tokenizers) -> None:
    """Rebuild the search index and its totals from the rows."""
    for name, documents in check.expected_tokens(connection, words).items():
        for n, scope, past, tokens in documents:
            index.add(connection, name, scope, n, tokens, past=past)
