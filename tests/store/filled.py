"""Make a home with rows in every table and a sentence in every text column of the schema."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from yiku import Memory
from yiku.store import pages, records, row_codec
from yiku.types import (
    AddJobs,
    CiteSources,
    ClaimJobs,
    EndJob,
    Job,
    KeepItem,
    KeepReply,
    KeepRun,
    Learned,
    ModelCall,
    NightItem,
    NightRun,
    Put,
    Records,
    Scratchpad,
    Spend,
    Task,
)

DIGESTED = {"conversation_turns": row_codec.TURN_DIGESTED, "memories": row_codec.MEMORY_DIGESTED, **records.DIGESTED}
ROWS = 40  # of turns and statements: each column has a row of its own
LINKS = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T|^[0-9a-f]{8}-")  # times and ids inside of JSON
# What only our own code writes, and reads back: names of scopes, ids, names of blobs, facts of the file, an index's tokens.
OWN = {
    ("scopes", "name"),
    ("erasures", "rows"),
    ("erasures", "id"),
    ("meta", "value"),
    *(("published", column) for column in ("page", "version", "digest", "entries")),
    *(("runs", column) for column in ("id", "mode", "counts")),
    *(("night_items", column) for column in ("run", "action", "ids", "reason", "evidence")),
    ("attachments", "blob"),
    ("chunks", "heading"),
    ("chunks", "text"),
    *((table, column) for table in records.KINDS for column in ("id", "tokens")),
}

Column = tuple[str, str]


def filled(home: Path) -> None:
    """A row in each table, each column with something in it where the calls of the library can put it there."""
    with Memory(home, owner="user:mei", learn="later", search="words", durability="fast") as memory:
        handle = memory._handle
        memory.record(
            [
                {
                    "role": "user",
                    "content": f"Lantern {i} is lit. 第{i}盏灯亮了。",
                    "session": f"s{i % 3}",
                    "external_id": f"e{i}",
                    "parent": f"e{i - 1}",
                    "metadata": {"lamp": "oil"},
                    "tool_calls": [{"name": "look", "input": {"path": "a.md"}}],
                    "tool_results": [{"content": "seen"}],
                }
                for i in range(ROWS)
            ]
        )
        for i in range(ROWS):
            memory.remember(
                f"Lamp {i} burns oil number {i}. 第{i}盏。",
                metadata={"lamp": ["oil"]},
                tags=[f"t{i}"],
                entities=[f"lamp {i}"],
                relations=[("lamp", "burns", "oil")],
                idempotency_key=f"k{i}",
                session="s1",
            )
        first = memory.get_all(limit=1)[0]
        memory.forget(first.id, reason="no more")
        memory.restore(first.id)
        memory.feedback(first.id, "used")
        memory.sessions.set("s1", task="light", 灯="oil")
        memory.sessions.patch_scratchpad(add_open_questions=["who?"], add_next_steps=["light it"])
        memory.sessions.attach("/tmp/lamp 灯.txt", session="s1", description="a lamp")
        memory.sessions.end("s1")
        turn = memory.search_traces(limit=1)[0]
        memory.forget(turn.id)
        memory.remember("The oil lasts until noon. 灯油。", expires_at="2020-01-01")
        memory.admin.consolidate(phase=0)
        now, scope = handle.now(), handle.writes()
        job = Job(kind="extract", session="s2", turn_n=turn.n, content_hash=b"h", due_at=now, created_at=now)
        handle.store.apply(scope, [AddJobs([job])], handle.cause("learn"))
        (n,) = handle.store.apply(scope, [ClaimJobs(now, 1, "s2")], handle.cause("learn")).rows[0]
        (job,) = handle.store.learning.jobs(scope, ns=[n])
        (pad,) = handle.store.records(Scratchpad, [scope], Records())
        busy = replace(pad, recent=(Task(text="light the lamp", since=now, session="s2"),))
        handle.store.apply(scope, [Put(busy)], handle.cause("scratchpad"))
        handle.store.apply(scope, [Learned([turn.n])], handle.cause("learn"))
        handle.store.apply(scope, [KeepReply(job, "{}"), Spend(call(now)), EndJob(job, "failed", now)], handle.cause("learn"))
        handle.store.apply(scope, [CiteSources(first.id, [1, 2])], handle.cause("consolidate"))
        for i in range(ROWS):
            write_note(home, f"lamp {i}.md", f"# Lamps 灯 {i}\n\nLamp {i} hangs in the hall. 第{i}盏挂在厅里。\n")
        memory.notes.sync()
        for i in range(ROWS):
            run, item = (
                NightRun(id=f"r{i}", mode="full", at=now, started_at=now),
                NightItem(phase=1, action="archived", ids=("x",), reason="y", at=now),
            )
            handle.store.apply(scope, [KeepRun(run), KeepItem(run.id, item)], handle.cause("night"))
        memory.admin.erase(memory.remember("A word that goes. 走").memory.id)
        memory.notes.publish()
        memory.admin.backup()
    connection = apsw.Connection(str(home / "yiku.db"))
    connection.execute("insert into meta (key, value) values ('zz', 'of a later version')")
    connection.close()


def call(at: datetime) -> ModelCall:
    return ModelCall(
        at=at, purpose="extract", session="s2", model="m", prompt_tokens=1, completion_tokens=1, seconds=0.1, outcome="ok"
    )


def tables(connection: apsw.Connection) -> dict[str, tuple[list[str], list[str]]]:
    """Of each table that holds rows of ours its text columns and its key; found from the schema, not from our own list."""
    found: Any = connection.execute(
        "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
    ).fetchall()
    virtual = tuple(f"{name}" for name, sql in found if sql.lower().startswith("create virtual"))
    columns_by_table = {}
    for name, _ in found:
        if not name.startswith(virtual):
            columns: Any = connection.execute(f"pragma table_info({name})").fetchall()
            key = [column[1] for column in sorted(columns, key=lambda one: one[5]) if column[5]] or ["rowid"]
            columns_by_table[name] = ([column[1] for column in columns if column[2].upper() in ("TEXT", "ANY")], key)
    return columns_by_table


def write_note(home: Path, name: str, text: str) -> None:
    """A document in the vault."""
    (home / "documents").mkdir(exist_ok=True)
    (home / "documents" / name).write_text(text, encoding="utf-8")


def planted(home: Path, sentence: str, *, without: set[Column]) -> set[Column]:
    """Put a sentence into each text column, each of another row, where there are enough; where it stands afterwards."""
    path = home / "yiku.db"
    with Memory(home, learn="later") as memory:  # what is said is in the search index
        called, came = [{"name": "look", "input": {"for": sentence}}], [{"content": f"Seen: {sentence}"}]
        memory.record_turn("assistant", f"Well. {sentence}", tool_calls=called, tool_results=came)
        write_note(home, "planted.md", f"# {sentence}\n\nOnce more: {sentence} And more.\n")  # and so are notes
        memory.notes.sync()
    pages.enabled()
    done = holding(path, sentence)
    connection = apsw.Connection(str(path))
    for table, (texts, key) in tables(connection).items():
        assert not texts or connection.execute(f"select 1 from {table} limit 1").fetchone(), f"nothing fills {table}"
        for place, column in enumerate(texts):
            if (table, column) in OWN | without | done:
                continue
            keys = ", ".join(key)
            every: Any = connection.execute(f"select {keys}, {column} from {table} order by {keys}").fetchall()
            every = [row for row in every if row[-1] is not None] or every
            *values, held = every[-1 - place % len(every)]
            of = " and ".join(f"{name} = ?" for name in key)
            try:
                connection.execute(
                    f"update {table} set {column} = ? where {of}", (_with(_or_empty(table, column, held), sentence), *values)
                )
            except apsw.ConstraintError:
                (sql,) = connection.execute("select sql from sqlite_schema where name = ?", (table,)).fetchone()
                assert re.search(rf"\b{column} text[^,]* check \({column} in", sql), f"{table}.{column} cannot be filled"
                continue
            values = [sentence if name == column else value for name, value in zip(key, values, strict=True)]
            if table in DIGESTED:
                row = connection.execute(f"select {DIGESTED[table]} from {table} where {of}", values).fetchone()
                connection.execute(f"update {table} set digest = ? where {of}", (row_codec.digest(row), *values))
            done.add((table, column))
    connection.close()
    return done


def _or_empty(table: str, column: str, held: Any) -> Any:
    """What a column holds; where a record's list or mapping is empty, which lies as null, an empty one."""
    types = {field.name: str(field.type) for field in fields(records.KINDS[table])} if table in records.KINDS else {}
    kind = types.get(column, "")
    if held is None and kind.startswith(("tuple", "Mapping")):
        assert "[str" in kind, f"{table}.{column} is empty"
        return "[]" if kind.startswith("tuple") else "{}"
    return held


