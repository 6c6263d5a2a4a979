"""
R3: a home is opened on what a power cut at any moment leaves on the disk.

A life of some dozens of calls is recorded on a disk that remembers everything (`faults.power`), and the disk is
rebuilt as the cut may have left it. With `full`, each acknowledged call is there. With `fast`, all is there
that was acknowledged up to some moment, less than a second before the cut. In both, what is there is exactly
a moment of that life, every row of every table; which moments it had is known from the disk on which all arrived.
"""

import hashlib
import shutil
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest
from faults.power import Kind, Recording, in_memory, rebuild, record
from integrity import check

from yiku import Memory
from yiku.errors import CannotUndo, NotFound, YikuError
from yiku.store.identity_file import IdentityFile

CALLS = 24  # of a life here; in the soak 40
LONG = "灯笼 Lantern " * 8_000  # over 64 KiB: goes into a blob
PLACES = "Oslo 北京 Bergen 深圳 London 上海 Bristol 成都".split()
SORTS = "turn many key long new place mode said update details forget restore undo context".split()
LOST_AT_MOST_S = 1.0  # with `fast`
PACE_S, IDLE_S = 0.02, 1.4  # of a life with `fast`: between calls; once in its middle, longer than what may be lost
FAST = {"durability": "fast", "pace_s": PACE_S, "idle_s": IDLE_S}

Word = list[tuple[str, str]]  # the ids that a call gave, each with its text


# ------------------------------------------------------------------ a life


