"""
R17: migrating a home of an earlier version, killed or failing at any operation.

A home of each earlier schema lies in tests/homes. Whatever is killed or fails, the next opening finishes, and every
row, text, id and history is what it was.
"""

import os
import re
import shutil
import signal
import tarfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from faults.disk import BROKEN, FULL, Failure, failing
from integrity import check
from powers import read_only
from workers import READY, clocked

from yiku import Memory
from yiku.errors import ReadOnly, SchemaTooNew, StorageFull, StoreError
from yiku.files.vault import Home
from yiku.interfaces.importers import yiku_jsonl
from yiku.rules.text import analyze
from yiku.store import connect, copy, schema
from yiku.store.gate import Gate
from yiku.types import State

HOMES = Path(__file__).resolve().parent.parent / "homes"
SCHEMAS = tuple(range(1, len(schema.MIGRATIONS)))
EVERY = 40  # operations, here; the soak takes each
BEFORE = f"before-schema-{len(schema.MIGRATIONS)}.db"
# Of the tables of schema 1: what is derived from the rest of a row, and what later schemas added.
DERIVED = {
    ("changes", "digest"),
    ("conversation_turns", "digest"),
    ("memories", "digest"),
    ("memory_sources", "span_start"),
    ("memory_sources", "span_end"),
}
OLD_TABLES = (
    "scopes sessions conversation_turns turn_state memories memory_sources memory_entities memory_relations memory_tags"
    " memory_tag_rel access_log changes receipts index_stats"
).split()


def old_home(to: Path, version: int) -> Path:
    """A home of an earlier version, as it lay on the disk."""
    with tarfile.open(HOMES / f"schema-{version}.tar.xz") as found:
        found.extractall(to, filter="data")
    return to


