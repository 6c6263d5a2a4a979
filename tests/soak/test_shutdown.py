"""
R29: a process asked to end does so within five seconds and loses nothing acknowledged.

Three programs at work (the library, `yiku import`, `yiku record -`) meet SIGTERM, SIGINT, SIGHUP, or the death
of their parent, which to them is a closed stdin and nobody behind stdout. And `close` ends while others hold
what it wants.
"""

import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from integrity import open_and_check
from workers import PATIENCE_S, READY, clocked

from yiku.store.gate import Gate

WITHIN_S = 5.0
LONGEST_WORK_S = 0.6  # from the start: some are asked to end before they have begun
TURNS = 2_000  # of an import: four transactions
WAYS = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT, "SIGHUP": signal.SIGHUP, "the parent died": None}

LIBRARY = """
import sys
from yiku import Memory
with Memory(sys.argv[1]) as memory:
    for line in sys.stdin:
        print(memory.record_turn("user", line.strip()).id, flush=True)
"""


@dataclass(frozen=True)
class Program:
    """How to start it on a home, what it is told, and whether what it acknowledged is there."""

    command: Callable[[Path], list[str]]
    stdin_text: bytes
    kept: Callable[[Path, str], None]


def yiku(*words: str) -> list[str]:
    return [sys.executable, "-m", "yiku", *words]


def lines_kept(home: Path, out: str) -> None:
    """Each id that was printed names a turn; a line that was cut off acknowledges nothing."""
    with clocked(home) as memory:
        for i, line in enumerate(out.splitlines(keepends=True)):
            if line.endswith("\n"):
                assert f"{i} 说 said" == memory.get(line.strip()).content


def import_kept(home: Path, out: str) -> None:
    """Whole transactions are there; the same import again brings the rest, and nothing twice."""
    with clocked(home) as memory:
        before = memory.admin.stats().turns
    assert 0 == before % 500
    assert before == TURNS or not out.endswith("\n") or "error" in json.loads(out), "the report acknowledges all"
    again = subprocess.run(
        yiku("import", "jsonl", str(source(home)), "--home", str(home), "--json"), capture_output=True, check=True
    )
    with clocked(home) as memory:
        assert TURNS == memory.admin.stats().turns
    assert before == json.loads(again.stdout)["total"]["known"]


def turn_kept(home: Path, out: str) -> None:
    """The turn that was printed is there, as it was told; a report of the interruption names none."""
    if out.endswith("\n") and (turn := json.loads(out).get("turn")):
        with clocked(home) as memory:
            assert turn["content"] == memory.get(turn["id"]).content == SAID.decode()


def source(home: Path) -> Path:
    """A file to import, beside the home."""
    path = home.with_suffix(".jsonl")
    if not path.exists():
        turns = ({"role": "user", "content": f"第 {i} turn 导入", "external_id": f"e{i}", "session": "s"} for i in range(TURNS))
        path.write_text("".join(json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns))
    return path


SAID = "我搬到了 Oslo 😀 and there is more to say".encode() * 100
PROGRAMS = {
    "the library": Program(
        lambda home: [sys.executable, "-c", LIBRARY, str(home)],
        "".join(f"{i} 说 said\n" for i in range(2_000)).encode(),
        lines_kept,
    ),
    "yiku import": Program(
        lambda home: yiku("import", "jsonl", str(source(home)), "--home", str(home), "--json"), b"", import_kept
    ),
    "yiku record -": Program(lambda home: yiku("record", "-", "--home", str(home), "--json"), SAID, turn_kept),
}


