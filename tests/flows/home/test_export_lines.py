"""Validation of every field of an imported line: faults are reported, the other lines are imported."""

from pathlib import Path
from typing import Any

import exports
import pytest
from exports import START, opened, taken
from integrity import open_and_check

from yiku import Memory
from yiku.flows.home import export_lines
from yiku.interfaces.importers import yiku_jsonl
from yiku.types import Attachment, Episode, OperationRecord, Scratchpad, SemanticMemory, Source, Turn

FAR = "9999-12-31T23:59:59-14:00"  # which no offset but its own can show
LONG = "长" * 30_000
DEEP: Any = "x"
for _ in range(40):
    DEEP = [DEEP]
OTHER = "01900000-0000-7000-8000-00000000000a"
SPANLESS = {"origin": "user", "said_at": START.isoformat(), "recorded_at": START.isoformat(), "turn": OTHER}
SPANS = {"start": 0}, {"end": 3}, {"start": 3, "end": 3}, {"turn": None, "start": 0, "end": 3}

# What no line of that type may hold, by type and field: each value is refused by the name of its field.
BAD: dict[str, dict[str, list[Any]]] = {
    "memory": {
        "id": ["x", 7, None, OTHER.upper()],
        "line": ["../../x", ""],
        "content": ["", "  ", 5, None, "a\0b", "\ud800", LONG, ["x"]],
        "kind": ["narrator", 3, {}],
        "standing": ["maybe"],
        "state": ["deleted", None],
        "cardinality": ["two"],
        "subject": [5, {"a": 1}, ["x"], "\0"],
        "object": [1.5],
        "importance": [99, -0.1, "0.5", True, float("nan"), None, 10**400],
        "confidence": [-1, 2],
        "base_score": [1.01],
        "trust": [9],
        "strength": [-1, 10**6, 1.5],
        "half_life_days": [0, -3, 1e300],
        "ttl_days": [0, 10**9],
        "priority": ["urgent"],
        "said_at": [FAR, "yesterday", "2026-03-02", 5, None, "2026-03-02T09:00:00+01:00:30"],
        "expires_at": [FAR, "0001-01-01T00:00:00+14:00", "2026-03-02T09:00:00"],
        "valid_to": [[]],
        "superseded_by": [OTHER, "x"],
        "flagged_with": ["x", ["x"], [5]],
        "metadata": ["x", ["a"], 5, {"a": "x" * 20_000}, {"a": DEEP}, {"\0": 1}],
        "tags": ["茶", [""], [None], [["a"]]],
        "entities": [[5]],
        "relations": [[["a", "b"]], ["abc"], [["a", 1, "c"]]],
        "sources": ["x", [5], [{"origin": "user"}], *([{**SPANLESS, **span}] for span in SPANS)],
        "pinned": [1, "yes"],
        "retrieved": [-1, 2**70, 0.5],
        "origin": ["god"],
        "external_id": ["a\nb", "x" * 300],
        "was": ["x", {"id": OTHER}, {"importance": 99}, {"content": "y"}, {"scope": "public"}],
        "colour": ["red"],
        "n": [7],
        "scope": ["public"],
    },
    "turn": {
        "id": ["x"],
        "session": ["", "a\nb", 5, None],
        "role": ["narrator", ["user"]],
        "content": ["", 5, None, "a\0b"],
        "said_at": [FAR],
        "recorded_at": ["x"],
        "tool_calls": ["x", {"a": 1}, ["x"], [{"input": DEEP}]],
        "tool_results": [[5]],
        "metadata": ["x"],
        "blob": ["../../x", "ab", 5],
        "content_hash": ["zz", "00"],
        "position": [-2, 2**80],
        "origin": ["x"],
    },
    "episode": {
        "session": [""],
        "ended_at": [FAR],
        "outcome": ["x"],
        "action_nodes": [[{"tool_name": "x", "timestamp": "x"}], [5]],
    },
    "scratchpad": {"overrides": [{"a": 5}, "x"], "recent": [[{"text": "x"}]], "updated_at": [FAR], "next_steps": ["x", [5]]},
    "attachment": {"filename": [5], "direction": ["sideways"], "content_base64": [5, "%"], "file_size": [-1]},
    "update": {"before": ["x"], "after": [{}, {"importance": 99}, {"scope_id": 2}], "memory": ["x", OTHER, None, 5]},
    "source": {"source": [None, {"origin": "x"}, {"said_at": FAR}, *({**SPANLESS, **span} for span in SPANS)]},
    "hide": {"turn": ["x", None, []], "after": ["x", FAR]},
}


