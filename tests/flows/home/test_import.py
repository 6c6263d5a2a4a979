"""Imports are idempotent, resumable and complete: every record is stored, known, skipped or reported."""

import json
import os
import signal
import subprocess
import sys

import pytest

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.flows.home import import_
from yiku.types import BadRecord, MemoryRecord, SkippedRecord, TurnRecord

TURNS = 1_600  # of the import that is killed; a transaction takes 500

IMPORT = """
import sys
from pathlib import Path
from yiku import Memory
from yiku.interfaces.importers import jsonl

home, path = sys.argv[1:]
with Memory(home, owner="user:ann", durability="fast") as memory:
    memory.admin.import_(jsonl.read(Path(path)), source="big", progress=lambda line: line % 400 or print(line, flush=True))
"""


@pytest.fixture
def memory(tmp_path):
    """A fresh memory."""
    with Memory(tmp_path / "home", owner="user:ann") as memory:
        yield memory


def turn(line, content="好", **more):
    """A turn of a source, with an id of its own."""
    return TurnRecord(line, {"role": "user", "content": content, "session": "s1", "external_id": f"x{line}", **more})


def load(memory, *records, **more):
    """Import these records, after a dry run that must have come to the same; the report."""
    dry = memory.admin.import_(records, source="test", dry_run=True, **more)
    real = memory.admin.import_(records, source="test", **more)

    assert outcome(real) == outcome(dry)
    assert real.records == sum(outcome(real)[:3]) + sum(real.skipped.values()) + len(real.problems)  # none is lost
    return real


def outcome(report):
    return report.turns, report.memories, report.known, report.skipped, report.problems, report.sessions


MIXED = (
    turn(1, "I live in 上海."),
    SkippedRecord(2, "thinking"),
    MemoryRecord(3, "Ann prefers tea.", {"external_id": "m1", "source": "x1"}),
    BadRecord(4, "is not JSON"),
    turn(5, "第二句", session="s2"),
    turn(6, "cannot be", role="narrator"),
    turn(5, "第二句", session="s2"),
    MemoryRecord(8, "Ann prefers tea.", {"external_id": "m2"}),
    MemoryRecord(9, "  ", {"external_id": "m3"}),
    MemoryRecord(10, "Bo likes 茶.", {"external_id": "m4", "source": "nobody"}),
    SkippedRecord(11, "thinking"),
    turn(1, "I live in 上海."),
    MemoryRecord(13, "Ann prefers tea.", {"external_id": "m1", "source": "x1"}),
)


def test_every_record_is_counted_once(memory):
    """Turns, statements, known ones, skipped ones and problems add up to the records, in a dry run too."""
    report = load(memory, *MIXED)

    assert (2, 2, 3, {"thinking": 2}, 2) == (report.turns, report.memories, report.known, report.skipped, report.sessions)
    assert [4, 6, 9, 10] == [line for line, _ in report.problems]
    assert "is not JSON" == report.problems[0][1]


def test_a_dry_run_writes_nothing(memory):
    """After a dry run there are no turns, no memories, not even a row in the journal."""
    memory.admin.import_(MIXED, source="test", dry_run=True)

    assert (0, {}, []) == (memory.admin.stats().turns, memory.admin.stats().memories, memory.admin.journal())


def segments(memory):
    """In how many parts the index of turns lies."""
    (found,) = memory._handle.store._all("select count(distinct id >> 37) - 1 from turn_index_data")
    return found[0]


def test_a_large_import_leaves_one_index(memory, monkeypatch):
    """What came in by batches is merged, so that a question looks in one place; the nightly backup does the same."""
    memory.admin.import_([turn(i, f"line 第{i}") for i in range(1_100)], source="big")
    assert 1 == segments(memory)

    for i in range(3):
        memory.record_turn("user", f"tulip 郁金香 {i}")
    assert 1 < segments(memory)
    memory.admin.backup(nightly=True)
    assert 1 == segments(memory)


def test_importing_twice_adds_nothing(memory):
    """The second time everything is known: no turn, no version, no further source, no row in the journal."""
    load(memory, *MIXED)
    before = memory.admin.journal(), memory.get_all(), memory.timeline()
    report = load(memory, *MIXED)

    assert (0, 0, 7) == (report.turns, report.memories, report.known)
    assert before == (memory.admin.journal(), memory.get_all(), memory.timeline())


def test_a_statement_names_its_source_turn_by_the_files_own_id(memory):
    """The turn that a statement came from is found under the id it had in the file."""
    load(memory, *MIXED)
    (tea,) = [hit for hit in memory.recall("tea", types=["memory"]) if "Ann" in hit.text]

    assert "I live in 上海." in {memory.get(link.id).content for link in tea.sources if link.id}


def test_one_refused_turn_does_not_cost_its_batch(memory):
    """A turn that cannot be stored is reported with its line; the hundreds around it are stored, in order."""
    records = [turn(n, f"第 {n} 句", **({"role": "narrator"} if n == 300 else {})) for n in range(1, 601)]
    report = load(memory, *records)

    assert (599, [300]) == (report.turns, [line for line, _ in report.problems])
    assert [n for n in range(1, 601) if n != 300] == [int(t.external_id[1:]) for t in memory.timeline(limit=1000)]


