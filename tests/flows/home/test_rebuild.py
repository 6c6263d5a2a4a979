"""`yiku repair --rebuild`: what it restores after the loss of the database, and what it reports as lost."""

import os
import random
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from integrity import check as whole
from interfaces.test_cli import run
from sampling import SEED
from workers import READY, clocked

import yiku
from yiku import Memory
from yiku.errors import InvalidInput, StoreMismatch
from yiku.files import transcripts
from yiku.files.vault import Home
from yiku.flows.keep import transcripts as flow
from yiku.types import Turns

SHOWN = ("Oslo", "小雨", "储物柜")
LONG = "灯笼 Lantern " * 8_000  # over 64 KiB: goes into a blob


def lose(home: Path) -> None:
    """The database and all that belongs to it is gone."""
    for path in home.glob("yiku.db*"):
        path.unlink()


def turns(memory: Memory) -> list[tuple[str, int, str, str]]:
    """Everything that was recorded, in order."""
    found = memory._handle.store.turns(memory._handle.own(), Turns(hidden=True))
    return sorted((turn.session, turn.position, turn.id, turn.content) for turn in found)


@pytest.fixture
def said(memory: Memory) -> Memory:
    """A memory with talk of two sessions in both languages, tools, and something told."""
    memory.record_turn("user", "I live in Oslo.", session="s1", speaker="Mei", metadata={"k": ["é"]})
    memory.record_turn("assistant", "", session="s1", tool_calls=[{"name": "read_file", "input": {"path": "甲.txt"}, "id": "c1"}])
    memory.record_turn("tool", "", session="s1", tool_results=[{"tool_use_id": "c1", "content": "乙\n丙"}])
    memory.record_turn("user", "我妹妹叫小雨。", session="会话 二")
    memory.record_turn("user", LONG, session="会话 二", external_id="x-1")
    return memory


def test_without_any_backup_turns_and_what_they_teach_come_back(said, home):
    """Only transcripts are left: every turn is as it was, the home answers, and the report names the changes that were no turns."""
    said.remember("The locker code is 4711.")
    before, number = turns(said), said._handle.store.store_id
    (home / "documents").mkdir()
    (home / "documents" / "plan.md").write_text("# Plan\n\nThe harbour crane is painted teal. 起重机是青色的。\n")
    said.close()
    lose(home)
    with pytest.raises(StoreMismatch, match="transcripts"):
        clocked(home)
    with pytest.raises(StoreMismatch, match="--rebuild"):
        yiku.repair(home)

    done = yiku.repair(home, rebuild=True)

    assert {"transcripts": 5} == done.rows["conversation_turns"]
    assert done.rows["memories"]["learned again"] >= 2
    assert {"files": 1} == done.rows["notes"]
    assert any("journal rows 1 to " in lost for lost in done.lost)
    assert any("statements made with `remember`" in lost for lost in done.lost)
    assert [] == [lost for lost in done.lost if lost.startswith(("turn", "line", "blob", "key", "yiku.toml"))]
    with clocked(home) as memory:
        assert before == turns(memory)
        assert number == memory._handle.store.store_id
        assert "Oslo" in memory.recall("where do I live?").hits[0].item.content
        assert any("小雨" in one.content for one in memory.get_all())
        assert [] == [one.content for one in memory.get_all() if "4711" in one.content]
        assert "甲.txt" == memory.search_traces(tool="read_file")[0].tool_calls[0]["input"]["path"]
        assert ["é"] == memory.search_traces(session="s1")[-1].metadata["k"]
        assert "Mei" == memory.search_traces(session="s1")[-1].speaker
        assert LONG == memory.admin.blob(next(turn.blob for turn in memory.search_traces() if turn.blob))
        assert [] == transcripts.lost(Home(home))
        assert "harbour crane" in str(memory.recall("what colour is the harbour crane?").hits[0])
    whole(home / "yiku.db")
    assert () == yiku.repair(home, rebuild=True).problems


