"""Backup and restore, killed or failing at any disk operation: the store is as before or as after, never between."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.disk import BROKEN, FULL, failing
from integrity import check, open_and_check
from workers import READY, clocked

from yiku import Memory, restore_backup
from yiku.errors import StoreError

EVERY = {"restore": 100, "back_up": 35}  # operations: one in so many; the soak does more of them
BEFORE, AFTER = ["I moved to Rome"], ["我住在 Oslo。"]


def prepared(home: Path) -> str:
    """A home that has gone on since its backup; the backup's name."""
    with clocked(home) as memory:
        memory.record([{"role": "user", "content": f"第 {i} turn 灯笼"} for i in range(30)], session="s")
        memory.remember("我住在 Oslo。")
        name = Path(memory.admin.backup().path).name
        memory.remember("I moved to Rome")
        memory.record_turn("user", "said since 后来")
    return name


def live(home: Path) -> list[str]:
    with Memory(home, create=False) as memory:
        return [row.content for row in memory.get_all()]


def restore(home: Path, name: str) -> None:
    restore_backup(home, name)


def restore_damaged(home: Path, name: str) -> None:
    (home / "yiku.db").write_bytes(b"garbage " * 1_000) if not (home / "damaged").exists() else None
    restore_backup(home, name)


def back_up(home: Path, _: str) -> None:
    with clocked(home) as memory:
        memory.admin.backup()


# ------------------------------------------------------------------ killed


@pytest.mark.parametrize("act", [restore, back_up], ids=lambda act: act.__name__)
def test_R15_killed_at_any_operation(tmp_path, act):
    """The home opens as it was or as it should become, whole, and what was half-done goes with the next backup."""
    assert killed_at_operations(tmp_path, act, EVERY[act.__name__]) > 2


def killed_at_operations(folder: Path, act: Callable[[Path, str], None], every: int) -> int:
    """Kill a call before each so-many-th of its operations; how often. In a process that has no connection open, so it may fork."""
    folder.mkdir(exist_ok=True)
    process = READY.Process(target=_kill, args=(folder, act, every))
    process.start()
    process.join()
    assert 0 == process.exitcode
    return int((folder / "kills").read_text())


def _kill(folder: Path, act: Callable[[Path, str], None], every: int) -> None:
    template, home, seen, kills = folder / "template", folder / "home", set[tuple[str, ...]](), 0
    name = prepared(template)
    for n in range(1, 100_000, every):
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(template, home)
        child = os.fork()
        if child == 0:
            with failing(folder) as disk:
                disk.arm(n, None)
                act(home, name)
            os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert ended in (0, -signal.SIGKILL), ended
        found = live(home)
        assert found in ([BEFORE, AFTER] if act is restore else [BEFORE])
        seen.add(tuple(found))
        check(home / "yiku.db")
        if n % (every * 5) == 1:  # a sample: it is the dearest part
            restore(home, name)
            assert live(home) == AFTER
            assert [] == [path for path in (home / "backups").iterdir() if path.name.startswith(".")]
            open_and_check(home)
        if ended == 0:
            break
        kills += 1
    assert len(seen) == (2 if act is restore else 1)
    (folder / "kills").write_text(str(kills))


# ------------------------------------------------------------------ refused by the disk


@pytest.mark.parametrize("kind", ["full", "broken"])
@pytest.mark.parametrize("act", [restore, back_up], ids=lambda act: act.__name__)
@pytest.mark.long
def test_R8_refused_at_any_operation(tmp_path, act, kind):
    """A typed error or success, the home is one of the two, and nothing is left under a temporary name."""
    refused_at_operations(tmp_path, act, {"full": FULL, "broken": BROKEN}[kind], every=60)


def refused_at_operations(folder: Path, act: Callable[[Path, str], None], failure: tuple, every: int) -> None:
    template, home = folder / "template", folder / "home"
    name = prepared(template)
    n, refused = 1, 0
    while True:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(template, home)
        with failing(folder) as disk:
            disk.arm(n, failure)
            try:
                act(home, name)
            except StoreError:
                refused += 1
            fired = disk.fired
            disk.disarm()
        assert live(home) in ([BEFORE, AFTER] if act is restore else [BEFORE]), fired
        check(home / "yiku.db")
        if not fired.startswith(("os.remove", "os.rmdir")):  # where that is refused, it goes with the next backup
            assert [] == [path for path in (home / "backups").iterdir() if path.name.startswith(".")], fired
        if not fired:
            break
        n += every
    assert refused
