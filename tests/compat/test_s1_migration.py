"""Bringing an old database of simple_memory into a home: verified, resumable, once, and the original as it was; and the way back."""

import asyncio
import json
import multiprocessing
import os
import random
import signal
import sqlite3
from pathlib import Path

import credentials
import pytest
import sampling
from compat import s1_homes

from yiku import Memory
from yiku.errors import InvalidInput, NotFound
from yiku_compat import console
from yiku_compat.migration import NotVerified
from yiku_compat.simple_memory import MemorySqlManager, SimpleMemoryRuntime, migration, old_home
from yiku_compat.simple_memory.export import export
from yiku_compat.simple_memory.migration import migrate

FORK = multiprocessing.get_context("fork")
NOW = 1_770_000_000.0


@pytest.fixture
def old(tmp_path):
    """The path of an old database that is not there yet."""
    (tmp_path / "old").mkdir()
    return tmp_path / "old" / "memory.db"


def write(database: Path, *records: dict[str, object], tags: tuple[str, ...] = ("小明", "tea")) -> None:
    """Write records that all have these tags."""
    with sqlite3.connect(database) as connection:
        if not connection.execute("select 1 from sqlite_master").fetchall():
            connection.executescript(s1_homes.SCHEMA)
        for name in tags:
            connection.execute("insert or ignore into memory_tags (name) values (?)", [name])
        for given in records:
            row: dict[str, object] = {
                "memory_type": "知识", "reasoning": "she said so", "strength": 10, "is_active": 0,
                "memory_scope": "public", "created_at": NOW, "updated_at": NOW, **given,
            }  # fmt: skip
            own = row.pop("tags", tags) if row["id"] else ()
            connection.execute(
                f"insert into memory_records ({', '.join(row)}) values ({', '.join('?' * len(row))})", [*row.values()]
            )
            for name in own:  # type: ignore[attr-defined]
                connection.execute("insert or ignore into memory_tags (name) values (?)", [name])
                found = connection.execute("select id from memory_tags where name = ?", [name]).fetchone()[0]
                connection.execute("insert into memory_tag_rel values (?, ?)", [row["id"], found])
    connection.close()


def rows(home: Path, scope: str) -> dict[str, tuple]:
    """Each memory of a scope, as the document's table shows it."""
    manager = MemorySqlManager(home, search="words")
    sql = "select id, memory_type, judgment, reasoning, strength, is_active, created_at from memory_records where memory_scope = ?"
    found = {id: tuple(rest) for id, *rest in manager.select(sql, scope, [scope], limit=10_000)}
    manager.close()
    return found


def last_change(home: Path) -> list[int]:
    """The number of the last change of each scope."""
    numbers = []
    for scope in s1_homes.SCOPES:
        with Memory(home, scope=scope) as memory:
            numbers += [row.number for row in memory.admin.journal(limit=1)]
    return numbers


@pytest.mark.spec("S1-19", "S1-20", "S1-21", "S1-22", "S1-23", "S1-24")
def test_every_field_arrives_in_its_own_scope(home, old):
    """Types, judgment, reasoning, tags, strength, activity, scope and time; what has no field stays in the metadata."""
    write(
        old,
        {
            "id": "m-1",
            "memory_type": "事件",
            "judgment": "小明周五请吃火锅",
            "memory_scope": "聚餐群",
            "strength": 42,
            "is_active": 1,
        },
        {"id": "m-2", "memory_type": "skill", "judgment": "Ann brews green tea", "useful_count": 3, "tags": ("Ann", "green tea")},
    )
    done = migrate(old, home)

    assert (2, 2, 0, 0, ()) == (done.read, done.imported, done.known, done.merged, done.skipped)
    assert {"m-1": ("事件", "小明周五请吃火锅", "she said so", 42, 1, NOW)} == rows(home, "聚餐群")
    assert {"m-2": ("技能", "Ann brews green tea", "she said so", 10, 0, NOW)} == rows(home, "public")
    runtime = SimpleMemoryRuntime(MemorySqlManager(home, search="words"))
    found = asyncio.run(runtime.comprehensive_recall("小明，the green tea?", memory_scope="聚餐群"))
    assert ["m-1", "m-2"] == [one.id for one in found]
    assert [("小明", "tea"), ("Ann", "green tea")] == [tuple(sorted(one.tags, reverse=n == 0)) for n, one in enumerate(found)]
    asyncio.run(runtime.feedback(useful_memory_ids=["m-1"], memory_scope="聚餐群"))
    assert 43 == rows(home, "聚餐群")["m-1"][3]
    with Memory(home, scope="public") as memory:
        (one,) = memory.get_all()
        assert {"useful_count": 3, "useful_score": 0} == one.metadata["simple_memory"]
    runtime.manager.close()


