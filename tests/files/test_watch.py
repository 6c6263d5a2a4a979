"""File system events of the vault, from real folders, editors and git."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from yiku.files.watch import Signals

QUIET_S, LONGEST_S = 0.05, 0.2
SOON_S = 5.0  # an event takes milliseconds; a busy machine takes longer


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for folder in ("memory", "documents"):
        (tmp_path / "home" / folder).mkdir(parents=True)
    (tmp_path / "home" / "MEMORY.md").write_text("# Ann 安\n")
    return tmp_path / "home"


@pytest.fixture
def signals(vault: Path) -> Iterator[Signals]:
    signals = Signals(vault, ["MEMORY.md", "USER.md"], ["memory", "documents", "skills"])
    signals.attach()
    yield signals
    signals.close()


def woken(signals: Signals, timeout_s: float = SOON_S) -> bool:
    return signals.wait(timeout_s, QUIET_S, LONGEST_S)


def still(signals: Signals) -> bool:
    """Whether nothing more comes, once what came has been taken note of."""
    while signals.wait(0.3, QUIET_S, LONGEST_S):
        pass
    return not signals.wait(0.2, QUIET_S, LONGEST_S)


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def by_rename(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.swp")
    draft.write_text(text)
    os.replace(draft, path)


def by_backup(path: Path, text: str) -> None:
    os.replace(path, path.with_name(f"{path.name}~"))
    path.write_text(text)


def by_link(path: Path, text: str) -> None:
    draft = path.with_name("4913")
    draft.write_text(text)
    path.unlink()
    os.link(draft, path)
    draft.unlink()


def from_elsewhere(path: Path, text: str) -> None:
    draft = path.parent.parent.parent / "draft"
    draft.write_text(text)
    os.replace(draft, path)


@pytest.mark.spec("S4-52", "S4-87")
@pytest.mark.parametrize("save", [in_place, by_rename, by_backup, by_link, from_elsewhere])
@pytest.mark.parametrize("name", ["MEMORY.md", "memory/2026-03-01.md", "documents/设计.md"])
def test_however_an_editor_saves(signals: Signals, vault: Path, save: Callable[[Path, str], None], name: str) -> None:
    """Each way in which editors write a file is noticed, in the home and in its folders."""
    path = vault / name
    path.write_text("before 之前")
    still(signals)
    save(path, "after 之后")

    assert woken(signals)


def test_what_is_no_note(signals: Signals, vault: Path) -> None:
    """The database and its log lie in the same folder, and wake nobody."""
    with (vault / "yiku.db-wal").open("wb") as log:
        for _ in range(50):
            log.write(b"page" * 1_000)
            log.flush()
    (vault / "backups").mkdir()
    (vault / "backups" / "a.md").write_text("a copy")

    assert still(signals)


def test_folders_that_come_go_and_are_replaced(signals: Signals, vault: Path) -> None:
    """A folder of notes that is made, renamed away, replaced or removed is noticed, and watched once all are attached anew."""
    for change in (
        (vault / "skills").mkdir,
        lambda: (vault / "skills").rename(vault / "old"),
        lambda: (vault / "old").rename(vault / "skills"),
        lambda: (shutil.rmtree(vault / "documents"), (vault / "documents").mkdir()),
        lambda: shutil.rmtree(vault / "memory"),
    ):
        assert signals.works()
        change()
        assert woken(signals)
        assert not signals.works()
        signals.attach()

    (vault / "documents" / "新.md").write_text("new")
    assert woken(signals)


def test_trees(signals: Signals, vault: Path, tmp_path: Path) -> None:
    """Folders within folders: made at once, moved in, renamed, moved out, and files written in them afterwards."""
    deep = vault / "documents" / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert woken(signals)
    still(signals)
    (deep / "x.md").write_text("x")
    assert woken(signals)

    (vault / "documents" / "a").rename(vault / "memory" / "z")
    assert woken(signals)
    still(signals)
    (vault / "memory" / "z" / "b" / "c" / "x.md").write_text("y")
    assert woken(signals)

    (vault / "memory" / "z").rename(tmp_path / "out")
    assert woken(signals)
    assert signals.works()


def test_links(vault: Path, tmp_path: Path) -> None:
    """A home that is a link is watched; links in it are not followed, so a loop of them ends and nothing outside wakes anybody."""
    (vault / "documents" / "loop").symlink_to(vault / "documents")
    (tmp_path / "outside").mkdir()
    (vault / "documents" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "link").symlink_to(vault)
    signals = Signals(tmp_path / "link", ["MEMORY.md"], ["documents"])
    signals.attach()
    try:
        still(signals)
        (tmp_path / "outside" / "a.md").write_text("a")
        assert still(signals)
        (vault / "MEMORY.md").write_text("b")
        assert woken(signals)
    finally:
        signals.close()


@pytest.mark.spec("S4-53", "T-35")
def test_continuous_writes(signals: Signals, vault: Path) -> None:
    """Whoever waits is woken when it is quiet; where it never is, after the maximum wait."""
    ended, until = threading.Event(), time.monotonic() + 20.0

    def write() -> None:
        with (vault / "memory" / "2026-03-01.md").open("a") as log:  # one handle, as a logger has it
            while not ended.wait(0.02) and time.monotonic() < until:
                log.write("again 又一次\n")
                log.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        waits = []
        for _ in range(3):
            began = time.monotonic()
            assert signals.wait(SOON_S, quiet_s=1.0, longest_s=0.4)
            waits.append(time.monotonic() - began)
    finally:
        ended.set()
        writer.join()

    assert min(waits) > 0.3
    assert sorted(waits)[0] < 1.0


def test_a_thread_that_ends(signals: Signals) -> None:
    """Any thread of the watcher that ends shows at once, also the one that reads the kernel's events."""
    assert signals.works()
    for thread in [one for one in threading.enumerate() if type(one).__module__.startswith("watchdog.")][:1]:
        thread.stop()
        thread.join(SOON_S)

    assert not signals.works()
    signals.attach()
    assert signals.works()


def test_nothing_is_left(vault: Path) -> None:
    """Closed, it has no threads and no descriptors; closed twice, it says nothing."""
    before = set(threading.enumerate()), len(os.listdir("/dev/fd"))
    signals = Signals(vault, ["MEMORY.md"], ["memory"])
    for _ in range(3):
        signals.attach()
    signals.close()
    signals.close()

    assert before == (set(threading.enumerate()), len(os.listdir("/dev/fd")))
    assert not signals.works()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is inotify's")
def test_the_system_gives_no_events(vault: Path) -> None:
    """Where the system has no events left, `attach` raises and leaves no thread behind."""
    script = f"""
import os, resource, threading
from pathlib import Path
from yiku.files.watch import Signals
from watchdog.observers import Observer
signals = Signals(Path({str(vault)!r}), ["MEMORY.md"], ["memory"])
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 1,) * 2)
try:
    signals.attach()
except OSError as error:
    print(type(error).__name__, signals.works(), threading.active_count())
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "OSError False 1" == ran.stdout.strip()


@pytest.mark.spec("S4-88")
def test_what_it_costs() -> None:
    """Nothing of watchdog is imported unless something is watched: not with yiku, not with a memory, not with this module."""
    script = "import sys, yiku.memory, yiku.files.watch; print([name for name in sys.modules if name.startswith('watchdog')])"

    assert "[]" == subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
