"""S4: erased content is in no byte of the home's files and does not come back; long runs with kills."""

import random
import shutil
import signal
import time
from pathlib import Path

import canaries
import integrity
import pytest
from conftest import Clock
from faults.disk import BROKEN, FULL, failing
from faults.test_erasure import HAN, WORD, erased, finished, killed_at, operations, prepared
from flows.common.test_tombstones import came_back
from flows.erase.test_erase import SAID_WHERE, heard_after_erasing, some_words
from flows.erase.test_erase_places import check_erased_everywhere, say_everywhere
from workers import READY, together

from yiku import Memory
from yiku.flows.erase import erase
from yiku.types import MemoryRecord, TurnRecord

SET_ASIDE = ("damaged", "copies", "inbox/unreadable.jsonl")  # what the killed erasure may not have come to


def test_S4_one_of_two_thousand_and_one_whole_scope(tmp_path, count, figure):
    """A statement among 2,000 in two languages, then the whole scope: no piece of a canary, the neighbours as they were."""
    number, chance = count(2_000, 2_000, "statements"), random.Random(4)
    words = [canaries.chinese(chance) if i % 3 == 0 else canaries.latin(chance) for i in range(number)]
    home = tmp_path / "home"
    with Memory(home, owner="user:mei", durability="fast") as memory:
        turns = [
            TurnRecord(i, {"role": "user", "content": f"Note {i}. My word {i} is {w}. 好的", "session": f"s{i // 50}"})
            for i, w in enumerate(words)
        ]
        memory.admin.import_(turns, source="turns")
        memory.admin.import_(
            [MemoryRecord(i, f"My word {i} is {word}.", {"tags": ["words"]}) for i, word in enumerate(words)], source="told"
        )
        with Memory(home, scope="user:tom") as tom:
            ids = [tom.remember(f"My dog {i} is Rex. 我的狗").memory.id for i in range(50)]
            theirs = [tom.get(id) for id in ids]  # as all of them left it: each may be marked beside the next
            memory.admin.backup()
            (kept,) = [one for one in memory.get_all(limit=5_000) if words[7] in one.content]
            began = time.monotonic()
            done = memory.admin.erase(kept.id)
            figure("one statement", time.monotonic() - began, "s", most=10)
            assert done.clean
            assert [] == canaries.sung(home, [words[7]])
            assert number - 1 == memory.admin.stats().memories["active"]
            began = time.monotonic()
            done = memory.admin.erase(everything=True, confirm="user:mei")
            figure("a scope of 2,000 turns and statements", time.monotonic() - began, "s", most=30)
            assert done.clean
            assert theirs == [tom.get(one.id) for one in theirs]
    assert [] == canaries.sung(home, random.Random(1).sample(words, 40))
    integrity.check(home / "yiku.db")


@pytest.mark.parametrize("what", SAID_WHERE)
def test_S4_what_is_erased_is_in_no_byte_of_the_home(home, what):
    """A statement, a turn, a session, a source, a time, a scope; of rows, index, journal, blobs, backups and what lies about."""
    assert [] == heard_after_erasing(home, some_words(), what)


def test_S4_what_is_erased_is_in_no_note_page_or_transcript(tmp_path, count, seed):
    """A statement that stands in every place of the list: daily logs, archive, documents, skills, both pages, transcripts, backups."""
    for i in range(count(2, 100, "homes")):
        home = tmp_path / str(i)
        check_erased_everywhere(home, seed + i)
        shutil.rmtree(home)


def test_S4_killed_at_each_operation_in_a_home_with_notes(tmp_path, count, seed):
    """What a killed erasure had not cut yet is cut by the next erasure of that sentence; the database has it whole or not at all."""
    before, words = tmp_path / "before", [WORD, HAN]
    id = say_everywhere(before, f"My watchword is {WORD} {HAN}.", "The pump hums at night. 水泵夜里嗡嗡响。")
    whole = Path(shutil.copytree(before, tmp_path / "whole"))
    with failing(whole) as disk:
        disk.arm(0, FULL)
        with Memory(whole) as memory:
            assert memory.admin.erase(id).clean
        every = range(1, len(disk.seen) + 1)
    assert [] == canaries.sung(whole, words)
    for n in random.Random(seed).sample(every, min(len(every), count(4, 10_000, "kills"))):
        home = Path(shutil.copytree(before, tmp_path / f"killed-{n}"))
        killed = READY.Process(target=_erase_one, args=(home, id, n))
        killed.start()
        killed.join()
        assert killed.exitcode in (0, -signal.SIGKILL)  # an erasure that need not write the file anew is over before
        with Memory(home) as memory:
            unfinished = any("erasure" in trouble for trouble in memory.status().troubles)
            if unfinished:
                done = erase.erase(memory._handle, resume=True)
                named = {place.name for place in done.places if place.unfinished}
                heard = canaries.sung(home, words)
                assert {name for name in SET_ASIDE if any(one.startswith(name) for one in heard)} <= named <= {*SET_ASIDE}
                for name in named:  # as the receipt says: its words are known no more, so nobody can look there
                    shutil.rmtree(home / name) if (home / name).is_dir() else (home / name).unlink()
                done = erase.erase(memory._handle, resume=True)
                assert done.clean, [place for place in done.places if place.found]
            memory.notes.sync()
            memory.notes.publish()
            while left := [one.id for one in memory.get_all() if WORD in one.content]:  # one goes with another that says the same
                assert memory.admin.erase(left[0]).memories
        assert [] == canaries.sung(home, words), f"killed at {n}"
        integrity.check(home / "yiku.db")
        shutil.rmtree(home)


