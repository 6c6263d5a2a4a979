"""Old homes for the migration: as many records as are asked for, with everything odd that was seen in such files."""

import hashlib
import json
import random
from pathlib import Path

PEOPLE = ("小明", "小红", "Ann", "Atlas", "老王", "Mei")
PLACES = ("北京朝阳区", "Oslo", "上海", "Bergen", "杭州西湖")


def write(old: Path, count: int, seed: int = 7) -> dict[str, int]:
    """
    Write an old home of so many good records; return how many good lines there are, and odd ones of each sort.

    Equal texts, one id twice, times of every form, numbers out of range, broken lines, ends, superseded and downgraded ones.
    """
    chance = random.Random(seed)
    layer = old / "layer2"
    for name in ("active", "archive", "entities", "index"):
        (layer / name).mkdir(parents=True, exist_ok=True)
    files: dict[str, list[str]] = {}
    odd = {"broken": 0, "empty": 0, "same": 0, "double": 0}
    for number in range(count):
        kind = chance.choices(("facts", "beliefs", "summaries"), (7, 2, 1))[0]
        folder = "archive" if chance.random() < 0.15 else "active"
        line = record(chance, kind[0], number)
        put(files, f"{folder}/{kind}", line)
        if number % 97 == 0:  # a log that repeats itself
            put(files, f"{folder}/{kind}", line)
            odd["same"] += 1
        if number % 101 == 0:  # what every restatement came to: the words again, under an id of their own
            put(files, "active/facts", {"id": f"f_20260301_{number:06x}d", "content": f"再说一遍 said again {number}"})
            put(files, "active/facts", {"id": f"f_20260302_{number:06x}d", "content": f"再说一遍  Said again {number}。"})
            odd["double"] += 1
        if number % 103 == 0:
            files[f"{folder}/{kind}"] += ["{not json", '["a list"]', '{"id": "f_1", "content": "cut o', ""]
            odd["broken"] += 3
        if number % 107 == 0:
            put(files, f"{folder}/{kind}", {"id": f"f_empty_{number}", "content": " "})
            odd["empty"] += 1
    for number in range(max(count // 100, 1)):
        content = f"{PEOPLE[number % 6]}喜欢吃火锅，第{number}次 likes hotpot {number}"
        put(files, "pending", {"id": f"p_20260301_{number:06x}", "content": content, "created": stamp(number), "urgent": True})
        gone = {"id": f"f_20250101_{number:06x}", "content": f"限时 offer {number}", "expires_at": "2025-02-01T00:00:00Z"}
        put(files, "expired_log", {"expired_at": "2025-02-01T03:00:00Z", "record": gone})
        put(files, "access_log", {"id": f"f_{number}", "type": "retrieval", "timestamp": stamp(number)})
    for name, lines in files.items():
        text = "\n".join(lines) + "\n"
        (layer / f"{name}.jsonl").write_text(("\ufeff" if name == "active/beliefs" else "") + text, encoding="utf-8")
    (layer / "index/keywords.json").write_text("{}")
    (old / "config.json").write_text('{"version": "1.2.4"}')
    return odd


def put(files: dict[str, list[str]], name: str, line: dict[str, object]) -> None:
    files.setdefault(name, []).append(json.dumps(line, ensure_ascii=False))


def record(chance: random.Random, letter: str, number: int) -> dict[str, object]:
    """One good record, with fields of many forms."""
    who, where = chance.choice(PEOPLE), chance.choice(PLACES)
    line: dict[str, object] = {
        "id": f"{letter}_202602{number % 28 + 1:02d}_{number:06x}",
        "content": chance.choice((f"{who}住在{where}，门牌{number}号", f"{who} lives in {where}, door {number}")),
        chance.choice(("created", "created_at")): stamp(number),
        "importance": chance.choice((0.1, 0.5, 0.95, 1.7, -1, "0.8", None, "high")),
        "score": chance.choice((1.0, 0.08, 1.3, "0.5")),
        "source": chance.choice(("user", "session_12", None)),
    }
    if chance.random() < 0.7:
        line["entities"] = chance.choice(([who, where], [who, who, ""], who, None, [who, 3]))
    if chance.random() < 0.5:
        line |= {
            "access_count": chance.randrange(9),
            "retrieval_count": 2,
            "last_accessed": stamp(number + 5),
            "access_boost": 0.31,
        }
    if letter == "b":
        line |= {"confidence": chance.choice((0.6, 0.3, 1.4)), "basis": "他说的 he said so"}
    if letter == "s":
        line["source_facts"] = [f"f_20260201_{number:06x}", f"f_20260202_{number:06x}"]
    if chance.random() < 0.1:
        line |= {"expires_at": "2027-01-01T00:00:00Z", "is_permanent": chance.choice((False, True))}
    if chance.random() < 0.05:
        line |= {"conflict_downgraded": True, "downgrade_reason": f"f_20260301_{number:06x}", "override_tier": 1}
    return line


def stamp(number: int) -> object:
    """A time in one of the forms that were written over the years."""
    day, minute = f"2026-02-{number % 28 + 1:02d}", f"{number % 60:02d}"
    return (f"{day}T10:{minute}:00Z", f"{day}T10:{minute}:00.123456", f"{day} 10:{minute}:00", 1_770_000_000 + number)[number % 4]


def digest(folder: Path) -> dict[str, str]:
    """The hash of every file below a folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}
