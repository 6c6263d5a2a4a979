"""Transcripts follow the database: each turn once, after kills, forgetting, erasure and restores."""

import json
import os
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sampling import SEED
from workers import READY, clocked, together

from yiku import Memory
from yiku.errors import KeptOut, Paused
from yiku.files import transcripts
from yiku.files.transcripts import Line
from yiku.files.vault import Home
from yiku.flows.erase import erase
from yiku.flows.keep import transcripts as flow
from yiku.types import Turns

KILLS = 100 if os.environ.get("YIKU_WHOLE") else 20
SAID = ["I live in Oslo.", "我住在上海，喜欢喝茶。", "mixed 混合 text", "ＡＢＣ，１２３", "😀", '"a" \\ b\nc']


def copied(home: Path) -> dict[str, list[tuple[int, str]]]:
    """Of each session, positions and contents in its transcript, in order."""
    found: dict[str, list[tuple[int, str]]] = {}
    for path in transcripts.files(Home(home)):
        for line in transcripts.lines(path):
            if isinstance(line, Line) and path.parent.name != transcripts.LOST:
                found.setdefault(line.session, []).append((line.position, json.loads(line.raw)["content"]))
    return found


def held(memory: Memory) -> dict[str, list[tuple[int, str]]]:
    """The same of the database."""
    found: dict[str, list[tuple[int, str]]] = {}
    for turn in memory._handle.store.turns(memory._handle.own(), Turns(hidden=True)):
        found.setdefault(turn.session, []).append((turn.position, turn.content))
    return found


@pytest.mark.spec("S3-121", "S3-223", "S2-89")
def test_database_and_transcripts_are_in_step(memory, home):
    """What was recorded by each verb is in the file of its session, as it was said; nothing is written while it is recorded."""
    for i, text in enumerate(SAID * 3):
        memory.record_turn("user", text, session=f"s{i % 3}/会话")
    memory.record([{"role": "assistant", "content": "ok 好"}] * 3, session="bulk")
    assert not (home / "transcripts").exists()
    before = held(memory)
    memory.close()

    assert before == copied(home)
    assert all(0o600 == path.stat().st_mode & 0o777 for path in transcripts.files(Home(home)))
    assert 0o700 == (home / "transcripts").stat().st_mode & 0o777


def test_a_write_sees_to_what_was_said_a_minute_ago(memory, home, monkeypatch):
    """A long-lived program that never closes has its transcripts, too."""
    monkeypatch.setattr(flow, "FOLLOW_S", 0.0)
    memory.record_turn("user", "one 一")
    memory.record_turn("user", "two 二")
    assert {"default": [(0, "one 一"), (1, "two 二")]} == copied(home)


def test_a_thread_in_the_background_keeps_them_in_step(home):
    """With `background=True` a turn is there within seconds."""
    with Memory(home, owner="user:mei", search="words", background=True) as memory:
        memory.record_turn("user", "one 一")
        deadline = time.monotonic() + 20
        while not copied(home) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert {"default": [(0, "one 一")]} == copied(home)


def test_reading_writes_none(memory, home):
    """What a killed writer left waits for the next writer, not for whoever only asks."""
    memory.record_turn("user", "one")
    memory._handle.uncopied_since = None  # as after a kill
    memory.close()
    with clocked(home) as reader:
        reader.recall("one")
    assert {} == copied(home)
    with clocked(home) as writer:
        writer.record_turn("user", "two")
    assert {"default": [(0, "one"), (1, "two")]} == copied(home)


@pytest.mark.spec("S2-89")
def test_status_counts_what_waits_and_a_sync_copies_it(memory, home, clock):
    """After a process that was killed: not in the first minute, when it is as it should be."""
    memory.record_turn("user", "one 一")
    memory.record_turn("user", "two 二")
    assert "turns to copy to transcripts" not in memory.status().waiting
    memory._handle.uncopied_since = None  # as after a kill
    clock.advance(minutes=2)
    memory.record_turn("user", "three 三")
    assert 2 == memory.status().waiting["turns to copy to transcripts"]
    memory.notes.sync()

    assert {"default": [(0, "one 一"), (1, "two 二"), (2, "three 三")]} == copied(home)
    assert "turns to copy to transcripts" not in memory.status().waiting