def test_a_transcript_newer_than_the_backup(said, home):
    """The backup has what was told and said before, the transcripts what was said since; nothing is there twice."""
    said.remember("The locker code is 4711.")
    said.admin.backup()
    said.record_turn("user", "I moved to Bergen.", session="s1")
    said.record_turn("user", "我喜欢喝茶。", session="三")
    said.remember("The gym code is 815.")
    before = turns(said)
    said.close()
    lose(home)

    done = yiku.repair(home, rebuild=True)

    assert 2 == done.rows["conversation_turns"]["transcripts"]
    with clocked(home) as memory:
        assert before == turns(memory)
        contents = [one.content for one in memory.get_all()]
        assert any("4711" in content for content in contents)
        assert not any("815" in content for content in contents)
        assert "Bergen" in memory.recall("where do I live?").hits[0].item.content
    assert any(lost.startswith("what these ") for lost in done.lost)
    whole(home / "yiku.db")


def test_a_transcript_older_than_the_backup(said, home):
    """Copies that are gone or lag change nothing: what the backup has is there, once."""
    said._handle.settings = replace(said._handle.settings, transcripts="on")
    flow.catch_up(said._handle)
    kept = shutil.copytree(home / "transcripts", home.with_name("older"))
    said.record_turn("user", "I moved to Bergen.", session="s1")
    said.admin.backup()
    before = turns(said)
    said.close()
    lose(home)
    shutil.rmtree(home / "transcripts")
    shutil.copytree(kept, home / "transcripts")

    done = yiku.repair(home, rebuild=True)

    assert "transcripts" not in done.rows["conversation_turns"]
    with clocked(home) as memory:
        assert before == turns(memory)


def test_a_plain_repair_says_what_it_left_in_transcripts(said, home):
    """It restores the backup as ever; what transcripts hold more is put aside, found, and brought back by the next."""
    said.admin.backup()
    said.record_turn("user", "I moved to Bergen.", session="s1")
    before = turns(said)
    said.close()
    lose(home)
    assert any("--rebuild" in lost for lost in yiku.repair(home).lost)
    with clocked(home) as memory:
        assert ["I moved to Bergen."] == [turn.content for turn in memory.search_traces("Bergen")]
        assert any("--rebuild" in trouble for trouble in memory.status().troubles)
        memory.record_turn("user", "said since 之后", session="s1")
    done = yiku.repair(home, rebuild=True)
    assert {"transcripts": 1} == done.rows["conversation_turns"]
    with clocked(home) as memory:
        assert {one[2:] for one in before} < {one[2:] for one in turns(memory)}
        assert [0, 1, 2, 3, 4] == [position for session, position, _, _ in turns(memory) if session == "s1"]
        assert not any("--rebuild" in trouble for trouble in memory.status().troubles)


def test_what_could_not_come_back_is_named_exactly(said, home):
    """A damaged line, a line that was cut out, a blob, the settings and the key: each has its line; the damaged file is kept."""
    for text in ["four", "five", "six", "seven 七", "eight"]:
        said.record_turn("user", text, session="s1")
    ids = {content: id for _, _, id, content in turns(said)}
    said.close()
    lose(home)
    (path,) = (home / "transcripts").glob("*/s1-*.jsonl")
    rows = path.read_bytes().splitlines(keepends=True)
    rows[1] = rows[1].replace(b"read_file", b"rm_a_file")
    del rows[4:6]
    path.write_bytes(b"".join(rows))
    (blob,) = home.glob("blobs/*/*.z")
    blob.unlink()
    (home / "key").unlink()

    done = yiku.repair(home, rebuild=True)

    long = next(id for content, id in ids.items() if content.startswith("灯笼"))
    assert {
        f"line 2 of transcripts/1/{path.name}: it is not as Yiku wrote it",
        "turn 1 of session s1 in user:mei: in no backup and no transcript",
        "turns 4 to 5 of session s1 in user:mei: in no backup and no transcript",
        f"blob {blob.stem} of turn {long}: its head and tail are there",
        "key: what was erased is known by ids alone, and secrets get other marks",
    } == {lost for lost in done.lost if not lost.startswith(("journal", "what these"))}
    assert 1 == len([*(home / "damaged").glob("*-transcripts/1/s1-*.jsonl")])
    with clocked(home) as memory:
        assert {"four", "seven 七", "eight"} <= {turn.content for turn in memory.search_traces(session="s1")}


