"""
Ways to damage a home (as disks, copies and tools do), and the questions that a damaged home is asked.

A way takes a home apart that nobody has open. Which page holds what is known from the sound home, so each
way hits what it is named after. `asked` puts the same questions to each home, in a process of its own: an
answer is what the sound home answers, or an error that names what is damaged.
"""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import apsw
from workers import READY

from yiku import Memory
from yiku.errors import YikuError
from yiku.store import copy, pages, records
from yiku.types import Hits, Stats, Turn

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
LONG = "灯笼 Lantern " * 8_000  # over 64 KiB: goes into a blob
PAGE = 4_096
HANG_S = 5.0
PLACES = "Oslo 北京 Bergen 深圳 London 上海".split()
ALONE = (  # docs/durability.md: what a session is about; and the map of a search index, which is not needed while that is small
    "session_state",
    "sqlite_schema",
    *(f"{index}_index_idx" for index in ("turn", "tool", "memory", "episode", "attachment")),
)
QUESTIONS = (
    "where do I live? 我住在哪里？",
    "Oslo 北京",
    "小明喜欢什么",
    "who likes tea number 7",
    "Lantern 灯笼",
    "ＡＢＣ 😀",
    "Where did I live before?",
)


# ------------------------------------------------------------------ the sound homes


@dataclass(frozen=True)
class Sound:
    """A home as it should be: at rest, or with its last rows in the WAL; a page of another day; which page holds what."""

    rest: Path
    wal: Path
    old: bytes
    holds: dict[str, list[int]]
    ids: list[str]
    answers: dict[str, str]
    answers_wal: dict[str, str]


def sound(folder: Path, rows: int) -> Sound:
    """Make both homes, a third of their rows being the first so many; each has a backup from before its last rows."""
    home = folder / "rest"
    second, third, last = 2 * rows, rows * 5 // 2, 3 * rows
    with opened(home) as memory:
        lived(memory, 0, rows)
    old = (home / "yiku.db").read_bytes()
    with opened(home) as memory:
        lived(memory, rows, second)
        memory.record_turn("user", LONG, session="long")
        backed_up(home)
        lived(memory, second, third)
    freed(home / "yiku.db")
    holds = pages_of(home / "yiku.db")
    shutil.copytree(home, folder / "live")
    with opened(folder / "live") as memory:
        lived(memory, third, last)
        shutil.copytree(folder / "live", folder / "wal")  # as after a kill
    with opened(folder / "live") as memory:
        ids = [item.id for item in memory.timeline(limit=10_000)] + [m.id for m in memory.get_all(limit=10_000)]
    ids = list(dict.fromkeys(ids))
    return Sound(home, folder / "wal", old, holds, ids, answers(home, ids), answers(copied(folder / "wal", folder / "w"), ids))


def opened(home: Path) -> Memory:
    ticks = iter(range(10**9))
    return Memory(home, owner="user:mei", names=["Mei"], clock=lambda: START + timedelta(days=1, seconds=next(ticks)))


def lived(memory: Memory, first: int, last: int) -> None:
    """Turns and statements in both languages, chains, flags, forgotten ones, access; sessions that end, with what grows out of them."""
    for i in range(first, last):
        at = START + timedelta(minutes=i)
        memory.record_turn("user", f"{i} 我说了 {PLACES[i % 6]} tea 茶 😀 {'字' * (i * 7 % 300)}", session=f"s{i % 5}", said_at=at)
        kept = memory.remember(f"小明{i} likes tea number {i} 茶 {'词' * (i % 90)}", said_at=at, tags=["茶", f"t{i % 4}"]).memory
        match i % 6:
            case 0:
                memory.remember(f"I live in {PLACES[i // 6 % 6]}", said_at=at)
            case 1:
                memory.feedback(kept.id, "used")
            case 2:
                memory.forget(kept.id, reason="no more 不再")
            case 3:
                memory.update(kept.id, f"小明{i} likes coffee number {i} 咖啡", said_at=at + timedelta(seconds=1))
            case 4:
                memory.remember(f"The gateway {i}'s mode is {PLACES[i % 5]}", said_at=at, metadata={"原因": "test"})
            case _:
                call = {"name": "read_file", "input": {"path": f"码/{i}.md"}, "id": f"c{i}"}
                turn = memory.record_turn("assistant", "看 look", session=f"s{i % 5}", tool_calls=[call], said_at=at)
                memory.sessions.attach(f"/tmp/码/{i}.md", session=turn.session, turn=turn.id, description=f"文件 {i} {'字' * i}")
                memory.sessions.patch_scratchpad(add_next_steps=[f"发布 release {i}"])
                memory.sessions.end(turn.session)


