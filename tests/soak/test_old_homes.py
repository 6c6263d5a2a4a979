"""R1 with an old home that moves in: killed at drawn points, it is there whole or not at all, and the next run completes it."""

import asyncio
import multiprocessing
import os
import random
import signal
import statistics
import time
from pathlib import Path

from compat import s0_homes, s1_homes

from yiku import Memory
from yiku_compat import memory_system as ms
from yiku_compat.memory_system import migration, old_home, views
from yiku_compat.simple_memory import MemorySqlManager, SimpleMemoryRuntime
from yiku_compat.simple_memory import migration as s1_migration

FORK = multiprocessing.get_context("fork")
IMPORTED = "select count(*) as many from yiku_memories"


def test_R1_an_old_home_that_is_killed_while_it_moves_in_is_completed(tmp_path, seed, count, figure):
    """A memory system's JSON Lines with all their oddities: verified, the original untouched, the second run changes nothing."""
    old, home = tmp_path / "old", tmp_path / "home"
    s0_homes.write(old, count(2_000, 20_000, "records"), seed)
    before, read = s0_homes.digest(old), old_home.read(old)
    began = time.monotonic()
    done = migration.migrate(old, tmp_path / "first")
    took = time.monotonic() - began
    figure("old records a second", done.read / took, "")
    chance = random.Random(seed)
    Memory(home).close()

    for _ in range(count(4, 50, "kills while moving in")):
        _killed_after(chance.uniform(0.02, took), old, home)
        with Memory(home) as memory:
            assert views.rows(memory, IMPORTED)[0]["many"] in (0, len(read.records))
            assert () == memory.admin.check("quick").problems
    migration.migrate(old, home)
    with Memory(home) as memory:
        last = memory.admin.journal(limit=1)[0].number
        assert len(read.records) == views.rows(memory, IMPORTED)[0]["many"]
    again = migration.migrate(old, home)

    assert before == s0_homes.digest(old)
    assert (0, len(read.records) + len(read.pending)) == (again.imported, again.known)
    with Memory(home) as memory:
        assert last == memory.admin.journal(limit=1)[0].number


def test_R1_an_old_database_that_is_killed_while_it_moves_in_is_completed(tmp_path, seed, count, figure):
    """Memories by tags in several scopes: after each kill a scope is there whole or not at all, and the next run completes it."""
    old, home = tmp_path / "old", tmp_path / "home"
    s1_homes.build(old / "memory.db", count(1_000, 20_000, "records"), seed)
    before, began = s1_homes.digest(old), time.monotonic()
    done = s1_migration.migrate(old, tmp_path / "first")
    took = time.monotonic() - began
    whole, chance = [_imported(tmp_path / "first", scope) for scope in s1_homes.SCOPES], random.Random(seed)
    Memory(home).close()

    for _ in range(count(4, 50, "kills while moving in")):
        _killed_after(chance.uniform(0.02, took), old, home, s1_migration.migrate)
        for scope, many in zip(s1_homes.SCOPES, whole, strict=True):
            assert _imported(home, scope) in (0, many)
    s1_migration.migrate(old, home)
    again = s1_migration.migrate(old, home)

    assert whole == [_imported(home, scope) for scope in s1_homes.SCOPES]
    assert (0, done.imported + done.merged, done.skipped) == (again.imported, again.known, again.skipped)
    assert before == s1_homes.digest(old)


def _imported(home: Path, scope: str) -> int:
    """How many memories of a scope came in; the store is whole."""
    with Memory(home, scope=scope) as memory:
        assert () == memory.admin.check("quick").problems
        own = "select count(*) from yiku_memories m join yiku_scopes s on s.id = m.scope_id where s.name = ?"
        return int(str(memory.admin.sql(own, [scope]).rows[0][0]))


def _killed_after(seconds: float, old: Path, home: Path, migrate=migration.migrate) -> None:
    process = FORK.Process(target=_move_in, args=(old, home, migrate))
    process.start()
    process.join(seconds)
    if process.is_alive():
        os.kill(process.pid, signal.SIGKILL)
    process.join()


def _move_in(old: Path, home: Path, migrate) -> None:
    migrate(old, home)
    os._exit(0)


def test_R1_the_figures_of_the_memory_system_at_10_000_records(tmp_path, seed, count, figure):
    """Its own targets through its own functions: an access under 5 ms, a question by entity under 20 ms, of processor time."""
    old, home = tmp_path / "old", tmp_path / "home"
    s0_homes.write(old, count(2_000, 10_000, "records"), seed)
    migration.migrate(old, home)
    ids = [record.id for record in old_home.read(old).records if record.state == "active"]
    ms.init_sqlite_db(home)

    figure("access", median_ms([lambda id=id: ms.update_access_stats(id, "retrieval", home) for id in ids[:50]]), "ms", most=50)
    asked = [f"门牌{number}号住着谁？ Ann, door {number}" for number in range(20)]
    figure("entity", median_ms([lambda text=text: ms.router_search_sqlite(text, home) for text in asked]), "ms", most=200)
    ms.close(home)


def test_R1_the_figures_of_memories_by_tags_at_100_000_tags(tmp_path, seed, count, figure):
    """Each memory has three tags that no other has; a recall by tags, of processor time, through the runtime."""
    database, home, many = tmp_path / "old.db", tmp_path / "home", count(6_000, 100_000, "tags") // 3
    s1_homes.with_own_tags(database, many)
    s1_migration.migrate(database, home)
    runtime = SimpleMemoryRuntime(MemorySqlManager(home, search="words"))
    chance = random.Random(seed)
    asked = [f"标签甲{n}号和 tag-b-{m} 说了什么？ and tag-c-{k}" for n, m, k in (chance.sample(range(many), 3) for _ in range(50))]

    async def ask():
        found = [await runtime.comprehensive_recall(text, memory_scope="public") for text in asked]  # warm, and right
        assert {3} == {len(each) for each in found}
        return [await spent_ms(runtime.comprehensive_recall(text, memory_scope="public")) for text in asked]

    figure("recall", statistics.median(asyncio.run(ask())), "ms", most=50)
    runtime.manager.close()


def median_ms(calls):
    """The median of the processor time of some calls."""
    spent = []
    for call in calls:
        at = time.process_time()
        call()
        spent.append((time.process_time() - at) * 1000)
    return statistics.median(spent)


async def spent_ms(awaited):
    """The processor time of a call, of all threads."""
    at = time.process_time()
    await awaited
    return (time.process_time() - at) * 1000
