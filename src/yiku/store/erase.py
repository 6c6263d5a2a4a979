"""
Erase for good: delete rows, redact turns, clean the journal, add tombstones, empty the WAL; purge the trash.

The same runs on the live store and on each copy of it, so a row that a copy does not have is passed over.
The journal keeps its headers (who, when, which row), so its chain holds; reasons and images of the rows go.
`scrub` then empties the WAL and, when asked, rewrites the file: what is deleted is overwritten
(`secure_delete`, in the table and in FTS5 alike), and nothing of it stays in free pages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import apsw

from yiku.store import index, jobs, note_tables, pages, records, row_codec, text_columns
from yiku.store.protocol import Journal
from yiku.types import Erase, ErasedRow, Purge, RedactedTurn, State
from yiku.types.changes import RETRACTION

READERS_MS = 1_000  # that the WAL's emptying waits for those who read; other writers wait as long
ID_BYTES = 8  # of the name of an erasure
MANY = 200  # rows, from which on it is faster to write the indexes anew
HANGING = ("memory_sources", "memory_entities", "memory_relations", "memory_tag_rel", "access_log", "summary_sources")
OF_A_SCOPE = (
    "summary_sources"
    " access_log memory_tag_rel memory_tags memory_relations memory_entities memory_sources memories turn_state turn_work conversation_turns"
    " sessions receipts index_stats session_state learned extraction_queue model_calls episodes scratchpad attachments chunks files published"
    " runs night_items"
).split()
AMONG = "select value from json_each(?)"
OF_A_RETRACTION = "scope_id = ?1 and key between ?2 and ?2 || '!'"  # and of what the turn takes back beside a statement


def erase(connection: apsw.Connection, scope: int, change: Erase, journal: Journal) -> Iterable[int]:
    """Delete rows permanently; return the number of the erasure."""
    named = [*change.turns, *(blanked.gone for blanked in change.blanked)]
    _clear_parents(connection, scope, named, set(change.rows.get("turns", ())))
    _delete_working_state(connection, scope, named, change)
    with _unmarked_removal(connection) if len(named) + len(change.memories) > MANY else nullcontext():
        memories = sum(_delete_memory(connection, scope, gone) for gone in change.memories)
        blanked = sum(_redact_turn(connection, scope, blanked) for blanked in change.blanked)
        turns = sum(_delete_turn(connection, scope, gone) for gone in change.turns)
    if gone := records.erase(connection, scope, change.records, change.images):
        journal.note("erase", "records", 0, count=gone)
    note_tables.erase(connection, scope, change.notes)
    _delete_sources(connection, scope, change)
    if cut := text_columns.replace_texts(connection, scope, change.texts):
        journal.note("erase", "texts", 0, count=cut)
    if not change.rows:  # nothing but texts, in a copy
        return (journal.transaction,)
    _delete_orphans(connection, scope, [gone.id for gone in (*change.memories, *named)])
    journal.note("erase", "memories", 0, count=memories)
    journal.note("erase", "conversation_turns", 0, count=turns)
    journal.note("blank", "conversation_turns", 0, count=blanked)
    if change.whole_scope:
        _delete_scope(connection, scope)
    number, at = journal.transaction, row_codec.micros(journal.cause.at)
    connection.executemany(
        "insert into tombstones (seal, at, tx) values (?1, ?2, ?3) on conflict do update set at = max(at, ?2), tx = ?3",
        [(seal, at, number) for seal in change.seals],
    )
    written = _encode_entry(change.rows)
    sql = "delete from erasures where scope_id = ? and at = ? and rows = ? returning receipt"  # one that is done again
    receipt = next(iter(connection.execute(sql, (scope, at, written)).fetchall()), (None,))[0]
    values = (number, scope, at, written, receipt, erasure_id(scope, at, written))
    connection.execute("insert into erasures (tx, scope_id, at, rows, receipt, id) values (?, ?, ?, ?, ?, ?)", values)
    return (number,)


def purge(connection: apsw.Connection, scope: int, change: Purge, journal: Journal) -> Iterable[int]:
    """Remove memories with all that hangs on them; no tombstone stays, and no receipt."""
    gone = sum(_delete_memory(connection, scope, one) for one in change.memories)
    _delete_orphans(connection, scope, [one.id for one in change.memories])
    journal.note("erase", "memories", 0, count=gone)
    return (gone,)


@contextmanager
def _unmarked_removal(connection: apsw.Connection) -> Iterator[None]:
    """
    Remove many rows from the indexes and rewrite these without them.

    To overwrite each entry where it stands takes 3 ms a turn; to write the index of 100,000 turns anew, 0.3 s.
    """
    for name in index.EVERY:
        connection.execute(f"insert into {name}_index ({name}_index, rank) values ('secure-delete', 0)")
    yield
    for name in index.EVERY:
        connection.execute(f"insert into {name}_index ({name}_index, rank) values ('secure-delete', 1)")
    rewrite_indexes(connection)


def _delete_memory(connection: apsw.Connection, scope: int, gone: ErasedRow) -> bool:
    sql = "select state, superseded_by from memories where scope_id = ? and n = ? and id = ?"
    found = connection.execute(sql, (scope, gone.n, gone.id)).fetchone()
    if found is None:
        return False
    index.remove(connection, "memory", scope, gone.n, gone.tokens, past=found != (State.ACTIVE, None))
    for table in HANGING:
        connection.execute(f"delete from {table} where scope_id = ? and memory_n = ?", (scope, gone.n))
    connection.execute("delete from summary_sources where scope_id = ? and source_n = ?", (scope, gone.n))
    connection.execute("delete from memories where scope_id = ? and n = ?", (scope, gone.n))
    _forget_changes(connection, scope, ("memories", "memory_sources"), gone.n)
    return True


def _delete_turn(connection: apsw.Connection, scope: int, gone: ErasedRow) -> bool:
    found = bool(_unindex(connection, scope, gone))
    if found:
        connection.execute("delete from turn_state where turn_n = ?", (gone.n,))
        connection.execute("delete from turn_work where turn_n = ?", (gone.n,))
        connection.execute("delete from conversation_turns where scope_id = ? and n = ?", (scope, gone.n))
        connection.execute(f"delete from receipts where {OF_A_RETRACTION}", (scope, f"{RETRACTION} {gone.id}"))
        _forget_changes(connection, scope, ("conversation_turns", "turn_state"), gone.n)
    return found


def _redact_turn(connection: apsw.Connection, scope: int, blanked: RedactedTurn) -> bool:
    """Replace the text of a turn by what is left; the row keeps its place."""
    past = _unindex(connection, scope, blanked.gone)
    if not past:
        return False
    of_turn = (scope, f"{RETRACTION} {blanked.gone.id}")
    connection.execute(f"update receipts set digest = x'' where {OF_A_RETRACTION}", of_turn)  # it is of the text
    sql = "select session_n, position from conversation_turns where n = ?"
    session_n, position = index.fetch_one(connection, sql, blanked.gone.n)
    values = row_codec.turn_values(blanked.gone.n, scope, session_n, position, blanked.turn)
    connection.execute(f"replace into conversation_turns values ({index.placeholders(values)})", values)
    index.add(connection, "turn", scope, blanked.gone.n, blanked.tokens, past=past == "hidden")
    if blanked.tool_tokens is not None:
        index.add(connection, "tool", scope, blanked.gone.n, blanked.tool_tokens)
    _forget_changes(connection, scope, ("turn_state",), blanked.gone.n)
    _shift_spans(connection, scope, blanked)
    return True


def _shift_spans(connection: apsw.Connection, scope: int, blanked: RedactedTurn) -> None:
    """Shift spans that follow the redacted text; clear those that overlap it."""
    sql = (
        "select memory_n, seq, span_start, span_end from memory_sources where scope_id = ? and turn = ? and span_start is not null"
    )
    found: Any = connection.execute(sql, (scope, blanked.gone.id)).fetchall()
    for n, seq, start, end in found:
        of = (scope, n, seq)
        if any(first < end and start < last for first, last, _ in blanked.cuts):
            sql = "update memory_sources set span_start = null, span_end = null, text = null where scope_id = ? and memory_n = ? and seq = ?"
            connection.execute(sql, of)
        elif by := sum(left - (last - first) for first, last, left in blanked.cuts if last <= start):
            sql = "update memory_sources set span_start = ?, span_end = ? where scope_id = ? and memory_n = ? and seq = ?"
            connection.execute(sql, (start + by, end + by, *of))


def _unindex(connection: apsw.Connection, scope: int, gone: ErasedRow) -> str:
    """Remove a turn from the indexes; return "shown" or "hidden", or "" if there was no such turn."""
    sql = (
        "select x.hidden_at is null from conversation_turns t left join turn_state x on x.turn_n = t.n"
        " where t.scope_id = ? and t.n = ? and t.id = ?"
    )
    found = connection.execute(sql, (scope, gone.n, gone.id)).fetchone()
    if found is None:
        return ""
    index.remove(connection, "turn", scope, gone.n, gone.tokens, past=not found[0])
    if gone.tool_tokens is not None:
        index.remove(connection, "tool", scope, gone.n, gone.tool_tokens)
    return "shown" if found[0] else "hidden"


# ------------------------------------------------------------------ other references to erased rows


def _clear_parents(connection: apsw.Connection, scope: int, named: Sequence[ErasedRow], whole: set[str]) -> None:
    """Clear the parent of turns that reply to a deleted one."""
    ns = json.dumps([gone.n for gone in named if gone.id in whole])
    sql = f"select external_id from conversation_turns where scope_id = ? and n in ({AMONG}) and external_id is not null"
    external_ids = json.dumps([id for (id,) in connection.execute(sql, (scope, ns))], ensure_ascii=False)
    if external_ids == "[]":
        return
    columns = row_codec.TURN_DIGESTED.split(", ")
    sql = f"select {row_codec.TURN_DIGESTED} from conversation_turns where scope_id = ? and parent in ({AMONG})"
    for row in connection.execute(sql, (scope, external_ids)).fetchall():
        values = [None if name == "parent" else value for name, value in zip(columns, row, strict=True)]
        connection.execute(
            "update conversation_turns set parent = null, digest = ? where n = ?", (row_codec.digest(values), row[0])
        )


def _forget_changes(connection: apsw.Connection, scope: int, tables: Sequence[str], n: int) -> None:
    """Clear row images and reasons from the journal rows of these operations."""
    own = f"scope_id = ? and row_n = ? and tbl in ({index.placeholders(tables)})"
    values = (scope, n, *tables)
    transactions = {tx for (tx,) in connection.execute(f"select tx from changes where reason is not null and {own}", values)}
    connection.executemany("update changes set reason = null where tx = ?", [(tx,) for tx in transactions])
    connection.execute(f"update changes set before = null where before is not null and {own}", values)


def _delete_sources(connection: apsw.Connection, scope: int, change: Erase) -> None:
    """
    Remove deleted sources from statements that stay, and from their journal rows.

    A source is named by its turn, or by its number and the microsecond in which it was recorded.
    """
    columns = row_codec.SOURCE_COLUMNS.split(", ")
    gone = set(change.rows.get("turns", ()))
    turns = json.dumps([*gone])
    connection.execute(f"delete from memory_sources where scope_id = ? and turn in ({AMONG})", (scope, turns))
    of = "scope_id = ?1 and memory_n = (select n from memories where scope_id = ?1 and id = ?2)"
    sql = f"delete from memory_sources where {of} and seq = ?3 and recorded_at = ?4"
    connection.executemany(sql, [(scope, id, *each) for id, going in change.rows.get("sources", {}).items() for each in going])
    redacted = {blanked.gone.id for blanked in change.blanked} - gone
    images = "select number, before from changes where scope_id = ? and tbl = 'memory_sources' and before like '{\"sources\"%'"
    found: Any = connection.execute(images, (scope,)).fetchall() if gone or redacted else ()
    for number, before in found:
        earlier = [dict(zip(columns, source, strict=False)) for source in json.loads(before)["sources"]]
        if any(source["turn"] in gone for source in earlier):
            connection.execute("update changes set before = null where number = ?", (number,))
        elif any(source["turn"] in redacted for source in earlier):  # where it stood there, and in which words, holds no more
            without = dict.fromkeys(("text", "span_start", "span_end"))
            left = [[*(source | (without if source["turn"] in redacted else {})).values()] for source in earlier]
            image = json.dumps({"sources": left}, ensure_ascii=False, separators=(",", ":"))
            connection.execute("update changes set before = ? where number = ?", (image, number))


def _delete_working_state(connection: apsw.Connection, scope: int, named: Sequence[ErasedRow], change: Erase) -> None:
    """
    Delete jobs and session state that refer to these turns.

    What a model said of their sessions goes, and what it still has in hand comes too late: it is asked again.
    """
    ns, episodes = json.dumps([gone.n for gone in named]), json.dumps([*change.records.get("episodes", ())])
    of = (
        "select s.id from conversation_turns t join sessions s on s.n = t.session_n"
        " where t.scope_id = ?1 and t.n in (select value from json_each(?2))"
    )
    connection.execute(f"delete from extraction_queue where scope_id = ? and turn_n in ({AMONG})", (scope, ns))
    tells_of_turns = "kind = 'episode' and content_hash in (select cast(value as blob) from json_each(?))"
    connection.execute(f"delete from extraction_queue where scope_id = ? and {tells_of_turns}", (scope, episodes))
    restarted = "reply = null, error = null, lease_until = 0, fence = fence + 1"
    connection.execute(f"update extraction_queue set {restarted} where scope_id = ?1 and session in ({of})", (scope, ns))
    connection.execute(f"delete from session_state where scope_id = ?1 and id in ({of})", (scope, ns))
    sql = f"delete from session_state where scope_id = ? and id in ({AMONG})"
    connection.execute(sql, (scope, json.dumps([*change.sessions], ensure_ascii=False)))
    connection.execute(f"update turn_work set episode = null where scope_id = ? and episode in ({AMONG})", (scope, episodes))


def _delete_orphans(connection: apsw.Connection, scope: int, gone: Sequence[str]) -> None:
    """Delete what is left without rows: empty sessions and their names, unused tags, call receipts."""
    spoken = "select 1 from conversation_turns t where t.scope_id = ?1 and t.session_n = sessions.n"
    connection.execute(f"delete from sessions where scope_id = ?1 and not exists ({spoken})", (scope,))
    gone_session = "session not in (select s.id from sessions s where s.scope_id = ?1)"
    connection.execute(f"delete from extraction_queue where scope_id = ?1 and {gone_session}", (scope,))
    connection.execute(f"update model_calls set session = null where scope_id = ?1 and {gone_session}", (scope,))
    carried = "select 1 from memory_tag_rel r where r.scope_id = ?1 and r.tag_id = memory_tags.id"
    connection.execute(f"delete from memory_tags where scope_id = ?1 and not exists ({carried})", (scope,))
    named = f"exists (select 1 from json_tree(receipts.result) j where j.value in ({AMONG}))"
    connection.execute(f"delete from receipts where scope_id = ? and {named}", (scope, json.dumps(gone)))


def _delete_scope(connection: apsw.Connection, scope: int) -> None:
    """Delete everything in a scope except the headers of its journal."""
    for table in OF_A_SCOPE:
        connection.execute(f"delete from {table} where scope_id = ?", (scope,))
    sql = "update changes set reason = null, before = null, actor = null, run = null where scope_id = ?"
    connection.execute(sql, (scope,))
    connection.execute("delete from meta where key = ?", (jobs.LEARNING.format(scope),))
    connection.execute("delete from scopes where id = ?", (scope,))


def scrub(connection: apsw.Connection, *, rewrite: bool = False) -> bool:
    """Empty the WAL, after rewriting the file if asked; False if a reader prevented it."""
    if rewrite:
        pages.vacuum(connection)
    return pages.empty_wal(connection, READERS_MS)


def rewrite_indexes(connection: apsw.Connection) -> None:
    """Rewrite all indexes, in a transaction of the caller."""
    for name in index.EVERY:
        index.rewrite(connection, name)


# ------------------------------------------------------------------ what was erased


def erasure_id(scope: int, at: int, written: str) -> str:
    """Return the id of an erasure, the same in every copy: a digest of scope, time and rows."""
    return hashlib.blake2b(f"{scope}\0{at}\0{written}".encode(), digest_size=ID_BYTES).hexdigest()


def with_id(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Add an id to an erasure entry from a version that had none."""
    return {**entry, "id": erasure_id(entry["scope"], entry["at"], _encode_entry(entry["rows"]))}