def backed_up(home: Path) -> None:
    connection = apsw.Connection(str(home / "yiku.db"))
    try:
        copy.copy_over(connection, home / "backups" / "20260302T090000Z.db")
    finally:
        connection.close()


def freed(database: Path) -> None:
    """The file has some pages that hold nothing any more."""
    pages.enabled()
    connection = apsw.Connection(str(database))
    try:
        connection.execute("create table spare (x); insert into spare values (randomblob(40000)); drop table spare")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connection.close()


def pages_of(database: Path) -> dict[str, list[int]]:
    """The pages of each table and index; the root and what lies above the leaves under `name/inner`; free ones under `free`."""
    pages.enabled()
    connection = apsw.Connection(str(database))
    try:
        found: dict[str, list[int]] = {}
        for name, number, kind in connection.execute("select name, pageno, pagetype from dbstat"):
            found.setdefault(f"{name}/inner" if kind == "internal" else name, []).append(number)
        used = {number for numbers in found.values() for number in numbers}
        found["free"] = [n for n in range(1, database.stat().st_size // PAGE + 1) if n not in used]
        return found
    finally:
        connection.close()


def copied(home: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(home, to))


# ------------------------------------------------------------------ the ways


@dataclass(frozen=True)
class Case:
    """A copy of a sound home, and chance."""

    home: Path
    sound: Sound
    chance: Random

    @property
    def database(self) -> Path:
        return self.home / "yiku.db"

    def page(self, *tables: str) -> int:
        """A page of one of these tables; without any, of all."""
        chosen = tables or tuple(self.sound.holds)
        return self.chance.choice([number for table in chosen for number in self.sound.holds.get(table, ())])


Way = Callable[[Case], None]


def write(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def flip(path: Path, chance: Random, low: int, high: int) -> None:
    """One bit between two offsets."""
    at = chance.randrange(low, high)
    content = path.read_bytes()
    write(path, at, bytes([content[at] ^ 1 << chance.randrange(8)]))


def flipped(*tables: str) -> Way:
    def way(case: Case) -> None:
        number = case.page(*tables)
        flip(case.database, case.chance, (number - 1) * PAGE, number * PAGE)

    return way


def cut_at_a_page(case: Case) -> None:
    os.truncate(case.database, case.chance.randrange(1, case.database.stat().st_size // PAGE) * PAGE)


def cut_anywhere(case: Case) -> None:
    os.truncate(case.database, case.chance.randrange(1, case.database.stat().st_size))


def zeroed_page(case: Case) -> None:
    write(case.database, (case.page() - 1) * PAGE, bytes(PAGE))


def zeroed_sector(case: Case) -> None:
    write(case.database, case.chance.randrange(case.database.stat().st_size // 512) * 512, bytes(512))


def garbage_page(case: Case) -> None:
    write(case.database, (case.page() - 1) * PAGE, case.chance.randbytes(PAGE))


def garbage_tail(case: Case) -> None:
    with case.database.open("ab") as file:
        file.write(case.chance.randbytes(case.chance.randrange(1, 20_000)))


def flipped_header(case: Case) -> None:
    flip(case.database, case.chance, 0, 100)


def swapped_pages(case: Case) -> None:
    content, first, second = case.database.read_bytes(), case.page(), case.page()
    write(case.database, (first - 1) * PAGE, content[(second - 1) * PAGE : second * PAGE])
    write(case.database, (second - 1) * PAGE, content[(first - 1) * PAGE : first * PAGE])


def old_page(case: Case) -> None:
    """A page as it was before the last writes: the disk lost a write. Not one of which nothing else tells that it is old."""
    now, old = case.database.read_bytes(), case.sound.old
    alone = {page - 1 for name in ALONE for page in case.sound.holds.get(name, ())}
    numbers = [n for n in range(len(old) // PAGE) if now[n * PAGE : (n + 1) * PAGE] != old[n * PAGE : (n + 1) * PAGE]]
    numbers = [n for n in numbers if n not in alone]
    number = case.chance.choice(numbers)
    write(case.database, number * PAGE, old[number * PAGE : (number + 1) * PAGE])


def flipped_wal(case: Case) -> None:
    wal = case.home / "yiku.db-wal"
    flip(wal, case.chance, 0, wal.stat().st_size)


def cut_wal(case: Case) -> None:
    wal = case.home / "yiku.db-wal"
    os.truncate(wal, case.chance.randrange(wal.stat().st_size))


def deleted_wal(case: Case) -> None:
    for name in ("yiku.db-wal", "yiku.db-shm"):
        (case.home / name).unlink()


def garbage_shm(case: Case) -> None:
    (case.home / "yiku.db-shm").write_bytes(case.chance.randbytes(32_768))


def damaged_mark(case: Case) -> None:
    flip(case.home / "store.id", case.chance, 0, 76)


def deleted_mark(case: Case) -> None:
    (case.home / "store.id").unlink()


def another_key(case: Case) -> None:
    (case.home / "key").write_text(case.chance.randbytes(32).hex())


def lost_key(case: Case) -> None:
    (case.home / "key").unlink()


def damaged_blob(case: Case) -> None:
    (blob,) = case.home.glob("blobs/*/*.z")
    flip(blob, case.chance, 0, blob.stat().st_size)


def lost_blob(case: Case) -> None:
    (blob,) = case.home.glob("blobs/*/*.z")
    blob.unlink()


WAYS: dict[str, Way] = {
    "cut at a page": cut_at_a_page,
    "cut anywhere": cut_anywhere,
    "a page zeroed": zeroed_page,
    "a sector zeroed": zeroed_sector,
    "a page of garbage": garbage_page,
    "a bit in a turn": flipped("conversation_turns"),
    "a bit in a memory": flipped("memories"),
    "a bit in an episode": flipped("episodes"),
    "a bit in an attachment or a scratchpad": flipped("attachments", "scratchpad"),
    "a bit in the journal": flipped("changes"),
    "a bit in a source": flipped("memory_sources", "memory_entities", "memory_tag_rel", "sessions", "scopes", "meta"),
    "a bit above the leaves": flipped("conversation_turns/inner", "memories/inner", "changes/inner"),
    "a bit in an index": flipped("turns_by_id", "memories_by_id", "memories_by_slot", "turns_by_time", "one_live_text"),
    "a bit in the search index": flipped("turn_index_data", "memory_index_data", "turn_index_idx", "turn_index_config"),
    "a bit in a free page": flipped("free"),
    "a bit in the header": flipped_header,
    "a bit in the schema": flipped("sqlite_schema", "sqlite_schema/inner"),
    "a tail of garbage": garbage_tail,
    "pages swapped": swapped_pages,
    "an old page put back": old_page,
    "a bit in store.id": damaged_mark,
    "store.id lost": deleted_mark,
    "another key": another_key,
    "the key lost": lost_key,
    "a bit in a blob": damaged_blob,
    "a blob lost": lost_blob,
}
WAYS_OF_A_WAL: dict[str, Way] = {
    "a bit in the WAL": flipped_wal,
    "the WAL cut": cut_wal,
    "the WAL lost": deleted_wal,
    "garbage in -shm": garbage_shm,
}
HARMLESS = ("garbage in -shm",)  # SQLite makes it anew
BESIDE = ("a bit in a blob", "a blob lost")  # nothing can bring a blob back but a copy of the home
UNSEEN = ("pages swapped", "an old page put back")  # each page is what was written, once: docs/durability.md


def made(way: str, sound: Sound, to: Path, chance: Random) -> Path:
    """A copy of the right home, damaged; tried again where what was written is what had been there."""
    source = sound.wal if way in WAYS_OF_A_WAL else sound.rest
    while True:
        home = copied(source, to)
        {**WAYS, **WAYS_OF_A_WAL}[way](Case(home, sound, chance))
        if contents(home) != contents(source):
            return home


def contents(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


# ------------------------------------------------------------------ the questions


def answers(home: Path, ids: Sequence[str]) -> dict[str, str]:
    """What a home says to each question: the answer written out, or the type of the error and what it names."""
    try:
        memory = Memory(home, create=False)
    except YikuError as error:
        return {"open": message_of(error)}
    except Exception as error:
        return {"open": f"raised {error!r}"}
    found = {"open": "yes"}
    with memory:
        asked: dict[str, Callable[[], Any]] = {f"get {id}": lambda id=id: memory.get(id) for id in ids}
        asked |= {f"history {id}": lambda id=id: [m.id for m in memory.history(id)] for id in ids[::5]}
        asked |= {f"recall {q}": lambda q=q: hits(memory.recall(q)) for q in QUESTIONS}
        asked |= {
            "list": lambda: memory.get_all(limit=10_000),
            "timeline": lambda: memory.timeline(limit=10_000),
            "traces": lambda: [turn.id for turn in memory.search_traces("码 tea", limit=500)],
            "about": lambda: [m.id for m in memory.about("小明7")],
            "episodes": lambda: memory.sessions.episodes(limit=1_000),
            "attachments": lambda: memory.sessions.attachments(limit=1_000),
            "scratchpad": memory.sessions.scratchpad,
            "sessions": lambda: memory.sessions.get_all(limit=1_000),
            "stats": lambda: counts(memory.admin.stats()),
            "journal": lambda: memory.admin.journal(limit=10_000),
            "blob": lambda: [
                memory.admin.blob(turn.blob) for turn in memory.timeline(limit=10_000) if isinstance(turn, Turn) and turn.blob
            ],
        }
        met = memory._handle.store._unreadable
        for question, ask in asked.items():
            met.clear()
            try:
                found[question] = repr(ask())
                if met:  # rows that were left out of this answer, as the log and `status` name them
                    found[question] = f"! Damaged: {'; '.join(why for _, why in met.values())}"
            except YikuError as error:
                found[question] = message_of(error)
            except Exception as error:  # none of ours: what a caller would call a crash
                found[question] = f"raised {error!r}"
    return found


def counts(found: Stats) -> list[Any]:
    """What is counted, without the sizes of files."""
    return [getattr(found, name) for name in "turns sessions memories kinds entities relations tags changes".split()]


def hits(found: Hits) -> list[Any]:
    """What was found; with a line in front where something that is damaged was left out."""
    said = [f"! Damaged: {line}" for line in found.diagnostics if "are damaged" in line]
    return [*said, *((hit.id, hit.text, hit.sources) for hit in found)]


def message_of(error: YikuError) -> str:
    return f"! {type(error).__name__}: {error.detail}"


def asked(homes: Sequence[Path], ids: Sequence[str], most_s: float = HANG_S) -> list[dict[str, str] | str]:
    """The answers of each home, from one process; "crashed" or "hung" where it did."""
    found: list[dict[str, str] | str] = []
    while len(found) < len(homes):
        hear, tell = READY.Pipe(duplex=False)
        process = READY.Process(target=_ask, args=(homes[len(found) :], ids, tell))
        process.start()
        tell.close()
        try:
            hear.recv()  # it has started
            while len(found) < len(homes):
                found.append(hear.recv() if hear.poll(most_s) else "hung")
                if found[-1] == "hung":
                    process.kill()
                    break
        except EOFError:
            found.append("crashed")
        process.join()
    return found


def _ask(homes: Sequence[Path], ids: Sequence[str], tell: Connection) -> None:
    tell.send(time.monotonic())
    for home in homes:
        tell.send(answers(home, ids))


def silent(found: dict[str, str], right: dict[str, str]) -> list[str]:
    """The questions whose answer is neither the right one nor an error that names what is damaged."""
    if found["open"] != "yes":
        return [] if names_it(found["open"]) else ["open"]
    return [question for question, answer in found.items() if answer != right[question] and not names_it(answer)]


def names_it(answer: str) -> bool:
    """Whether it is an error of damage that names a file or a row."""
    types = ("! Damaged", "! StoreMismatch", "! ForeignStore", "! SchemaTooNew")
    return answer.startswith((*types, *(f"['{name}" for name in types))) and any(
        name in answer for name in ("yiku.db", "turn ", "memory ", "blob ", "schema ", *records.KINDS)
    )