@pytest.mark.spec("T-19", "T-09")
def test_words_that_were_said_twice_are_one_memory_with_the_tags_of_all(home, old):
    """The newest holds, with every tag, the highest strength and the activity of all; the others are its versions, and nothing is lost."""
    write(
        old,
        {"id": "m-1", "judgment": "小明喜欢喝茶", "strength": 50, "is_active": 1, "tags": ("小明",), "reasoning": "first"},
        {"id": "m-2", "judgment": "小明喜欢喝茶。", "updated_at": NOW + 5, "tags": ("茶",), "reasoning": "second"},
        {"id": "m-3", "judgment": "小明喜欢喝茶", "memory_scope": "家庭", "tags": ("家",)},
        {"id": "m-4", "judgment": "小明喜欢喝茶", "memory_type": "事件", "tags": ("事",)},
    )
    done = migrate(old, home)

    assert (4, 4) == (done.read, done.imported)
    assert {"m-2": ("小明喜欢喝茶。", "second", 50, 1), "m-4": ("小明喜欢喝茶", "she said so", 10, 0)} == {
        id: (judgment, reasoning, strength, active)
        for id, (_, judgment, reasoning, strength, active, _) in rows(home, "public").items()
    }
    assert ["m-3"] == [*rows(home, "家庭")]
    with Memory(home, scope="public") as memory:
        held = next(one for one in memory.get_all() if one.external_id == "s1:m-2")
        assert {"小明", "茶"} == {*held.tags}
        assert ["first", "second"] == [version.basis for version in memory.history(held.id)]
    manager = MemorySqlManager(home, search="words")
    assert manager.line("m-2", "public") == manager.line("m-1", "public") != manager.line("m-4", "public")
    manager.close()


def test_odd_rows_are_read_or_named(home, old):
    """Scopes that are none, no judgment, no id, unknown types, times and strengths of any form, bytes that are no text."""
    write(
        old,
        {"id": "a", "judgment": "scope is empty", "memory_scope": ""},
        {"id": "b", "judgment": "scope is confusable", "memory_scope": "Public"},
        {"id": "c", "judgment": " "},
        {"id": None, "judgment": "无号的"},
        {"id": "e", "judgment": "愿望 a wish", "memory_type": "愿望", "strength": "strong", "is_active": "true"},
        {"id": "f", "judgment": "weak and late", "strength": -3, "created_at": NOW * 1000, "updated_at": 5},
        {"id": "g", "judgment": "as text", "created_at": "2026-02-14T10:00:00", "strength": 9_000, "reasoning": ""},
        {"id": "h", "judgment": b"broken \xff\0 bytes", "tags": ("tea\n\nparty", "x" * 999)},
    )
    done = migrate(old, home)
    found = rows(home, "public")

    assert {"a": "its scope is empty", "b": "its scope is refused", "c": "has no judgment"} == {
        id: why.partition(":")[0] for id, why in done.skipped
    }
    assert done.read == done.imported + len(done.skipped)
    assert ("知识", "愿望 a wish", "she said so", 10, 1, NOW) == found["e"]
    assert (0, NOW) == (found["f"][3], found["f"][5])
    assert ("", 1_000, 1_771_063_200.0) == (found["g"][2], found["g"][3], found["g"][5])
    assert "broken \ufffd bytes" == found["h"][1]
    assert "无号的" in {row[1] for row in found.values()}
    with Memory(home, scope="public") as memory:
        noted = {one.external_id: one.metadata.get("simple_memory", {}) for one in memory.get_all()}
        assert ("愿望", "strong") == (noted["s1:e"]["memory_type"], noted["s1:e"]["strength"])
        assert {"tea party", "x" * 256} == {*next(one for one in memory.get_all() if one.external_id == "s1:h").tags}


