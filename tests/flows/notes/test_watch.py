"""`watch`: the notes index follows real files, written by real processes, editors and git."""

import contextlib
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import workers

from yiku import Memory
from yiku.errors import InvalidInput, StoreBusy
from yiku.files import locks, mounts
from yiku.flows.notes import watch
from yiku.types import SyncReport

SOON_S = 30.0  # on a busy machine; what must be faster is measured


@contextlib.contextmanager
def watched(memory: Memory) -> Iterator[list[SyncReport]]:
    """While this is held, a thread watches; the reports that it told."""
    reports: list[SyncReport] = []
    ended = threading.Event()
    thread = threading.Thread(target=lambda: memory.notes.watch(reports.append, stopped=ended.is_set))
    thread.start()
    until(lambda: (seen := watching(memory)) is not None and seen.alive)
    try:
        yield reports
    finally:
        ended.set()
        thread.join(SOON_S)
    assert not thread.is_alive()


def watching(memory: Memory) -> Any:
    return memory.status().watching


def until(true: Callable[[], object], within_s: float = SOON_S) -> float:
    """Wait until something is true; how long it took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < within_s, "it did not come true"
        time.sleep(0.02)
    return time.monotonic() - began


def indexed(memory: Memory) -> dict[str, bytes]:
    own = memory._handle.own()
    return {file.path: file.hash for file in memory._handle.store.notes.files(own[0])} if own else {}


@pytest.fixture
def quick(home: Path, memory: Memory, clock) -> Iterator[Memory]:
    """The same home with a short wait for quiet."""
    with Memory(home, clock=clock, watch_debounce_s=0.05) as quick:
        yield quick


@pytest.mark.spec("S4-05", "S4-52", "S4-87")
def test_files_that_are_made_edited_renamed_and_removed(quick: Memory, home: Path) -> None:
    """Each change is in the index soon, and nobody called anything."""
    with watched(quick):
        (home / "documents" / "deep").mkdir(parents=True)
        (home / "documents" / "deep" / "设计.md").write_text("# Design\n\nThe harbour opens at seven. 港口七点开门。\n")
        until(lambda: "documents/deep/设计.md" in indexed(quick))
        assert "seven" in quick.recall("when does the harbour open?", types=["note"])[0].text

        (home / "MEMORY.md").write_text("# Mine\n\nThe harbour opens at nine.\n")
        (home / "documents" / "deep").rename(home / "documents" / "plans")
        until(lambda: {"MEMORY.md", "documents/plans/设计.md"} == {*indexed(quick)})

        shutil.rmtree(home / "documents")
        until(lambda: ["MEMORY.md"] == [*indexed(quick)])


@pytest.mark.spec("S4-53")
def test_the_default_wait(memory: Memory, home: Path) -> None:
    """By default a change is read a second after it, and the answer is another one within two (on an idle machine)."""
    assert 1.0 == memory.settings.watch_debounce_s
    (home / "USER.md").write_text("Ann 安\n")
    with watched(memory) as reports:
        until(lambda: reports)  # the look at the beginning
        began = time.monotonic()
        (home / "MEMORY.md").write_text("Ann lives in Oslo. 安住在奥斯陆。\n")
        until(lambda: len(reports) > 1)

    assert time.monotonic() - began > 0.9
    assert [("USER.md",), ("MEMORY.md",)] == [report.added for report in reports]


SECONDS = 60.0 if os.environ.get("YIKU_SOAK") else 8.0  # read here: no test sees the settings of who runs it


@pytest.mark.spec("T-35")
def test_continuous_writes_do_not_starve_it(memory: Memory, home: Path) -> None:
    """Ten notes a second, without a pause: each is in the index within three seconds (with YIKU_SOAK=long for a minute)."""
    log = home / "memory" / "2026-03-01.md"
    log.parent.mkdir()
    written: list[float] = []
    late: list[float] = []
    ended = threading.Event()

    def write() -> None:
        while not ended.wait(0.1):
            with log.open("a") as file:
                file.write(f"note {len(written)} 记录\n\n")
            written.append(time.monotonic())

    def read() -> None:
        seen = 0
        while not ended.wait(0.05):
            own = memory._handle.own()
            files = memory._handle.store.notes.files(own[0]) if own else []
            notes = memory._handle.store.notes.of_file(own[0], files[0].n) if files else []
            said = "".join(note.text for note in notes)
            while seen < len(written) and f"note {seen} 记录" in said:
                late.append(time.monotonic() - written[seen])
                seen += 1

    with watched(memory):
        threads = [threading.Thread(target=work) for work in (write, read)]
        for thread in threads:
            thread.start()
        time.sleep(SECONDS)
        ended.set()
        for thread in threads:
            thread.join()

    print(f"{len(written)} notes in {SECONDS:.0f} s, at the latest {max(late):.2f} s behind")
    assert len(late) > len(written) - 40
    assert max(late) < 3.0


@pytest.mark.parametrize("folders", [20, pytest.param(1_000, marks=pytest.mark.long)])
def test_a_storm(quick: Memory, home: Path, folders: int) -> None:
    """Ten files in each of many new folders are all in the index, 10,000 of them within 30 seconds (on an idle machine)."""
    with watched(quick):
        began = time.monotonic()
        for i in range(folders):
            (folder := home / "documents" / f"第{i}" / "more").mkdir(parents=True)
            for j in range(10):
                (folder / f"{j}.md").write_text(f"# Note {i} {j}\n\nA text about thing {i * j} 关于事物。\n")
        until(lambda: folders * 10 == len(indexed(quick)), 300)
        took = time.monotonic() - began
        print(f"{folders * 10:,} files in {took:.1f} s")
        (home / "documents" / "第0" / "more" / "0.md").write_text("afterwards")
        before = indexed(quick)
        until(lambda: before != indexed(quick))


def test_its_own_writing(quick: Memory, home: Path) -> None:
    """What Yiku writes is indexed once, by the call that writes it or by a watcher that is faster, and is no change afterwards."""
    with watched(quick) as reports:
        quick.notes.append_daily("a note 记录")
        quick.notes.promote("a lasting note", topic="Things")
        time.sleep(0.5)

    assert 2 == len(indexed(quick))
    found = [name for report in reports for name in (*report.added, *report.changed, *report.removed)]
    assert len(found) == len({*found}) <= 2


def test_while_memory_is_paused(quick: Memory, home: Path) -> None:
    """Nothing is read then, and it is no trouble; afterwards everything is."""
    with watched(quick):
        quick.admin.pause()
        (home / "MEMORY.md").write_text("x\n")
        time.sleep(0.5)
        assert {} == indexed(quick)
        assert not [line for line in quick.status().troubles if "watcher" in line]
        quick.admin.resume()
        until(lambda: indexed(quick))


# ------------------------------------------------------------------ who watches


def watch_for_ever(home: Path) -> None:
    with workers.clocked(home, watch_debounce_s=0.05) as memory:
        memory.notes.watch()


@pytest.mark.spec("T-35")
def test_a_watcher_that_dies(memory: Memory, home: Path) -> None:
    """Killed without warning, it shows in `status` at once, until somebody watches again; ended as it should, nothing shows."""
    process = workers.READY.Process(target=watch_for_ever, args=(home,))
    process.start()
    until(lambda: watching(memory) is not None)
    assert (process.pid, "events", True) == (watching(memory).pid, watching(memory).how, watching(memory).alive)
    assert not [line for line in memory.status().troubles if "watcher" in line]

    os.kill(process.pid, signal.SIGKILL)
    process.join()
    took = until(lambda: [line for line in memory.status().troubles if line.startswith("the watcher died")])
    (line,) = [line for line in memory.status().troubles if "watcher" in line]
    assert took < 5.0
    assert f"process {process.pid}" in line and line.endswith("yiku watch")

    with watched(memory):
        assert os.getpid() == watching(memory).pid
        assert not [line for line in memory.status().troubles if "watcher" in line]
    assert watching(memory) is None
    assert not [line for line in memory.status().troubles if "watcher" in line]


@pytest.mark.spec("T-35")
def test_what_is_told_fails(quick: Memory, home: Path) -> None:
    """An error of the host's own ends the watching with that error, and `status` names it."""

    def refuse(report: SyncReport) -> None:
        raise LookupError("the host's own")

    (home / "MEMORY.md").write_text("x\n")
    with pytest.raises(LookupError):
        quick.notes.watch(refuse)

    assert [line for line in quick.status().troubles if "watcher died" in line and "LookupError" in line]


