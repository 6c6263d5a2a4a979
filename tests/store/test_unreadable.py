"""Unreadable rows: named, left out and repaired without failing a verb; tried in every column."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from sampling import Choice
from verbs import VERBS
from workers import clocked

import yiku
from yiku import Memory
from yiku.errors import Damaged, YikuError
from yiku.store import damaged_rows, pages, records, row_codec

# Values of each type of column that are of no use to it, as an older Yiku may have taken them in.
HOSTILE: dict[str, list[Any]] = {
    "INTEGER": [2**62, -(2**62), 253_402_300_800_000_000 + 13 * 3_600_000_000, -1],
    "REAL": [99.0, -1.0, float("inf"), 1e300],
    "TEXT": ["", "x", '"x"', "5", "[5]", '[["x"]]', '{"a": 5}', '[{"a": 5}]', "null", "\x1b]0;x\x07", "文" * 9],
}
LEFT = frozenset(
    "n scope_id id line memory_n turn_n session_n position seq number tx digest content_hash".split()
)  # what links rows: tests/store/test_check.py
TABLES = ("conversation_turns", "turn_state", "memories", "memory_sources", *records.KINDS)


def columns() -> list[tuple[str, str, str]]:
    """Every column of a row that becomes a value, with its type."""
    folder = Path(yiku.__file__).parent / "store" / "sql"
    connection = apsw.Connection(":memory:")
    connection.execute("".join(path.read_text() for path in sorted(folder.glob("0*.sql"))))
    return [
        (table, name, type_)
        for table in (*TABLES, "changes")
        for _, name, type_, *_ in connection.execute(f"pragma table_info({table})").fetchall()
        if name not in LEFT and (table != "changes" or name in ("at", "before", "reason"))
    ]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a row in each of these tables, closed."""
    return lived(tmp_path_factory.mktemp("sound") / "home")


def lived(home: Path) -> Path:
    """Turns with tools, one that was forgotten; a corrected statement; an episode, a scratchpad and an attachment."""
    with clocked(home, learn="off") as memory:
        calls = {"tool_calls": [{"name": "看"}], "tool_results": [{"content": "ok"}]}
        memory.record_turn("user", "我住在 Bergen 😀", session="s1", metadata={"a": 1}, **calls)
        memory.forget(memory.record_turn("user", "and a second 第二句", session="s1").id)
        memory.remember("I live in Bergen.", tags=["家"], metadata={"a": 1}, expires_at="2400-01-01", relations=[("a", "b", "c")])
        memory.remember("我搬到了 Oslo。", tags=["家"])
        memory.update(memory.remember("小明喜欢绿茶").memory.id, importance=0.7)
        memory.sessions.attach("/tmp/小猫 cat.jpg", session="s1", description="一只猫 a cat", tags=["猫"])
        memory.sessions.patch_scratchpad(add_next_steps=["发布 release"])
        memory.sessions.end("s1")
    return home


CASES = [(table, name, value) for table, name, type_ in columns() for value in HOSTILE.get(type_, [])]


def poisoned(database: Path, table: str, column: str, value: Any) -> bool:
    """One row holds another value in a column, and its digest is right; whether the table takes it."""
    pages.enabled()
    connection = apsw.Connection(str(database))
    try:
        found = connection.execute(f"select {_key(table)} from {table} order by 1 limit 1").fetchone()
        assert found, f"no row of {table} to try it on"
        (rowid,) = found
        connection.execute(f"update {table} set {column} = ? where {_key(table)} = ?", (value, rowid))
        if table in damaged_rows.DIGESTED:
            row = connection.execute(f"select {damaged_rows.DIGESTED[table]} from {table} where n = ?", (rowid,)).fetchone()
            connection.execute(f"update {table} set digest = ? where n = ?", (row_codec.digest(row), rowid))
        return True
    except apsw.ConstraintError:
        return False
    finally:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        connection.close()


def _key(table: str) -> str:
    return {"turn_state": "turn_n", "memory_sources": "memory_n", "changes": "number"}.get(table, "n")


def outcome(call: Any) -> str:
    """What came of a call: fine, or the name of our error; any other error is its own."""
    try:
        call()
    except YikuError as error:
        return type(error).__name__
    return "fine"


@pytest.mark.long
def test_no_value_in_any_column_takes_a_verb_with_it(sound, tmp_path, some: Choice):
    """Every verb works or says which row it is; where `check` finds nothing, none was left out; a repair ends it."""
    for i, (table, column, value) in enumerate(some(CASES, 6)):
        home, case = tmp_path / f"home{i}", f"{table}.{column} = {value!r}"
        shutil.copytree(sound, home)
        if not poisoned(home / "yiku.db", table, column, value):
            continue
        took_verbs(home, case)
        shutil.rmtree(home)