@pytest.mark.spec("T-09")
def test_an_old_home_comes_in_whole_and_is_left_as_it_was(home, tmp_path):
    """Every record is imported or named; a second run changes nothing; what lies in the log alone comes, too."""
    odd = s1_homes.build(tmp_path / "old" / "memory.db", 300, sampling.SEED)
    (tmp_path / "old" / "notes.db").write_bytes(b"")
    before = s1_homes.digest(tmp_path / "old")
    first = migrate(tmp_path / "old", home)
    number = last_change(home)
    again = migrate(tmp_path / "old", home)

    assert before == s1_homes.digest(tmp_path / "old")
    assert 300 < first.read == first.imported + first.merged + len(first.skipped)
    assert odd["empty"] == sum(why == "has no judgment" for _, why in first.skipped)
    assert odd["scope"] <= len(first.skipped) - odd["empty"]
    assert (0, first.imported + first.merged, 0, first.skipped) == (again.imported, again.known, again.merged, again.skipped)
    assert number == last_change(home)
    read = old_home.read(tmp_path / "old" / "memory.db")
    for scope in s1_homes.SCOPES:
        mine = {record.judgment.rstrip("。") for record in read.records if record.scope == scope}
        assert mine == {row[1].rstrip("。") for row in rows(home, scope).values()}
        with Memory(home, scope=scope) as memory:
            assert () == memory.admin.check("quick").problems


def test_a_second_run_leaves_alone_what_was_done_here(home, old):
    """What was changed, forgotten or erased since stays so; the erased one is named."""
    write(old, *({"id": f"m-{n}", "judgment": f"number {n} 第{n}"} for n in range(5)))
    migrate(old, home)
    manager = MemorySqlManager(home, search="words")
    manager.update_tags("m-0", ["new"], "public")
    manager.strengthen("m-1", "public")
    manager.delete("m-2", "public")
    memory = manager.handle("public")
    assert memory.admin.erase(manager.line("m-3", "public")).clean
    memory.update(manager.line("m-4", "public"), text="another number")
    before = rows(home, "public")
    again = migrate(old, home)

    assert (0, 4, (("m-3", "was erased here before"),)) == (again.imported, again.known, again.skipped)
    assert before == rows(home, "public")
    manager.close()


def test_one_scope_alone(home, old):
    """With a scope, the memories of others are not read."""
    write(old, {"id": "m-1", "judgment": "ours 家"}, {"id": "m-2", "judgment": "theirs", "memory_scope": "家庭"})

    assert (1, 1) == ((done := migrate(old, home, scope="家庭")).read, done.imported)
    assert (["m-2"], []) == ([*rows(home, "家庭")], [*rows(home, "public")])


def test_a_masked_secret_is_no_disagreement(home, old):
    """Credentials are masked on the way in, as everywhere."""
    secret = next(one for one in credentials.secrets(sampling.SEED) if one.value in one.text)
    write(old, {"id": "m-1", "judgment": f"小明 {secret.text}", "reasoning": secret.text})

    assert 1 == migrate(old, home).imported
    assert secret.value not in str(rows(home, "public"))


@pytest.mark.parametrize("mark", ["private", "私密"])
def test_what_is_private_stays_out(home, old, mark):
    """A record that is private as a whole is skipped and named; of another the part is left out, and that is no disagreement."""
    write(
        old,
        {"id": "m-1", "judgment": f"<{mark}>all of it 全部</{mark}>"},
        {"id": "m-2", "judgment": f"tea <{mark}>part</{mark}> 茶", "reasoning": f"<{mark}>all</{mark}>"},
    )
    done = migrate(old, home)

    assert (2, 1, {"m-1": "is private"}) == (done.read, done.imported, dict(done.skipped))
    assert {"m-2": (f"tea [{mark}] 茶", f"[{mark}]")} == {id: row[1:3] for id, row in rows(home, "public").items()}


@pytest.mark.parametrize(
    ("schema", "read"),
    [
        ("create table memory_records (id, judgment); insert into memory_records values ('a', '茶 tea')", ["a"]),
        (
            "create table memory_records (id primary key, judgment) without rowid; insert into memory_records values ('a', '茶')",
            ["a"],
        ),
        ("create table t (id, judgment); insert into t values ('a', '茶'); create view memory_records as select * from t", ["a"]),
        ("create table memory_records (id, judgment); insert into memory_records values ('a', 'x'), ('a', 'y 茶')", ["a", "a#2"]),
        (
            "create table memory_records (id, judgment); insert into memory_records values (x'ff', 'x'), (7.5, 'y 茶')",
            ["7.5", "\ufffd"],
        ),
        ("create table memory_records (id, judgment)", []),
        ("create table memory_records (id, judgment); insert into memory_records values ('a', hex(zeroblob(40000)))", None),
    ],
    ids=["few columns", "no rowid", "a view", "one id twice", "ids of other types", "nothing", "too long"],
)
def test_databases_of_other_forms(home, old, schema, read):
    """Earlier versions and repaired databases: what can be read comes in under an id of its own, once; the rest is named."""
    connection = sqlite3.connect(old)
    connection.executescript(schema)
    connection.close()
    done, again = migrate(old, home), migrate(old, home)

    assert (len(read or []), 0) == (done.imported, again.imported)
    assert done.read == done.imported + len(done.skipped)
    assert (read or []) == sorted(rows(home, "public")) if done.read else read == []


