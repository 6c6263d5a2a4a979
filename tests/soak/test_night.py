"""R31: nights cut off at random disk operations, and one night after a missed week compared with seven."""

import random
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from faults.test_night import START, counted, cut_off, opened, prepared
from soak.conftest import RELEASE

from yiku.types import Memories


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("night") / "home"
    prepared(home, 2_000 if RELEASE else 200)
    return home


def test_R31_a_large_night_that_was_killed_is_finished_by_the_next_call(tmp_path, template, seed, count, figure):
    """Cut off before drawn operations: the resumed run agrees with one that never was in all but ids and times."""
    every, kills = counted(template), count(40, 300, "kills")
    cut_off(tmp_path, template, random.Random(seed).sample(range(1, every + 1), kills))

    figure("operations of a night", every)


def test_R31_a_missed_week_equals_seven_nights(tmp_path, template):
    """States, reasons and scores of every statement are the same, whether the night ran each day or once."""
    found = []
    for every in (1, 7):
        home = Path(shutil.copytree(template, tmp_path / str(every)))
        for day in range(every, 8, every):
            with opened(home, START + timedelta(days=20 + day)) as memory:
                memory.admin.consolidate()
        with opened(home, START + timedelta(days=30)) as memory:
            rows = memory._handle.store.memories(memory._handle.own(), Memories())
            found.append([(row.content, row.state, row.reason, row.priority, row.importance, row.base_score) for row in rows])
        shutil.rmtree(home)

    assert sorted(found[0]) == sorted(found[1])