def life(
    home: Path,
    say: Callable[[Word], None],
    *,
    seed: int,
    handles: int = 1,
    calls: int = CALLS,
    durability: str = "full",
    pace_s: float = 0,
    idle_s: float = 0,
) -> None:
    """Open a home and use it, through one handle or several in turn; what each call stored is said after it returned."""
    chance = Random(seed)
    apsw.connection_hooks.append(lambda connection: connection.wal_autocheckpoint(chance.choice([50, 1_000])))
    memories = [opened(home, durability=durability) for _ in range(handles)]
    say([])
    memories[0]._handle.writes()  # the scope: a transaction of its own, so that each call below is one
    say([])
    for i in range(calls):
        k = i % handles
        if chance.randrange(12) == 0:
            memories[k].close()  # and what is in the WAL goes into the database
            memories[k] = opened(home, durability=durability)
            say([])
        say(call(memories[k], i, chance))
        time.sleep(idle_s if i == calls // 2 else chance.uniform(0, 2 * pace_s))
    for memory in memories:
        memory.close()
    say([])


def opened(home: Path, **settings: Any) -> Memory:
    """Without learning, which is a transaction behind that of the turn, and is made up for (test_learning.py): here a call is one."""
    return Memory(home, owner="user:mei", learn="off", **settings)


def call(memory: Memory, i: int, chance: Random) -> Word:
    """One call of any sort."""
    place, live = chance.choice(PLACES), memory.get_all(limit=50)
    text = f"{i} 说 {place} 😀 {'字' * chance.randrange(40)}"
    match chance.choice(SORTS):
        case "many":
            texts = [f"{text} {k}" for k in range(12)]
            turns = [{"role": "user", "content": text, "session": f"s{i % 3}"} for text in texts]
            return list(zip(memory.record(turns).ids, texts, strict=True))
        case "key":
            return [(memory.record([{"role": "assistant", "content": text}], idempotency_key=f"k{i}").ids[0], text)]
        case "long":
            turn = memory.record_turn("user", f"{i} {LONG}")
            return [(turn.id, turn.content)]
        case "new":
            return said(memory, f"小明 likes {text}", tags=["茶", place])
        case "place":
            return said(memory, f"I moved to {place}")
        case "mode":
            return said(memory, f"The gateway's mode is {place}")
        case "said":
            return said(memory, "Ann likes tea 茶")
        case "update" if live:
            changed = memory.update(chance.choice(live).id, f"Ann, {i}: {place}")
            return [(changed.id, changed.content)]
        case "details" if live:
            memory.update(chance.choice(live).id, importance=chance.random())
        case "forget" if live:
            memory.forget(chance.choice(live).id)
        case "restore" if gone := memory.get_all(where={"state": "archived"}):
            with suppress(NotFound):  # it left memory in another way
                memory.restore(gone[0].id)
        case "undo" if last := memory.admin.journal(limit=1):
            with suppress(CannotUndo, NotFound):  # what made the scope is no operation of a caller's
                memory.admin.undo(last[0].transaction)
        case "context":
            memory.context("where do I live? 我住在哪里？")
        case _:
            return [(memory.record_turn("user", text, session="s").id, text)]
    return []


def said(memory: Memory, text: str, **details: Any) -> Word:
    found = memory.remember(text, **details).memory
    return [(found.id, found.content)]


# ------------------------------------------------------------------ what must be there


@dataclass(frozen=True)
class Life:
    """A recording; and at the end of each acknowledged call, the number of events, what was said, and what the tables hold."""

    recording: Recording
    ends: list[int]
    words: list[Word]
    states: list[dict[str, bytes]]
    late_s: float = 0.0  # how late this machine woke who slept meanwhile, at most


def lived(folder: Path, **how: Any) -> Life:
    """Record a life, its disk in `folder/disk`."""
    with lateness() as late:
        recording = record(folder / "disk", life, **how)
    ends, words = zip(*recording.said(), strict=True)
    states = []
    for end in ends:
        rebuild(recording, end, "kept", Random(0), folder / "kept")
        states.append(state(folder / "kept" / "home"))
        shutil.rmtree(folder / "kept")
    return Life(recording, [*ends], [*words], states, max(late))


@contextmanager
def lateness() -> Iterator[list[float]]:
    """How late a thread that sleeps now and then is woken (s): on a busy machine a timer is late, too."""
    late, over = [0.0], threading.Event()

    def sleep() -> None:
        before = time.monotonic()
        while not over.wait(PACE_S):
            now = time.monotonic()
            late.append(now - before - PACE_S)
            before = now

    sleeper = threading.Thread(target=sleep)
    sleeper.start()
    try:
        yield late
    finally:
        over.set()
        sleeper.join()


def state(home: Path) -> dict[str, bytes]:
    """A hash of the rows of each table, SQLite's own among them."""
    connection = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        tables = [row[1] for row in connection.execute("pragma table_list") if row[2] in ("table", "shadow")]
        rows = {table: repr(connection.execute(f'select * from "{table}"').fetchall()) for table in tables}
        return {table: hashlib.blake2b(found.encode(), digest_size=16).digest() for table, found in rows.items()}
    finally:
        connection.close()


@dataclass(frozen=True)
class Cut:
    """What was lost in a cut: how many acknowledged calls; how long before it the first of them had returned (s)."""

    lost: int
    age_s: float


def cut(life: Life, kind: Kind, chance: Random, folder: Path, *, first: int | None = None) -> Cut:
    """
    Cut the power at a random moment and open what is left: a moment of that life, whole, and it goes on from there.

    first: within so many acknowledged calls
    """
    times = life.recording.times[: life.ends[first - 1] if first else None]
    # among the events, where most happens; or in time, where nothing may happen for long
    at = chance.randint(1, len(times)) if chance.random() < 0.5 else bisect_right(times, chance.uniform(times[0], times[-1]))
    ended = chance.uniform(times[at - 1], times[min(at, len(times) - 1)])
    acknowledged, home = bisect_right(life.ends, at), folder / "home"
    rebuild(life.recording, at, kind, chance, folder)
    try:
        marked = IdentityFile(home / "store.id").read()
        assert marked or not acknowledged, f"{kind} after event {at}: no mark, so an older file would not be detected (R12)"
        with opened(home) as memory:
            found = state(home)
            same = [k for k, moment in enumerate(life.states[: acknowledged + 1], 1) if moment == found]
            assert same or not memory.timeline(limit=1), f"{kind} after event {at}: no moment of this life"
            there = max(same, default=0)
            answers(memory, life.words[:there])
        check(home / "yiku.db")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lost = range(there, acknowledged)
    return Cut(len(lost), ended - times[life.ends[lost[0]] - 1] if lost else 0.0)


def answers(memory: Memory, words: list[Word]) -> None:
    """What was said last is got by its id, every long content is whole, and what is said now is found."""
    for id, text in [*chain.from_iterable(words)][-5:]:
        assert text == memory.get(id).content
    for item in memory.timeline(limit=1_000):
        if name := getattr(item, "blob", None):
            assert memory.admin.blob(name).endswith(LONG)
    memory.record_turn("user", "之后 after the cut")
    assert "之后 after the cut" == memory.recall("after the cut 之后", types=["turn"])[0].text


def cuts(life: Life, kind: Kind, chance: Random, folder: Path, count: int, *, first: int | None = None) -> list[Cut]:
    return [cut(life, kind, chance, folder / "image", first=first) for _ in range(count)]


# ------------------------------------------------------------------ the tests

EACH = 4  # images of a sort; the soak has the large counts
KINDS: tuple[Kind, ...] = ("drop", "torn")


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with in_memory(tmp_path_factory.getbasetemp()) as folder:
        yield folder


@pytest.fixture(scope="module")
def full(disk: Path) -> Life:
    return lived(disk / "full", seed=1)


@pytest.mark.long
def test_a_recording_played_to_its_end_is_the_disk(disk, full):
    """Nothing escapes the recorder: every file and folder comes out with the bytes that really lie there."""
    rebuild(full.recording, len(full.recording.events), "kept", Random(0), disk / "again")
    real, again = disk / "full" / "disk", disk / "again"
    paths = [path.relative_to(real) for path in real.rglob("*") if not path.name.endswith("-shm")]

    assert sorted(paths) == sorted(path.relative_to(again) for path in again.rglob("*"))
    assert [] == [path for path in paths if (real / path).is_file() and (real / path).read_bytes() != (again / path).read_bytes()]
    assert {"yiku.db", "yiku.toml", "blobs"} <= {path.name for path in paths}


@pytest.mark.long
def test_R3_full_loses_nothing_in_a_power_cut(disk, full):
    """Whenever the power goes, each call that had returned is there, whole, and the home works on."""
    for kind in KINDS:
        assert [0] * EACH == [cut.lost for cut in cuts(full, kind, Random(5), disk, EACH)], kind


@pytest.mark.long
def test_R3_two_handles_in_turn_lose_nothing_in_a_power_cut(disk):
    """The same where two handles write one home by turns, each closing and opening again now and then."""
    shared = lived(disk / "shared", seed=2, handles=2)
    for kind in KINDS:
        assert [0] * EACH == [cut.lost for cut in cuts(shared, kind, Random(6), disk, EACH)], kind


@pytest.mark.long
def test_R3_fast_loses_a_second_at_most_and_leaves_no_holes(disk):
    """With `fast` a cut takes the newest calls, also from a home that has been idle since; none older than a second."""
    fast = lived(disk / "fast", seed=3, **FAST)
    for kind in KINDS:
        assert [] == [cut for cut in cuts(fast, kind, Random(7), disk, EACH) if cut.age_s > LOST_AT_MOST_S + 4 * fast.late_s], kind


@pytest.fixture(scope="module")
def hasty(disk: Path) -> Life:
    return lived(disk / "hasty", seed=4, durability="fast")


@pytest.mark.long
def test_R3_a_cut_while_a_home_is_made_leaves_one_that_opens(disk, full, hasty):
    """In the first few calls, too, with either durability: nothing is left that the next opening does not understand."""
    for kind in KINDS:
        assert [0] * EACH == [cut.lost for cut in cuts(full, kind, Random(10), disk, EACH, first=4)], kind
        assert EACH == len(cuts(hasty, kind, Random(11), disk, EACH, first=4)), kind


def test_R3_without_a_flush_a_commit_the_same_cuts_lose_calls(disk, hasty):
    """The simulation can tell: where not every commit is flushed, images lack what was acknowledged (a fifth of them, and more)."""
    chance, tried = Random(8), range(8 * EACH)

    assert any(cut(hasty, "drop", chance, disk / "image").lost for _ in tried)
    assert any(cut(hasty, "drop", chance, disk / "image").lost for _ in tried), "once might be an accident"


def test_R3_on_a_disk_that_does_not_flush_the_same_cuts_lose_calls(disk, full):
    """The simulation can tell: on a disk that says yes to a flush and does nothing, many images lack what was acknowledged."""
    deaf, chance = replace(full, recording=full.recording.deaf()), Random(9)

    assert sum(lost_or_refused(deaf, chance, disk) for _ in range(2 * EACH)) > EACH // 2


def lost_or_refused(life: Life, chance: Random, folder: Path) -> bool:
    try:
        return cut(life, "drop", chance, folder / "image").lost > 0
    except (YikuError, AssertionError):
        return True