@pytest.mark.parametrize(("name", "value"), [("content", "other"), ("basis", "other"), ("tags", ("other",)), ("strength", 7)])
def test_what_does_not_agree_is_an_error(home, old, monkeypatch, name, value):
    """A record that is stored other than it was read is named."""
    write(old, {"id": "m-1", "judgment": "小明喜欢喝茶"})
    stored = migration._stored
    monkeypatch.setattr(
        migration, "_stored", lambda *given: {id: row._replace(**{name: value}) for id, row in stored(*given).items()}
    )

    with pytest.raises(NotVerified, match="m-1"):
        migrate(old, home)


def test_what_is_written_to_meanwhile_is_an_error(home, old):
    """The database changed while it was read: nothing is claimed of it."""
    write(old, {"id": "m-1", "judgment": "小明喜欢喝茶"})

    with pytest.raises(NotVerified, match="meanwhile"):
        migrate(old, home, progress=lambda _: write(old, {"id": "m-2", "judgment": "later 后来"}))


def test_what_is_no_old_home_is_refused(home, tmp_path, old):
    """Nothing, a folder without the table, two that have it, and what is no database."""
    write(tmp_path / "old" / "a.db", {"id": "m", "judgment": "x"})
    write(tmp_path / "old" / "b.db", {"id": "m", "judgment": "x"})
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.db").write_bytes(b"this is no database" * 100)

    for wrong, error in (("nothing.db", NotFound), ("empty", NotFound), ("old", InvalidInput), ("no.db", InvalidInput)):
        with pytest.raises(error):
            migrate(tmp_path / wrong, home)


def _migrate(old: Path, home: Path, scopes: int) -> None:
    done = []
    migrate(old, home, progress=lambda n: (done.append(n), len(done) == scopes and os.kill(os.getpid(), signal.SIGKILL)))
    os._exit(0)


def killed(old: Path, home: Path, after_s: float | None, scopes: int = 0) -> None:
    """Kill a migration after so many seconds, or behind so many scopes."""
    process = FORK.Process(target=_migrate, args=(old, home, scopes))
    process.start()
    process.join(after_s)
    if process.is_alive():
        os.kill(process.pid, signal.SIGKILL)
    process.join()


@pytest.mark.spec("T-09")
@pytest.mark.long
def test_a_migration_that_is_killed_is_finished_by_the_next(home, tmp_path):
    """Killed at drawn moments and behind each scope: each scope is there whole or not at all, and the next run completes it."""
    old = tmp_path / "old"
    s1_homes.build(old / "memory.db", 60, sampling.SEED)
    before, chance = s1_homes.digest(old), random.Random(sampling.SEED)
    migrate(old, tmp_path / "undisturbed")
    whole = {scope: rows(tmp_path / "undisturbed", scope) for scope in s1_homes.SCOPES}
    Memory(home).close()

    for scopes in range(1, len(s1_homes.SCOPES) + 1):
        killed(old, home, chance.uniform(0.01, 0.5) if scopes % 2 else None, scopes)
        for scope in s1_homes.SCOPES:
            assert rows(home, scope) in ({}, whole[scope])
    migrate(old, home)

    assert whole == {scope: rows(home, scope) for scope in s1_homes.SCOPES}
    assert 0 == migrate(old, home).imported
    assert before == s1_homes.digest(old)


@pytest.mark.long
def test_a_home_of_twenty_thousand_records(home, tmp_path):
    """All in, verified; the second run changes nothing."""
    odd = s1_homes.build(tmp_path / "old" / "memory.db", 20_000)
    before = s1_homes.digest(tmp_path / "old")
    done, again = (migrate(tmp_path / "old", home) for _ in range(2))

    assert 20_000 + odd["said twice"] >= done.read >= 20_000
    assert done.read == done.imported + done.merged + len(done.skipped)
    assert (0, done.imported + done.merged) == (again.imported, again.known)
    assert before == s1_homes.digest(tmp_path / "old")


