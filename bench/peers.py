"""
Reference figures for the speed benchmark: the machine's floor, and simpler approaches (FTS5, sqlite-vec).

The floor is what no store on this disk and in this language can go below. Plain FTS5 and sqlite-vec are for
orientation: one finds words without Chinese, scopes, history, slots, filters or sources, the other the nearest
of random vectors.
"""

import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np

VECTOR_DIMENSIONS = 384
PAGE = b"\x55" * 4096


class Span(NamedTuple):
    """What a kind of call took, in milliseconds: CPU at the median and at 95 of 100, wall at the median."""

    cpu_p50: float
    cpu_p95: float
    wall_p50: float


def timed(calls: Iterable[Callable[[], object]]) -> Span:
    """Each call once, one after the other."""
    cpu, wall = [], []
    for call in calls:
        wall_from, cpu_from = time.perf_counter_ns(), time.process_time_ns()
        call()
        cpu.append((time.process_time_ns() - cpu_from) / 1e6)
        wall.append((time.perf_counter_ns() - wall_from) / 1e6)
    return span(cpu, wall)


def span(cpu: Sequence[float], wall: Sequence[float]) -> Span:
    p95 = sorted(cpu)[min(len(cpu) - 1, int(0.95 * len(cpu)))]
    return Span(statistics.median(cpu), p95, statistics.median(wall))


# ------------------------------------------------------------------ the floor


def flush(folder: Path) -> Span:
    """One page written and flushed, as one durable write must at least."""
    descriptor = os.open(folder / "flushed", os.O_CREAT | os.O_WRONLY)

    def once() -> None:
        os.pwrite(descriptor, PAGE, 0)
        os.fdatasync(descriptor)

    try:
        return timed([once] * 200)
    finally:
        os.close(descriptor)


def commit(folder: Path) -> Span:
    """One small row, committed by SQLite with WAL and a full flush."""
    (folder / "bare.db").unlink(missing_ok=True)
    connection = apsw.Connection(str(folder / "bare.db"))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "FULL")
    connection.execute("create table row (n integer primary key, text text)")
    found = timed([lambda: connection.execute("insert into row (text) values (?)", ("x" * 250,))] * 200)
    connection.close()
    return found


def copied_gb_s() -> float:
    """How fast numpy copies memory, in GB a second."""
    source = np.ones(32_000_000)
    target = np.empty_like(source)
    return source.nbytes / 1e6 / min(timed([lambda: np.copyto(target, source)]).wall_p50 for _ in range(5))


# ------------------------------------------------------------------ others


def plain_fts5(path: Path, texts: Sequence[str], questions: dict[str, list[str]]) -> dict[str, Span]:
    """The ten best by bm25 in one table with the Porter tokenizer, for each mix of questions."""
    connection = apsw.Connection(str(path))
    connection.execute("create virtual table said using fts5 (text, tokenize = 'porter unicode61')")
    with connection:
        connection.executemany("insert into said (text) values (?)", ((text,) for text in texts))
    sql = "select rowid, text from said where said match ? order by bm25(said) limit 10"

    def ask(question: str) -> None:
        words = dict.fromkeys(question.replace('"', "").replace("？", " ").replace("?", " ").split())
        connection.execute(sql, (" OR ".join(f'"{word}"' for word in words),)).fetchall()

    found = {}
    for mix, asked in questions.items():
        ask(asked[0])
        found[mix] = timed([lambda question=question: ask(question) for question in asked])
    connection.close()
    return found


def sqlite_vec(path: Path, count: int) -> Span | None:
    """The ten nearest of `count` random vectors, all looked at; None where the extension is not installed."""
    try:
        import sqlite_vec as extension
    except ImportError:
        return None
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(extension.loadable_path())
    connection.execute(f"create virtual table near using vec0 (vector float[{VECTOR_DIMENSIONS}])")
    vectors = np.random.default_rng(7).standard_normal((count, VECTOR_DIMENSIONS), dtype=np.float32)
    with connection:
        connection.executemany("insert into near (vector) values (?)", ((vector.tobytes(),) for vector in vectors))
    sql = "select rowid, distance from near where vector match ? and k = 10"
    found = timed([lambda vector=vector: connection.execute(sql, (vector.tobytes(),)).fetchall() for vector in vectors[:12]])
    connection.close()
    return found
