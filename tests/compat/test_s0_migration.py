"""The migration of a memory system's JSON Lines: all of it, in one transaction, verified, and only once."""

import itertools
import json
import multiprocessing
import os
import random
import signal
from pathlib import Path

import credentials
import pytest
import sampling
from compat import s0_homes

from yiku import Memory
from yiku.errors import NotFound
from yiku.types import State
from yiku_compat import console
from yiku_compat.memory_system import migration, old_home, views
from yiku_compat.memory_system import write_memory_dir as write
from yiku_compat.memory_system.ids import external, find, made
from yiku_compat.migration import NotVerified

FORK = multiprocessing.get_context("fork")
COUNT = 20_000 if os.environ.get("YIKU_WHOLE_MIGRATION") else 400


@pytest.fixture
def old(tmp_path):
    folder = tmp_path / "old"
    (folder / "layer2" / "active").mkdir(parents=True)
    return folder


def lines(old: Path, name: str, *records: dict[str, object]) -> None:
    path = old / "layer2" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")


def rows(memory: Memory) -> dict[str, dict[str, object]]:
    """Every memory by its id, as the document's table shows it."""
    found, last = dict[str, dict[str, object]](), 0
    while page := views.rows(
        memory, "select * from memory_rows where n > :last order by n limit 5000", {"last": last}, limit=5_000
    ):
        last = page[-1]["n"]
        found |= {str(row["id"]): {name: row[name] for name in row if name not in ("n", "yiku_id")} for row in page}
    return found


@pytest.mark.spec("S0-62", "S0-63", "S0-66", "S0-65", "S0-84", "T-09")
def test_every_field_of_each_type_arrives(memory, old):
    """Facts, beliefs and summaries, in both languages, with all that the document's first migration lost; a missing file is no error."""
    lines(
        old,
        "active/facts",
        {"id": "f_1", "content": "小明住在北京朝阳区", "created_at": "2026-02-14T10:00:00Z"},
        {
            "id": "f_2", "content": "Ann prefers tea.", "importance": 0.9, "score": 0.8, "created": "2026-02-14 11:00:00",
            "updated": "2026-02-15T11:00:00Z", "last_accessed": "2026-02-20T00:00:00Z", "access_count": 6, "retrieval_count": 2,
            "user_mentioned_count": 1, "access_boost": 0.3, "source": "session_9", "entities": ["Ann", "tea", "Ann"], "basis": "she said",
            "extract_method": "llm", "expires_at": "2027-02-14T10:00:00Z", "ttl_days": 400, "is_permanent": 0, "verified_by": "f_1",
        },
    )  # fmt: skip
    lines(old, "active/summaries", {"id": "s_1", "content": "两人都在。", "created": 1771063200, "source_facts": ["f_1", "f_2"]})
    lines(old, "archive/beliefs", {"id": "b_1", "content": "也许要搬家。", "confidence": 0.4, "created": "2026-02-14T10:00:00Z"})

    done = migration._migrate(old, memory, None)
    found = rows(memory)

    assert (4, 4, 0, 0, ()) == (done.read, done.imported, done.known, done.merged, done.skipped)
    assert {"f_1": "fact", "f_2": "fact", "s_1": "summary", "b_1": "belief"} == {id: row["type"] for id, row in found.items()}
    plain = found["f_1"]
    assert (0.5, 0, 0, 0.0, "unknown", 0, None, "2026-02-14T10:00:00Z") == tuple(
        plain[name] for name in "importance access_count retrieval_count access_boost source state last_accessed created".split()
    )
    full = found["f_2"]
    assert (0.9, 6, 2, "session_9", "she said", "llm", 400, 0) == tuple(
        full[name] for name in "importance access_count retrieval_count source basis extract_method ttl_days is_permanent".split()
    )
    assert ("2026-02-14T11:00:00Z", "2026-02-15T11:00:00Z", "2026-02-20T00:00:00Z", "2027-02-14T10:00:00Z") == tuple(
        full[name] for name in "created updated last_accessed expires_at".split()
    )
    assert (0.4, 1) == (found["b_1"]["confidence"], found["b_1"]["state"])
    stored = find(memory, "f_2")
    assert (0.8, 1, 3, "f_1") == (stored.base_score, stored.mentioned, stored.used, stored.metadata["memory_system"]["verified_by"])
    assert [{"summary_id": "s_1", "source_fact_id": f"f_{n}"} for n in (1, 2)] == views.rows(
        memory, "select * from summary_sources"
    )


