"""
R7: no verb drops SQLite's locks on the live store.

When a process closes any descriptor of a file, all its POSIX locks on that file are gone, SQLite's too. The
next process to close the store may then take the write-ahead log away, under a writer that does not notice;
what is acknowledged later is lost, and the file looks whole. So nothing of ours opens yiku.db, -wal or -shm
but SQLite: no verb of `Memory`, no verb of the command line. It is watched from inside, by what Python opens,
and from outside, by a process that tries to take the locks that we must hold.
"""

import fcntl
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import apsw
import commands
import pytest
from embedders import Hashed
from faults.power import in_memory
from integrity import check
from workers import READY

from yiku import Memory
from yiku.admin import Admin
from yiku.errors import StoreError
from yiku.flows.keep.remember import remember
from yiku.interfaces.cli import app
from yiku.notes import Notes
from yiku.sessions import Sessions
from yiku.store import database
from yiku.types import TurnRecord

LIVE = ("yiku.db", "yiku.db-wal", "yiku.db-shm")
# What a connection with a read transaction holds (sqlite.org/src, os_unix.c and wal.c): name, first byte, bytes.
SHARED = ("yiku.db", 0x40000002, 510)
READING = ("yiku.db-shm", 123, 5)
CONNECTED = ("yiku.db-shm", 128, 1)
LONG = "灯笼 Lantern " * 8_000  # goes into a blob
TRIES = 5  # of what depends on who is first
COMMITS, EACH = 100, 10  # of a writer; after so many of them somebody else opens and closes the store


# ------------------------------------------------------------------ who looks


def other_process(pipe: Connection) -> None:
    """Do what the pipe says, until it closes; a process that shares nothing with the one that asks."""
    while True:
        try:
            what, home = pipe.recv()
        except EOFError:
            return
        pipe.send(OTHERS[what](home))


def missing(home: Path) -> list[tuple[str, int, int]]:
    """Which of the locks that a reader must hold nobody holds."""
    found = []
    for lock in (SHARED, READING, CONNECTED):
        name, start, length = lock
        with open(home / name, "r+b") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
            except OSError:
                continue
            found.append(lock)
    return found


def look_with_apsw(home: Path) -> None:
    connection = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(10_000)
    connection.execute("select count(*) from conversation_turns").fetchall()
    connection.close()


def look_with_sqlite3(home: Path) -> None:
    import sqlite3  # another SQLite than ours, often an old one

    connection = sqlite3.connect(home / "yiku.db", timeout=10)
    connection.execute("select count(*) from conversation_turns").fetchall()
    connection.close()


def look_with_yiku(home: Path) -> None:
    with Memory(home) as memory:
        memory.timeline(limit=1)


OTHERS: dict[str, Callable[[Path], Any]] = {
    "probe": missing,
    "apsw": look_with_apsw,
    "sqlite3": look_with_sqlite3,
    "yiku": look_with_yiku,
}


@pytest.fixture(scope="module")
def ask() -> Iterator[Callable[[str, Path], Any]]:
    """Ask the other process."""
    ours, theirs = READY.Pipe()
    process = READY.Process(target=other_process, args=(theirs,))
    process.start()
    theirs.close()

    def asked(what: str, home: Path) -> Any:
        ours.send((what, home))
        return ours.recv()

    yield asked
    ours.close()
    process.join()


_live: set[str] = set()  # the paths that are watched; an audit hook cannot be taken away, so ours looks here
_opened: list[str] = []
_hooked: list[object] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _live or event not in ("open", "sqlite3.connect") or not isinstance(arguments[0], (str, bytes, os.PathLike)):
        return
    given = os.fsdecode(arguments[0])
    below = [path for path in _live if path.endswith(f"/{given}")]  # as it is named below an open folder
    path = below[0] if below else os.path.realpath(given)
    if path in _live and os.path.exists(path):  # making a file that nobody can have open yet drops no lock
        _opened.append(path)


@contextmanager
def watched(home: Path) -> Iterator[list[str]]:
    """Which of the store's live files Python opened meanwhile."""
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked.append(_audit)
    _opened.clear()
    _live.update(str(home.resolve() / name) for name in LIVE)
    try:
        yield _opened
    finally:
        _live.clear()