def test_off_writes_none(home):
    """The setting `transcripts = off`."""
    with Memory(home, owner="user:mei", transcripts="off") as memory:
        memory.record_turn("user", "one")
    assert not (home / "transcripts").exists()


def test_what_is_kept_out_is_not_there(memory, home):
    """A private turn, a private part, a masked key, and what is said while memory is paused."""
    with pytest.raises(KeptOut):
        memory.record_turn("user", "<private>zqv1 秘密</private>")
    memory.record_turn("user", "It rained <private>zqv2</private> 下雨. export TOKEN=ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    memory.admin.pause()
    with pytest.raises(Paused):
        memory.record_turn("user", "zqv3")
    memory.close()
    (path,) = transcripts.files(Home(home))
    raw = path.read_text()
    assert "zqv" not in raw
    assert "ghp_" not in raw
    assert "It rained [private]" in raw


def test_a_full_or_broken_place_is_said_and_made_good(memory, home, caplog):
    """Where a transcript cannot be written the turn is stored all the same; `status` says why, and the next close makes it good."""
    (home / "transcripts").write_text("no folder")
    memory.record_turn("user", "one")
    flow.try_catch_up(memory._handle)
    assert any("not in transcripts/" in trouble for trouble in memory.status().troubles)
    (home / "transcripts").unlink()
    memory.close()
    assert {"default": [(0, "one")]} == copied(home)


# ------------------------------------------------------------------ killed


def _chat(home: Path, seed: int, tell) -> None:
    """Until killed: turns in few sessions, and transcripts caught up now and then, by closing and in between."""
    chance = random.Random(seed)
    flow.BATCH = chance.choice([1, 3, 500])
    while True:
        with clocked(home, learn="off", durability="fast") as memory:
            for _ in range(chance.randrange(1, 12)):
                text = f"{chance.choice(SAID)} {chance.randrange(10**9)}" * chance.choice([1, 1, 40, 3_000])
                memory.record_turn("user", text, session=f"s{chance.randrange(3)}")
                tell.send(None)
                if chance.random() < 0.4:
                    flow.catch_up(memory._handle, wait_s=1.0)


@pytest.mark.spec("S3-223", "S3-121")
def test_after_many_kills_each_turn_is_there_once(home):
    """Killed at a drawn moment, a hundred times (here twenty): the next goes on, and each position is in its file once, in order."""
    chance = random.Random(f"{SEED} transcripts")
    clocked(home).close()
    torn = 0
    for n in range(KILLS):
        hear, tell = READY.Pipe(duplex=False)
        process = READY.Process(target=_chat, args=(home, chance.randrange(10**9), tell))
        process.start()
        tell.close()
        for _ in range(chance.randrange(1, 6)):
            hear.recv()
        time.sleep(chance.random() * 0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        torn += any(not path.read_bytes().endswith(b"\n") for path in transcripts.files(Home(home)) if path.stat().st_size)
        if n % 10 == 3:  # a kill inside a write is rare: here is what it leaves
            path = chance.choice([*transcripts.files(Home(home)), None])
            if path is not None and (size := path.stat().st_size) > 400:
                with clocked(home) as memory:  # the mark lags, as when the kill came before it
                    flow.Folder(Home(home), memory._handle.own()[0]).reset()
                os.truncate(path, size - chance.randrange(1, 300))
    with clocked(home, learn="off") as memory:
        memory.record_turn("user", "the last 最后")
        flow.catch_up(memory._handle)
        assert held(memory) == copied(home)
        assert [] == transcripts.lost(Home(home))
        assert sum(map(len, held(memory).values())) > KILLS


def _append(home: Path, session: str, count: int) -> int:
    with clocked(home, learn="off", durability="fast") as memory:
        for i in range(count):
            memory.record_turn("user", f"{session} {i} 说", session="shared")
            flow.try_catch_up(memory._handle)
    return count


def test_processes_that_append_at_once_double_nothing(home):
    """Four processes, one session, each catching up after every turn."""
    clocked(home).close()
    assert [30] * 4 == together(_append, [(home, f"p{i}", 30) for i in range(4)])
    with clocked(home) as memory:
        memory.record_turn("user", "end", session="shared")
        flow.catch_up(memory._handle, wait_s=5)
        assert held(memory) == copied(home)


# ------------------------------------------------------------------ forgotten, erased, set back


def test_what_is_forgotten_says_so_in_its_line(memory, home):
    """Forgotten, its line has `hidden_at`; restored, it has not."""
    turn = memory.record_turn("user", "I like tea 茶")
    memory.record_turn("user", "and rain")
    flow.catch_up(memory._handle)
    memory.forget(turn.id)
    flow.catch_up(memory._handle)
    (path,) = transcripts.files(Home(home))
    assert [True, False] == ["hidden_at" in json.loads(raw) for raw in path.read_text().splitlines()]
    memory.restore(turn.id)
    memory.close()
    assert [False, False] == ["hidden_at" in json.loads(raw) for raw in path.read_text().splitlines()]


@pytest.mark.parametrize("whole", ["sentence", "turn", "session", "scope"])
def test_what_is_erased_is_in_no_transcript(memory, home, clock, whole):
    """A sentence, a turn, a session, everything; and the receipt is clean. What stays is there, each once."""
    for i in range(20):
        memory.record_turn("user", f"The lantern {i} burns. 灯笼亮着。", session="s1")
    secret = memory.record_turn("user", "It rained. My word is zqvblorptinx 𩺙𨏏. Bye.", session="s2")
    statement = memory.remember("My word is zqvblorptinx 𩺙𨏏.", source=secret.id).memory
    flow.catch_up(memory._handle)
    done = {
        "sentence": lambda: memory.admin.erase(statement.id),
        "turn": lambda: memory.admin.erase(secret.id),
        "session": lambda: memory.admin.erase(session="s2"),
        "scope": lambda: memory.admin.erase(everything=True, confirm="user:mei"),
    }[whole]()
    assert done.clean
    assert any(place.name == "transcripts" for place in done.places)
    assert not any(b"zqvblor" in path.read_bytes() or "𩺙".encode() in path.read_bytes() for path in transcripts.files(Home(home)))
    assert held(memory) == copied(home)
    clock.advance(minutes=1)
    memory.record_turn("user", "later 后来", session="s1")
    memory.close()
    with clocked(home) as again:
        assert held(again) == copied(home)


def test_an_erased_label_and_a_foreign_line_leave_the_transcript(memory, home):
    """What an erasure takes out of metadata goes there, too; and a line of somebody else's that says it."""
    memory.record_turn("user", "It rained 下雨", session="s1", metadata={"note": "my word is zqvblorptinx now"})
    statement = memory.remember("My word is zqvblorptinx now.").memory
    flow.catch_up(memory._handle)
    (path,) = transcripts.files(Home(home))
    with path.open("ab") as file:
        file.write(b"zqvblorptinx, my own note\nanother note\n")
    done = memory.admin.erase(statement.id)
    assert b"zqvblor" not in path.read_bytes()
    assert b"another note" in path.read_bytes()
    assert [] == [place for place in done.places if "transcripts" in place.name and place.found]


def test_an_erasure_that_was_cut_short_leaves_no_transcript_behind(memory, home, monkeypatch):
    """While another appends it is not clean; resumed, when nobody knows the words any more, the tombstones do."""
    monkeypatch.setattr(flow, "LOCK_S", 0.05)
    memory.record_turn("user", "It rained 下雨")
    gone = memory.record_turn("user", "My word is zqvblorptinx 𩺙𨏏.")
    flow.catch_up(memory._handle)
    (path,) = transcripts.files(Home(home))
    with flow.lock(Home(home)):
        assert not memory.admin.erase(gone.id).clean
    assert erase.erase(memory._handle, resume=True).clean
    assert b"zqvblor" not in path.read_bytes()
    flow.catch_up(memory._handle)
    assert held(memory) == copied(home)
    assert "It rained 下雨" == copied(home)["default"][0][1]


def test_a_restored_backup_has_its_own_transcripts(memory, home):
    """Set back on purpose, and going on: the files are those of the database that is there."""
    memory.record_turn("user", "one 一")
    backup = memory.admin.backup()
    memory.record_turn("user", "two 二")
    flow.catch_up(memory._handle)
    memory.admin.restore_backup(Path(backup.path).name)
    memory.record_turn("user", "three 三")
    flow.catch_up(memory._handle)
    assert {"default": [(0, "one 一"), (1, "three 三")]} == copied(home) == held(memory)
    assert [] == transcripts.lost(Home(home))


def test_a_file_that_goes_further_is_put_aside_and_searched(memory, home, clock):
    """
    The database went back in time under its transcripts: what they hold more is kept, found, and named by `status`.

    Nobody finds there what is of another scope, or was forgotten.
    """
    memory.record_turn("user", "one 一", session="s1")
    flow.catch_up(memory._handle)
    folder = flow.Folder(Home(home), memory._handle.own()[0])
    known = memory.search_traces("one")[0]
    more = replace(known, id="lost-1", position=1, content="the kumquat 金橘 came", external_id=None)
    hidden = replace(more, id="lost-2", position=2, content="a hidden kumquat", hidden_at=clock())
    folder.append("s1", [transcripts.line(turn) for turn in (more, hidden)])
    memory.record_turn("user", "two 二", session="s1")
    flow.catch_up(memory._handle)

    assert held(memory) == copied(home) | {"s1": [(0, "one 一"), (1, "two 二")]}
    assert {"s1": [(1, "two 二")]} == copied(home)
    assert ["the kumquat 金橘 came"] == [turn.content for turn in memory.search_traces("金橘")]
    assert ["the kumquat 金橘 came"] == [turn.content for turn in memory.search_traces("kumquat", session="s1", role="user")]
    assert [] == memory.search_traces("kumquat", role="assistant")
    assert {"one 一", "two 二", "the kumquat 金橘 came"} == {turn.content for turn in memory.search_traces()}
    assert any("repair --rebuild" in trouble for trouble in memory.status().troubles)
    with clocked(home, scope="other") as other:
        other.record_turn("user", "x")
        assert [] == other.search_traces("kumquat")


# ------------------------------------------------------------------ retention


@pytest.mark.spec("S3-122", "S3-37")
def test_a_copy_goes_after_thirty_days_and_the_turn_stays(memory, home, clock):
    """A day before that it is there. What was said since stays, and so does the database's own row, in every search."""
    memory.record_turn("user", "old 旧", session="s1")
    memory.record_turn("user", "gone 去", session="s2")
    clock.advance(days=20)
    memory.record_turn("user", "new 新", session="s1")
    clock.advance(days=9)
    memory.learn()
    flow.catch_up(memory._handle)
    assert {"s1": [(0, "old 旧"), (1, "new 新")], "s2": [(0, "gone 去")]} == copied(home)
    clock.advance(days=2)
    flow.catch_up(memory._handle)
    assert {"s1": [(1, "new 新")]} == copied(home)
    assert 1 == len([*(home / "transcripts").glob("*/*.jsonl")])
    assert ["old 旧"] == [turn.content for turn in memory.search_traces("旧", role="user", until="2026-03-10")]
    memory.record_turn("user", "again 又", session="s2")
    flow.catch_up(memory._handle)
    assert [(1, "again 又")] == copied(home)["s2"]


@pytest.mark.spec("S3-122")
def test_nothing_that_was_not_learned_from_is_removed(home, clock):
    """Thirty days are over, and learning has not come to it: the copy stays until it has."""
    with Memory(home, owner="user:mei", clock=clock, learn="later") as memory:
        memory.record_turn("user", "I live in Oslo. 我住在奥斯陆。")
        flow.catch_up(memory._handle)
        clock.advance(days=100)
        flow.catch_up(memory._handle)
        assert 1 == len(copied(home)["default"])
        memory.learn()
        clock.advance(days=1)
        flow.catch_up(memory._handle)
        assert {} == copied(home)


def test_the_days_are_a_setting(home, clock):
    """`transcript_days`."""
    with Memory(home, owner="user:mei", clock=clock, transcript_days=3) as memory:
        memory.record_turn("user", "one 一")
        memory.learn()
        flow.catch_up(memory._handle)
        clock.advance(days=4)
        flow.catch_up(memory._handle)
        assert {} == copied(home)
        assert 1 == memory.admin.stats().turns