def test_one_at_a_time(quick: Memory, home: Path, clock) -> None:
    """While one watches another one cannot."""
    with watched(quick), Memory(home, clock=clock) as other, pytest.raises(StoreBusy, match="watching"):
        other.notes.watch()


def test_in_the_background(memory: Memory, home: Path, clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory with `background` watches, one takes over when another is closed, and closing leaves nothing behind."""
    monkeypatch.setattr(watch, "ROLE_AGAIN_S", 0.05)
    first = Memory(home, clock=clock, background=True, watch_debounce_s=0.05)
    until(lambda: watching(first) is not None)
    second = Memory(home, clock=clock, background=True, watch_debounce_s=0.05)
    began = time.monotonic()
    first.close()
    assert time.monotonic() - began < 5.0
    until(lambda: watching(second) is not None)
    (home / "MEMORY.md").write_text("x\n")
    until(lambda: indexed(second))
    second.close()

    assert watching(memory) is None
    assert [] == [thread.name for thread in threading.enumerate() if thread.name == watch.THREAD]


def test_a_scope_without_notes(memory: Memory, home: Path, clock) -> None:
    """Another scope of the home has no notes to watch; with `background` it is no trouble."""
    with Memory(home, scope="team:atlas", clock=clock, background=True) as other:
        with pytest.raises(InvalidInput, match="team:atlas"):
            other.notes.watch()
        until(lambda: not [thread for thread in threading.enumerate() if thread.name == watch.THREAD])
        assert not [line for line in other.status().troubles if "watch" in line]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "since": "x", "what": 2}', "\0" * 5_000])
def test_a_lock_that_says_nothing(memory: Memory, home: Path, content: str) -> None:
    """What cannot be read in the file of the lock tells of nobody."""
    (home / "locks" / "watcher.lock").write_text(content)

    assert memory.status().watching is None


def test_a_lock_that_is_held(tmp_path: Path) -> None:
    """Who holds a lock is seen from another descriptor, also in the same process; a look at it takes it from nobody."""
    from yiku.store.api import one_at_a_time

    path = tmp_path / "a.lock"
    assert not locks.is_held(path)
    with one_at_a_time(path, "busy"):
        locks.tell(path, "who 谁")
        assert locks.is_held(path) and "who 谁" == locks.content(path)
    assert not locks.is_held(path)


# ------------------------------------------------------------------ without events


def test_a_network_file_system(quick: Memory, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its events tell of this machine only: the folders are looked through, and `status` says so."""
    monkeypatch.setattr(watch, "POLL_S", 0.05)
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(f"30 27 0:30 / {tmp_path} rw shared:1 - nfs4 server:/export rw\n")
    monkeypatch.setattr(mounts, "MOUNTINFO", mountinfo)
    with watched(quick):
        until(lambda: watching(quick).how == "polling")
        assert [
            line for line in quick.status().troubles if line.startswith("notes are looked through every few seconds: a network")
        ]
        (home / "MEMORY.md").write_text("x\n")
        until(lambda: indexed(quick))


def test_events_that_do_not_come(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Where looking finds what no event told of, it is watched anew, and after the second time looked at by polling."""
    monkeypatch.setattr(watch, "RESCAN_S", 0.05)
    monkeypatch.setattr(watch, "LATE_S", 0.05)
    home.mkdir()
    looks = []

    def look() -> SyncReport:
        looks.append(time.monotonic())
        return SyncReport(changed=("MEMORY.md",))

    from yiku.files.watch import Signals

    signals = Signals(home, ["MEMORY.md"], [])
    try:
        why = watch._follow(signals, look, lambda **now: None, lambda: len(looks) > 50, 0.01)
    finally:
        signals.close()

    assert "changes were found that no event had told of" == why
    assert 4 == len(looks)  # the first may find anything; then one is missed, watched anew, and one is missed again


def test_the_state_is_plain_json(quick: Memory, home: Path) -> None:
    """What a watcher says of itself holds no text of anybody's."""
    (home / "MEMORY.md").write_text("a secret of mine\n")
    with watched(quick) as reports:
        until(lambda: reports)
        said = json.loads((home / "locks" / "watcher.lock").read_text())

    assert {"pid", "since", "how", "why", "trouble", "alive"} == {*said}
    assert (os.getpid(), "events", None, None) == tuple(said[name] for name in ("pid", "how", "why", "trouble"))
    assert "" == (home / "locks" / "watcher.lock").read_text()
