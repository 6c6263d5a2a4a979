"""
R24: when the disk fails under a verb, the verb raises a typed error.

Each operation of the disk that a verb needs, reading and writing, is made to fail in turn. The verb raises a
StoreError, never swallows it, never answers as if nothing were there, and leaves nothing half done. (What bad
arguments do is in tests/test_bad_input.py; what a failing write leaves behind, in test_failing_disk.py.)
"""

import inspect
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import apsw
import pytest
from embedders import Hashed
from faults.disk import BROKEN, Disk
from faults.test_failing_disk import CALL, LONG, RECORDS, RESULT, live, opened, prepared, state
from hooking import capture
from integrity import check
from powers import permissions_hold
from sampling import Choice, drawn_for

from yiku import Memory
from yiku.admin import Admin
from yiku.errors import SettingsError, StoreError, YikuError
from yiku.flows.keep.remember import remember
from yiku.sessions import Sessions
from yiku.types import Erased, NightReport, Restored

QUESTION = "where do I live? 我住在哪里？"
SAMPLE = 1  # of the operations of a call fail, beside its first and its last; in the soak nearly all do


# Every public verb, as a call that succeeds on the prepared home.
def embedded(memory: Memory) -> object:
    memory._handle.given = Hashed()
    return memory.admin.embed()


def attached(memory: Memory) -> str:
    return memory.sessions.attachments()[0].id


VERBS: dict[str, Callable[[Memory], Any]] = {
    "record": lambda m: m.record([{"role": "user", "content": "第二 turn"}], session="s", idempotency_key="k"),
    "record_turn": lambda m: m.record_turn("assistant", "看 look", tool_calls=[CALL], tool_results=[RESULT]),
    "remember": lambda m: m.remember("I moved to Shenzhen 深圳"),
    "update": lambda m: m.update(live(m, "Ann"), "Ann likes green tea 绿茶"),
    "forget": lambda m: m.forget(session="s"),
    "restore": lambda m: m.restore(m.get_all(where={"state": "archived"})[0].id),
    "feedback": lambda m: m.feedback(live(m, "Ann"), "used"),
    "get": lambda m: m.get(live(m, "Ann"), as_of=datetime(2026, 5, 5, 13, tzinfo=UTC)),
    "get_all": lambda m: m.get_all(where={"tags": "drinks"}),
    "about": lambda m: m.about("Ann"),
    "related": lambda m: m.related(subject="Ann"),
    "history": lambda m: m.history("where do I live"),
    "why": lambda m: m.why(live(m, "Ann")),
    "recall": lambda m: m.recall(QUESTION),
    "explain": lambda m: m.explain(QUESTION),
    "context": lambda m: m.context(QUESTION),
    "retrieved": lambda m: m.retrieved(m.recall(QUESTION)),
    "search_traces": lambda m: m.search_traces("Oslo 搬"),
    "timeline": lambda m: m.timeline(),
    "status": lambda m: m.status(),
    "learn": lambda m: m.learn(),
    "confirm": lambda m: m.confirm(live(m, "Ann")),
    "reject": lambda m: m.reject(live(m, "Ann")),
    "sessions.compressing": lambda m: m.sessions.compressing([{"role": "user", "content": "新的 new"}], session="s"),
    "sessions.end": lambda m: m.sessions.end("s"),
    "sessions.get": lambda m: m.sessions.get("s"),
    "sessions.get_all": lambda m: m.sessions.get_all(),
    "sessions.messages": lambda m: m.sessions.messages("s"),
    "sessions.set": lambda m: m.sessions.set("s", task="写 report", 变量=1),
    "sessions.episodes": lambda m: m.sessions.episodes(),
    "sessions.scratchpad": lambda m: m.sessions.scratchpad(),
    "sessions.patch_scratchpad": lambda m: m.sessions.patch_scratchpad(add_next_steps=["发布 release"]),
    "sessions.edit_scratchpad": lambda m: m.sessions.edit_scratchpad("## Projects\n- 灯笼 lantern"),
    "sessions.attach": lambda m: m.sessions.attach(__file__, session="s", keep=True, description="一只猫"),
    "sessions.describe": lambda m: m.sessions.describe(attached(m), transcription="喵 meow"),
    "sessions.attachments": lambda m: m.sessions.attachments(),
    "sessions.content": lambda m: m.sessions.content(attached(m)),
    "admin.relearn": lambda m: m.admin.relearn(),
    "admin.consolidate": lambda m: m.admin.consolidate(),
    "admin.schedule": lambda m: m.admin.schedule(),
    "admin.report": lambda m: m.admin.report(),
    "admin.audit": lambda m: m.admin.audit(),
    "admin.sql": lambda m: m.admin.sql("select content from memories union all select content from conversation_turns"),
    "admin.review": lambda m: m.admin.review(),
    "admin.queue": lambda m: m.admin.queue(),
    "admin.spent": lambda m: m.admin.spent(),
    "admin.undo": lambda m: m.admin.undo(m.admin.journal(limit=1)[0].transaction),
    "admin.undo_run": lambda m: m.admin.undo_run("night 1"),
    "admin.journal": lambda m: m.admin.journal(),
    "admin.stats": lambda m: m.admin.stats(),
    "admin.captured": lambda m: m.admin.captured("s"),
    "admin.import_": lambda m: m.admin.import_(RECORDS, source="jsonl"),
    "admin.ingest": lambda m: (capture(m.settings.home, "prompt", prompt="新的 new"), m.admin.ingest()),
    "admin.blob": lambda m: m.admin.blob(next(turn.blob for turn in m.search_traces("Lantern 灯笼") if turn.blob)),
    "admin.erase": lambda m: m.admin.erase(session="s"),
    "admin.embed": embedded,
    "admin.export": lambda m: m.admin.export(BytesIO()),
    "admin.export_markdown": lambda m: m.admin.export_markdown(tempfile.mkdtemp(dir=Path(m.settings.home).parent)),
    "admin.backup": lambda m: m.admin.backup(),
    "admin.restore_backup": lambda m: m.admin.restore_backup(m.admin.backups()[0].name),
}  # fmt: skip
WAITS = {"sessions.compressing", "sessions.end"}  # what could not be learned on the way waits for `learn`: faults/test_learning.py
ANSWERED = {"record_turn"}  # what is stored is answered, whatever fails while it is read again: test_put_off.py
STEPS = {
    "admin.consolidate",
    "admin.import_",
    "admin.ingest",
    "admin.relearn",
    "learn",
    *WAITS,
}  # several transactions: those that are done stay done
# Closing leaves what it could not tidy to the next opening (tests/store/test_sqlite.py), a check says in its answer what
# it could not read; the others read no database.
NEVER_RAISES = {"close", "sessions.to_markdown", "admin.check", "admin.pause", "admin.resume", "admin.backups"}