@pytest.mark.parametrize("backed_up", [False, True])
def test_no_line_of_a_page_stands_twice_where_the_key_is_lost_too(memory, home, backed_up):
    """What memory says again is in the region alone, what came back from nowhere is the person's own text; headings do not stay behind."""
    memory.record_turn("user", "I live in Oslo.")
    memory.record_turn("user", "我妹妹叫小雨。")
    memory.remember("The locker is green. 储物柜是绿色的。")
    memory.notes.publish()
    before = {(name, text): (home / name).read_text().count(text) for name in ("MEMORY.md", "USER.md") for text in SHOWN}
    assert 1 == max(before.values())
    if backed_up:
        memory.admin.backup()
    memory.close()
    lose(home)
    (home / "key").unlink()
    yiku.repair(home, rebuild=True)
    with clocked(home) as again:
        again.notes.publish()
        again.notes.publish()

    assert before == {(name, text): (home / name).read_text().count(text) for name, text in before}
    assert not any("##" in (home / name).read_text().rpartition("yiku:end")[2] for name, _ in before)


@pytest.mark.parametrize(("backed_up", "laid_over"), [(False, False), (False, True), (True, True)])
def test_what_was_erased_or_forgotten_stays_so(said, home, clock, backed_up, laid_over):
    """Also where transcripts from before the erasure were laid over the home."""
    gone = said.record_turn("user", "It rained 下雨. My word is zqvblorptinx 𩺙𨏏.", session="s1")
    hidden = said.record_turn("user", "I like zqvtea 茶.", session="s1")
    if backed_up:
        said.admin.backup()
    flow.catch_up(said._handle)
    older = shutil.copytree(home / "transcripts", home.with_name("older"))
    clock.advance(minutes=1)
    said.forget(hidden.id)
    assert said.admin.erase(gone.id).clean
    said.close()
    lose(home)
    if laid_over:
        shutil.rmtree(home / "transcripts")
        shutil.copytree(older, home / "transcripts")

    yiku.repair(home, rebuild=True)

    with clocked(home) as memory:
        assert not any("zqvblor" in content for *_, content in turns(memory))
        assert [] == memory.search_traces("zqvblorptinx")
        assert 5 == sum("Oslo" in content or "灯笼" in content or not content or "小雨" in content for *_, content in turns(memory))
        if not laid_over:
            assert [] == memory.search_traces("zqvtea")
        assert not any(b"zqvblor" in path.read_bytes() for path in transcripts.files(Home(home)))


def test_an_older_transcript_brings_nothing_back_that_was_erased(said, home, clock):
    """A session was erased; its transcript from before lies in the home again: its turns stay out, others come in."""
    said.record_turn("user", "My word is zqvblorptinx 𩺙𨏏.", session="gone")
    flow.catch_up(said._handle)
    folder = home / "transcripts" / "1"
    (older,) = folder.glob("gone-*.jsonl")
    before = older.read_bytes()
    clock.advance(minutes=1)
    assert said.admin.erase(session="gone").clean
    said.close()
    (home / "transcripts" / "lost").mkdir()
    (home / "transcripts" / "lost" / f"1-x-{older.name}").write_bytes(before)

    assert "transcripts" not in yiku.repair(home, rebuild=True).rows.get("conversation_turns", {})

    with clocked(home) as memory:
        assert 5 == len(turns(memory))
        assert [] == memory.search_traces("zqvblorptinx")


def test_every_scope_comes_back_under_its_name(said, home):
    """Whatever numbers they get, nothing of one is in another."""
    with clocked(home, scope="team/七") as other:
        other.record_turn("user", "I live in Kunming 昆明.", session="s1")
        theirs = turns(other)
    ours = turns(said)
    said.close()
    lose(home)
    done = yiku.repair(home, rebuild=True)
    assert {"transcripts": 6} == done.rows["conversation_turns"]
    with clocked(home) as memory, clocked(home, scope="team/七") as other:
        assert ours == turns(memory)
        assert theirs == turns(other)
        assert [] == memory.search_traces("昆明")


