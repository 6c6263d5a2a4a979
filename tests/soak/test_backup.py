"""R15: backups while eight processes write, each restored and compared with what was acknowledged before."""

import multiprocessing
import random
import time
from multiprocessing.connection import Connection
from pathlib import Path

from faults.test_backup import back_up, killed_at_operations, restore
from integrity import check, open_and_check
from workers import READY, clocked

from yiku.errors import StoreBusy

WRITERS = 8
BETWEEN_S = 0.15  # between two backups, so that much is written
ROUNDS_A_HOME = 10  # then another home, so that each round stays cheap


def write(home: Path, who: int, stop: Connection, tell: Connection) -> None:
    """Until told to stop: turns and statements, each told when it was acknowledged."""
    with clocked(home) as memory:
        number = 0
        while not stop.poll():
            number += 1
            try:
                if number % 4:
                    text = f"{who}-{number} 说 said {'字' * (number % 50)}"
                    memory.record_turn("user", text, session=f"s{who}")
                else:
                    text = f"Writer{who} lives in Town{number}镇"
                    memory.remember(text)
            except StoreBusy:
                continue
            tell.send((time.monotonic(), text))


class Writers:
    """Processes that write, and what each has acknowledged."""

    def __init__(self, home: Path) -> None:
        self.acknowledged: list[tuple[float, str]] = []
        self.pipes, self.stops, self.processes = [], [], []
        for who in range(WRITERS):
            hear, tell = READY.Pipe(duplex=False)
            stopped, stop = READY.Pipe(duplex=False)
            process = READY.Process(target=write, args=(home, who, stopped, tell))
            process.start()
            tell.close()
            self.pipes.append(hear)
            self.stops.append(stop)
            self.processes.append(process)
        while not self.before(time.monotonic()):
            time.sleep(0.01)

    def before(self, moment: float) -> set[str]:
        """What was acknowledged before a moment."""
        for pipe in multiprocessing.connection.wait(self.pipes, timeout=0):
            try:
                while pipe.poll(0):
                    self.acknowledged.append(pipe.recv())
            except EOFError:
                self.pipes.remove(pipe)
        return {text for at, text in self.acknowledged if at < moment}

    def forget(self) -> None:
        """What was acknowledged between a backup and going back to it is lost, as it should be."""
        self.before(0.0)
        self.acknowledged.clear()

    def __enter__(self) -> "Writers":
        return self

    def __exit__(self, *_: object) -> None:
        for stop in self.stops:
            stop.send(None)
        while self.pipes:
            self.before(0.0)
            time.sleep(0.01)
        for process in self.processes:
            process.join()
            assert 0 == process.exitcode


def held(home: Path) -> set[str]:
    """Every text of a home, current or history."""
    with clocked(home) as memory:
        turns = {turn.content for who in range(WRITERS) for turn in memory.search_traces(session=f"s{who}", limit=10_000)}
        return turns | {version.content for row in memory.get_all(limit=1_000) for version in memory.history(row.id)}


def test_R15_a_backup_while_others_write_restores_to_what_was_acknowledged(tmp_path, count, figure):
    """All that was acknowledged before it began is in a fresh home made from it; nothing in it is torn."""
    rounds, slowest, compared, largest = count(5, 50, "backups under eight writers", release=200), 0.0, 0, 0
    for first in range(0, rounds, ROUNDS_A_HOME):
        home = tmp_path / f"home{first}"
        with Writers(home) as writers:
            for i in range(first, min(rounds, first + ROUNDS_A_HOME)):
                time.sleep(BETWEEN_S)
                began, moved = time.monotonic(), tmp_path / f"moved{i}"
                with clocked(home) as memory:
                    made = memory.admin.backup(moved)
                wanted = writers.before(began)
                assert wanted <= held(moved), f"backup {i} lacks {sorted(wanted - held(moved))[:3]}"
                check(moved / "yiku.db")
                slowest, largest, compared = max(slowest, made.seconds), max(largest, made.turns), compared + len(wanted)
        open_and_check(home)
    figure("acknowledged and compared", compared, least=rounds)
    figure("turns in the largest", largest)
    figure("slowest backup", slowest, "s", most=10)


def test_R15_restoring_while_others_write(tmp_path, seed, count):
    """Each restore is one change to the writers: none of them fails, all go on, and the store is whole after each."""
    chance, home = random.Random(seed), tmp_path / "home"
    with Writers(home) as writers:
        for _ in range(count(4, 20, "restores under eight writers")):
            time.sleep(BETWEEN_S)
            with clocked(home) as memory:
                began, name = time.monotonic(), Path(memory.admin.backup().path).name
                time.sleep(chance.uniform(0, BETWEEN_S))
                number = memory.admin.restore_backup(name).operation
                assert number <= memory.admin.journal(limit=1)[0].number
            lost = writers.before(began) - held(home)
            assert not lost, f"the backup lacks {sorted(lost)[:3]}"
            check(home / "yiku.db")
            writers.forget()
    open_and_check(home)


def test_R15_a_kill_at_each_operation_of_a_restore(tmp_path, count, figure):
    """Before or after, never between; also of a backup."""
    every = count(5, 1, "is the step of the operations at which it is killed")
    figure("kills of a restore", killed_at_operations(tmp_path / "restore", restore, every), least=20)
    figure("kills of a backup", killed_at_operations(tmp_path / "backup", back_up, every), least=10)
