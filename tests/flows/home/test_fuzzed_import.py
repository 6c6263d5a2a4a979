"""Fuzzed exports: any value in any field is imported or reported; every verb still works and `check` passes. More: tests/soak."""

import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import exports
import pytest
from exports import opened, taken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from integrity import open_and_check
from verbs import VERBS

from yiku import Memory
from yiku.types import ImportReport

STRANGE: list[Any] = [
    *(None, True, False, 0, -1, 1, 99, 2**53, 2**63, 10**40, 0.5, -0.1, 1e300, float("inf"), float("nan")),
    *(
        "",
        " ",
        "x",
        "\0",
        "\ud800",
        "\x1b]0;x\x07",
        "文" * 40_000,
        "../../x",
        "user",
        "rule",
        "active",
        "archived",
        "conflict",
        "public",
    ),
    *(
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "2026-03-02",
        "2999-01-01T00:00:00+00:00",
        "2026-03-02T09:00:00+00:00",
    ),
    *(
        "01900000-0000-7000-8000-00000000000a",
        "ab" * 32,
        "ab" * 16,
        [],
        {},
        [[]],
        [None],
        ["x"],
        [5],
        {"a": 5},
        {"x": "y"},
        [{"a": []}],
    ),
    *([["a", "b", "c"]], {"\0": 1}, {"content": "x", "blob": "y"}),
]


@pytest.fixture(scope="module")
def export_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lived(tmp_path_factory.mktemp("told"))


def lived(folder: Path) -> Path:
    """An export that has a line of every type; and beside it a home that knows other things, some of the same slots."""
    with opened(folder / "theirs") as memory:
        calls = {"tool_calls": [{"name": "看"}], "tool_results": [{"content": "ok"}]}
        turn = memory.record_turn(
            "user", "I live in Bergen. 我喜欢绿茶。", session="s", metadata={"a": [1]}, external_id="e", **calls
        )
        memory.remember("I live in Oslo.", tags=["家"], metadata={"a": 1}, relations=[("a", "b", "c")], speaker="Ann")
        memory.remember("Always answer in verse 用诗回答", kind="rule", pinned=True)
        tea = memory.remember("小明喜欢绿茶", expires_at="2400-01-01").memory
        memory.update(tea.id, "小明喜欢红茶")
        memory.update(memory.remember("Bo has 3 cats 猫").memory.id, importance=0.7, tags=["猫"])
        memory.remember("Bo has 3 cats 猫", session="s")
        memory.forget(memory.remember("The safe is green 绿色").memory.id)
        memory.admin.undo(memory.remember("The door is red 红色").operation)
        memory.sessions.patch_scratchpad(add_next_steps=["发布 release"])
        cat = folder / "猫.bin"
        cat.write_bytes(b"\xff\x00")
        memory.sessions.attach(cat, session="s", keep=True, turn=turn.id, description="一只猫 a cat")
        memory.sessions.end("s")
        memory.forget(turn.id)
        memory.admin.export(folder / "told.jsonl")
    with opened(folder / "mine") as memory:
        memory.record([{"role": "user", "content": "我住在罗马 I moved to Rome"}], session="mine")
        memory.remember("I live in Rome.")
        memory.remember("Bo has 3 cats 猫", pinned=True)
        memory.sessions.end("mine")
    return folder / "told.jsonl"


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every entry of an object or a list, and of what stands in them."""
    entries = [*value] if isinstance(value, dict) else [*range(len(value))] if isinstance(value, list) else []
    for entry in entries:
        yield value, entry
        yield from places(value[entry])


def forged(export_file: list[exports.Line], chance: Random) -> list[exports.Line]:
    """The same lines with a few other values, fields that are not theirs, lines twice, gone, or elsewhere."""
    lines = deepcopy(export_file)
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        line = chance.choice(lines[1:-1])
        within, entry = chance.choice([*places(line)])
        match chance.randrange(12):
            case 0:
                del within[entry]
            case 1:
                line[chance.choice([*chance.choice(lines)])] = deepcopy(chance.choice(STRANGE))
            case 2:
                lines.insert(chance.randrange(1, len(lines)), deepcopy(line))
            case 3 if len(lines) > 5:
                lines.remove(line)
            case 4 | 5:  # a value of another field, of this line or another
                other, there = chance.choice([*places(chance.choice(lines))])
                within[entry] = deepcopy(other[there])
            case _:
                within[entry] = deepcopy(chance.choice(STRANGE))
    return lines


def comes_in_or_is_named(export_file: Path, folder: Path, seed: int) -> None:
    """Into a home of its own and into one that knows other things, believed and not."""
    chance = Random(seed)
    file = exports.written(folder / "forged.jsonl", forged(exports.lines(export_file), chance))
    home = folder / "home"
    if chance.random() < 0.7:
        shutil.copytree(export_file.parent / "mine", home)
    trust = chance.random() < 0.7
    report = taken(home, file, trust=trust)
    assert isinstance(report, ImportReport)
    with opened(home) as memory:
        assert () == memory.admin.check("deep").problems, f"seed {seed}"
        every_verb(memory, home)
        assert {} == memory._handle.store.unreadable(memory._handle.reads()), f"seed {seed}"
        if not trust:
            assert not any(row.pinned or row.kind == "rule" for row in memory.get_all() if row.live and row.origin == "import")
    open_and_check(home)
    again = taken(home, file, trust=trust)
    # what the first one named may fit now that what stood behind it is there; nothing else comes in twice
    assert again.turns + again.memories <= len(report.problems) or again.problems, f"seed {seed}: {again}"


def every_verb(memory: Memory, home: Path) -> None:
    memory.remember("Today is a new day 新的一天")  # a home into which nothing came has something to look at
    for verb in VERBS.values():
        verb(memory, home)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
@pytest.mark.long
def test_no_export_breaks_a_home(export_file, tmp_path_factory, seed):
    """Checksums made anew, fields of any value: each verb works afterwards, and the check finds nothing wrong."""
    folder = tmp_path_factory.mktemp("fuzzed")
    comes_in_or_is_named(export_file, folder, seed)
    shutil.rmtree(folder)


def test_the_first_finding_is_a_problem_now(export_file, tmp_path):
    """A time that no other offset can show and metadata that are a text: two named problems, and a home as before."""
    strange = {"expires_at": "9999-12-31T23:59:59-14:00"}, {"metadata": "x"}
    lines = exports.lines(export_file)
    memories = [line for line in lines if line["type"] == "memory"]
    for line, fields in zip(memories, strange, strict=False):
        line.update(fields)
    report = taken(tmp_path / "home", exports.written(tmp_path / "x.jsonl", lines))

    assert {"expires_at", "metadata"} <= {why.split()[0] for _, why in report.problems}
    with opened(tmp_path / "home") as memory:
        every_verb(memory, tmp_path / "home")
    open_and_check(tmp_path / "home")