def _with(held: Any, sentence: str) -> str:
    """A JSON value with the sentence in the place of one of its texts, and of one of its names where it has others; else the sentence."""
    if isinstance(held, str) and held[:1] in ("{", "["):
        value = json.loads(held)
        if _put(value, sentence):
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return json.dumps({sentence: sentence} if isinstance(value, dict) else [sentence], ensure_ascii=False)
    return sentence


def _put(value: Any, sentence: str) -> bool:
    entries: Iterator[tuple[Any, Any]] = iter(enumerate(value) if isinstance(value, list) else [*value.items()])
    for name, entry in entries:
        if isinstance(entry, str) and not LINKS.match(entry):
            value[name] = sentence
            return True
        if isinstance(entry, (list, dict)) and _put(entry, sentence):
            return True
    return False


def holding(path: Path, sentence: str) -> set[Column]:
    """Where it stands, as the schema has it, looked up plainly, and as JSON may write it."""
    forms = (sentence, json.dumps(sentence)[1:-1])
    connection = apsw.Connection(str(path))
    found = {
        (table, column)
        for table, (texts, _) in tables(connection).items()
        for column in texts
        if connection.execute(f"select 1 from {table} where instr({column}, ?) or instr({column}, ?)", forms).fetchone()
    }
    connection.close()
    return found