@pytest.fixture(scope="module")
def export_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export with a line of every type."""
    folder = tmp_path_factory.mktemp("told")
    with opened(folder / "one") as memory:
        turn = memory.record_turn("user", "I live in Bergen", session="s")
        first = memory.get_all()[0]
        memory.remember("I live in Bergen", said_at=START)
        memory.update(first.id, importance=0.9, tags=["家"])
        memory.sessions.patch_scratchpad(add_next_steps=["发布 release"])
        file = folder / "cat.bin"
        file.write_bytes(b"\xff")
        memory.sessions.attach(file, session="s", keep=True)
        memory.sessions.end("s")
        memory.forget(turn.id)
        memory.admin.export(folder / "told.jsonl")
    return folder / "told.jsonl"


CHANGES = ("update", "source", "hide")  # of what is there


def forged(export_file: Path, memory: Memory, *types: str) -> list[Any]:
    """What was reported of each bad value of these types that is not one problem with its line and the name of its field."""
    header = {"operation": "x", "at": START.isoformat()}
    first = {line["type"]: line for line in reversed(exports.lines(export_file))}
    wrong = []
    for type_ in types:
        for name, value in ((name, value) for name, values in BAD[type_].items() for value in values):
            line = {**first[type_], name: value}
            report = memory.admin.import_([OperationRecord(1, "user:mei", None, header, ((2, line),))], source="x", trust=True)
            if [(2, True)] != [(at, name in why or type_ in why) for at, why in report.problems]:
                wrong.append((type_, name, value, report.problems))
    return wrong


def test_what_no_line_may_hold_is_named_and_nothing_of_it_is_kept(export_file, tmp_path):
    """Each bad value is one problem with its line, and the field stands in it; afterwards the home is whole and empty."""
    with opened(tmp_path / "two") as memory:
        wrong = forged(export_file, memory, *(type_ for type_ in BAD if type_ not in CHANGES))
        stats = memory.admin.stats()

    assert not wrong, "\n".join(map(str, wrong))
    assert (0, {}, 0, 0) == (stats.turns, stats.memories, stats.episodes, stats.attachments)
    open_and_check(tmp_path / "two")


def test_what_no_change_may_set_is_named_and_nothing_changes(export_file, tmp_path):
    """In a home that has what it would change."""
    taken(tmp_path / "two", export_file)
    with opened(tmp_path / "two") as memory:
        before = memory.get_all(where={"state": {"exists": True}}), memory.admin.journal()
        wrong = forged(export_file, memory, *CHANGES)

        assert not wrong, "\n".join(map(str, wrong))
        assert before == (memory.get_all(where={"state": {"exists": True}}), memory.admin.journal())


def test_the_lines_around_a_bad_one_come_in(export_file, tmp_path):
    """A memory that does not fit costs its own changes only; what it lacks is said of each of them."""
    bad = exports.changed(exports.lines(export_file), "memory", metadata="x")
    report = taken(tmp_path / "two", exports.written(tmp_path / "bad.jsonl", bad))

    assert (1, 0) == (report.turns, report.memories)
    (line,) = (line for line, why in report.problems if why == "metadata must be a JSON object with text keys")
    assert "memory" == bad[line - 1]["type"]
    assert all("is not there to be changed" in why for other, why in report.problems if other != line)
    open_and_check(tmp_path / "two")


def test_a_whole_number_is_a_number_from_0_to_1(export_file, tmp_path):
    """As JSON of another program writes 1.0: it is kept as what it means, and can be read."""
    one = exports.changed(exports.lines(export_file), "memory", importance=1, confidence=0, trust=1)
    taken(tmp_path / "two", exports.written(tmp_path / "one.jsonl", one))

    open_and_check(tmp_path / "two")


def test_a_successor_must_be_a_later_version_of_the_line(tmp_path):
    """One that is not there, of another line, or that leads back is a problem; nothing points to it afterwards."""
    with opened(tmp_path / "one") as memory:
        bergen = memory.remember("I live in Bergen").memory
        memory.remember("I live in Oslo 奥斯陆")
        memory.remember("Ann likes tea 茶")
        memory.admin.export(tmp_path / "a.jsonl")
    export_file = exports.lines(tmp_path / "a.jsonl")
    oslo, ann = (line for line in export_file if line["type"] == "memory" and line["id"] != bergen.id)
    for k, id in enumerate((OTHER, ann["id"], bergen.id)):
        forged = [{**line, "superseded_by": id} if line is oslo else line for line in export_file]
        report = taken(tmp_path / f"home{k}", exports.written(tmp_path / "b.jsonl", forged))
        assert any("superseded_by" in why or "successor" in why for _, why in report.problems)
        open_and_check(tmp_path / f"home{k}")


def test_a_hash_that_is_not_of_its_words_does_not_stand_for_others(tmp_path):
    """What one says later is kept, though a file gave its hash to other words."""
    with opened(tmp_path / "one") as memory:
        tea = memory.remember("Ann likes tea 茶").memory
        memory.remember("Bo hates rain 雨")
        memory.admin.export(tmp_path / "a.jsonl")
    rain = [
        {**line, "content_hash": tea.content_hash.hex()} for line in exports.lines(tmp_path / "a.jsonl") if "tea" not in str(line)
    ]
    taken(tmp_path / "two", exports.written(tmp_path / "b.jsonl", rain))
    with opened(tmp_path / "two") as memory:
        memory.remember("Ann likes tea 茶")
        assert {"Ann likes tea 茶", "Bo hates rain 雨"} == {row.content for row in memory.get_all()}


def test_a_blob_counts_only_by_its_content(tmp_path):
    """A turn or a tool's result that names a content which nobody has is kept with what there is; no blob is named."""
    with opened(tmp_path / "one") as memory:
        memory.record_turn("tool", "看 look", tool_results=[{"content": "a.txt"}])
        memory.admin.export(tmp_path / "a.jsonl")
    export_file = exports.lines(tmp_path / "a.jsonl")
    for fields in ({"blob": "ab" * 32}, {"tool_results": [{"content": "a.txt", "blob": "../../x"}]}):
        file = exports.written(tmp_path / "b.jsonl", exports.changed(export_file, "turn", **fields))
        home = tmp_path / next(iter(fields))
        report = taken(home, file)
        with opened(home) as memory:
            (turn,) = memory.search_traces()
            assert (None, ({"content": "a.txt"},)) == (turn.blob, turn.tool_results)
            assert () == memory.admin.check("deep").problems
        assert [3 + 1] == [line for line, why in report.problems if why.startswith("blob: ")]


