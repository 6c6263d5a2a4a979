"""
Histories whose statements are recorded in any order, and what must come out the same.

A set is a list of statements, each with the time at which it was said. `told` tells them to a fresh memory in
an order and gives back what holds: the live statements and every chain, by content, valid_from and valid_to.
"""

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from yiku import Memory
from yiku.rules.text import analyze

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PUNCTUATION = str.maketrans(dict.fromkeys(".!。", " "))
Statement = tuple[str, dict[str, Any]]


def said(*texts: str, **details: Any) -> list[Statement]:
    """Statements said an hour apart."""
    return [(text, {"said_at": NOW - timedelta(days=90) + timedelta(hours=i), **details}) for i, text in enumerate(texts)]


SETS: dict[str, list[Statement]] = {
    "a value comes back": said("I live in Oslo.", "I live in Bergen.", "I live in Oslo."),
    "a value comes back twice": said(*["I live in Oslo.", "I live in Bergen."] * 3),
    "confirmed, then replaced, then back": said("我住在北京", "我住在北京", "我住在上海", "我住在北京", "我住在北京"),
    "other case, width and punctuation": said(
        "I live in Oslo", "i live in oslo!", "Ｉ　ｌｉｖｅ　ｉｎ　Ｏｓｌｏ。", "I live in Bergen"
    ),
    "the same object in other words": said("I live in Oslo.", "I moved to Oslo.", "我住在 Oslo。", "I moved to Bergen."),
    "English and Chinese of one slot": said(
        "I work at Tidevann.", "我在 Nordlys 工作。", "I joined Tidevann.", "我跳槽到 Nordlys 了"
    ),
    "likes and no longer": said("I like coffee", "I like tea", "I don't like coffee anymore", "我喜欢茶", "I like coffee"),
    "values written otherwise": said(
        "The retry limit is three.", "the retry limit's 3", "The retry limit is 5.", "重试的上限是7", "The retry limit is five."
    ),
    "affirmed and denied": said("I drink coffee.", "I don't drink coffee anymore", "我喝茶。", "我不喝茶了", "I drink coffee."),
    "what was, beside what is": said("I live in Oslo.", "I used to live in Bergen.", "以前我住在株洲。", "I live in Rome."),
    "a change that is only marked": said("My car is a Volvo.", "Sold the Volvo to a guy from Oslo.", "My car is a Kia."),
    "without a slot": said("The code word is sesame 芝麻", "the CODE word is sesame 芝麻!", "Another thing 另一件事"),
    "two slots at once": said("I live in Oslo.", "Ann lives in Oslo.", "I live in 深圳", "Ann lives in 深圳", "I live in Oslo."),
}


def demo(material: Path) -> list[Statement]:
    """The demonstration's statements, at the times of their turns. Each was said in a turn of its own."""
    turns = [json.loads(line) for line in (material / "conversation.jsonl").read_text("utf-8").splitlines()]
    found = []
    for line in (material / "remember.jsonl").read_text("utf-8").splitlines():
        details = json.loads(line)
        number, text = details.pop("after_turn"), details.pop("text")
        found.append((text, {**details, "said_at": turns[number - 1]["said_at"]}))
    return found


def stored_in_order(home: Path, statements: Sequence[Statement], order: Sequence[int]) -> Any:
    """What holds after these statements were told in this order."""
    with Memory(home, owner="user:mei", names=["Mei"], clock=lambda: NOW, durability="fast") as memory:
        for i in order:
            text, details = statements[i]
            memory.remember(text, **details)
        live = sorted((words(row.content), row.valid_from, row.valid_to) for row in memory.get_all(limit=1000))
        lines = {row.line: row.id for row in memory.get_all(limit=1000)}
        chains = [[(words(v.content), v.said_at, v.valid_from, v.valid_to) for v in memory.history(id)] for id in lines.values()]
    return live, sorted(chains)


def words(text: str) -> str:
    """A text without case, width and punctuation: of equal wordings, a memory keeps the one that came first."""
    return " ".join(analyze.fold(text).translate(PUNCTUATION).split())


def orders(length: int, count: int, seed: int) -> list[list[int]]:
    """So many orders: as said, backwards, and random ones."""
    chance = random.Random(seed)
    return [list(range(length)), list(reversed(range(length))), *(chance.sample(range(length), length) for _ in range(count - 2))]
