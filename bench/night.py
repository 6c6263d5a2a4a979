"""
Benchmark of the night: a simulated year of a bilingual user, with a night after each day, and the same year without.

    python bench/night.py                           2,000 statements
    python bench/night.py --statements 10000 --seed 7 --json year.jsonl

Mei moves, changes her job, follows projects whose deadlines and versions change, and tells of twenty people who do the same; she
gives rules, says what she likes, makes appointments that end, says many things twice, in other spellings, and many that only look
like one another: parcels, purchases, meetings, likings. Names and values are drawn from a seed. All of it goes through
`record_turn` and `remember`, on a clock that is set. At the end of the year both memories are asked about the present and, by
`valid_at`, about the past: by the words in which it was said, and loosely, in others. What is counted: answers among the first
five, statements that were replaced and are back, rules that are missing, wrong decisions (a merge, a replacement or a flag of two
statements that both hold), the size of the home by month and the CPU time of each night.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from yiku import Memory

BEGIN = datetime(2025, 1, 1, 9, tzinfo=UTC)
DAYS = 365
WITHIN = 5  # hits
SHOWN = 10  # wrong decisions
OWNER, NAMES = "user:mei", ["Mei"]
CITIES = "Oslo Bergen Trondheim Turku Ghent Leipzig Porto Graz Lyon Bath 成都 杭州 昆明 厦门 青岛 大理 苏州 桂林".split()
COMPANIES = "Nordlys Hexacore Brightwell Kestrel Palomar Oakline 青松科技 云帆软件 白鹭设计 远山数据".split()
PEOPLE = "Ann Bjorn Carla Dmitri Elif Farid Greta Hugo Ines Jonas 李雷 韩梅 张伟 王芳 陈晨 刘洋 赵敏 孙丽 周杰 吴迪".split()
PROJECTS = "Lantern Compass Driftwood Heron 灯笼 罗盘 浮木 苍鹭".split()
RULES = (
    "Always answer in short sentences.",
    "From now on, write the tests first.",
    "Never use tabs in Python files.",
    "以后回答都先给结论。",
    "引用资料时一律注明出处。",
    "Always give distances in kilometres.",
)
LIKES = "oolong tea|cross-country skiing|black coffee|board games|绿茶|爬山|围棋|老电影".split("|")
WRONGS = ("merged", "replaced", "flagged")  # decisions about two statements
THINGS = "pump compressor valve sensor printer boiler 水泵 阀门 打印机 锅炉 传感器 压缩机".split()


@dataclass(frozen=True, slots=True)
class Said:
    """What is said on a day. slot: whose value it gives, if it has one; until: the days after which it ends; turn: said in talk."""

    day: int
    text: str
    slot: tuple[str, str] | None = None
    value: str | None = None
    kind: str | None = None
    until: int | None = None
    turn: bool = False


@dataclass(slots=True)
class Year:
    """A year as it went. nights: CPU seconds of each; sizes: bytes of the database by month."""

    present: tuple[int, int] = (0, 0)
    past: tuple[int, int] = (0, 0)
    present_loosely: tuple[int, int] = (0, 0)
    past_loosely: tuple[int, int] = (0, 0)
    wrong: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    rules_missing: list[str] = field(default_factory=list)
    live: int = 0
    statements: int = 0
    decisions: dict[str, int] = field(default_factory=dict)
    nights: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


# ------------------------------------------------------------------ what is said


def is_chinese(text: str) -> bool:
    return not text.isascii()


def story(seed: int, statements: int, days: int = DAYS) -> list[Said]:
    """Everything that is said in a year, in order."""
    chance = random.Random(seed)
    said = [*_changes(chance, days)]
    said += [Said(chance.randrange(days), text, kind="rule") for text in RULES]
    said += [Said(chance.randrange(days), f"我喜欢{one}。" if is_chinese(one) else f"I like {one}.") for one in LIKES]
    while len(said) < statements:
        said += _filler(chance, days, len(said))
    return sorted(said, key=lambda one: one.day)


def _changes(chance: random.Random, days: int) -> Iterator[Said]:
    """Values that change: each slot has between two and four in the year."""
    for who in ["user", *PEOPLE]:
        for predicate, values in (("lives in", CITIES), ("works at", COMPANIES)):
            for day, value in zip(_some_days(chance, days), chance.sample(values, 4), strict=False):
                yield Said(day, _told(who, predicate, value), (who, predicate), value, turn=who == "user" and chance.random() < 0.5)
    for project in PROJECTS:
        for place, day in enumerate(_some_days(chance, days)):
            due = (BEGIN + timedelta(days=day + 40 + place)).date().isoformat()
            yield Said(day, _told(project, "deadline", due), (project, "deadline"), due)
        for place, day in enumerate(_some_days(chance, days)):
            version = f"{place + 2}.{chance.randrange(1, 9)}.{chance.randrange(30)}"
            yield Said(day, _told(project, "version", version), (project, "version"), version)


def _some_days(chance: random.Random, days: int) -> list[int]:
    return sorted(chance.sample(range(days), chance.randint(2, 4)))


def _told(who: str, predicate: str, value: str) -> str:
    """A sentence in the language of its value or its subject."""
    chinese = is_chinese(who) or (who == "user" and is_chinese(value))
    if chinese:
        name = "我" if who == "user" else who
        form = {
            "lives in": "{0}住在{1}。",
            "works at": "{0}在{1}工作。",
            "deadline": "{0}的截止日期是{1}。",
            "version": "{0}的版本是{1}。",
        }
    else:
        name = "I" if who == "user" else who
        s = "" if who == "user" else "s"
        form = {"lives in": f"{{0}} live{s} in {{1}}.", "works at": f"{{0}} work{s} at {{1}}."}
        form |= {"deadline": "The deadline of {0} is {1}.", "version": "The version of {0} is {1}."}
    return form[predicate].format(name, value)


def _filler(chance: random.Random, days: int, number: int) -> list[Said]:
    """Things that are only said: some twice, in another spelling, some for a few days."""
    thing, hall, day = chance.choice(THINGS), chance.randrange(40), chance.randrange(days)
    if chance.random() < 0.3:
        return [Said(day, _tempting(chance, number))]
    if is_chinese(thing):
        text, again = f"{number}号{thing}在{hall}号厂房。", f"{number} 号{thing}在 {hall} 号厂房！"
    else:
        text, again = f"The {thing} {number} stands in hall {hall}.", f"The {thing} {number} - stands in hall {hall}"
    if chance.random() < 0.15:
        return [Said(day, text, until=chance.randint(1, 5))]
    if chance.random() < 0.15:
        return [Said(day, text), Said(min(days - 1, day + chance.randrange(30)), again)]
    return [Said(day, text)]


def _tempting(chance: random.Random, number: int) -> str:
    """A sentence that differs from others in a number or a name alone, and holds beside them."""
    who, like, hour = chance.choice(PEOPLE), chance.choice(LIKES), chance.randrange(8, 19)
    if is_chinese(who):
        forms = (f"包裹{number}在门口。", f"{who}买了{number}个苹果。", f"我{hour}点和{who}开会。", f"{who}喜欢{like}。")
    else:
        forms = (
            f"Parcel {number} is at the gate.",
            f"{who} bought {number} apples.",
            f"I meet {who} at {hour}.",
            f"{who} likes {like}.",
        )
    return chance.choice(forms)


def same(one: str, other: str) -> bool:
    """Whether two sentences of a year say the same in other spellings."""
    return _bare(one) == _bare(other)


def _bare(text: str) -> str:
    return "".join(text.replace("!", "").replace("！", "").split()).strip("。.").replace("-", "")


# ------------------------------------------------------------------ a year


def live(home: Path, said: Sequence[Said], days: int, *, nights: bool) -> Year:
    """Let a year pass on a home, and ask at its end."""
    year, now, rest = Year(statements=len(said)), [BEGIN], [*said]
    replaced: dict[str, str] = {}
    slots = {one.text: one.slot for one in said if one.slot}
    with Memory(home, owner=OWNER, names=NAMES, clock=lambda: now[0], durability="fast", learn="at_once") as memory:
        for day in range(days):
            now[0] = BEGIN + timedelta(days=day)
            while rest and rest[0].day == day:
                now[0] += timedelta(minutes=1)
                _say(memory, rest.pop(0), now[0], replaced)
            if day % 3 == 0:
                memory.context("Where do I live? 我住在哪里？")
            now[0] = BEGIN + timedelta(days=day, hours=18)
            if nights:
                _night(memory, year, slots)
            if day % 30 == 29:
                year.sizes.append((home / "yiku.db").stat().st_size)
        now[0] += timedelta(hours=1)
        _ask(memory, said, year, now[0])
        states = {id: memory.get(id) for id in replaced}
        year.back = [replaced[id] for id, one in states.items() if one.live]
        rules = {row.content for row in memory.get_all(where={"kind": "rule"}, limit=1_000)}
        year.rules_missing = [text for text in RULES if text not in rules]
        year.live = memory.admin.stats().memories.get("active", 0)
    return year


def _say(memory: Memory, one: Said, now: datetime, replaced: dict[str, str]) -> None:
    if one.turn:
        memory.record_turn("user", one.text, session=f"day-{one.day}")
        return
    details = {"kind": one.kind} if one.kind else {}
    if one.slot and one.value:
        subject, predicate = one.slot
        details |= {"subject": subject, "predicate": predicate, "object": one.value, "cardinality": "single"}
    if one.until:
        details["expires_at"] = now + timedelta(days=one.until)
    done = memory.remember(one.text, **details)
    if done.kind == "replaced":
        replaced[done.replaced.id] = done.replaced.content


def _night(memory: Memory, year: Year, slots: Mapping[str, tuple[str, str]]) -> None:
    began = time.process_time()
    done = memory.admin.consolidate()
    year.nights.append(time.process_time() - began)
    for action, count in done.counts.items():
        year.decisions[action] = year.decisions.get(action, 0) + count
    for item in done.items:
        if item.action in WRONGS:
            one, other = (memory.get(id).content for id in item.ids[:2])
            if not is_right(item.action, one, other, slots):
                year.wrong.append(f"{item.action}: {one} | {other}")


def is_right(action: str, one: str, other: str, slots: Mapping[str, tuple[str, str]]) -> bool:
    """Whether a decision about two statements is right: one says the other again, or gives its slot another value."""
    if action == "merged":
        return same(one, other)
    return one in slots and slots[one] == slots.get(other) and not same(one, other)


def _ask(memory: Memory, said: Sequence[Said], year: Year, now: datetime) -> None:
    """Ask for each slot what holds now, and what held in the middle of each value before it."""
    slots: dict[tuple[str, str], list[Said]] = {}
    for one in said:
        if one.slot:
            slots.setdefault(one.slot, []).append(one)
    for slot, values in slots.items():
        question, loosely, last = _question(*slot), _loosely(*slot), values[-1]
        year.present = _counted(year.present, _found(memory, question, last, None))
        year.present_loosely = _counted(year.present_loosely, _found(memory, loosely, last, None))
        for one, following in pairwise(values):
            if following.day > one.day:
                middle = min(BEGIN + timedelta(days=(one.day + following.day) / 2, hours=12), now)
                year.past = _counted(year.past, _found(memory, question, one, middle))
                year.past_loosely = _counted(year.past_loosely, _found(memory, loosely, one, middle))


def _question(who: str, predicate: str) -> str:
    if is_chinese(who):
        form = {
            "lives in": "{}住在哪里？",
            "works at": "{}在哪里工作？",
            "deadline": "{}的截止日期是什么时候？",
            "version": "{}的版本是多少？",
        }
        return form[predicate].format(who)
    if who == "user":
        return {"lives in": "Where do I live?", "works at": "Where do I work?"}[predicate]
    form = {"lives in": "Where does {} live?", "works at": "Where does {} work?"}
    form |= {"deadline": "When is the deadline of {}?", "version": "Which version of {} is it?"}
    return form[predicate].format(who)


def _loosely(who: str, predicate: str) -> str:
    """Return the question of a slot in words that the answer does not have, or has few of."""
    if is_chinese(who):
        form = {
            "lives in": "{}家在哪座城市？",
            "works at": "{}是哪家公司的？",
            "deadline": "{}什么时候要交？",
            "version": "{}现在用的是哪一版？",
        }
        return form[predicate].format(who)
    if who == "user":
        return {"lives in": "Which city is my home?", "works at": "Who is my employer?"}[predicate]
    form = {"lives in": "Which city is {} based in?", "works at": "Who employs {}?"}
    form |= {"deadline": "When is {} due?", "version": "How far has {} been released?"}
    return form[predicate].format(who)


def _found(memory: Memory, question: str, one: Said, at: datetime | None) -> bool:
    hits = memory.recall(question, limit=WITHIN, valid_at=at)
    return any((one.value or "") in hit.text for hit in hits)


def _counted(before: tuple[int, int], right: bool) -> tuple[int, int]:
    return before[0] + right, before[1] + 1


# ------------------------------------------------------------------ what is told


def simulate(folder: Path, seed: int, statements: int, days: int = DAYS) -> dict[str, Year]:
    """The year with nights and without, each in a home below a folder."""
    said = story(seed, statements, days)
    return {name: live(folder / name, said, days, nights=name == "nights") for name in ("nights", "without")}


def lines(years: dict[str, Year]) -> Iterator[str]:
    """Yield the figures of both years, and what is drawn of them."""
    for name, year in years.items():
        right = " ".join(f"{what} {found}/{of} ({found / max(of, 1):.1%})" for what, (found, of) in _asked(year).items())
        yield f"{name}: {year.statements:,} said, {year.live:,} live; R@{WITHIN} {right}; back {len(year.back)}"
        yield f"  rules missing: {len(year.rules_missing)}; wrong {len(year.wrong)}; decisions: {year.decisions or '-'}"
        yield from (f"  wrong: {one}" for one in year.wrong[:SHOWN])
    nights = years["nights"].nights
    if nights:
        yield f"a night: median {statistics.median(nights) * 1000:.0f} ms, longest {max(nights) * 1000:.0f} ms of CPU"
        yield f"  by month  {drawn([statistics.median(nights[at : at + 30]) for at in range(0, len(nights), 30)])}"
    for name, year in years.items():
        if year.sizes:
            yield f"database {name}: {year.sizes[-1] / 1e6:.1f} MB  by month  {drawn(year.sizes)}"


def _asked(year: Year) -> dict[str, tuple[int, int]]:
    return {
        "present": year.present,
        "past": year.past,
        "loosely present": year.present_loosely,
        "loosely past": year.past_loosely,
    }


def drawn(values: Sequence[float]) -> str:
    """Draw values as bars of eight heights."""
    most = max(values, default=0) or 1
    return "".join("▁▂▃▄▅▆▇█"[min(7, int(value / most * 7.999))] for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0] if __doc__ else None)
    parser.add_argument("--statements", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--json", type=Path, help="append the figures to this file")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="yiku-year-"))
    try:
        years = simulate(folder, given.seed, given.statements, given.days)
    finally:
        shutil.rmtree(folder)
    for line in lines(years):
        print(line)
    if given.json:
        with given.json.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"seed": given.seed, **{name: asdict(year) for name, year in years.items()}}) + "\n")


if __name__ == "__main__":
    main()