@pytest.mark.spec("S0-67", "S0-39", "S0-74")
def test_entities_are_kept_as_written_each_once(memory, old):
    """A list, one name, names twice, things that are no names."""
    lines(
        old,
        "active/facts",
        {"id": "f_1", "content": "Ann 和小明", "entities": ["Ann", "小明", "Ann", "", 7]},
        {"id": "f_2", "content": "老王", "entities": "老王"},
        {"id": "f_3", "content": "nobody", "entities": None},
    )
    migration._migrate(old, memory, None)

    found = views.rows(memory, "select * from memory_entities order by memory_id, entity")
    assert [("f_1", "Ann"), ("f_1", "小明"), ("f_2", "老王")] == [(row["memory_id"], row["entity"]) for row in found]


@pytest.mark.spec("S0-63", "S0-85", "S0-86", "S0-93", "T-09")
def test_a_large_home_is_migrated_whole_and_once(home, tmp_path, clock):
    """Every odd line is accounted for, the files are backed up and untouched, it is one operation, and the second run changes nothing."""
    old = tmp_path / "old"
    odd = s0_homes.write(old, COUNT, sampling.SEED)
    before, read = s0_homes.digest(old), old_home.read(old)

    first = migration.migrate(old, home)
    with Memory(home) as memory:
        there = rows(memory)
        number = memory.admin.journal(limit=1)[0].number
        operations = {row.transaction for row in memory.admin.journal(limit=10_000) if row.operation == "import"}
        waiting = memory.search_traces(session="pending", limit=10_000)
        problems = memory.admin.check().problems
    again = migration.migrate(old, home)

    assert before == s0_homes.digest(old)
    assert first.read == first.imported + first.merged + len(first.skipped)
    assert (odd["broken"] + odd["empty"], odd["same"] + odd["double"]) == (len(first.skipped), first.merged)
    assert len(read.records) == len(there)
    assert len(read.pending) == len(waiting)
    assert {record.id: record.content for record in read.records} == {id: row["content"] for id, row in there.items()}
    assert 1 == len(operations)
    assert () == problems
    backup = home / migration.COPIES / f"jsonl-{first.sha256[:12]}"
    assert {str(path.relative_to(old)) for path in read.files} == s0_homes.digest(backup).keys() - {"report.json"}
    assert s0_homes.digest(backup).items() >= {name: before[name] for name in s0_homes.digest(backup) if name in before}.items()
    assert (0, len(read.records) + len(read.pending)) == (again.imported, again.known)
    with Memory(home) as memory:
        assert number == memory.admin.journal(limit=1)[0].number
        assert there.keys() == rows(memory).keys()


@pytest.mark.parametrize(
    ("erased", "later"),
    [
        ('Karla keeps her "spare" key under the third flowerpot.', "The roof was painted green."),
        ("小王把备用钥匙放在第三个花盆下面。", "屋顶漆成了绿色。"),
    ],
)
def test_what_was_erased_does_not_come_back_into_copies(memory, home, old, erased, later):
    """Migrating the folder again, when it has grown, copies its lines without what an erasure took; the folder stays as it is."""
    given = [{"id": "f_1", "content": erased}, {"id": "f_2", "content": "Mei 喜欢茶"}]
    lines(old, "active/facts", *given)
    migration._migrate(old, memory, None)
    memory.admin.erase(next(one.id for one in memory.get_all() if one.content == erased))
    lines(old, "active/facts", *given, {"id": "f_3", "content": later})
    lines(old, "archive/facts", {"id": "f_1", "content": f" {erased} "})
    with (old / "layer2/active/facts.jsonl").open("a") as file:
        file.write(json.dumps({"id": "f_1", "content": erased}) + f"\n{json.dumps(erased, ensure_ascii=False)[1:-1]}")
    before = s0_homes.digest(old)
    done = migration._migrate(old, memory, None)

    copied = [path.read_text() for path in (home / "copies").rglob("*.jsonl")]
    assert any(later in text and "Mei 喜欢茶" in text for text in copied)
    words = json.dumps(erased, ensure_ascii=False)[1:-1]
    assert not any(words in text or json.dumps(erased)[1:-1] in text for text in copied)
    assert ("", "erased here before") in done.skipped
    assert before == s0_homes.digest(old)


def _migrate(old: Path, home: Path) -> None:
    migration.migrate(old, home)
    os._exit(0)


