"""
Whether a store is whole: what must be true of every file that Yiku ever leaves behind.

`check(path)` looks at the database with SQLite alone and makes everything that is derived anew from the
rows: the postings with the analyzer, the counters by counting, the digests of the journal. Tests call it
after a crash, a race, a failed write or a random history; `open_and_check` opens the home first.
"""

import re
from collections import Counter
from pathlib import Path

import apsw

from yiku import Memory
from yiku.flows.record import _tool_tokens, tokens
from yiku.flows.remember import index_tokens
from yiku.store import index, rows, sqlite, write
from yiku.types import Tokens

LIVE = "state = 'active' and superseded_by is null"
Entries = Counter[tuple[int, str]]  # row number in the index, token as written: once each


def check(path: Path | str) -> None:
    """Raise AssertionError unless the database agrees with itself in every point."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(10_000)
        connection.execute("begin")  # one snapshot for all that follows
        sound(connection)
        chains(connection)
        sessions(connection)
        journal(connection, key_of(Path(path)))
        digests(connection)
        search(connection)
        connection.execute("rollback")
        indexes(connection)
    finally:
        connection.close()


def open_and_check(home: Path | str, **settings: object) -> None:
    """The home opens, answers, closes, and its store is whole."""
    with Memory(home, create=False, **settings) as memory:
        memory.recall("where do I live? 我住在哪里？")
        memory.status()
    check(Path(home) / "yiku.db")


def sound(connection: apsw.Connection) -> None:
    assert [("ok",)] == connection.execute("pragma quick_check").fetchall()
    assert [] == connection.execute("pragma foreign_key_check").fetchall()


def indexes(connection: apsw.Connection) -> None:
    """FTS5's own check. It is a write statement to SQLite, hence outside the snapshot; it changes nothing."""
    for name in ("turn", "tool", "memory"):
        connection.execute(f"insert into {name}_index ({name}_index) values ('integrity-check')")


def chains(connection: apsw.Connection) -> None:
    """Every successor is there, in the same scope and line; no slot and no text has two live rows."""
    orphans = """
        select m.id from memories m where m.superseded_by is not null and not exists
        (select 1 from memories s where s.scope_id = m.scope_id and s.id = m.superseded_by and s.line = m.line)"""
    assert [] == connection.execute(orphans).fetchall(), "superseded by what is not there"
    doubled = f"""
        select slot, count(*) from memories where slot is not null and standing = 'fact' and flag is null and {LIVE}
        group by scope_id, slot having count(*) > 1"""
    assert [] == connection.execute(doubled).fetchall(), "two live values of one slot"
    doubled = f"select content from memories where {LIVE} group by scope_id, kind, content_hash having count(*) > 1"
    assert [] == connection.execute(doubled).fetchall(), "two live rows of one text"
    crossing = """
        select 'source', memory_n from memory_sources x where scope_id <> (select scope_id from memories where n = x.memory_n)
        union all
        select 'entity', memory_n from memory_entities x where scope_id <> (select scope_id from memories where n = x.memory_n)
        union all
        select 'tag', memory_n from memory_tag_rel x where scope_id <> (select scope_id from memory_tags where id = x.tag_id)"""
    assert [] == connection.execute(crossing).fetchall(), "a detail in another scope than its memory"
    bare = "select id from memories m where not exists (select 1 from memory_sources where memory_n = m.n)"
    assert [] == connection.execute(bare).fetchall(), "a memory without a source"


def sessions(connection: apsw.Connection) -> None:
    """Positions run from 0 without a gap; a session knows how many turns it has and when they were said."""
    counted = """
        select s.scope_id, s.id, s.turns, s.started_at, s.ended_at, count(t.n), min(t.position), max(t.position),
        count(distinct t.position), min(t.said_at), max(t.said_at), sum(t.scope_id <> s.scope_id)
        from sessions s left join conversation_turns t on t.session_n = s.n group by s.n"""
    for scope, id, turns, start, end, count, first, last, distinct, earliest, latest, foreign in connection.execute(counted):
        assert (turns, 0, turns - 1, turns, 0) == (count, first, last, distinct, foreign), f"positions of session {id} in {scope}"
        assert (start, end) == (earliest, latest), f"times of session {id} in scope {scope}"