def _encode_entry(rows_: Mapping[str, Any]) -> str:
    return json.dumps(rows_, separators=(",", ":"), sort_keys=True)


def name_erasures(connection: apsw.Connection) -> None:
    """Add ids to erasures from a schema that had none."""
    unnamed: Any = connection.execute("select tx, scope_id, at, rows from erasures where id is null").fetchall()
    connection.executemany("update erasures set id = ? where tx = ?", [(erasure_id(*entry), tx) for tx, *entry in unnamed])


def tombstoned(connection: apsw.Connection, seals: Sequence[bytes]) -> dict[bytes, int]:
    """Return which of these seals are tombstones, and since when."""
    sql = "select seal, at from tombstones where seal in (select unhex(value) from json_each(?))"
    return dict(map(tuple, connection.execute(sql, (json.dumps([seal.hex() for seal in seals]),))))


def erasures(connection: apsw.Connection) -> Iterator[dict[str, Any]]:
    """Yield every erasure: id, number, scope, time, rows, seals, and whether its receipt exists."""
    every: Any = connection.execute("select tx, scope_id, at, rows, receipt is not null, id from erasures order by tx").fetchall()
    for number, scope, at, written, receipt, id in every:
        seals = [seal.hex() for (seal,) in connection.execute("select seal from tombstones where tx = ?", (number,))]
        yield {
            "id": id,
            "number": number,
            "scope": scope,
            "at": at,
            "rows": json.loads(written),
            "seals": seals,
            "done": bool(receipt),
        }