@contextmanager
def reading(home: Path) -> Iterator[None]:
    """Another connection of this process is in the middle of a read."""
    connection = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try:
        connection.execute("begin")
        connection.execute("select count(*) from conversation_turns").fetchall()
        yield
    finally:
        connection.close()


# ------------------------------------------------------------------ every verb


def live(memory: Memory) -> str:
    return memory.get_all()[0].id


def forgotten(memory: Memory) -> str:
    memory.forget(id := live(memory))
    return id


def undoable(memory: Memory) -> str:
    remember(replace(memory._handle, run="night 1"), "Bo drinks coffee 咖啡", {})
    return "night 1"


def attached(memory: Memory) -> str:
    return memory.sessions.attach(__file__, session="s", keep=True).id


def page(memory: Memory) -> str:
    """A document outside the home."""
    path = Path(memory.settings.home).parent / "page.md"
    path.write_text("# 灯笼\n\nThe lantern is lit.\n", encoding="utf-8")
    return str(path)


def embedded(memory: Memory) -> object:
    memory._handle.given = Hashed()
    return memory.admin.embed()


VERBS: dict[str, Callable[[Memory], object]] = {
    "record": lambda m: m.record([{"role": "user", "content": "早 morning"}], idempotency_key="k"),
    "record_turn": lambda m: m.record_turn("user", LONG + "again"),
    "remember": lambda m: m.remember("我住在 Oslo。"),
    "update": lambda m: m.update(live(m), "Ann likes green tea 绿茶"),
    "forget": lambda m: m.forget(live(m)),
    "restore": lambda m: m.restore(forgotten(m)),
    "feedback": lambda m: m.feedback(live(m), "used"),
    "get": lambda m: m.get(live(m)),
    "get_all": lambda m: m.get_all(where={"kind": "fact"}),
    "about": lambda m: m.about("Ann"),
    "related": lambda m: m.related(subject="Ann"),
    "history": lambda m: m.history(live(m)),
    "why": lambda m: m.why(live(m)),
    "recall": lambda m: m.recall("what does Ann like? 安喜欢什么？"),
    "explain": lambda m: m.explain("where do I live?"),
    "context": lambda m: m.context("what does Ann like?"),
    "retrieved": lambda m: m.retrieved(list(m.recall("Ann"))),
    "search_traces": lambda m: m.search_traces("灯笼"),
    "timeline": lambda m: m.timeline(),
    "status": lambda m: m.status(),
    "learn": lambda m: m.learn(),
    "confirm": lambda m: m.confirm(live(m)),
    "reject": lambda m: m.reject(live(m)),
    "sessions.compressing": lambda m: m.sessions.compressing([{"role": "user", "content": "新的 new"}], session="s"),
    "sessions.end": lambda m: m.sessions.end("default"),
    "sessions.get": lambda m: m.sessions.get("default"),
    "sessions.get_all": lambda m: m.sessions.get_all(),
    "sessions.messages": lambda m: m.sessions.messages("default"),
    "sessions.set": lambda m: m.sessions.set("default", task="写 report"),
    "sessions.episodes": lambda m: m.sessions.episodes(),
    "sessions.scratchpad": lambda m: m.sessions.scratchpad(),
    "sessions.patch_scratchpad": lambda m: m.sessions.patch_scratchpad(add_next_steps=["发布 release"]),
    "sessions.edit_scratchpad": lambda m: m.sessions.edit_scratchpad("## Projects\n- 灯笼 lantern"),
    "sessions.to_markdown": lambda m: m.sessions.to_markdown(m.sessions.scratchpad(), "zh"),
    "sessions.attach": lambda m: m.sessions.attach(__file__, session="s", keep=True),
    "sessions.describe": lambda m: m.sessions.describe(attached(m), transcription="喵 meow"),
    "sessions.attachments": lambda m: m.sessions.attachments(),
    "sessions.content": lambda m: m.sessions.content(attached(m)),
    "notes.sync": lambda m: m.notes.sync(),
    "notes.index_document": lambda m: m.notes.index_document(page(m)),
    "notes.index_skill": lambda m: m.notes.index_skill(page(m)),
    "notes.publish": lambda m: (m.notes.publish(), m.notes.publish()),
    "notes.edited": lambda m: m.notes.edited(live(m), before="a", after="Ann likes 绿茶 more"),
    "notes.append_daily": lambda m: m.notes.append_daily("灯笼 lantern"),
    "notes.promote": lambda m: m.notes.promote("灯笼 lantern", topic="灯"),
    "notes.compact": lambda m: m.notes.compact(older_than=0),
    "notes.watch": lambda m: m.notes.watch(stopped=lambda: True),
    "admin.relearn": lambda m: m.admin.relearn(),
    "admin.consolidate": lambda m: m.admin.consolidate(),
    "admin.schedule": lambda m: m.admin.schedule(),
    "admin.report": lambda m: m.admin.report(m.admin.consolidate(phase=0).run),
    "admin.undo_run": lambda m: m.admin.undo_run(undoable(m)),
    "admin.audit": lambda m: m.admin.audit(),
    "admin.sql": lambda m: m.admin.sql("select content from memories union all select content from conversation_turns"),
    "admin.ingest": lambda m: m.admin.ingest(),
    "admin.review": lambda m: m.admin.review(),
    "admin.queue": lambda m: m.admin.queue(),
    "admin.spent": lambda m: m.admin.spent(),
    "close": lambda m: m.close(),
    "admin.erase": lambda m: m.admin.erase(live(m)),
    "admin.check": lambda m: m.admin.check("deep"),
    "admin.export": lambda m: m.admin.export(io.BytesIO()),
    "admin.export_markdown": lambda m: m.admin.export_markdown(Path(m.settings.home).parent / "pages"),
    "admin.backup": lambda m: m.admin.backup(),
    "admin.backups": lambda m: m.admin.backups(),
    "admin.restore_backup": lambda m: m.admin.restore_backup(Path(m.admin.backup().path).name),
    "admin.undo": lambda m: m.admin.undo(m.admin.journal(limit=1)[0].transaction),
    "admin.journal": lambda m: m.admin.journal(),
    "admin.stats": lambda m: m.admin.stats(),
    "admin.captured": lambda m: m.admin.captured("s"),
    "admin.import_": lambda m: m.admin.import_([TurnRecord(1, {"role": "user", "content": "导入 one"})], source="x"),
    "admin.blob": lambda m: m.admin.blob(m.search_traces()[0].blob),
    "admin.pause": lambda m: m.admin.pause(),
    "admin.resume": lambda m: m.admin.resume(),
    "admin.embed": embedded,
}

