"""Old homes of openakita: brought in, verified, finished after a kill, left as they were, and written back."""

import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from compat import old_openakita

from yiku import Memory
from yiku.errors import InvalidInput, NotFound
from yiku_compat.openakita import SemanticMemory, UnifiedStore, export, migrate
from yiku_compat.openakita.export import COLUMNS, INDEXES
from yiku_compat.openakita.views import VIEWS

KILLS = 50


@pytest.fixture
def old(tmp_path: Path) -> Path:
    old_openakita.build(tmp_path / "old", memories=60, turns=200, episodes=12)
    return tmp_path / "old"


def bytes_of(folder: Path) -> dict[str, str]:
    """The digest of each file below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def contents(home: Path) -> dict[str, list[tuple]]:
    """What a home holds, as the documents' tables show it; without times of this run, and ids that it drew."""
    shown = {
        "memories": "content, type, importance_score, tags, expires_at, access_count, superseded_by is null",
        "episodes": "id, session_id, summary, outcome, started_at, ended_at, action_nodes, entities",
        "conversation_turns": "session_id, turn_index, role, content, tool_calls, timestamp",
        "attachments": "id, filename, local_path, description",
        "scratchpad": "current_focus, open_questions, next_steps",
    }
    with Memory(home) as memory:
        ask = memory.admin.sql
        return {
            table: sorted(map(repr, ask(f"select {columns} from {table}", views=VIEWS["s3"], limit=10_000).rows))
            for table, columns in shown.items()
        }


@pytest.mark.spec("S3-217", "S3-222", "S2-88", "T-09")
def test_an_old_home_comes_in_whole_and_is_left_as_it_was(old, home):
    """Every record is imported, merged, or skipped with a reason; a second run changes nothing; the old files are the same."""
    before = bytes_of(old)
    done = migrate(old, home)
    after, number = contents(home), len(contents(home)["memories"])
    again = migrate(old, home)

    assert before == bytes_of(old)
    assert done.read == done.imported + done.merged + len(done.skipped)
    assert (0, done.imported, done.merged, done.skipped) == (again.imported, again.known, again.merged, again.skipped)
    assert after == contents(home)
    assert {"m7": "is empty", "memories.json:21": "is no object"} == {
        id: why for id, why in done.skipped if not id.endswith(".jsonl:6")
    }
    assert number > 50
    with Memory(home) as memory:
        store = UnifiedStore(memory)
        kept = store.get_semantic("m11")
        assert "1011" in kept.content
        chain = [one.content for one in memory.history(store.db.find("m11").id)]
        assert ["1010", "1011"] == ["1010" if "1010" in text else "1011" for text in chain]
        assert not store.db.find("m20").live
        assert not [one for one in store.search_semantic("1020") if "1020" in one.content]
        assert "Always build target 0 first. 先构建 0。" in [one.content for one in store.search_semantic("build target 构建")]
        twin = memory.get_all(where={"external_id": "s3:m0"})
        assert not twin or twin[0].expires_at is not None
        (tmp := old / "memories.json").write_text("[]", "utf-8")
        assert "rule" in {one.type.value for one in store.search_semantic("build target", 3)}
        assert tmp.read_text("utf-8") == "[]"


@pytest.mark.parametrize(
    ("said", "named", "later"),
    [
        (("User lives in Bergen", "User lives in Oslo"), ("user", "lives in"), "I live in Trondheim."),
        (("用户住在卑尔根", "用户住在奥斯陆"), ("用户", "住在"), "我住在特隆赫姆。"),
        (("I live in Bergen.", "I live in Oslo."), (None, None), "我住在特隆赫姆。"),
    ],
)
def test_a_statement_that_was_corrected_there_is_corrected_here(home, tmp_path, said, named, later):
    """Each version has the slot that it would have if it were remembered, and the priority; what is said next replaces the last."""
    subject, predicate = named
    rows = [
        {
            "id": f"a{month}",
            "content": text,
            "type": "fact",
            "subject": subject,
            "predicate": predicate,
            "created_at": f"2026-0{month}-01T10:00:00",
            "priority": "PERMANENT" if month == 2 else "long_term",
            "superseded_by": "a2" if month == 1 else None,
        }
        for month, text in enumerate(said, 1)
    ]
    (tmp_path / "memories.json").write_text(json.dumps(rows))
    done, again = (migrate(tmp_path / "memories.json", home) for _ in range(2))
    assert (2, 0, 2) == (done.imported, again.imported, again.known)

    with Memory(home) as memory:
        (last,) = memory.get_all()
        before, _ = memory.history(last.id)
        plain = memory.remember(said[1], dry_run=True, **({"subject": subject, "predicate": predicate} if subject else {})).memory
        assert {(plain.subject, plain.predicate, plain.slot)} == {(one.subject, one.predicate, one.slot) for one in (before, last)}
        assert "user" == last.subject
        assert ("permanent", None, "long_term") == (last.priority, before.priority, before.metadata["priority"])
        assert last.id == memory.remember(later).replaced.id
        assert [later] == [one.content for one in memory.get_all()]