def test_two_turns_of_one_id_are_one(tmp_path):
    """Within one operation, too: the second is known, as it is in a dry run."""
    with opened(tmp_path / "one") as memory:
        memory.record([{"role": "user", "content": "早", "external_id": "x"}, {"role": "user", "content": "安"}])
        memory.admin.export(tmp_path / "a.jsonl")
    twice = [{**line, **({"external_id": "x"} if line["type"] == "turn" else {})} for line in exports.lines(tmp_path / "a.jsonl")]
    file = exports.written(tmp_path / "b.jsonl", twice)
    dry, real = taken(tmp_path / "two", file, dry_run=True), taken(tmp_path / "two", file)

    assert (1, 1, 2) == (real.turns, real.known, real.records)
    assert (dry.turns, dry.known, dry.records) == (real.turns, real.known, real.records)
    with opened(tmp_path / "two") as memory:
        assert 1 == memory.admin.stats().turns


def test_an_external_id_of_another_session_is_another_turn(tmp_path):
    """Two homes took in chats whose messages are numbered alike: the turns of both are kept, and known again."""
    for name in ("one", "two"):
        with opened(tmp_path / name) as memory:
            memory.record([{"role": "user", "content": f"早 {name}", "external_id": "m1"}], session=name)
            memory.admin.export(tmp_path / f"{name}.jsonl")
    dry = taken(tmp_path / "two", tmp_path / "one.jsonl", dry_run=True)
    real, again = (taken(tmp_path / "two", tmp_path / "one.jsonl") for _ in range(2))

    assert [(1, 0), (1, 0), (0, 1)] == [(report.turns, report.known) for report in (dry, real, again)]
    with opened(tmp_path / "two") as memory:
        assert {"早 one", "早 two"} == {turn.content for turn in memory.search_traces()}


@pytest.mark.parametrize("kind", [Turn, SemanticMemory, Source, Episode, Scratchpad, Attachment])
def test_every_field_has_a_check(kind, home, clock):
    """A new field of what is exported is refused a value that is of no type, whatever is done for it."""
    with opened(home) as memory:
        for name in export_lines.field_types(kind):
            with pytest.raises(export_lines.InvalidInput, match=name):
                export_lines.field(memory._handle, kind, name, object())


def test_an_operation_that_the_store_refuses_is_a_problem(tmp_path):
    """One that makes two live values of one slot is named, nothing of it is kept, and what stands around it comes in."""
    with opened(tmp_path / "one") as memory:
        memory.remember("I live in Bergen.")
        memory.remember("Ann likes tea 茶")
        memory.admin.export(tmp_path / "a.jsonl")
    twice: list[exports.Line] = []
    for line in exports.lines(tmp_path / "a.jsonl"):
        again = {"id": OTHER, "line": OTHER, "content": "I live in Oslo."}
        twice += [line, {**line, **again}] if "Bergen" in line.get("content", "") else [line]
    report = taken(tmp_path / "two", exports.written(tmp_path / "b.jsonl", twice))

    assert (1, [3]) == (report.memories, [line for line, _ in report.problems])
    with opened(tmp_path / "two") as memory:
        assert ["Ann likes tea 茶"] == [row.content for row in memory.get_all()]
    open_and_check(tmp_path / "two")


def test_an_export_of_nothing_readable_opens_no_scope(tmp_path):
    """A file that is no export is a problem, and the home is as it was."""
    file = tmp_path / "x.jsonl"
    file.write_text("hello 你好\n", encoding="utf-8")
    with opened(tmp_path / "two") as memory:
        before = memory.admin.journal()
        assert [1] == [line for line, _ in memory.admin.import_(yiku_jsonl.read(file), source="x").problems]
        assert before == memory.admin.journal()
