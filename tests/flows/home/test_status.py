"""`stats` and `status`: counts and health of a home."""

import stat

import pytest
from powers import permissions_hold

from yiku import Memory
from yiku.types import AddJobs, Job


def test_stats_count_what_the_handle_reads(memory, home, clock):
    """Turns, sessions, memories by state, kinds, entities, relations, tags, times and sizes; of no other scope."""
    memory.record([{"role": "user", "content": "早", "said_at": f"2026-02-0{i}", "session": f"s{i % 2}"} for i in range(1, 4)])
    memory.remember("I live in Bergen", tags=["家", "a"], relations=[("a", "b", "c")])
    memory.remember("我住在奥斯陆", tags=["家"], relations=[("a", "b", "d")])
    memory.remember("I live in Rome", said_at="2020-05-01", relations=[("a", "b", "e")])  # said before both, told after them
    memory.forget(memory.remember("香蕉", kind="skill").memory.id)
    with Memory(home, scope="user:ann", clock=clock) as ann:
        ann.remember("I live in Rome", tags=["x"])
        ann.record_turn("user", "早")
    stats = memory.admin.stats()

    assert ("user:mei", 3, 2) == (stats.scope, stats.turns, stats.sessions)
    assert {"active": 1, "superseded": 2, "archived": 1} == stats.memories
    assert 3 == len({r for m in memory.history("where do I live") for r in m.relations}), "of which two are superseded"
    assert ({"fact": 1}, 1, 2) == (stats.kinds, stats.relations, stats.tags)
    assert ["2026-02-01", "2026-02-03"] == [
        at.astimezone(clock.now.tzinfo).date().isoformat() for at in (stats.first_said_at, stats.last_said_at)
    ]
    assert stats.database_bytes > 100_000


def test_stats_count_what_grows_out_of_sessions(memory, home, clock):
    """Episodes, attachments, and what waits for a model; of no other scope."""
    turn = memory.record_turn("user", "请修复登录", session="s")
    memory.sessions.attach("/tmp/图.png", session="s", turn=turn.id)
    memory.sessions.end("s")
    handle, now = memory._handle, clock.now
    jobs = [Job(kind="extract", session="s", turn_n=n, content_hash=b"h", due_at=now, created_at=now) for n in (1, 2, 3)]
    handle.store.apply(handle.writes(), [AddJobs(jobs)], handle.cause("learn"))
    stats = memory.admin.stats()

    assert (1, 1, 3) == (stats.episodes, stats.attachments, stats.queue)
    with Memory(home, scope="user:ann", clock=clock) as ann:
        assert (0, 0, 0) == ((stats := ann.admin.stats()).episodes, stats.attachments, stats.queue)


def test_the_stats_of_an_empty_home(memory):
    """Nothing is there, and nothing is an error."""
    stats = memory.admin.stats()

    assert (0, 0, {}, {}, None) == (stats.turns, stats.changes, stats.memories, stats.kinds, stats.first_said_at)


def test_blobs_are_counted(memory):
    """Their compressed size on the disk."""
    memory.record_turn("user", "字" * 100_000)

    assert 100 < memory.admin.stats().blob_bytes < 10_000


def test_status_says_where_and_whose(memory, home):
    """Home, scope, what is read, the store's id and versions; nothing is wrong."""
    status = memory.status()

    assert (str(home), "user:mei", ("user:mei", "public")) == (status.home, status.scope, status.reads)
    assert (32, "full", "words", ()) == (len(status.store_id), status.durability, status.search, status.troubles)
    assert status.store_id == memory.status().store_id


def test_flagged_memories_are_a_trouble(memory):
    """What contradicts is counted, with the command that lists it."""
    for name in ("Ann", "李雷"):
        memory.remember(f"My mentor is {name}", predicate="mentor", object=name)

    assert ["2 memories contradict each other: yiku review"] == [*memory.status().troubles]


def test_fast_durability_is_a_trouble(home, clock):
    """Who chose it is reminded of what it may cost."""
    with Memory(home, durability="fast", clock=clock) as memory:
        assert ["durability is fast: a power cut may lose the last second"] == [*memory.status().troubles]


@pytest.mark.parametrize("name", ["yiku.db", "yiku.toml", "locks/write.lock"])
def test_files_are_for_the_owner_alone(memory, home, name):
    """0600 and 0700: nobody else on the machine reads a memory."""
    memory.record_turn("user", "字" * 100_000)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [home, *home.rglob("*")]}

    assert 0o600 == modes[home / name]
    assert {0o600, 0o700} == {*modes.values()}


def test_what_others_may_read_or_change_is_a_trouble(memory, home):
    """Folders and files that are not for their owner alone are named with their mode, and the command that mends it."""
    memory.admin.backup()
    assert () == memory.status().troubles
    home.chmod(0o777)
    (home / "backups").chmod(0o750)
    (home / "key").chmod(0o644)
    for copy in (home / "backups").iterdir():
        copy.chmod(0o640)

    assert [
        f"others may change {home} (mode 777): chmod 700 {home}",
        f"others may look into {home}/backups (mode 750): chmod 700 {home}/backups",
        f"others may read key, backups/{copy.name} in {home} (mode 644): chmod 600",
    ] == [*memory.status().troubles]
    (home / "yiku.toml").chmod(0o666)
    assert f"others may change key, yiku.toml, backups/{copy.name} in {home} (mode 644): chmod 600" == memory.status().troubles[-1]


def test_locks_that_cannot_be_made_are_a_trouble(memory, home):
    """Without a folder for its locks a home can be read and not written."""
    (home / "locks").chmod(0o500)
    try:
        with permissions_hold():
            assert [f"{home}/locks cannot be written: whatever needs a lock there fails; chmod 700 {home}/locks"] == [
                *memory.status().troubles
            ]
    finally:
        (home / "locks").chmod(0o700)
