"""Ready-made statements of other programs: the graph of the MCP memory server, memories of mem0. They are trusted less."""

import itertools
import json
import os
from datetime import UTC, datetime

import pytest

from yiku import Memory
from yiku.interfaces.importers import formats, mem0, run, server_memory
from yiku.types import BadRecord, MemoryRecord, Origin, SkippedRecord

GRAPH = [
    {"type": "entity", "name": "Mei_Lin", "entityType": "person", "observations": ["喜欢乌龙茶", "Allergic to peanuts", " "]},
    {"type": "entity", "name": "港口", "entityType": "project", "observations": []},
    {"type": "relation", "from": "Mei_Lin", "to": "港口", "relationType": "works_on"},
]
ONE = {
    "id": "8f1d2c3e-0000-4000-8000-000000000001",
    "memory": "Prefers oolong 乌龙茶",
    "hash": "x",
    "metadata": {"room": "kitchen"},
    "user_id": "mei",
    "categories": ["food", "茶"],
    "created_at": "2026-02-01T10:00:00-07:00",
    "updated_at": "2026-03-02T09:14:00-07:00",
}
TWO = {
    "id": "8f1d2c3e-0000-4000-8000-000000000002",
    "memory": "住在奥斯陆",
    "created_at": "2026-02-01T10:00:00+00:00",
    "updated_at": None,
}


@pytest.fixture
def write(tmp_path):
    """Writes a text; its path."""
    numbers = itertools.count()

    def write(text, name):
        path = tmp_path / f"{next(numbers)}" / name
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1_772_442_840, 1_772_442_840))
        return path

    return write


def lines(*items):
    """JSON Lines."""
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


# ------------------------------------------------------------------ the graph


def test_observations_and_relations_are_statements(write):
    """An observation has its entity before it, a relation its slot; both keep the names of the graph, and the time of the file."""
    records = [*server_memory.read(write(lines(*GRAPH), "memory.jsonl"))]
    tea, peanuts, works = [record for record in records if isinstance(record, MemoryRecord)]

    assert ["Mei Lin: 喜欢乌龙茶", "Mei Lin: Allergic to peanuts", "Mei Lin works on 港口"] == [
        one.text for one in (tea, peanuts, works)
    ]
    assert {"entity": "Mei_Lin", "entityType": "person"} == tea.details["metadata"]
    assert (["Mei Lin"], "import", datetime(2026, 3, 2, 9, 14, tzinfo=UTC)) == tuple(
        tea.details[key] for key in ("entities", "origin", "said_at")
    )
    assert ("Mei Lin", "works on", "港口", "multi") == tuple(
        works.details[key] for key in ("subject", "predicate", "object", "cardinality")
    )
    assert ["empty", "entity without observations"] == [record.what for record in records if isinstance(record, SkippedRecord)]


def test_a_graph_comes_in_once_and_grows(write, tmp_path):
    """The same file again adds nothing; a new observation comes in; statements have the trust of an import, and are found."""
    path = write(lines(*GRAPH), "memory.jsonl")
    with Memory(tmp_path / "home") as memory:
        (first,) = run.each(memory, formats.find(path))
        path.write_text(lines({**GRAPH[0], "observations": [*GRAPH[0]["observations"], "学挪威语"]}, *GRAPH[1:]))
        (again,) = run.each(memory, formats.find(path))
        found = memory.recall("Who is allergic to peanuts?", limit=1)[0]

        assert ("server-memory", 3, 1, 3) == (first.format, first.report.memories, again.report.memories, again.report.known)
        assert ("Mei Lin: Allergic to peanuts", Origin.IMPORT) == (found.item.content, found.item.origin)
        assert found.item.trust <= 0.7
        assert "server-memory: memory.jsonl" == found.item.metadata["imported"]
        assert ["Mei Lin works on 港口"] == [one.content for one in memory.about("港口")]


# ------------------------------------------------------------------ mem0


@pytest.mark.parametrize("shape", [{"results": [ONE, TWO]}, [ONE, TWO], {"count": 2, "next": None, "results": [ONE, TWO]}])
def test_memories_of_mem0_are_statements(write, tmp_path, shape):
    """In each shape that its library and its API return; id, owner and times are kept."""
    path = write(json.dumps(shape, ensure_ascii=False), "export.json")
    first, second = mem0.read(path)

    assert "mem0" == formats.detect(path).name
    assert ("Prefers oolong 乌龙茶", ["food", "茶"]) == (first.text, first.details["tags"])
    assert {"room": "kitchen", "mem0_id": ONE["id"], "user_id": "mei"}.items() <= first.details["metadata"].items()
    assert "2026-03-02T16:14:00+00:00" == first.details["said_at"].astimezone(UTC).isoformat()
    assert datetime(2026, 2, 1, 10, tzinfo=UTC) == second.details["said_at"]
    with Memory(tmp_path / "home") as memory:
        (done,) = run.each(memory, formats.find(path))
        (again,) = run.each(memory, formats.find(path))
        assert (2, 0, 2, 0) == (done.report.memories, again.report.memories, again.report.known, len(again.report.problems))


def test_a_newer_export_takes_the_place_of_an_older_one(write, tmp_path):
    """A memory with another text is said later than the one before, and replaces it in its slot."""
    old = write(json.dumps([{**ONE, "memory": "User lives in Paris"}]), "a.json")
    new = write(json.dumps([{**ONE, "memory": "User lives in Oslo", "updated_at": "2026-03-03T09:00:00+00:00"}]), "b.json")
    with Memory(tmp_path / "home") as memory:
        for path in (old, new, old):
            [*run.each(memory, formats.find(path))]
        assert "User lives in Oslo" in [one.content for one in memory.get_all()]
        assert "User lives in Paris" not in [one.content for one in memory.get_all()]


# ------------------------------------------------------------------ what is broken


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"type": "entity", "name": 3, "observations": ["x"]}', "not a text|an entity|3"),
        ('{"type": "entity", "name": "x"}', "without observations"),
        ('{"type": "entity", "observations": []}', "without a name"),
        ('{"type": "entity", "name": "x", "observations": [3]}', "is not a text"),
        ('{"type": "relation", "from": "a", "to": null, "relationType": "b"}', "is a relation without"),
        ('{"type": "thing"}', "is neither"),
        ('{"type": "entity", "name": "x", "obser', "cut off|not JSON"),
        ("[]", "is not an object"),
    ],
)
def test_a_broken_line_of_a_graph_is_named(write, line, why):
    """And the rest comes in."""
    records = [*server_memory.read(write(f"{json.dumps(GRAPH[0])}\n{line}\n{json.dumps(GRAPH[2])}\n", "memory.jsonl"))]
    bad = [record for record in records if isinstance(record, BadRecord)]

    assert 3 <= sum(isinstance(record, MemoryRecord) for record in records)
    assert bad == [] or (2 == bad[0].line and any(part in bad[0].why for part in why.split("|")))


@pytest.mark.parametrize(
    "item", ["3", "{}", '{"id": "x"}', '{"memory": "x"}', '{"id": "x", "memory": 3}', '{"id": [], "memory": "y", "categories": 3}']
)
def test_a_broken_memory_is_named(write, item):
    """And the rest comes in."""
    records = [*mem0.read(write(f'{{"results": [{json.dumps(ONE)}, {item}, {json.dumps(TWO)}]}}', "export.json"))]

    assert [MemoryRecord, BadRecord, MemoryRecord] == [type(record) for record in records]
    assert 2 == records[1].line