@pytest.mark.spec("T-26", "T-09", "S3-223")
def test_a_turn_that_was_learned_from_there_is_not_learned_from_again(home, tmp_path):
    """Extracted turns stay extracted, the others wait; a turn of both places is there once."""
    folder = tmp_path / "old"
    (folder / "conversation_history").mkdir(parents=True)
    connection = sqlite3.connect(folder / "openakita.db")
    connection.executescript(old_openakita.SCHEMA)
    said = [("我住在杭州。", True), ("My sister is called Lan.", False)]
    for index, (text, extracted) in enumerate(said):
        connection.execute(
            "insert into conversation_turns (session_id, turn_index, role, content, timestamp, extracted) values ('s', ?, 'user', ?, ?, ?)",
            (index, text, f"2026-01-0{index + 1}T08:00:00", extracted),
        )
    connection.commit()
    connection.close()
    lines = [json.dumps({"role": "user", "content": text, "timestamp": "2026-01-01"}, ensure_ascii=False) for text, _ in said]
    (folder / "conversation_history" / "s.jsonl").write_text("\n".join([*lines, lines[1]]) + "\n", "utf-8")

    assert 3 == migrate(folder, home).imported
    with Memory(home) as memory:
        assert ["My sister is called Lan."] * 2 == [one["content"] for one in UnifiedStore(memory).get_unextracted_turns()]
        memory.learn()
        assert ["My sister is called Lan."] == [one.content for one in memory.get_all()]
        assert 3 == len(memory.search_traces(session="s"))


