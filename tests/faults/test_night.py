"""
A night that is killed or whose disk fails at any operation: the next call completes it with the same result.

Each home has work for every phase: statements that end, fade and have lain as junk, turns that wait, a session without its
episode, statements that repeat, contradict, confirm and refute others, a trait that is sure enough, a record of a file that says
nothing, tags that nothing carries, a backup that is due.
"""

import re
import shutil
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from faults.disk import BROKEN, FULL, failing
from workers import READY

from yiku import Memory
from yiku.errors import StoreError
from yiku.flows.night import consolidate
from yiku.types import Attachment, Memories, Records, SemanticMemory

START = datetime.fromisoformat("2026-03-01T09:00:00+01:00")
LATER = timedelta(days=130)
TRIED = 6
KINDS = {"full": FULL, "broken": BROKEN}
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
COMPARED = tuple(
    "content state reason standing priority importance confidence tags entities pinned "
    "expires_at auto_delete_at flag used method".split()
)


def opened(home: Path, at: datetime) -> Memory:
    """The home at a time, which stands still; nothing is learned when it is said."""
    return Memory(home, owner="user:mei", names=["Mei"], clock=lambda: at, learn="later", search="words")


def prepared(home: Path, statements: int = 6) -> None:
    """A home with work for each phase of a night that comes LATER."""
    with opened(home, START) as memory:
        for i in range(statements):
            details: dict[str, Any] = [{"priority": "transient"}, {"ttl_days": 9}, {"standing": "belief"}, {}][i % 4]
            memory.remember(f"Lamp {i} burns oil number {i}. 第{i}盏灯。", tags=[f"lamp{i % 5}"], **details)
        memory.sessions.attach("/nowhere/灯 lamp.txt", session="s1")
        memory.sessions.attach(__file__, session="s1", description="a test")
        memory.remember("The hall is dark. 大厅很暗。", tags=["unused"], idempotency_key="k1")
        (one,) = memory.get_all(where={"tags": "unused"})
        memory.update(one.id, tags=[])
        memory.remember("Maybe the harbour office is a wooden house", standing="belief")
        memory.remember("我姐姐可能住在昆明", standing="belief")
        memory.remember("Our office has 12 meeting rooms")
        memory.remember("We run 6 km every morning")
        memory.remember("磨坊六点开门")
    with opened(home, START + timedelta(days=10)) as memory:
        memory.admin.consolidate(phase=0)
        memory.remember("The harbour office is a wooden house")
        memory.remember("我姐姐住在成都")
        memory.remember("Our office has twelve meeting rooms.")
        for hour in (7, 8):
            memory.remember(f"We run {hour} km every morning")
            memory.remember(f"磨坊{hour}点开门")
        memory.remember("Mei answers in short sentences 美回答简短", kind="persona_trait", confidence=0.8)
        memory.record_turn("user", "I live in Bergen and I work as a nurse. 我喜欢绿茶。", session="s1")
        memory.record_turn("assistant", "Noted. 好的。", session="s1")


def state(home: Path) -> dict[str, Any]:
    """All that a person can see of a home but ids and times, what the nights wrote down, and what its indexes hold."""
    with opened(home, START + LATER) as memory:
        handle = memory._handle
        own, store = handle.own(), handle.store
        rows = store.with_details(store.memories(own, Memories()))
        names = {row.id: row.content for row in rows}
        lines = {row.line: row.content for row in rows if row.superseded_by is None}
        runs = store.nights.runs(own[0])
        run = next((run for run in runs if run.counts), runs[0])  # one that was killed behind its end is followed by an idle one
        found = {
            "memories": sorted(
                (
                    *(_named(getattr(row, name), names) for name in COMPARED),
                    lines.get(row.line, ""),
                    len(row.sources),
                    *_others(row, names),
                )
                for row in rows
            ),
            "episodes": [(one.session, one.summary, one.source, one.outcome) for one in memory.sessions.episodes()],
            "attachments": sorted((one.filename, one.missing) for one in store.records(Attachment, own, Records())),
            "items": sorted(
                (item.phase, item.action, item.reason, [names.get(id, "") for id in item.ids])
                for item in store.nights.items(own[0], run.id)
            ),
            "run": (run.mode, run.finished_at is not None, dict(run.counts)),
            "waiting": dict(memory.status().waiting),
            "found": [hit.text for hit in memory.recall("lamp oil 灯 nurse Bergen", limit=20)],
            "backups": len(memory.admin.backups()),
            "problems": memory.admin.check("deep").problems,
        }
    connection = sqlite3.connect(f"file:{home / 'yiku.db'}?mode=ro&immutable=1", uri=True)
    found["tags"] = sorted(name for (name,) in connection.execute("select name from memory_tags"))
    connection.close()
    return found


def _named(value: Any, names: dict[str, str]) -> Any:
    """A value with the words for ids in it: `merged: ID`."""
    return _ID.sub(lambda id: names.get(id[0], id[0]), value) if isinstance(value, str) else value


def _others(row: SemanticMemory, names: dict[str, str]) -> tuple[str, ...]:
    """The words of what a statement is flagged with, or was replaced by."""
    return (names.get(row.superseded_by or "", ""), *sorted(names[id] for id in row.flagged_with))