@pytest.mark.parametrize(
    "other",
    [
        {"content": "something else 别的"},
        {"role": "assistant"},
        {"tool_calls": [{"name": "Bash", "input": {"command": "ls"}}]},
        {"tool_results": [{"content": "a.txt"}]},
    ],
)
def test_an_id_with_other_words_is_reported_not_swallowed(memory, other):
    """A record under a known id that says something else is no repetition: it is a problem that names the line."""
    records = [turn(1), SkippedRecord(2, "x"), TurnRecord(3, dict(turn(1).turn) | other)]
    report = load(memory, *records)

    assert (1, 0, [3]) == (report.turns, report.known, [line for line, _ in report.problems])
    assert (0, 1, [3]) == ((again := load(memory, *records)).turns, again.known, [line for line, _ in again.problems])


@pytest.mark.parametrize("content", ["好", "something else 别的"])
@pytest.mark.parametrize("apart", [False, True], ids=["one file", "two files"])
def test_an_id_that_repeats_in_another_session_is_another_turn(memory, content, apart):
    """Ids that count within a session lose no turn of the next one; again, each is known."""
    records = [turn(1), TurnRecord(2, {**turn(1, content).turn, "session": "s2"})]
    files = [[record] for record in records] if apart else [records]
    came = [load(memory, *file) for file in files]
    again = [load(memory, *file) for file in files]

    assert [("s1", "好"), ("s2", content)] == sorted((kept.session, kept.content) for kept in memory.timeline())
    assert (2, 0, 2) == (sum(r.turns for r in came), sum(r.turns for r in again), sum(r.known for r in again))
    assert not any(report.problems for report in (*came, *again))


def test_an_id_that_is_one_in_the_world_is_one_turn(memory):
    """A session that was resumed repeats its messages under their UUIDs: they are known."""
    id = {"external_id": "0190b1f0-5a4e-7c61-9f4b-2d8a6c1e3f57"}
    report = load(memory, turn(1, **id), TurnRecord(2, {**turn(1, **id).turn, "session": "s2"}))

    assert (1, 1) == (report.turns, report.known)


def test_a_long_content_and_a_long_result_are_known_again(memory):
    """What became a blob is recognised by what it was before, not by its excerpt."""
    long = "潮位 tide " * 20_000
    records = [turn(1, long), turn(2, "", role="tool", tool_results=[{"tool_use_id": "t", "content": long}])]
    load(memory, *records)
    report = load(memory, *records)

    assert (0, 2, ()) == (report.turns, report.known, report.problems)
    assert long == memory.admin.blob(memory.timeline()[0].blob)


def test_what_was_forgotten_does_not_come_back(memory):
    """A turn that was taken out of memory is known to the next import, and stays out."""
    load(memory, turn(1, "the locker code 储物柜密码"))
    memory.forget(memory.timeline()[0].id)
    report = load(memory, turn(1, "the locker code 储物柜密码"))

    assert (0, 1, []) == (report.turns, report.known, memory.timeline())


def test_books_do_not_wait_together(memory, monkeypatch):
    """Turns are stored before their number is reached when they are long, so that memory stays bounded."""
    monkeypatch.setattr(import_, "BATCH_CHARS", 1_000)
    load(memory, *(turn(n, "长" * 600) for n in range(1, 7)))

    assert [2, 2, 2] == [row.count for row in memory.admin.journal() if row.table == "conversation_turns"]


def test_a_flood_of_problems_and_names_stays_small(memory):
    """A report keeps the first thousand problems and a hundred names; what is beyond is counted."""
    records = [*(BadRecord(n, "bad") for n in range(1_500)), *(SkippedRecord(n, f"kind {n}") for n in range(300))]
    report = memory.admin.import_(records, source="flood")

    assert (1_800, 1_000, 101) == (report.records, len(report.problems), len(report.skipped))
    assert 200 == report.skipped["other"]


def test_progress_is_told_each_line(memory):
    """Whoever waits hears of each record's line, of skipped and bad ones too."""
    seen = []
    memory.admin.import_(MIXED, source="test", progress=seen.append)

    assert [record.line for record in MIXED] == seen


def test_a_source_needs_a_name(memory):
    """An import without a name for its source is refused before anything is read."""
    with pytest.raises(InvalidInput, match="source"):
        memory.admin.import_(iter(MIXED), source="")


@pytest.mark.long
def test_a_killed_import_goes_on_where_it_stopped(tmp_path):
    """Killed in the middle of thousands of turns and run again: each turn is there once, in its place, with its own time."""
    path, home = tmp_path / "big.jsonl", tmp_path / "home"
    with path.open("w", encoding="utf-8") as file:
        for n in range(TURNS):
            said_at = f"2026-03-{n // 1440 % 28 + 1:02}T{n // 60 % 24:02}:{n % 60:02}:00+08:00"
            record = {"role": "user", "content": f"第{n}句 line", "id": f"t{n}", "session": f"s{n % 7}", "said_at": said_at}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    command = [sys.executable, "-c", IMPORT, str(home), str(path)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if int(line) >= 800:
                os.kill(process.pid, signal.SIGKILL)
                break
        process.wait()
    with Memory(home) as memory:
        kept = memory.admin.stats().turns
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with Memory(home) as memory:
        stored = memory.search_traces(session="s3", limit=10_000)
        count = memory.admin.stats().turns

    assert 0 < kept < TURNS
    assert TURNS == count
    assert [f"t{n}" for n in range(3, TURNS, 7)] == [t.external_id for t in sorted(stored, key=lambda t: t.position)]
    assert "2026-03-01T00:03:00+08:00" == min(t.said_at for t in stored).isoformat()