@pytest.mark.spec("S0-63", "S0-86", "S0-93")
def test_a_migration_that_is_killed_is_finished_by_the_next(home, tmp_path):
    """A process killed at any moment leaves all or nothing in the database; the next run completes it."""
    old = tmp_path / "old"
    s0_homes.write(old, 60, sampling.SEED)
    before, chance = s0_homes.digest(old), random.Random(sampling.SEED)
    Memory(home).close()

    for _ in range(3):
        killed = FORK.Process(target=_migrate, args=(old, home))
        killed.start()
        killed.join(chance.uniform(0.01, 0.6))
        if killed.is_alive():
            os.kill(killed.pid, signal.SIGKILL)
        killed.join()
        with Memory(home) as memory:
            assert len(rows(memory)) in (0, len(old_home.read(old).records))
    done = migration.migrate(old, home)

    assert before == s0_homes.digest(old)
    assert len(old_home.read(old).records) + len(old_home.read(old).pending) == done.imported + done.known + (
        done.merged - old_home.read(old).same
    )


@pytest.mark.spec("T-09", "S0-86")
def test_one_id_for_two_texts_and_one_text_for_two_ids(memory, old):
    """Ids of a day collide, and restatements pile up: both texts stay, of the same words one is active."""
    lines(
        old,
        "active/facts",
        {"id": "f_1", "content": "茶是绿的"},
        {"id": "f_1", "content": "Tea is green"},
        {"id": "f_2", "content": "茶是绿的。"},
        {"id": "f_1", "content": "茶是绿的"},
    )
    done = migration._migrate(old, memory, None)
    found = rows(memory)

    assert (4, 2, 2) == (done.read, done.imported, done.merged)
    assert 3 == len(found)
    assert {"f_1": 0, "f_2": 1} == {id: found[id]["state"] for id in ("f_1", "f_2")}
    assert "Tea is green" in {row["content"] for row in found.values() if row["state"] == 0}


@pytest.mark.spec("T-09", "S0-30", "S0-31")
def test_what_was_superseded_stays_so_and_a_ring_does_not(memory, old):
    """A chain of versions arrives as one line; records that supersede each other, or one that is not there, stay as they are."""
    lines(
        old,
        "active/facts",
        {"id": "f_1", "content": "住在北京", "superseded": 1, "superseded_by": "f_2"},
        {"id": "f_2", "content": "住在上海", "superseded": 1, "superseded_by": "f_3"},
        {"id": "f_3", "content": "住在杭州"},
        {"id": "f_4", "content": "ring one", "superseded": 1, "superseded_by": "f_5"},
        {"id": "f_5", "content": "ring two", "superseded": 1, "superseded_by": "f_4"},
        {"id": "f_6", "content": "gone", "superseded": 1, "superseded_by": "f_9"},
    )
    done = migration._migrate(old, memory, None)
    found = rows(memory)

    assert () == done.skipped
    assert {"f_1": "f_2", "f_2": "f_3", "f_3": None, "f_6": None} == {
        id: found[id]["superseded_by"] for id in ("f_1", "f_2", "f_3", "f_6")
    }
    assert [1, 1, 0] == [found[id]["state"] for id in ("f_1", "f_2", "f_3")]
    assert ["住在北京", "住在上海", "住在杭州"] == [version.content for version in memory.history(made("f_3"))]


@pytest.mark.spec("T-39")
def test_what_was_erased_does_not_come_back_by_a_migration(memory, old):
    """An erased statement stays erased when its old home is migrated again; the copy of that file is gone, the original is named."""
    lines(old, "active/facts", {"id": "f_1", "content": "My watchword is Zephyrine 暗号西风"}, {"id": "f_2", "content": "Tea. 茶"})
    migration._migrate(old, memory, None)
    receipt = memory.admin.erase(made("f_1"))
    again = migration._migrate(old, memory, None)

    assert receipt.clean, [place for place in receipt.places if place.found]
    assert (1, [("", "erased here before")]) == (again.known, [*again.skipped])
    assert {"f_2"} == rows(memory).keys()


def test_what_does_not_agree_is_an_error(memory, old, monkeypatch):
    """If a text is stored other than it was read, the migration says so and names it."""
    lines(old, "active/facts", {"id": "f_1", "content": "Tea. 茶"})
    times = itertools.count()
    monkeypatch.setattr(migration, "_hash", lambda content: str(next(times)))

    with pytest.raises(NotVerified, match="f_1"):
        migration._migrate(old, memory, None)