COMMANDS: dict[str, list[str]] = {
    "record": ["早 morning"],
    "remember": ["我住在 Oslo。"],
    "update": ["ID", "Ann likes green tea 绿茶"],
    "feedback": ["ID", "used"],
    "forget": ["ID"],
    "restore": ["GONE"],
    "erase": ["ID", "--yes"],
    "undo": ["OPERATION"],
    "import": ["jsonl", "FILE"],
    "recall": ["what does Ann like?"],
    "context": ["安喜欢什么？"],
    "explain": ["Ann"],
    "traces": ["灯笼"],
    "timeline": [],
    "get": ["ID"],
    "list": [],
    "history": ["ID"],
    "learn": [],
    "review": [],
    "queue": [],
    "confirm": ["ID"],
    "reject": ["ID"],
    "compress": ["MESSAGES", "--session", "s"],
    "end": ["default"],
    "sessions": [],
    "messages": ["default"],
    "episodes": [],
    "scratchpad": ["--add-step", "发布 release"],
    "attach": ["FILE", "--session", "s", "--keep"],
    "attachments": [],
    "describe": ["ATTACHMENT", "--description", "一只猫 a cat"],
    "sync": [],
    "index": ["PAGE"],
    "publish": [],
    "edit": ["--help"],  # it wants an editor; notes.edited is above
    "pause": [],
    "resume": [],
    "note": ["灯笼 lantern"],
    "promote": ["灯笼 lantern"],
    "compact": ["--days", "0"],
    "consolidate": [],
    "schedule": [],
    "report": [],
    "why": ["ID"],
    "audit": [],
    "sql": ["select * from memories"],
    "ingest": [],
    "prompt": ["--for", "what does Ann like?"],
    "compile": [],
    "mcp": ["--help"],  # it serves until it is asked to end
    "install": ["--help"],  # it opens no home: it writes the files of other programs
    "uninstall": ["--help"],
    "watch": ["--help"],  # it ends when it is asked to
    "backup": [],
    "backups": [],
    "restore-backup": ["BACKUP", "--yes"],
    "export": ["EXPORT"],
    "embed": ["--help"],  # without a model it does nothing; admin.embed is above
    "check": ["--deep"],
    "repair": ["--yes"],
    "status": [],
    "stats": [],
    "journal": [],
    "config": [],
    "demo": [],
    "completion": ["bash"],
    "version": [],
}