def took_verbs(home: Path, case: str) -> None:
    """Each verb of a home with a poisoned row, its check, its repair, and the verbs once more."""
    found = yiku.check(home).problems
    with clocked(home, learn="off") as memory:
        came = {name: outcome(lambda verb=verb: verb(memory, home)) for name, verb in VERBS.items()}
        left_out = memory._handle.store.unreadable(memory._handle.reads())
    assert {*came.values()} <= {"fine", "Damaged", "Unreadable", "NotFound"}, f"{case}: {came}"
    assert "fine" == came["list"] == came["recall"] == came["context"] == came["export"] == came["timeline"], f"{case}: {came}"
    assert bool(left_out) <= bool(found), f"{case}: {left_out} {found}"
    yiku.repair(home)
    assert () == yiku.check(home, "deep").problems, case
    with clocked(home, learn="off") as memory:
        again = {name: outcome(lambda verb=verb: verb(memory, home)) for name, verb in VERBS.items()}
        assert {"fine"} == {*again.values()}, f"{case}: {again}"
        assert {} == memory._handle.store.unreadable(memory._handle.reads())


@pytest.mark.parametrize(
    "bad",
    [
        ("memories", "metadata", '"x"'),
        ("memories", "expires_at", 2**62),
        ("memories", "importance", 99.0),
        ("conversation_turns", "said_at", 2**62),
        ("conversation_turns", "metadata", "[5]"),
    ],
    ids=lambda bad: f"{bad[0]} {bad[1]}",
)
def test_the_row_is_named_wherever_one_looks(sound, home, caplog, bad):
    """In the log once, in what `recall` and `status` say, in what an export lacks, by `get` as an error; the rest is served."""
    table, column, _ = bad
    shutil.copytree(sound, home)
    with clocked(home, learn="off") as memory:
        turns, kept = memory.search_traces(), memory.get_all(where={"state": {"exists": True}})
    (first,) = [item for item in (*turns, *kept) if item.n == 1 and (table == "memories") == (item in kept)]
    assert poisoned(home / "yiku.db", *bad)

    with caplog.at_level(logging.WARNING), clocked(home, learn="off") as memory:
        rest = [*memory.search_traces(), *memory.get_all(where={"state": {"exists": True}})]
        said = memory.recall("where do I live? 我住在哪里").diagnostics, memory.status().troubles
        with pytest.raises(Damaged, match=column):
            memory.get(first.id)
        missing = memory.admin.export(home / "x.jsonl").missing
    assert len(turns) + len(kept) - 1 == len(rest)
    assert all(any("1 row cannot be read" in line for line in lines) for lines in said)
    assert [True] == [first.id in why and column in why for why in missing]
    assert 1 == sum(first.id in record.message for record in caplog.records)
    assert any(first.id in problem and column in problem for problem in yiku.check(home).problems)


@pytest.mark.parametrize("table", ["memories", "conversation_turns"])
def test_a_filter_by_metadata_passes_over_damaged_ones(sound, home, table):
    """A row whose metadata are no JSON fits no condition on them: the filter gives the others, and does not fail."""
    shutil.copytree(sound, home)
    assert poisoned(home / "yiku.db", table, "metadata", "x")
    with clocked(home, learn="off") as memory:
        found = memory.get_all(where={"metadata.a": {"exists": False}})
        dated = memory.timeline(where={"metadata.a": 1})
        assert {"我搬到了 Oslo。", "小明喜欢绿茶"} == {one.content for one in found}
        assert (table == "memories") == any(one.content.startswith("我住在 Bergen") for one in dated)


def test_a_repair_keeps_what_was_said_and_names_what_it_mended(sound, home):
    """The words stay, and one field is empty again; `yiku repair --dry-run` says so before anything is changed."""
    shutil.copytree(sound, home)
    for column, value in (("metadata", '"x"'), ("expires_at", 2**62), ("trust", 9.0)):
        assert poisoned(home / "yiku.db", "memories", column, value)
    dry = yiku.repair(home, dry_run=True).mended
    done = yiku.repair(home)
    with Memory(home) as memory:
        (first,) = [row for row in memory.get_all(where={"state": {"exists": True}}) if row.n == 1]

    assert ("I live in Bergen.", {}, None, 0.3) == (first.content, first.metadata, first.expires_at, first.trust)
    assert done.mended == dry == (f"memory {first.id}: trust, expires_at, metadata could not be read",) or len(dry) == 1
    assert () == done.lost


def test_an_unreadable_image_in_the_journal_is_no_undo(sound, home):
    """What an operation overwrote cannot be brought back from it, and that is said; the repair takes the image away."""
    shutil.copytree(sound, home)
    connection = apsw.Connection(str(home / "yiku.db"))
    pages.enabled()
    connection.execute("update changes set before = ? where tbl = 'memories' and before is not null", (json.dumps({"kind": "x"}),))
    connection.close()
    with clocked(home, learn="off") as memory:
        (row,) = [row for row in memory.get_all(where={"state": {"exists": True}}) if row.superseded_by]
        assert memory.admin.journal() and memory.history(row.id)
    assert any("journal row" in problem for problem in yiku.check(home).problems)
    assert any("journal row" in line for line in yiku.repair(home).mended)
    assert () == yiku.check(home, "deep").problems
