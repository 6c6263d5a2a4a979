"""Determinism: the same question has the same hits and scores in every process."""

import os
import random
import subprocess
import sys

from yiku import Memory

ASK = """
import sys
from datetime import UTC, datetime

from yiku import Memory

with Memory(sys.argv[1], search="words", clock=lambda: datetime(2026, 12, 1, tzinfo=UTC)) as memory:
    for question in sys.argv[2:]:
        hits = memory.recall(question, limit=40)
        print([(hit.item.id, hit.score.hex(), sorted(hit.routes.items())) for hit in hits], hits.confidence.hex())
"""
WORDS = "pump cellar garden lantern Oslo Bergen river tea kettle violin 水泵 地窖 花园 灯笼 奥斯陆 河 茶 自行车 小提琴".split()
QUESTIONS = [
    "Where is the pump in the cellar?",
    "What about Ann's kettle, the violin and tea by the river?",
    "我的水泵在地窖还是在花园?",
    "Did I say when we go to Oslo or Bergen, 茶 and 灯笼 with us?",
]


def test_no_score_depends_on_the_order_of_a_set(home):
    """Sets of texts have another order in each process; two that differ in it say the same."""
    chance = random.Random(1)
    with Memory(home, owner="user:mei", search="words") as memory:
        for session in range(20):
            memory.record(
                [
                    {"role": chance.choice(["user", "assistant"]), "content": " ".join(chance.choices(WORDS, k=9)) + ". 好。"}
                    for _ in range(20)
                ],
                session=f"s{session}",
            )
        for number in range(40):
            memory.remember(f"Ann's {chance.choice(WORDS)} {number} stands by the {chance.choice(WORDS)}.")

    def asked(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", ASK, str(home), *QUESTIONS]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    assert 4 == asked("0").count("\n")
    assert asked("0") == asked("1") == asked("2") == asked("3")