def opened(home: Path, **settings: Any) -> Memory:
    # a close waits for readers, and ours reads on: it need not wait long
    return Memory(home, owner="user:mei", **{"busy_timeout_s": 0.05, **settings})


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("locks") / "home"
    with opened(home) as memory:
        memory.record_turn("user", LONG)
        memory.remember("I like coffee 咖啡")
        memory.remember("Ann likes tea 茶")
    return home


@pytest.fixture
def prepared(template: Path, home: Path) -> Path:
    return Path(shutil.copytree(template, home))


@pytest.fixture(scope="module")
def lived(template: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The home with something to confirm, restore, undo, describe and put back; and what each is called."""
    home = Path(shutil.copytree(template, tmp_path_factory.mktemp("lived") / "home"))
    with opened(home) as memory:
        memory.admin.consolidate(phase=0)
        kept, gone = memory.get_all()[:2]
        names = {
            "ID": kept.id,
            "GONE": gone.id,
            "ATTACHMENT": memory.sessions.attach(__file__, session="s").id,
            "OPERATION": str(memory.forget(gone.id).operation),
            "BACKUP": Path(memory.admin.backup().path).name,
        }
    return home, names


def test_R7_each_verb_there_is_is_watched():
    """A verb that is added gets its call here."""
    drawers = [("", Memory), ("admin.", Admin), ("sessions.", Sessions), ("notes.", Notes)]
    there = {
        f"{drawer}{name}" for drawer, kind in drawers for name, verb in vars(kind).items() if name[0] != "_" and callable(verb)
    }

    assert there == set(VERBS)
    assert set(app.VERBS) == set(COMMANDS)


@pytest.mark.parametrize("verb", VERBS)
def test_R7_no_verb_of_memory_touches_the_live_files(prepared, ask, verb):
    """Python opens none of them, and the locks of a connection that reads are there before, between and after."""
    with opened(prepared) as memory, reading(prepared), watched(prepared) as found:
        assert [] == ask("probe", prepared)
        VERBS[verb](memory)
        assert [] == ask("probe", prepared)
        with opened(prepared):
            assert [] == ask("probe", prepared)
        assert [] == found
        assert [] == ask("probe", prepared)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("verb", COMMANDS)
def test_R7_no_verb_of_the_command_line_touches_the_live_files(lived, ask, tmp_path, monkeypatch, verb):
    """The same for each verb in the process of a program that reads the store while it calls it."""
    monkeypatch.setenv("YIKU_BUSY_TIMEOUT_S", "0.05")
    monkeypatch.setattr(database, "CLOSE_WITHIN_S", 0.05)  # who reads here would be waited for by each close
    (tmp_path / "lines.jsonl").write_text('{"role": "user", "content": "导入 one"}\n')
    (tmp_path / "messages.json").write_text('[{"role": "user", "content": "新的 new"}]')
    prepared, names = Path(shutil.copytree(lived[0], tmp_path / "home")), lived[1]
    (tmp_path / "page.md").write_text("# 灯笼\n")
    files = {
        "PAGE": str(tmp_path / "page.md"),
        "FILE": str(tmp_path / "lines.jsonl"),
        "EXPORT": str(tmp_path / "home.jsonl"),
        "MESSAGES": str(tmp_path / "messages.json"),
    }
    target = tmp_path / "demo" if verb == "demo" else prepared
    with reading(prepared), watched(target) as found:
        code = app.main([verb, *((names | files).get(word, word) for word in COMMANDS[verb]), "--home", str(target)])

        said = 1 if verb == "erase" else 0  # who reads here keeps the log from being emptied, and the receipt says so
        assert (said, []) == (code, found)
        assert [] == ask("probe", prepared)


def test_R7_the_watch_sees_what_it_should(prepared, ask):
    """The test can tell: reading the database file is seen from inside, and from outside as locks that are gone."""
    with opened(prepared), reading(prepared), watched(prepared) as found:
        (prepared / "yiku.db").read_bytes()

        assert [str(prepared / "yiku.db")] == found
        assert SHARED in ask("probe", prepared)


# ------------------------------------------------------------------ what others may do beside us


def lost_beside(home: Path, ours: Callable[[], object], theirs: Callable[[], object]) -> int:
    """How many of our commits are lost when, now and then, we do this and another process that."""
    with opened(home) as memory:
        for i in range(COMMITS):
            memory.record_turn("user", f"第 {i} turn")
            if i % EACH == 0:
                ours()
                theirs()
        # as if killed: closing could save what lies in a log that nobody else can see, and writes what was learned from at once
        memory._handle.store._database.wrote = False
        memory._handle.read.clear()
    with opened(home) as memory:
        return COMMITS - len(memory.timeline(limit=COMMITS))


@pytest.fixture
def quick_home(tmp_path: Path) -> Iterator[Path]:
    with in_memory(tmp_path) as folder:
        yield folder / "home"


@pytest.mark.parametrize("other", ["apsw", "sqlite3", "yiku"])
@pytest.mark.long
def test_R7_another_process_that_opens_and_closes_costs_nothing(quick_home, ask, other):
    """While we write and look at our files by `stat`, others open, read and close the store: no commit is lost."""

    def stat() -> None:
        assert all((quick_home / name).stat().st_size >= 0 for name in LIVE)

    assert 0 == lost_beside(quick_home, stat, lambda: ask(other, quick_home))
    check(quick_home / "yiku.db")


@pytest.mark.parametrize(("names", "other"), [(("yiku.db",), "sqlite3"), (("yiku.db", "yiku.db-shm"), "apsw")])
@pytest.mark.long
def test_R7_beside_a_process_that_reads_its_own_live_files_commits_are_lost(quick_home, ask, names, other):
    """The test can tell: were we to read the files ourselves, what another does harmlessly above would cost us commits."""

    def lost(home: Path) -> int:
        def read() -> None:
            with suppress(FileNotFoundError):  # the other one took them away
                for name in names:
                    (home / name).read_bytes()

        return lost_beside(home, read, lambda: ask(other, home))

    with suppress(StoreError):  # or the store is found to be broken
        assert any(lost(quick_home.with_name(f"home {n}")) for n in range(TRIES))


# ------------------------------------------------------------------ the SQLite that we accept


@pytest.mark.parametrize(("version", "code"), [("3.51.2", 1), ("3.40.1", 1), ("3.51.3", 0)])
def test_R6_a_sqlite_that_can_lose_rows_is_refused(tmp_path, version, code):
    """Before 3.51.3 a reset of the WAL can lose acknowledged rows: no store is made or opened, and it says why."""
    # the wheel brings one SQLite, so an older one is played by what tells its version, in a process of its own
    program = f"""
import sys, apsw
apsw.sqlite_lib_version = lambda: {version!r}
from yiku.interfaces.cli.app import main
sys.exit(main(["record", "早 morning", "--home", sys.argv[1]]))"""
    for _ in range(2):
        done = commands.run(tmp_path / "home", program=program)

        assert code == done.code
        assert (code == 0) == ((tmp_path / "home" / "yiku.db").stat().st_size > 0), "an empty file is no store"
        assert code == 0 or "SQLite 3.51.3 or later" in " ".join(done.err.split())