def verbs() -> set[str]:
    """The public verbs that there are."""
    owners = ((Memory, ""), (Admin, "admin."), (Sessions, "sessions."))
    return {
        prefix + name
        for owner, prefix in owners
        for name, verb in vars(owner).items()
        if inspect.isfunction(verb) and not name.startswith("_")
    }


def test_every_public_verb_is_in_the_table() -> None:
    """What is added to Memory or its drawers comes into the table above."""
    assert verbs() == {*VERBS, *NEVER_RAISES}


class _File(apsw.VFSFile):
    """A file over whatever disk is the default, whose reads count and can fail as well."""

    def __init__(self, disk: Disk, base: str, name: Any, flags: list[int]) -> None:
        self.disk, self.name = disk, name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__(base, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self.disk.of_sqlite("read", self.name)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.of_sqlite("write", self.name)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self.disk.of_sqlite("flush", self.name)
        super().xSync(flags)


class _Files(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.disk, self.base = disk, apsw.vfs_names()[0]
        super().__init__("unreadable", self.base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self.disk, self.base, name, flags)


@contextmanager
def unreadable(folder: Path) -> Iterator[Disk]:
    """A disk on which also a read can fail."""
    disk = Disk(folder)
    files = _Files(disk)
    try:
        yield disk
    finally:
        files.unregister()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with all that the verbs need."""
    home = tmp_path_factory.mktemp("typed") / "home"
    with opened(home) as memory:
        prepared(memory)
        memory.record_turn("user", LONG)
        memory.remember("我住在深圳")
        memory.sessions.attach(__file__, session="s", keep=True)
        memory.admin.backup()
        memory.admin.consolidate(phase=0)
        remember(replace(memory._handle, run="night 1"), "Bo drinks coffee 咖啡", {})
    return home


def call_on_unreadable_disks(template: Path, home: Path, verb: str, choose: Choice) -> int:
    """Let operations of one call fail, each on a fresh home, in a handle whose caches are cold; how many did."""
    with unreadable(home) as disk:
        before, after, total = succeeded(template, home, verb, disk)
        ns = sorted({1, total, *choose(range(1, total + 1), SAMPLE)})
        for n in ns:
            whole = False
            with copied(template, home) as memory:
                disk.arm(n, BROKEN)
                try:
                    answer = VERBS[verb](memory)
                except StoreError:
                    assert disk.fired, "nothing failed, and yet the verb says so"
                else:
                    reported = (isinstance(answer, Erased) and not answer.clean) or (
                        isinstance(answer, NightReport) and bool(answer.notes)
                    )
                    tidying = isinstance(answer, (Erased, Restored))  # a temporary copy is closed; that all is done is seen below
                    whole = tidying and not reported
                    silent = reported or tidying or verb in WAITS | ANSWERED
                    assert silent or not disk.fired, f"{verb} swallowed a failed {disk.fired} (operation {n} of {total})"
                finally:
                    disk.disarm()
            assert disk.fired, f"operation {n} of {total} was not reached"
            assert not whole or state(home) == after, f"{verb} says that it is done, and it is not"
            # what fails after the commit, while the row is read again, is an error too
            assert verb in STEPS or state(home) in (before, after), f"half done after a failed {disk.fired}"
            if n % 5 == 1:  # a sample: it is the dearest part
                check(home / "yiku.db")
    return len(ns)


def copied(template: Path, home: Path) -> Memory:
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(template, home)
    return opened(home)


def succeeded(template: Path, home: Path, verb: str, disk: Disk) -> tuple[object, object, int]:
    """The state before and after a call that succeeds, and how many operations it has."""
    with copied(template, home) as memory:
        before = state(home)
        disk.arm(0, None)
        VERBS[verb](memory)
        total = len(disk.seen)
    return before, state(home), total


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.parametrize("verb", drawn_for("verbs of a failing disk")([*VERBS], 20))  # in the soak all
@pytest.mark.long
def test_R24_a_verb_says_when_the_disk_fails_under_it(template: Path, tmp_path: Path, verb: str, some: Choice) -> None:
    """Whichever read, write or flush it is: a StoreError from the verb, no answer made of half a store, and nothing half done."""
    assert call_on_unreadable_disks(template, tmp_path / "home", verb, some) > 1


def test_R24_a_blob_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """Its file lies outside the database: without permission, as a folder, and away."""
    with opened(tmp_path / "home") as memory:
        name = memory.record_turn("user", LONG).blob
        (path,) = memory._handle.blobs.glob("*/*.z")
        path.chmod(0)
        with permissions_hold(), pytest.raises(StoreError, match=name[:8]):
            memory.admin.blob(name)
        path.unlink()
        with pytest.raises(YikuError, match=name[:8]):
            memory.admin.blob(name)
        path.mkdir()
        with pytest.raises(StoreError, match=name[:8]):
            memory.admin.blob(name)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"limit = [", b"a = " + b"[" * 100_000, b"limit = 1\nlimit = 2", b"x = 1", b"#" * 2_000_000]
)
def test_R24_settings_that_cannot_be_read_say_so(tmp_path: Path, content: bytes) -> None:
    """Bytes that are no text, half a line, 100,000 brackets, a key twice, an unknown one, two megabytes."""
    home = tmp_path / "home"
    opened(home).close()
    (home / "yiku.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"yiku\.toml"):
        Memory(home)


def test_R24_settings_without_permission_say_so(tmp_path: Path) -> None:
    """As when a file was restored as another user."""
    home = tmp_path / "home"
    opened(home).close()
    os.chmod(home / "yiku.toml", 0)
    with permissions_hold(), pytest.raises(SettingsError, match=r"yiku\.toml"):
        Memory(home)