def night(home: Path) -> None:
    with opened(home, START + LATER) as memory:
        memory.admin.consolidate()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("night") / "home"
    prepared(home)
    return home


@cache
def whole(template: Path) -> dict[str, Any]:
    """What a night without any accident comes to."""
    home = Path(shutil.copytree(template, template.with_name("whole")))
    night(home)
    return state(home)


@cache
def counted(template: Path) -> int:
    """How many operations on the disk a night has."""
    home = Path(shutil.copytree(template, template.with_name("counted")))
    with failing(home.parent) as disk:
        disk.arm(0, None)
        night(home)
    return len(disk.seen)


def until_killed(home: Path, n: int) -> None:
    with failing(home.parent) as disk:
        disk.arm(n, None)
        night(home)


def killed(folder: Path, template: Path, choose: Callable[[Any], Any]) -> int:
    """Kill a night at operations, each in a home of its own, and go on with it; how many there are."""
    every, home = counted(template), folder / "home"
    for n in choose(range(1, every + 1)):
        shutil.copytree(template, home)
        child = READY.Process(target=until_killed, args=(home, n))
        child.start()
        child.join()
        night(home)
        assert whole(template) == state(home), f"killed before operation {n}"
        shutil.rmtree(home)
    return every


def stopping(home: Path, ns: Collection[int], line: Connection) -> None:
    """Run a night that waits before each of these operations until it is told to go on."""

    def wait(n: int) -> None:
        line.send(n)
        line.recv()

    with failing(home.parent) as disk:
        disk.arm(0, None)
        disk.before(ns, wait)
        night(home)


def cut_off(folder: Path, template: Path, ns: Sequence[int]) -> None:
    """
    Stop one night before each of these operations, take its files as they lie there, and go on with them.

    That is what a process killed there leaves, as a kill takes nothing back that was written; the way there is gone but once.
    The process is killed at last.
    """
    home, copy = Path(shutil.copytree(template, folder / "running" / "home")), folder / "copy"
    line, theirs = READY.Pipe()
    child = READY.Process(target=stopping, args=(home, ns, theirs))
    child.start()
    try:
        for n in sorted(ns):
            assert n == line.recv()
            shutil.copytree(home, copy)
            if n == max(ns):
                child.kill()
            night(copy)
            assert {} == differing(whole(template), state(copy)), f"cut off before operation {n}"
            shutil.rmtree(copy)
            line.send(None)
    finally:
        child.kill()
        child.join()


def differing(wanted: dict[str, Any], found: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What is not as it should be, by name: what was wanted, and what is there."""
    return {name: (wanted[name], found[name]) for name in wanted if wanted[name] != found[name]}


@pytest.mark.long
@pytest.mark.spec("T-14", "S0-05", "S0-98")
def test_R31_a_night_that_was_killed_is_finished_by_the_next_call(tmp_path, template, some):
    """Killed before an operation on the disk, of whatever phase: no decision is lost, doubled, or halved."""
    assert killed(tmp_path, template, lambda every: some(every, TRIED)) > 50


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
def test_R31_a_night_on_a_failing_disk_is_finished_by_the_next_call(tmp_path, template, some):
    """A failed operation: a typed error or a note, and nothing half-decided."""
    every, home = counted(template), tmp_path / "home"
    for n, kind in some([(n, kind) for n in range(1, every + 1) for kind in KINDS], TRIED):
        shutil.copytree(template, home)
        with failing(tmp_path) as disk:
            disk.arm(n, KINDS[kind])
            with suppress(StoreError):
                night(home)
            disk.disarm()
        night(home)
        assert whole(template) == state(home), f"after a failed {disk.fired} ({n}, {kind})"
        shutil.rmtree(home)


@pytest.mark.spec("T-14")
@pytest.mark.parametrize("number", range(len(consolidate.PHASES)))
def test_R31_killed_in_each_phase(tmp_path, template, number, monkeypatch):
    """Behind the first decision of a phase, and before it: the run goes on in this phase and comes to the same end."""
    home = Path(shutil.copytree(template, tmp_path / "home"))

    class Killed(BaseException):
        pass

    def dying(_night: Any) -> Any:
        raise Killed
        yield

    phase = consolidate.PHASES[number]
    phases = list(consolidate.PHASES)
    phases[number] = phase._replace(steps=(*phase.steps[:1], dying), light=phase.light)
    with monkeypatch.context() as patch:
        patch.setattr(consolidate, "PHASES", tuple(phases))
        with pytest.raises(Killed):
            night(home)
    with opened(home, START + LATER) as memory:
        assert number == memory._handle.store.nights.runs(memory._handle.own()[0], limit=1)[0].phase
    night(home)

    assert whole(template) == state(home)


@pytest.mark.spec("T-06")
def test_running_twice_changes_nothing(tmp_path, template):
    """The second night has nothing to do."""
    home = Path(shutil.copytree(template, tmp_path / "home"))
    night(home)
    once = state(home)
    night(home)
    with opened(home, START + LATER) as memory:
        runs = memory._handle.store.nights.runs(memory._handle.own()[0])

    assert once == state(home)
    assert {} == runs[0].counts
    assert [] == once["problems"] or () == once["problems"]
    assert len({item[2] for item in once["items"]}) >= 5