def key_of(database: Path) -> bytes:
    """The key of a home; a store that was opened without one has none."""
    key = database.with_name("key")
    return bytes.fromhex(key.read_text()) if key.exists() else b""


def digests(connection: apsw.Connection) -> None:
    """Each row is what was written: rows.turn and rows.memory, which `search` calls for all, raise Damaged otherwise."""
    for table in ("conversation_turns", "memories"):
        assert [] == connection.execute(f"select n from {table} where digest is null").fetchall()


def journal(connection: apsw.Connection, key: bytes) -> None:
    """The digests chain from the first row to the last; each memory carries the number of its last change."""
    previous, expected = b"", 1
    for *header, digest in connection.execute(f"select {write.HEADER}, digest from changes order by number"):
        assert expected == header[0], "a row of the journal is missing"
        previous = b"" if header[7] == write.RESTART else previous
        assert write.digest(key, previous, header) == digest, f"journal row {header[0]} was altered"
        previous, expected = digest, expected + 1
    unjournaled = """
        select n, changed from memories m where changed is not
        (select max(number) from changes where tbl in ('memories', 'memory_sources') and row_n = m.n)"""
    assert [] == connection.execute(unjournaled).fetchall(), "a memory does not carry its last change"
    turns = "select count(*) from conversation_turns"
    batches = "select total(count) from changes where tbl = 'conversation_turns' and action = 'insert'"
    assert connection.execute(turns).fetchall() == [(int(total),) for (total,) in connection.execute(batches)]


def search(connection: apsw.Connection) -> None:
    """Each index holds exactly the tokens of the rows, under their scope and standing, and counts them right."""
    index.prepare(connection)
    for name, documents in wanted(connection).items():
        expected, totals = Entries(), Counter()
        for n, scope, past, text in documents:
            number = n * index.STEPS + index.step(len(text.words))
            expected.update((number, token) for token in index.prefixed(text, scope, past).split(" ") if token)
            if not past:
                totals[scope, "documents"] += 1
                totals[scope, "words"] += len(text.words)
        found = Entries()
        found.update(connection.execute(f"select doc, term from temp.{name}_places"))
        assert expected == found, f"{name}_index differs from the rows: {first_differences(expected, found)}"
        kept = connection.execute("select scope_id, documents, words from index_stats where name = ?", (name,)).fetchall()
        assert {(scope, totals[scope, "documents"], totals[scope, "words"]) for scope, _, _ in kept} == {*kept}, f"{name} counters"
        assert {scope for scope, _ in totals} <= {scope for scope, _, _ in kept}, f"{name} counters are missing"


def wanted(connection: apsw.Connection) -> dict[str, list[tuple[int, int, bool, Tokens]]]:
    """What each index should hold: row number, scope, whether out of recall, tokens."""
    documents: dict[str, list[tuple[int, int, bool, Tokens]]] = {"turn": [], "tool": [], "memory": []}
    for scope, *row in connection.execute(f"select t.scope_id, {rows.TURN_COLUMNS} {sqlite._FROM_TURNS}"):
        turn = rows.turn(tuple(row))
        documents["turn"].append((turn.n, scope, turn.hidden_at is not None, tokens(turn)))
        if tools := _tool_tokens(turn):
            documents["tool"].append((turn.n, scope, False, tools))
    for scope, *row in connection.execute(f"select m.scope_id, {rows.MEMORY_COLUMNS} {sqlite._FROM_MEMORIES}"):
        memory = rows.memory(tuple(row))
        documents["memory"].append((memory.n, scope, not memory.live, index_tokens(memory)))
    return documents


def first_differences(expected: Entries, found: Entries) -> str:
    missing, extra = expected - found, found - expected
    return re.sub(r"Counter\(|\)$", "", f"missing {list(missing.items())[:3]}, too many {list(extra.items())[:3]}")
