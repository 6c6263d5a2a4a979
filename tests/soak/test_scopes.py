"""R26: a million calls of all public verbs over 42 hostile scope names, and timing differences between scopes."""

import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from store.scope_home import World
from store.test_scopes import AT_MOST, beside, timed

WORKERS = 2
MEMORY = Path("/dev/shm")  # nothing here is about disks, and most of a call on one is waiting


def by_chance(folder: Path, seed: int, calls: int) -> int:
    """So many random calls; in how many homes."""
    world = World(folder, seed)
    world.run(calls)
    return world.homes


def test_R26_no_call_shows_anything_of_another_scope(tmp_path, seed, count, figure):
    """Nothing of a foreign scope in any answer, error, explanation, journal row or count; foreign ids are told like absent ones."""
    calls = count(20_000, 1_000_000, "calls of public verbs")
    with (
        tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else tmp_path) as fast,
        ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool,
    ):
        folders = [Path(fast, str(worker)) for worker in range(WORKERS)]
        for folder in folders:
            folder.mkdir()
        each = [pool.submit(by_chance, folder, seed + worker, calls // WORKERS) for worker, folder in enumerate(folders)]
        homes = sum(done.result() for done in each)

    figure("homes", homes)
    figure("leaks", 0, most=0)  # the first would have ended the run, with its seed and the last operations
    assert homes > 1


@pytest.fixture
def crowded(home):
    """A small scope beside one of 10,000 turns."""
    yield from beside(home, 10_000)


def test_R26_time_does_not_tell_what_is_foreign(crowded, count, figure):
    """An id, the end of one, or a word that another scope has takes as long as one that nobody has."""
    found = timed(*crowded, pairs=count(500, 2_000, "pairs of calls a verb and round"))

    figure("foreign against absent, at worst", max(found.values()), "times", most=AT_MOST)