def counts(capsys) -> tuple[int, ...]:
    """What the report of the command says."""
    report = json.loads(capsys.readouterr().out)
    return tuple(report[name] for name in ("read", "imported", "known"))


def test_the_command_migrates_each_memory_to_its_scope(home, old, capsys):
    """`yiku-compat migrate s1 OLD` prints its report; `--scope` takes one scope alone."""
    write(old, {"id": "m-1", "judgment": "ours 家"}, {"id": "m-2", "judgment": "theirs", "memory_scope": "家庭"})

    assert 0 == console.run(["migrate", "s1", str(old), "--home", str(home), "--scope", "家庭"])
    assert (1, 1) == counts(capsys)[:2]
    assert 0 == console.run(["migrate", "s1", str(old.parent), "--home", str(home)])
    assert (2, 1, 1) == counts(capsys)
    assert 1 == console.run(["migrate", "s1", str(old.parent / "no.db"), "--home", str(home)])
    assert "NotFound" in capsys.readouterr().err


# ------------------------------------------------------------------ the way back


@pytest.mark.spec("S1-17", "S1-18", "S1-26", "S1-27", "S1-28", "S1-30")
def test_what_is_written_back_has_the_documents_tables_and_comes_in_again(home, tmp_path):
    """One scope and public, under their old ids; no other scope, nothing that was deleted; moved over once more, it is the same."""
    s1_homes.build(tmp_path / "old" / "memory.db", 120, sampling.SEED)
    migrate(tmp_path / "old", home)
    manager = MemorySqlManager(home, search="words")
    gone = next(iter(rows(home, "家庭")))
    manager.delete(gone, "家庭")
    counts = export(manager.handle("家庭"), tmp_path / "back")
    for place in (tmp_path / "back", home / "back"):
        with pytest.raises(InvalidInput):
            export(manager.handle("家庭"), place)
    manager.close()
    with sqlite3.connect(tmp_path / "back" / "memory.db") as database:
        ask = lambda sql: database.execute(sql).fetchall()  # noqa: E731
        assert {"家庭", "public"} == {scope for (scope,) in ask("select distinct memory_scope from memory_records")}
        assert [] == ask(f"select id from memory_records where id = '{gone}'")
        assert counts == {table: ask(f"select count(*) from {table}")[0][0] for table in counts}
        assert [] == ask("select * from memory_tag_rel where memory_id not in (select id from memory_records)")
        assert [] == ask("select * from memory_tag_rel where tag_id not in (select id from memory_tags)")
        columns = {name: kind for _, name, kind, *_ in ask("pragma table_info(memory_records)")}
        assert {"memory_scope, created_at", "is_active, strength"} == {
            ", ".join(column for _, _, column in ask(f"pragma index_info({name})"))
            for (name,) in ask(
                "select name from sqlite_master where type = 'index' and tbl_name = 'memory_records' and sql is not null"
            )
        }
    database.close()
    done = migrate(tmp_path / "back", tmp_path / "second")

    assert {"strength": "INTEGER", "created_at": "REAL", "judgment": "TEXT"}.items() <= columns.items()
    assert 0o600 == (tmp_path / "back" / "memory.db").stat().st_mode & 0o777
    assert counts["memory_records"] == done.imported
    for scope in ("家庭", "public"):
        assert rows(home, scope) == rows(tmp_path / "second", scope)


def test_the_command_writes_a_scope_back(home, old, tmp_path, capsys):
    """`yiku-compat export s1 FOLDER --scope …`."""
    write(old, {"id": "m-1", "judgment": "ours 家"}, {"id": "m-2", "judgment": "theirs", "memory_scope": "家庭"})
    migrate(old, home)

    assert 0 == console.run(["export", "s1", str(tmp_path / "back"), "--home", str(home), "--scope", "public"])
    assert {"memory_records": 1, "memory_tags": 2, "memory_tag_rel": 2} == json.loads(capsys.readouterr().out)
    assert 1 == console.run(["export", "s1", str(tmp_path / "back"), "--home", str(home), "--scope", "public"])
    assert "name a new folder" in capsys.readouterr().err
