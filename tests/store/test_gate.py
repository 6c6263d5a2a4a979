"""The write lock: one holder at a time, released by the kernel when a process dies."""

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from powers import read_only
from workers import READY, together

from yiku.errors import ReadOnly, StoreBusy, StoreError
from yiku.store.gate import Gate


def add_one(lock: Path, counter: Path, times: int) -> int:
    """Read a number, wait a little, write it one higher: right only if nobody does so at the same time."""
    gate = Gate(lock, 30.0)
    for _ in range(times):
        with gate.held():
            number = int(counter.read_text())
            time.sleep(0.0005)
            counter.write_text(str(number + 1))
    gate.close()
    return times


def hold_for_ever(lock: Path, held: Path) -> None:
    with Gate(lock, 5.0).held():
        held.touch()
        time.sleep(600)


def test_one_process_at_a_time(tmp_path):
    """Four processes count with an unprotected counter inside the gate: not one step is lost."""
    counter = tmp_path / "counter"
    counter.write_text("0")

    assert [50] * 4 == together(add_one, [(tmp_path / "lock", counter, 50)] * 4)
    assert "200" == counter.read_text()


def test_one_thread_at_a_time(tmp_path):
    """Threads that share a gate are kept apart too, though they share its descriptor."""
    counter, gate = tmp_path / "counter", Gate(tmp_path / "lock", 30.0)
    counter.write_text("0")

    def work() -> None:
        for _ in range(50):
            with gate.held():
                number = int(counter.read_text())
                time.sleep(0)
                counter.write_text(str(number + 1))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert "200" == counter.read_text()


def test_it_can_be_entered_again_by_its_holder(tmp_path):
    """Inside the gate, the same thread may pass it again; it is free only after the outermost leaves."""
    gate, other = Gate(tmp_path / "lock", 1.0), Gate(tmp_path / "lock", 0.0)
    with gate.held():
        with gate.held():
            pass
        with pytest.raises(StoreBusy), other.held():
            pass
    with other.held():
        pass


@pytest.mark.parametrize("timeout_s", [0.0, 0.1])
def test_it_waits_so_long_and_no_longer(tmp_path, timeout_s):
    """Held by another, it is StoreBusy after its waiting time."""
    with Gate(tmp_path / "lock", 1.0).held():
        start = time.monotonic()
        with pytest.raises(StoreBusy), Gate(tmp_path / "lock", timeout_s).held():
            pass

    assert timeout_s <= time.monotonic() - start, "and it came back while the other still had it"


def test_an_error_inside_frees_it(tmp_path):
    """Whatever goes wrong inside, the next may enter."""
    with pytest.raises(ZeroDivisionError), Gate(tmp_path / "lock", 1.0).held():
        _ = 1 / 0
    with Gate(tmp_path / "lock", 0.0).held():
        pass


def test_a_killed_holder_frees_it_at_once(tmp_path):
    """A process is killed inside the gate: the next enters, with nothing to clean, and the side file stays."""
    held = tmp_path / "held"
    process = READY.Process(target=hold_for_ever, args=(tmp_path / "lock", held))
    process.start()
    while not held.exists():
        time.sleep(0.005)
    with pytest.raises(StoreBusy), Gate(tmp_path / "lock", 0.0).held():
        pass
    inode = (tmp_path / "lock").stat().st_ino
    process.kill()
    process.join()

    with Gate(tmp_path / "lock", 1.0).held():
        pass
    assert inode == (tmp_path / "lock").stat().st_ino


def test_a_program_started_inside_does_not_inherit_it(tmp_path):
    """A program that we start while we hold the gate, and that outlives our hold, keeps nobody out."""
    gate = Gate(tmp_path / "lock", 1.0)
    with gate.held():
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    gate.close()
    try:
        with Gate(tmp_path / "lock", 0.0).held():
            pass
    finally:
        child.communicate(b"\n")


def test_its_file_is_for_the_owner_alone_and_no_link(tmp_path):
    """0600 whatever the umask; a link in its place is refused, and what it points to is not made."""
    before = os.umask(0)
    try:
        with Gate(tmp_path / "lock", 1.0).held():
            pass
    finally:
        os.umask(before)
    assert 0o600 == stat.S_IMODE((tmp_path / "lock").stat().st_mode)

    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(StoreError), Gate(tmp_path / "link", 1.0).held():
        pass
    assert not (tmp_path / "target").exists()


def test_where_no_lock_file_can_be_made_it_is_read_only(tmp_path):
    """A folder that cannot be written: ReadOnly, not a crash."""
    with read_only(tmp_path), pytest.raises(ReadOnly), Gate(tmp_path / "lock", 1.0).held():
        pass