def test_a_masked_secret_is_no_disagreement(memory, old):
    """Credentials are masked on the way in, as everywhere."""
    secret = next(one for one in credentials.secrets(sampling.SEED) if one.value in one.text)
    lines(old, "active/facts", {"id": "f_1", "content": f"小明 {secret.text}"})
    done = migration._migrate(old, memory, None)

    assert 1 == done.imported
    assert secret.value not in str(rows(memory)["f_1"]["content"])


@pytest.mark.parametrize("mark", ["private", "私密"])
def test_what_is_private_stays_out(memory, old, mark):
    """A record that is private as a whole is skipped and named; of another the part is left out, and that is no disagreement."""
    lines(
        old,
        "active/facts",
        {"id": "f_1", "content": f"<{mark}>all of it 全部</{mark}>"},
        {"id": "f_2", "content": f"tea <{mark}>part</{mark}> 茶", "basis": f"<{mark}>all</{mark}>"},
    )
    lines(old, "pending", {"id": "p_1", "content": f"<{mark}>said 说的</{mark}>"})
    done = migration._migrate(old, memory, None)

    assert (3, 1, {"f_1": "is private", "p_1": "is private"}) == (done.read, done.imported, dict(done.skipped))
    assert {"f_2": f"tea [{mark}] 茶"} == {id: row["content"] for id, row in rows(memory).items()}


@pytest.mark.spec("S0-84")
def test_the_command_migrates_and_a_folder_without_one_is_refused(home, tmp_path, capsys, monkeypatch):
    """`yiku-compat migrate s0 OLD` and `yiku-compat ms migrate OLD`."""
    s0_homes.write(tmp_path / "old", 5)
    monkeypatch.setenv("YIKU_HOME", str(home))

    assert 0 == console.run(["migrate", "s0", str(tmp_path / "old")])
    first = json.loads(capsys.readouterr().out)
    assert 0 == console.run(["ms", "migrate", str(tmp_path / "old")])
    second = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 1 == console.run(["ms", "migrate", str(tmp_path)])
    assert "layer2/active" in capsys.readouterr().err
    assert (first["imported"] + first["merged"] - second["merged"], 0) == (second["known"], second["imported"])
    with pytest.raises(NotFound):
        old_home.read(home / "nothing")


@pytest.mark.spec("S0-104", "S0-11")
def test_a_folder_in_the_documents_layout_and_back(memory, home, tmp_path):
    """Written out and migrated into another home, every memory is as it was."""
    memory.remember("小明住在北京", entities=["小明"], importance=0.8)
    memory.remember("Perhaps he moves.", standing="belief", confidence=0.6, ttl_days=3650)
    memory.forget(memory.remember("Old news. 旧闻").memory.id)
    counts = write(memory, tmp_path / "out")
    migration.migrate(tmp_path / "out", tmp_path / "other")

    with Memory(tmp_path / "other") as other:
        kept = rows(other)
        assert kept.keys() == rows(memory).keys()
        for id, row in rows(memory).items():
            same = set(row) - {"score", "final_score", "updated", "extract_method", "source", "auto_delete_at"}
            assert {name: row[name] for name in same} == {name: kept[id][name] for name in same}
        assert find(other, next(iter(kept))).state in State
    assert {"layer2/active/facts.jsonl": 1, "layer2/active/beliefs.jsonl": 1, "layer2/archive/facts.jsonl": 1} == {
        name: count for name, count in counts.items() if count
    }
    for name in ("layer1/snapshot.md", "layer2/entities/_index.json", "state/rankings.json", "config.json"):
        assert (tmp_path / "out" / name).stat().st_size
    assert external("f_1") == "s0:f_1"


def test_a_copy_keeps_lines_that_only_contain_a_short_erased_text():
    """A whole value counts, however it is nested or escaped; a telling text counts inside of another one, too. Empty ones do not."""
    kept = ['{"content": "I like Tea and cake"}', '{"content": "我喜欢茶和蛋糕"}', '{"content": ""}', "half a line", "{}"]
    gone = [
        '{"content": " Tea "}',
        '{"a": {"b": ["\\u8336"]}}',
        '{"content": "So: my code is zebra 7."}',
        '{"x": "密码是斑马四七',
        '{"x": "Tea',
    ]
    content = "\n".join(line for pair in zip(kept, gone, strict=True) for line in pair).encode()

    assert "\n".join(kept).encode() == old_home.without(content, ["Tea", "茶", "", " ", "my code is zebra 7.", "密码是斑马四七"])
    assert content == old_home.without(content, ["", " "])
