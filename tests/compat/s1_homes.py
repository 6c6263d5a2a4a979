"""
Old homes of simple_memory, drawn from a seed: a database as the plugin leaves it, with everything odd that was seen in such databases.

Times of every form, strengths out of range, types in two languages, scopes that are none, the same words twice, relations that lead
nowhere, tags that differ by case, columns of later versions, bytes that are no text, rows that lie in the log alone.
"""

import hashlib
import random
import sqlite3
from pathlib import Path

SCHEMA = """
create table memory_records (
    id text primary key, memory_type text not null, judgment text not null, reasoning text not null, strength integer not null,
    is_active integer not null, memory_scope text not null, created_at real not null, updated_at real not null,
    useful_count integer default 0, useful_score real default 0, last_recalled_at real
);
create table memory_tags (id integer primary key autoincrement, name text not null unique);
create table memory_tag_rel (memory_id text not null, tag_id integer not null);
create index records_by_scope on memory_records (memory_scope, created_at);
create table note_index (id text, path text);
"""
PEOPLE = ("小明", "小红", "Ann", "老王", "Mei", "Jürgen")
THINGS = ("火锅", "tea", "周报", "C++", "深色主题", "钓鱼", "Python")
SCOPES = ("public", "家庭", "team-a", "聚餐群", "user_42")
NO_SCOPES = ("", "   ", "two words", "Public")
TYPES = ("知识", "事件", "技能", "任务", "情感", "knowledge", "event", "MemoryType.SKILL", "fact", "愿望", "")


def build(database: Path, count: int, seed: int = 7) -> dict[str, int]:
    """Write a database of so many records; return how many rows are odd in each way that a migration counts."""
    chance, odd = random.Random(seed), {"empty": 0, "scope": 0, "said twice": 0}
    database.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.executescript(SCHEMA)
    connection.execute("begin")
    tags = {name: number for number, name in enumerate((*PEOPLE, *THINGS, "Tea", " 火锅 ", "TEA", "unused", "x" * 300), 1)}
    connection.executemany("insert into memory_tags (id, name) values (?, ?)", ((number, name) for name, number in tags.items()))
    for number in range(count):
        who, what, scope = chance.choice(PEOPLE), chance.choice(THINGS), chance.choice(SCOPES)
        judgment: object = chance.choice((f"{who}喜欢{what}，第{number}条", f"{who} likes {what}, number {number}"))
        if number % 53 == 0:
            judgment = ""
            odd["empty"] += 1
        elif number % 59 == 0:
            scope = chance.choice(NO_SCOPES)
            odd["scope"] += 1
        elif number % 61 == 0:
            judgment = f"{judgment}\n第二行\0 with a second line".encode() + b"\xff\xfe"
        connection.execute(
            "insert into memory_records values (?, ?, cast(? as text), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                f"mem-{number:06d}" if number % 97 else None if number % 2 else "长" * 130 + str(number),
                chance.choice(TYPES), judgment, chance.choice((f"因为{who}说过", "she said so", "")),
                chance.choice((10, 0, -3, 50, 5_000, "7", "strong", 3.6)), chance.choice((0, 1, "1", "true", "")), scope,
                *times(number), chance.randrange(4), chance.choice((0.0, 2.5, float("inf"))), chance.choice((None, 1_770_000_000.5)),
            ),
        )  # fmt: skip
        for name in chance.sample([*tags], chance.choice((0, 1, 2, 3))):
            for _ in range(1 + (number % 31 == 0)):  # a relation that is there twice
                connection.execute("insert into memory_tag_rel values (?, ?)", (f"mem-{number:06d}", tags[name]))
        if number % 101 == 7:  # said again, under an id of its own
            again = f"mem-{number:06d}-again"
            connection.execute(
                "insert into memory_records select ?, memory_type, judgment || '。', 'said again', 99, 1, memory_scope, created_at,"
                " 1780000000, 0, 0, null from memory_records where id = ? and judgment <> ''",
                (again, f"mem-{number:06d}"),
            )
            connection.execute("insert into memory_tag_rel values (?, ?)", (again, tags["钓鱼"]))
            odd["said twice"] += 1
    connection.execute("insert into memory_tag_rel values ('nobody', 1), ('mem-000001', 9999)")
    connection.execute("commit")
    whole = database.read_bytes(), Path(f"{database}-wal").read_bytes()
    connection.close()
    for path, content in zip(
        (database, Path(f"{database}-wal")), whole, strict=True
    ):  # as a kill leaves it: the log was not merged
        path.write_bytes(content)
    return odd


def with_own_tags(database: Path, count: int) -> None:
    """Write a database of so many plain memories, each with three tags that no other has."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.executescript(SCHEMA)
    connection.execute("begin")
    for number in range(count):
        row = (
            f"mem-{number}",
            "知识",
            f"第{number}条 entry {number}",
            "because",
            10,
            0,
            "public",
            1_750_000_000.0 + number,
            1_750_000_000.0,
        )
        connection.execute("insert into memory_records values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, null)", row)
        for place, name in enumerate((f"标签甲{number}号", f"tag-b-{number}", f"tag-c-{number}")):
            connection.execute("insert into memory_tags (id, name) values (?, ?)", (number * 3 + place + 1, name))
            connection.execute("insert into memory_tag_rel values (?, ?)", (f"mem-{number}", number * 3 + place + 1))
    connection.execute("commit")
    connection.close()


def times(number: int) -> tuple[object, object]:
    """When a record was written and changed, in one of the forms that were seen."""
    at = 1_750_000_000.25 + number * 60
    forms = ((at, at + 5), (at, at - 500), (at * 1000, at * 1000), (str(at), "2026-02-14T10:00:00"), (0, at), ("yesterday", 0))
    return forms[number % len(forms)]


def digest(folder: Path) -> dict[str, str]:
    """The hash of every file below a folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}