def held(home: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows that an earlier version wrote, without what is derived from them."""
    connection = apsw.Connection(str(home / "yiku.db"))
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        found: dict[str, list[tuple[object, ...]]] = {}
        for table in OLD_TABLES:
            names = [row[1] for row in connection.execute(f"pragma table_info({table})") if (table, row[1]) not in DERIVED]
            found[table] = sorted(map(tuple, connection.execute(f"select {', '.join(names)} from {table}")), key=repr)
        return found
    finally:
        connection.close()


def said(home: Path) -> dict[str, object]:
    """What the home answers: texts, histories, the past, in both scopes."""
    found: dict[str, object] = {}
    for scope in ("user:mei", "user:bo"):
        with Memory(home, scope=scope) as memory:
            found[scope] = [
                memory.timeline(limit=100),
                memory.get_all(limit=100, where={"state": {"in": ["active", "archived"]}}),
                [memory.history(m.id) for m in memory.get_all(limit=100)],
                [memory.get_all(as_of=f"2026-03-01T09:00:{second:02}Z") for second in range(0, 60, 5)],
                [(hit.id, hit.text) for hit in memory.recall("where do I live? 我住在哪里？ tea 茶 lantern 灯笼")],
                [memory.admin.blob(turn.blob) for turn in memory.search_traces(limit=100) if turn.blob],
            ]
    return found


def temporary(home: Path) -> list[Path]:
    return [path for path in home.rglob(".*") if path.is_file() and path.name != ".gitignore"]


@pytest.fixture(scope="module", params=SCHEMAS, ids="schema {}".format)
def version(request: pytest.FixtureRequest) -> int:
    """Of which schema the old home is."""
    number: int = request.param
    return number


@pytest.fixture(scope="module")
def wanted(version: int, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[tuple[object, ...]]], dict[str, object]]:
    """The rows of the old home, and what it says when nothing goes wrong."""
    home = old_home(tmp_path_factory.mktemp("wanted") / "home", version)
    return held(home), said(home)


@pytest.mark.long
def test_R17_an_old_home_is_migrated_and_says_what_it_said(tmp_path, version, wanted):
    """Every row is there, the backup from before is sound and of the old schema, and the store is whole."""
    home = old_home(tmp_path / "home", version)
    answered = said(home)

    assert wanted == (held(home), answered)
    assert all(any(found) for found in answered.values())
    finished(home, version)


@pytest.mark.parametrize("came", ["connected", "looked"])
def test_who_came_to_an_old_home_before_it_was_migrated_writes_checksums_too(tmp_path, monkeypatch, version, came):
    """Several agents start on a home of an earlier version: who had opened it, or looked at it and waits, spoils nothing."""
    home = old_home(tmp_path / "home", version)
    path, key, migrated = home / "yiku.db", Home(home).key(), threading.Event()
    to = connect.open_connection

    def connected(*args: object, **settings: object) -> apsw.Connection:
        connection = to(*args, **settings)
        if came == "connected":
            migrated.wait()
        return connection

    monkeypatch.setattr(connect, "open_connection", connected)
    with ThreadPoolExecutor(max_workers=1) as other:
        with Gate(home / "locks" / "write.lock", 30.0).held():
            coming = other.submit(clocked, home)
            time.sleep(0.3)  # it comes
            first = to(path, durability="full", network=False, busy_timeout_s=30.0)
            schema.migrate(first, path, analyzer=analyze.VERSION, key=key, network=False)
        migrated.set()
        memory = coming.result()
        first.wal_checkpoint()  # the WAL begins anew, without the first page
        first.close()
        said_last = other.submit(memory.record_turn, "user", "你好").result()
        other.submit(memory.close).result()

    finished(home, version)
    with clocked(home) as memory:
        assert said_last == memory.get(said_last.id)


@pytest.mark.long
def test_an_old_home_is_learned_from_and_lives_on(tmp_path, version):
    """What was said before is learned from, its sessions can be ended, and all that is new can be erased, exported, undone."""
    home = old_home(tmp_path / "home", version)
    with Memory(home) as memory:
        before = memory.get_all()
        assert len(memory.search_traces(limit=100)) == memory.learn().turns > 2
        assert len(before) <= len(memory.get_all())
        episode = memory.sessions.end("s1").episode
        assert episode is not None and "save" in episode.tools_used
        memory.admin.export(tmp_path / "out.jsonl")
        memory.admin.undo(next(row.transaction for row in memory.admin.journal() if row.table == "episodes"))
        assert "s1" not in {episode.session for episode in memory.sessions.episodes()}
        assert memory.admin.erase(session="s1").clean
    check(home / "yiku.db")


def test_a_home_of_each_version_is_upgraded_asked_and_exported(tmp_path, version):
    """What it held is asked for, exported as lines that a new home takes in whole, and exported as pages; in both of its scopes."""
    home = old_home(tmp_path / "home", version)
    for scope, question, answer in (
        ("user:mei", "where do I live? 我住在哪里？", "Oslo|奥斯陆"),
        ("user:bo", "小明喜欢什么？", "绿茶"),
    ):
        with Memory(home, scope=scope) as memory:
            assert re.search(answer, memory.recall(question).text)
            assert () == memory.admin.check("deep").problems
            lines = memory.admin.export(tmp_path / f"{version}-{scope[5:]}.jsonl")
            pages = memory.admin.export_markdown(tmp_path / f"pages-{scope[5:]}")
            stored, turns = memory.get_all(limit=100), memory.search_traces(limit=100)
        with Memory(tmp_path / "new", scope=scope) as new:
            taken = new.admin.import_(yiku_jsonl.read(Path(lines.path)), source="yiku", trust=True)
            assert (lines.turns, lines.memories) == (taken.turns, taken.memories)
            assert () == taken.problems
            assert {row.id: row.content for row in stored} == {row.id: row.content for row in new.get_all(limit=100)}
            assert {turn.id: turn.content for turn in turns} == {turn.id: turn.content for turn in new.search_traces(limit=100)}
        assert (pages.memories, pages.turns) == (len([row for row in stored if row.state is State.ACTIVE]), len(turns))


def backup_is_sound(home: Path, version: int) -> None:
    backup = home / "backups" / BEFORE
    assert [] == copy.page_errors(backup)
    connection = copy.open_copy(backup)
    try:
        assert [(version,)] == [tuple(row) for row in connection.execute("pragma user_version")]
    finally:
        connection.close()


# ------------------------------------------------------------------ kills and failures


@pytest.mark.long
def test_R17_a_migration_killed_at_any_operation_is_finished_by_the_next_opening(tmp_path, version, wanted):
    """Killed before every fortieth disk operation: the next opening finishes, nothing is lost, no file is left over."""
    assert 10 < killed_migrations(tmp_path, EVERY, version)


def killed_migrations(folder: Path, every: int, version: int) -> int:
    """Run it in a process of its own, which has no connection open and may fork; how many operations there are."""
    process = READY.Process(target=kill_migrations, args=(folder, every, version))
    process.start()
    process.join()
    assert 0 == process.exitcode
    return int((folder / "operations").read_text())


def kill_migrations(folder: Path, every: int, version: int) -> None:
    template = old_home(folder / "template", version)
    rows, n = None, 1
    while True:
        home = Path(shutil.copytree(template, folder / f"home{n}"))
        child = os.fork()
        if child == 0:
            with failing(folder) as disk:
                disk.arm(n, None)
                Memory(home).close()
                os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert ended in (0, -signal.SIGKILL), ended
        Memory(home).close()
        finished(home, version)
        rows = held(home) if rows is None else rows
        assert rows == held(home), f"killed before operation {n}"
        shutil.rmtree(home)
        if ended == 0:
            break
        n += every
    assert rows == held(template)
    (folder / "operations").write_text(str(n))


def finished(home: Path, version: int) -> None:
    """The store is today's and whole, the backup of the one before is there, and nothing else."""
    check(home / "yiku.db")
    backup_is_sound(home, version)
    assert [] == temporary(home)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.parametrize("failure", [FULL, BROKEN], ids=["full", "broken"])
@pytest.mark.long
def test_R17_a_migration_whose_disk_fails_is_finished_by_the_next_opening(tmp_path, version, wanted, failure):
    """Every fortieth operation fails: a typed error, or none where it did not matter; then as after a kill."""
    assert 10 < failed_migrations(tmp_path, failure, EVERY, version, wanted[0])


def failed_migrations(folder: Path, failure: Failure, every: int, version: int, rows: dict[str, list[tuple[object, ...]]]) -> int:
    template = old_home(folder / "template", version)
    operations = seen(folder, lambda: Memory(shutil.copytree(template, folder / "counted")).close())
    for n in range(1, operations + 1, every):
        home = Path(shutil.copytree(template, folder / f"home{n}"))
        with failing(folder) as disk:
            disk.arm(n, failure)
            with suppress(StorageFull if failure is FULL else StoreError):  # no error where the operation did not matter
                Memory(home).close()
            disk.disarm()
        Memory(home).close()
        finished(home, version)
        assert rows == held(home), f"after a failed {disk.fired} (operation {n})"
        shutil.rmtree(home)
    return operations


def seen(folder: Path, call: Callable[[], object]) -> int:
    with failing(folder) as disk:
        disk.arm(0, None)
        call()
        return len(disk.seen)


# ------------------------------------------------------------------ what is not migrated


def test_R17_a_later_store_is_refused_untouched(tmp_path):
    """SchemaTooNew, at each opening, and every byte is as it was."""
    home = tmp_path / "home"
    Memory(home, owner="user:mei").close()
    connection = apsw.Connection(str(home / "yiku.db"))
    connection.execute(f"pragma user_version = {len(schema.MIGRATIONS) + 1}")
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.suffix not in (".db-shm", ".db-wal")}

    for _ in range(2):
        with pytest.raises(SchemaTooNew, match=f"schema {len(schema.MIGRATIONS) + 1}"):
            Memory(home)
    assert before == {path: path.read_bytes() for path in before}


def test_an_old_home_with_linked_backups_is_left_as_it_is(tmp_path):
    """The copy from before would lie elsewhere: a typed error says so, and once the link is gone the home opens."""
    home, outside = old_home(tmp_path / "home", 4), tmp_path / "outside"
    outside.mkdir()
    (home / "backups").symlink_to(outside)
    with pytest.raises(StoreError, match="backups is a link"):
        Memory(home)
    assert [] == [*outside.iterdir()]
    (home / "backups").unlink()
    Memory(home).close()


def test_R17_an_old_home_that_can_only_be_read_says_so(tmp_path, version, wanted):
    """It cannot be migrated there: ReadOnly, and nothing is changed; where it can be written, it is."""
    home = old_home(tmp_path / "home", version)
    with read_only(home), pytest.raises(ReadOnly):
        Memory(home)

    assert wanted[0] == held(home)
    assert wanted[1] == said(home)