def _erase_one(home: Path, id: str, n: int) -> None:
    with failing(home) as disk, Memory(home) as memory:
        disk.arm(n, None)
        memory.admin.erase(id)


def test_S4_nothing_comes_back(tmp_path, count, seed):
    """Random histories, random erasures, every way in."""
    for i in range(count(4, 300, "histories")):
        folder = tmp_path / str(i)
        folder.mkdir()
        assert [] == came_back(folder / "home", folder, Clock(), seed + i)[1]
        shutil.rmtree(folder)


def test_S4_killed_at_each_operation(tmp_path, count, seed):
    """And opened again: all of it is there, or it is finished."""
    before = tmp_path / "before"
    prepared(before)
    every = operations(before, tmp_path)
    chosen = random.Random(seed).sample(range(1, every + 1), min(every, count(8, 10_000, "kills")))
    for n in sorted(chosen):
        home = Path(shutil.copytree(before, tmp_path / f"killed-{n}"))
        assert killed_at(home, n)
        finished(home)
        shutil.rmtree(home)


def test_S4_each_operation_fails(tmp_path, count, seed):
    """A full disk or a broken one at each operation: told, or made good."""
    before = tmp_path / "before"
    prepared(before)
    every = operations(before, tmp_path)
    chosen = random.Random(seed).sample(range(1, every + 1), min(every, count(4, 10_000, "operations, each failing in 2 ways")))
    for n in sorted(chosen):
        for failure in (FULL, BROKEN):
            home = Path(shutil.copytree(before, tmp_path / f"failed-{n}"))
            with failing(home) as disk:
                disk.arm(n, failure)
                outcome = erased(home)
            if outcome == "clean":
                assert [] == canaries.sung(home, [WORD, HAN]), f"{disk.fired} failed"
            finished(home)
            shutil.rmtree(home)


def at_work(home: Path, who: int, seconds: float) -> list[str]:
    """Record, remember, ask and make backups until the time is over; the ids of what was recorded."""
    ids, end = [], time.monotonic() + seconds
    with Memory(home) as memory:
        while time.monotonic() < end:
            ids.append(memory.record_turn("user", f"I am {who} 说 {len(ids)}", session=f"w{who}").id)
            memory.remember(f"My number {who} is {len(ids)}.")
            memory.recall("what is my word? 我的暗号")
            if len(ids) % 10 == 0:
                memory.admin.backup()
    return ids


def erasing(home: Path, words: list[str], ids: list[str]) -> list[bool]:
    """Erase one statement after the other; whether each was clean, or finished afterwards."""
    with Memory(home) as memory:
        return [memory.admin.erase(id).clean for id in ids]


def test_S4_R4_erasing_while_others_write_read_and_make_backups_meanwhile(tmp_path, count):
    """Three processes work and make backups, one erases; nobody loses a turn, and afterwards no file has a piece of a canary."""
    number, chance, home = count(6, 200, "erasures"), random.Random(9), tmp_path / "home"
    words = [canaries.latin(chance) for _ in range(number)]
    with Memory(home, owner="user:mei", durability="fast") as memory:
        for i, word in enumerate(words):
            turn = memory.record_turn("user", f"Hm. My word {i} is {word}. Bye", session=f"s{i}")
            memory.remember(f"My word {i} is {word}.", source=turn.id)
        ids = [next(one.id for one in memory.get_all(limit=1_000) if word in one.content) for word in words]
    seconds = number * 0.7
    work = together(_either, [(home, who, seconds, words, ids) for who in range(4)])
    for result in work:
        if isinstance(result, BaseException):
            raise result
    with Memory(home) as memory:
        assert all(memory.get(id).content.startswith("I am") for done in work[1:] for id in done)
        if any("erasure" in trouble for trouble in memory.status().troubles):
            memory._handle.store.erasures.scrub()
    assert [] == canaries.sung(home, words)
    integrity.check(home / "yiku.db")


def _either(home: Path, who: int, seconds: float, words: list[str], ids: list[str]) -> list[object]:
    return list(erasing(home, words, ids)) if who == 0 else list(at_work(home, who, seconds))
