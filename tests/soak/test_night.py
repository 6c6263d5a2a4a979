"""R31: nights cut off at random disk operations, and one night after a missed week compared with seven."""

import random
import re
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from faults.test_night import START, counted, cut_off, opened, prepared
from soak.conftest import RELEASE

from yiku import Memory
from yiku.types import Memories, SemanticMemory


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


WORDS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
CITIES = ("Oslo", "Bergen", "Turku", "杭州", "昆明", "Ghent", "成都")


def said_on(memory: Memory, day: int, many: int) -> None:
    """What is said on a day of the week: things that end, repeat, change, contradict, and are only supposed."""
    city = CITIES[day % len(CITIES)]
    memory.record_turn("user", f"I live in {city} now. 我现在喜欢{day}号茶。", session=f"day{day}")
    memory.record_turn("assistant", "Noted. 好的。", session=f"day{day}")
    memory.remember(f"Ann lives in {city}.")
    memory.remember(f"The office opens at {day + 5}. ")
    memory.remember(f"办公室{day + 5}点开门。")
    memory.remember(f"I think the gate closes at {day + 12}.", standing="belief")
    memory.remember(f"The gate closes at {day + 13}.")
    for i in range(many):
        number = day * many + i
        memory.remember(f"The pump {number} stands in hall {number % 9}.", importance=number % 10 / 10)
        memory.remember(f"The pump {number - many // 2} - stands in hall {(number - many // 2) % 9}")  # partly of the day before
        memory.remember(f"{number} 号阀门在 {number % 9} 号厂房！")
        memory.remember(f"{number - many // 2}号阀门在{(number - many // 2) % 9}号厂房。")
        memory.remember(f"Parcel {number} is at the gate. 包裹{number}", priority=("transient", "short_term")[i % 2])
        memory.remember(f"Bag {number} is in the hall. 袋子{number}", ttl_days=i % 4 + 1)


def test_R31_a_missed_week_equals_seven_nights(tmp_path, template, figure):
    """Live statements, states, reasons and scores are the same, whether the night ran each day or once."""
    found, decided = [], list[dict[str, int]]()
    for every in (1, 7):
        home = Path(shutil.copytree(template, tmp_path / str(every)))
        for day in range(1, 8):
            with opened(home, START + timedelta(days=20 + day)) as memory:
                said_on(memory, day, 20 if RELEASE else 4)
            if not day % every:
                with opened(home, START + timedelta(days=20 + day, hours=12)) as memory:
                    decided.append(dict(memory.admin.consolidate().counts))
        with opened(home, START + timedelta(days=30)) as memory:
            rows = memory._handle.store.memories(memory._handle.own(), Memories())
            names = {row.id: row.content for row in rows}
            found.append(sorted(map(repr, (_compared(row, names) for row in rows))))
        shutil.rmtree(home)

    assert found[0] == found[1]
    assert all(decided), "something happens on each day of the week"
    figure("decisions of the week", sum(decided[-1].values()), least=50)


def _compared(row: SemanticMemory, names: dict[str, str]) -> list[object]:
    """What a person sees of a statement; ids by the words that they stand for."""
    reason = WORDS.sub(lambda id: names[id[0]], row.reason or "")
    values = [getattr(row, name) for name in ("state", "standing", "priority", "importance", "base_score", "confidence", "flag")]
    return [row.content, reason, row.superseded_by and names[row.superseded_by], *values, row.expires_at, row.auto_delete_at]