def _rebuild(home: Path) -> None:
    yiku.repair(home, rebuild=True)


def test_a_rebuild_that_is_killed_is_finished_by_the_next(said, home):
    """Killed at drawn moments, again and again; at last every turn is there once."""
    said.admin.backup()
    for i in range(40):
        said.record_turn("user", f"I visited Town{i} 镇.", session=f"s{i % 4}")
    before = turns(said)
    said.close()
    lose(home)
    chance = random.Random(f"{SEED} rebuild")
    for _ in range(8):
        process = READY.Process(target=_rebuild, args=(home,))
        process.start()
        time.sleep(chance.random() * 0.5)
        process.kill()
        process.join()
    yiku.repair(home, rebuild=True)
    with clocked(home) as memory:
        assert sorted((session, id, content) for session, _, id, content in before) == sorted(
            (session, id, content) for session, _, id, content in turns(memory)
        )
        memory.record_turn("user", "end")
        flow.catch_up(memory._handle, wait_s=5.0)
        assert [] == transcripts.lost(Home(home))
    whole(home / "yiku.db")


def test_a_damaged_database_takes_lost_turns_from_transcripts(said, home):
    """Half of the file is overwritten: what it and the backups do not have the transcripts bring."""
    for i in range(60):
        said.record_turn("user", f"I visited Town{i} 镇. " * 30, session=f"s{i % 4}")
    before = {id for _, _, id, _ in turns(said)}
    said.close()
    database = home / "yiku.db"
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(size // 2)
        file.write(os.urandom(size // 3))

    done = yiku.repair(home, rebuild=True)

    assert done.problems
    with clocked(home) as memory:
        assert before == {id for _, _, id, _ in turns(memory)}
    assert [] == [lost for lost in done.lost if lost.startswith("turn ")]
    whole(database)


def test_a_sound_home_has_nothing_to_rebuild_and_a_dry_run_changes_nothing(said, home):
    """Nothing is lost, nothing is written; of a lost one a dry run says how much would come back."""
    said.close()
    assert () == yiku.repair(home, rebuild=True, dry_run=True).problems
    assert () == yiku.repair(home, rebuild=True).problems
    lose(home)
    before = sorted(str(path) for path in home.rglob("*") if path.is_file() and "damaged" not in path.parts)
    planned = yiku.repair(home, rebuild=True, dry_run=True)
    assert {"transcripts, at most": 5} == planned.rows["conversation_turns"]
    assert before == sorted(str(path) for path in home.rglob("*") if path.is_file() and "damaged" not in path.parts)
    with pytest.raises(InvalidInput, match="two steps"):
        yiku.repair(home, rebuild=True, accept=True)
    assert yiku.repair(home, rebuild=True).problems


def test_the_command_line_rebuilds(said, home):
    """It shows what would come back, and with `--yes` does it; what is lost is printed."""
    said.close()
    lose(home)
    planned, done = run(home, "repair", "--rebuild", "--dry-run"), run(home, "repair", "--rebuild", "--yes")
    assert (0, 0) == (planned.code, done.code)
    assert "5 from transcripts, at most" in planned.out
    assert "5 from transcripts" in done.out
    assert "learned again" in done.out
    assert "lost" in done.out
    assert "Oslo" in run(home, "recall", "where do I live?").out


def test_a_deep_check_notes_what_is_not_ours_in_a_transcript(said, home):
    """A line of somebody else's is worth knowing, and no damage."""
    said.close()
    (path,) = (home / "transcripts").glob("*/s1-*.jsonl")
    with path.open("ab") as file:
        file.write("my note 笔记\n".encode())
    found = yiku.check(home, "deep")
    assert () == found.problems
    assert 2 == found.looked_at["transcripts"]
    assert [f"transcripts/1/{path.name}: a line is not Yiku's, or not as written; the first is line 4"] == [
        note for note in found.notes if "transcripts" in note
    ]