@pytest.mark.spec("S3-217")
def test_the_first_versions_file_comes_in_alone_and_new_fields_have_defaults(home, tmp_path):
    """memories.json as a list, as records by id, with a byte order mark; numbers and times in any form."""
    rows = {
        "a": {"content": "用户喜欢深色主题", "type": "PREFERENCE", "created_at": 1_767_225_600, "importance_score": "high"},
        "b": {"content": "Use pytest.", "type": "MemoryType.SKILL", "tags": "qa， tests", "created_at": "yesterday"},
    }
    file = tmp_path / "memories.json"
    file.write_text("\ufeff" + json.dumps(rows), "utf-8")

    assert (2, 2) == ((done := migrate(file, home)).read, done.imported)
    with Memory(home) as memory:
        first, second = (UnifiedStore(memory).get_semantic(id) for id in "ab")
        assert ("preference", 0.5, 0.5, 0.1) == (first.type.value, first.importance_score, first.confidence, first.decay_rate)
        assert ("skill", ["qa", "tests"]) == (second.type.value, second.tags)
        assert 2026 == first.created_at.year
    for wrong in ("[", "{}"):
        (tmp_path / "no.json").write_text(wrong, "utf-8")
    with pytest.raises(NotFound):
        migrate(tmp_path / "nothing", home)
    file.write_text("{", "utf-8")
    with pytest.raises(InvalidInput):
        migrate(file, home)
    (tmp_path / "no.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(InvalidInput):
        migrate(tmp_path / "no.db", home)


@pytest.mark.spec("S3-217")
def test_what_was_forgotten_or_erased_here_does_not_come_back(old, home):
    """A second run counts it as known or names it; it stays gone."""
    migrate(old, home)
    with Memory(home) as memory:
        store = UnifiedStore(memory)
        forgotten, erased = (store.db.find(id).id for id in ("m1", "m2"))
        words = memory.get(erased).content
        memory.forget(forgotten)
        assert memory.admin.erase(erased).clean
    again = migrate(old, home)

    assert 0 == again.imported
    assert "m2" in dict(again.skipped)
    with Memory(home) as memory:
        assert not memory.get_all(where={"external_id": "s3:m1"})
        assert not [one for one in memory.get_all(limit=1_000) if one.content == words]


@pytest.mark.spec("S3-217", "T-09")
@pytest.mark.long
def test_a_migration_that_is_killed_goes_on(old, home, tmp_path, some):
    """Real processes are killed at drawn moments; the next run goes on, and the home is what an undisturbed run makes."""
    migrate(old, tmp_path / "undisturbed")
    began = time.monotonic()
    subprocess.run(command(old, tmp_path / "timed"), check=True, capture_output=True)
    span, chance, before = time.monotonic() - began, random.Random(5), bytes_of(old)
    killed = 0
    for share in [
        -0.2,
        *sorted(some([number / KILLS for number in range(KILLS)], KILLS if os.environ.get("YIKU_WHOLE") else 6)),
    ]:  # the first is killed in any case
        process = subprocess.Popen(command(old, home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait((0.3 + 0.7 * share) * span * chance.uniform(0.8, 1.0))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        process.wait()
    done = migrate(old, home)

    assert killed
    assert done.read == done.imported + done.known + done.merged + len(done.skipped)
    assert contents(tmp_path / "undisturbed") == contents(home)
    assert before == bytes_of(old)


def command(old: Path, home: Path) -> list[str]:
    return [sys.executable, "-m", "yiku_compat", "migrate", "s3", str(old), "--home", str(home)]


@pytest.mark.spec("S3-217", "T-09")
@pytest.mark.long
def test_a_home_of_twenty_thousand_records(home, tmp_path):
    """600 statements, 18,500 turns, 900 episodes: all in, verified; a second run changes nothing."""
    counts = old_openakita.build(tmp_path / "old", memories=600, turns=18_500, episodes=900)
    before = bytes_of(tmp_path / "old")
    done = migrate(tmp_path / "old", home)
    again = migrate(tmp_path / "old", home)

    assert sum(counts.values()) >= 20_000
    assert done.read == sum(counts.values()) + 2  # a half line, and what is no object
    assert done.read == done.imported + done.merged + len(done.skipped)
    assert (0, done.imported) == (again.imported, again.known)
    assert before == bytes_of(tmp_path / "old")


# ------------------------------------------------------------------ back, and the tables


@pytest.mark.spec("S2-89", "S3-229", "S3-120", "S3-125")
def test_what_is_written_back_comes_in_again(old, home, tmp_path):
    """Database, memories.json and JSON Lines; moved over once more, a home holds the same."""
    migrate(old, home)
    with Memory(home) as memory:
        written = export(memory, tmp_path / "back")
        assert [] == [path for path in (tmp_path / "back").rglob("*") if path.stat().st_mode & 0o077]
        for place in (tmp_path / "back", home / "back"):
            with pytest.raises(InvalidInput):
                export(memory, place)
    done = migrate(tmp_path / "back", tmp_path / "second")

    with sqlite3.connect(tmp_path / "back" / "openakita.db") as database:
        names = {name for (name,) in database.execute("select name from sqlite_master where type = 'index'")}
        assert {*INDEXES} <= names
        for table in COLUMNS:
            assert written[table] == database.execute(f"select count(*) from {table}").fetchone()[0]
    database.close()
    assert done.read >= sum(written.values()) - written["embedding_cache"]
    first, second = contents(home), contents(tmp_path / "second")
    assert first["conversation_turns"] == second["conversation_turns"]
    assert len(first["episodes"]) == len(second["episodes"])
    assert first["scratchpad"] == second["scratchpad"]
    assert len(first["memories"]) == len(second["memories"])
    assert (tmp_path / "back" / "conversation_history" / "s1.jsonl").is_file()
    assert json.loads((tmp_path / "back" / "memories.json").read_text("utf-8"))


DEFAULTS = {
    "memories": {"subject": "''", "predicate": "''", "confidence": "0.5", "decay_rate": "0.1", "superseded_by": None},
    "episodes": {"goal": "''", "outcome": "'completed'", "entities": "'[]'", "importance_score": "0.5", "source": "'session_end'"},
    "scratchpad": {"active_projects": "'[]'", "current_focus": "''", "open_questions": "'[]'", "next_steps": "'[]'"},
    "conversation_turns": {"has_tool_calls": "false", "extracted": "false", "token_estimate": None},
    "extraction_queue": {"retry_count": "0", "max_retries": "3", "status": "'pending'", "last_attempted_at": None},
    "attachments": {"filename": "''", "tags": "'[]'", "file_size": "0", "direction": "'inbound'", "linked_memory_ids": "'[]'"},
    "embedding_cache": {"dimensions": "1024"},
}


@pytest.mark.spec("S3-106", "S3-115", "S3-116", "S3-123", "S3-124", "S3-126")
@pytest.mark.parametrize("table", sorted(DEFAULTS))
def test_the_tables_have_the_documents_columns_and_defaults(table, memory, tmp_path):
    """The database that is written has them, and a view of the same columns answers select statements."""
    export(memory, tmp_path / "back")
    with sqlite3.connect(tmp_path / "back" / "openakita.db") as database:
        columns = {name: default for _, name, _, _, default, _ in database.execute(f"pragma table_info({table})")}
    database.close()

    assert DEFAULTS[table] == {name: columns[name] for name in DEFAULTS[table]}
    shown = memory.admin.sql(f"select * from {table}", views=VIEWS["s3"]).columns
    assert [*columns] == [name for name in shown if name not in ("rowid",) and name in columns] or {*columns} <= {*shown}
    assert VIEWS["s2"] is VIEWS["s3"]


@pytest.mark.spec("S3-115", "S3-116", "S3-127", "S3-128", "S3-129", "S3-133")
def test_select_statements_of_the_documents_run(home, clock):
    """Types and text forms: ISO times, JSON lists, 0 and 1; what a turn and the queue say while they wait."""
    with Memory(home, owner="user:mei", clock=clock, learn="later") as memory:
        store = UnifiedStore(memory)
        store.save_turn("s1", None, "assistant", "ok", tool_calls=[{"name": "bash", "input": {}, "id": "c"}])
        store.save_turn("s1", None, "user", "用户说的话 and words")
        id = store.save_semantic(
            SemanticMemory(content="用户住在杭州", subject="小明", predicate="住址", tags=["home"], confidence=0.7)
        )
        store.update_semantic(id, {"content": "用户住在成都"})
        ask = memory.admin.sql

        rows = ask("select * from conversation_turns where has_tool_calls and extracted = 0", views=VIEWS["s3"])
        (row,) = [dict(zip(rows.columns, one, strict=True)) for one in rows.rows]
        assert ("s1", 0, "assistant", 1, "2026-03-01T08:00:00+00:00") == tuple(
            row[name] for name in ("session_id", "turn_index", "role", "has_tool_calls", "timestamp")
        )
        assert row["token_estimate"] >= 1
        (memory_row,) = ask(
            "select id, content, type, tags, confidence, decay_rate from memories where superseded_by is null", views=VIEWS["s3"]
        ).rows
        assert (id, "用户住在成都", "fact", '["home"]', 0.7, 0.1) == memory_row
        (before,) = ask("select content, superseded_by from memories where superseded_by is not null", views=VIEWS["s2"]).rows
        assert "用户住在杭州" == before[0]
        counted = "select count(*), sum(retry_count < max_retries) from extraction_queue where status = 'pending'"
        assert 1 == len(ask(counted, views=VIEWS["s3"]).rows)
        assert () == ask("select content_hash, embedding, model, dimensions from embedding_cache", views=VIEWS["s3"]).rows
    with Memory(home, scope="user:lan", clock=clock) as other:
        assert ((0,),) == other.admin.sql("select count(*) from memories", views=VIEWS["s3"]).rows