def test_R29_whoever_is_asked_to_end_ends_soon_and_loses_nothing(tmp_path, seed, count, figure):
    """Each program with each way of being asked, after a moment of chance: it is gone in time, and the home is whole."""
    chance, longest = random.Random(seed), 0.0
    every = [(program, way) for program in PROGRAMS for way in WAYS]
    chance.shuffle(every)
    for i, (program, way) in zip(range(count(20, 200, "programs asked to end")), itertools.cycle(every), strict=False):
        home = tmp_path / f"home{i}"
        clocked(home).close()
        out, took_s = ended(PROGRAMS[program], home, WAYS[way], chance.uniform(0.1, LONGEST_WORK_S))
        longest = max(longest, took_s)
        PROGRAMS[program].kept(home, out)
        open_and_check(home)
    figure("longest until gone", longest, "s", most=WITHIN_S)


@pytest.fixture(autouse=True)
def who_is_asked_listens() -> Iterator[None]:
    """
    A shell lets what it starts in the background ignore SIGINT, `nohup` lets it ignore SIGHUP, and so does all that it starts.

    What has a handler in us is at its default in a program that we start.
    """
    before = {asked: signal.getsignal(asked) for asked in (signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    for asked, handler in before.items():
        signal.signal(asked, handler)


def ended(program: Program, home: Path, way: int | None, after_s: float) -> tuple[str, float]:
    """Start a program, ask it to end; all that it said before it was gone, and how long it took from then."""
    with subprocess.Popen(
        program.command(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        os.set_blocking(process.stdout.fileno(), False)
        heard = feeding(process, program.stdin_text, after_s)
        asked = time.monotonic()
        if way is None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            heard += said(process)
            process.stdout.close()
        else:
            process.send_signal(way)
        try:
            process.wait(WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
        took_s = time.monotonic() - asked
        if way is not None:
            heard += said(process)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
    return heard.decode(), took_s


def feeding(process: subprocess.Popen, stdin_text: bytes, for_s: float) -> bytes:
    """Give a program what it is told, piece by piece, and listen; its stdin stays open."""
    heard, until = b"", time.monotonic() + for_s
    pieces = [stdin_text[i : i + 1_000] for i in range(0, len(stdin_text), 1_000)]
    os.set_blocking(process.stdin.fileno(), False)
    while (left_s := until - time.monotonic()) > 0:
        try:
            if pieces:
                written = os.write(process.stdin.fileno(), pieces[0])
                pieces[:1] = [pieces[0][written:]] if written < len(pieces[0]) else []
        except (BlockingIOError, BrokenPipeError):
            pass
        heard += said(process)
        time.sleep(min(0.005, left_s))
    return heard


def said(process: subprocess.Popen) -> bytes:
    """What lies in its stdout now."""
    return process.stdout.read() or b""


# ------------------------------------------------------------------ close


@pytest.mark.parametrize("held", ["the gate", "a snapshot"])
def test_R29_closing_ends_while_others_hold_what_it_wants(tmp_path, figure, held):
    """Another process holds the gate, or reads an old state for ever: close ends in time, and what was written is there."""
    home = tmp_path / "home"
    memory = clocked(home)
    memory.record_turn("user", "before 之前")
    hear, tell = READY.Pipe(duplex=True)
    holder = READY.Process(target=hold, args=(home, held, tell))
    holder.start()
    assert hear.poll(PATIENCE_S) and hear.recv() == "held"
    if held == "a snapshot":  # what was written after it cannot leave the log
        memory.remember("我住在 Oslo")
    kept = memory.timeline()[-1].id
    before = time.monotonic()
    memory.close()
    took_s = time.monotonic() - before
    hear.send("enough")
    holder.join()

    figure(f"closing beside a holder of {held}", took_s, "s", most=WITHIN_S)
    with clocked(home) as memory:
        assert kept == memory.get(kept).id
    open_and_check(home)


def hold(home: Path, what: str, tell: Connection) -> None:
    """Until told otherwise."""
    if what == "the gate":
        with Gate(home / "locks" / "write.lock", 10.0).held():
            tell.send("held")
            tell.recv()
    else:
        with clocked(home) as memory:
            connection = memory._handle.store._database.connection()
            connection.execute("begin")
            connection.execute("select count(*) from meta").fetchall()
            tell.send("held")
            tell.recv()
            connection.execute("rollback")
