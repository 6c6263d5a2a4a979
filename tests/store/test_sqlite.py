"""
The SQLite store: the contract, and what is specific to SQLite.

Its settings, the errors of its file, what opening and closing leave on the disk, forks and threads.
"""

import os
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from integrity import check
from powers import read_only
from store.contract import StoreContract
from store.looking import new_scope, totals
from store.samples import NOW, a_memory, a_turn, added, cause, kept
from workers import READY

from yiku.errors import Closed, Damaged, ForeignStore, IndexOutdated, ReadOnly, SchemaTooNew, StoreBusy, StoreError
from yiku.flows.common.turn_texts import tokens
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.text import analyze
from yiku.store import connect, database, schema, sqlite, where
from yiku.store.gate import Gate
from yiku.store.identity_file import IdentityFile
from yiku.store.schema import APPLICATION_ID, MIGRATIONS
from yiku.store.sqlite import SqliteStore
from yiku.types import Kind, Memories, SetTurnHidden, Turns, UpdateMemory


def opened(folder: Path, **settings: object) -> SqliteStore:
    return SqliteStore(folder / "yiku.db", gate=folder / "write.lock", **{"analyzer": analyze.VERSION, **settings})


class TestSqliteStore(StoreContract):
    """The contract, on SQLite; after each of its tests the file is whole."""

    @pytest.fixture
    def reopen(self, tmp_path, made):
        made(tmp_path)
        stores: list[SqliteStore] = []

        def again() -> SqliteStore:
            if stores:
                stores[-1].close()
            stores.append(opened(tmp_path))
            return stores[-1]

        yield again
        for store in stores:
            store.close()
        check(tmp_path / "yiku.db")


@pytest.fixture
def store(tmp_path, made):
    made(tmp_path)
    store = opened(tmp_path)
    yield store
    store.close()


def filled(folder: Path) -> Path:
    """A store with a turn and a memory in it, closed; its file."""
    store = opened(folder)
    scope = new_scope(store, "user:mei")
    store.apply(scope, [added(a_turn("你好 hello")), kept(a_memory("住在 Oslo"))], cause())
    store.close()
    return folder / "yiku.db"


def pragma(store: SqliteStore, name: str) -> object:
    return store._database.connection().pragma(name)


# ------------------------------------------------------------------ settings


@pytest.mark.spec("S0-59", "S0-60")
@pytest.mark.parametrize(("durability", "synchronous"), [("full", 2), ("fast", 1)])
def test_durability_is_full_unless_fast_is_asked_for(tmp_path, durability, synchronous):
    """WAL always; each commit is flushed (FULL) unless `fast` was chosen, which is NORMAL."""
    store = opened(tmp_path, durability=durability)

    assert ("wal", synchronous) == (pragma(store, "journal_mode"), pragma(store, "synchronous"))
    assert 2 == pragma(opened(tmp_path), "synchronous")
    store.close()


def test_every_connection_is_set_up_alike(store):
    """Deleted text is overwritten, keys are checked, nobody can write the schema by SQL: in each thread."""
    with ThreadPoolExecutor(2) as pool:
        for look in (lambda f: f(), lambda f: pool.submit(f).result()):
            found = look(lambda: tuple(pragma(store, name) for name in ("secure_delete", "foreign_keys", "temp_store")))
            assert (1, 1, 2) == found
            assert look(lambda: store._database.connection().config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1))


def test_forgotten_words_leave_no_trace_in_the_index(tmp_path):
    """A memory archived and a turn hidden: their words are nowhere in the index under the scope's recall prefix, in raw bytes."""
    store = opened(tmp_path)
    scope = new_scope(store, "user:mei")
    memory, turn = a_memory("zanzibarcanary is here"), a_turn("quetzalcoatlus spoke")
    (n,), (t,) = store.apply(scope, [kept(memory), added(turn)], cause()).rows
    prefix = f"s{scope}q".encode()
    written = [prefix + analyze.tokens(word).words[0].encode() for word in ("zanzibarcanary", "quetzalcoatlus")]
    store.close()
    assert all(word in (tmp_path / "yiku.db").read_bytes() for word in written)

    store = opened(tmp_path)
    store.apply(
        scope, [UpdateMemory(n, {"state": "archived"}, index_tokens(memory)), SetTurnHidden(t, cause().at, tokens(turn))], cause()
    )
    store.close()

    raw = (tmp_path / "yiku.db").read_bytes() + (tmp_path / "yiku.db-wal").read_bytes()
    assert [] == [word for word in written if word in raw]


def test_the_live_rows_of_a_kind_are_one_search_of_one_index(store):
    """Standing rules are asked for with every prompt: SQLite goes to just these rows, however many others there are."""
    select = Memories(live_kind=Kind.RULE, unexpired_at=NOW, order="confirmed", newest_first=True, limit=20)
    sql, values = where.memories([new_scope(store, "user:mei")], select)
    plan = store._all(f"explain query plan select m.n from memories m {sql}", *values)

    assert "SEARCH m USING INDEX one_live_text (scope_id=? AND kind=?)" == plan[0][3]


@pytest.mark.parametrize("since", [None, NOW - timedelta(days=400)])
@pytest.mark.parametrize("until", [None, NOW + timedelta(days=400)])
def test_a_page_beside_a_turn_begins_at_that_turn(store, tmp_path, since, until):
    """In either direction SQLite goes to its time in the index, and reads none of the turns on the other side of it."""
    scope, talk = new_scope(store, "user:mei"), range(2_000)
    store.apply(scope, [added(a_turn(f"第 {i} 句", said_at=NOW + timedelta(minutes=i))) for i in talk], cause())
    (middle,) = store.turns([scope], Turns(order="said", offset=1_000, limit=1))
    place, connection = (middle.said_at, middle.position, middle.n), apsw.Connection(str(tmp_path / "yiku.db"))

    def page(**cut) -> tuple[list[int], int]:
        steps = 0

        def count() -> bool:
            nonlocal steps
            steps += 100
            return False

        sql, values = where.turns([scope], Turns(order="said", since=since, until=until, limit=3, **cut))
        connection.set_progress_handler(count, 100)
        return [n for (n,) in connection.execute(f"select t.n {sqlite._FROM_TURNS} {sql}", values)], steps

    later, earlier = page(said_after=place), page(said_before=place, newest_first=True)
    assert ([middle.n + i for i in (1, 2, 3)], [middle.n - i for i in (1, 2, 3)]) == (later[0], earlier[0])
    assert max(later[1], earlier[1]) <= 1_000


def test_relations_of_somebody_are_found_by_their_index(store):
    """A page of them, newest first, reads the relations of that subject and sorts those: not the statements of the scope."""
    select = Memories(relation=("Ann", None, None), current=True, order="said", newest_first=True, limit=20)
    sql, values = where.memories([new_scope(store, "user:mei")], select)
    plan = [row[3] for row in store._all(f"explain query plan select m.n from memories m {sql}", *values)]

    assert "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)" == plan[0]
    assert any("relations_by_subject (scope_id=? AND subject=?)" in step for step in plan)


def test_fast_still_flushes_within_a_second(tmp_path):
    """`fast` may lose the last second and no more: what nobody writes after is flushed too, and the mark says so."""
    store = opened(tmp_path, durability="fast")
    scope = new_scope(store, "user:mei")
    with store.exclusive():  # nothing is flushed meanwhile
        last = store.apply(scope, [added(a_turn("最后的话 last words"))], cause()).last
        assert (store.store_id, last) != IdentityFile(tmp_path / "store.id").read(), "the mark never runs ahead of the disk"
    while IdentityFile(tmp_path / "store.id").read() != (store.store_id, last):
        time.sleep(0.02)
    assert database.FLUSH_AFTER_S < 1
    store.close()


def flushed(store: SqliteStore) -> bool:
    """Wait until no write waits for its flush any more."""
    while store._database._flushing is not None:
        time.sleep(0.005)
    return True


def test_a_flush_that_fails_says_so_and_is_tried_with_the_next_write(tmp_path, monkeypatch, caplog):
    """A home that is out of reach for a moment: no thread ends with a traceback, and the next write is flushed, and the one before."""
    monkeypatch.setattr("yiku.store.database.FLUSH_AFTER_S", 1.0)  # the home is away by then, on a busy machine too
    home = tmp_path / "home"
    home.mkdir()
    store = opened(home, durability="fast")
    scope = new_scope(store, "user:mei")
    home.rename(tmp_path / "away")
    while "is not flushed yet" not in caplog.text:  # it is said after nothing waits any more
        time.sleep(0.005)
    (tmp_path / "away").rename(home)

    last = store.apply(scope, [added(a_turn("最后的话 last words"))], cause()).last
    assert flushed(store)
    with store.exclusive():  # the flush still holds the gate when it says that nothing waits
        assert (store.store_id, last) == IdentityFile(home / "store.id").read()
    store.close()


def test_a_write_succeeds_where_no_thread_can_be_started(tmp_path, monkeypatch):
    """At the end of the interpreter, or with too many threads, a write under `fast` is done all the same, and closing flushes it."""

    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    store = opened(tmp_path, durability="fast")
    monkeypatch.setattr(threading.Thread, "start", refused)
    scope = new_scope(store, "user:mei")
    last = store.apply(scope, [added(a_turn("最后的话 last words"))], cause()).last
    store.close()

    assert (store.store_id, last) == IdentityFile(tmp_path / "store.id").read()


# ------------------------------------------------------------------ files that are not ours to open


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    """A database of another program is ForeignStore, and not a byte of it changes."""
    path = tmp_path / "yiku.db"
    with apsw.Connection(str(path)) as other:
        other.execute("create table bookmarks (url text)")
    other.close()
    before = path.read_bytes()

    with pytest.raises(ForeignStore):
        opened(tmp_path)
    assert before == path.read_bytes()


@pytest.mark.parametrize("content", [b"# notes\n" * 400, "日记：今天下雨。".encode() * 100, b"{}", b"\x00" * 4096])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content):
    """A text, a JSON object, zeroes: a typed error, and the file keeps its bytes."""
    path = tmp_path / "yiku.db"
    path.write_bytes(content)

    with pytest.raises((ForeignStore, Damaged)):
        opened(tmp_path)
    assert content == path.read_bytes()


def test_a_later_schema_is_refused_and_left_alone(tmp_path):
    """A store written by a later Yiku is SchemaTooNew, and not a byte of it changes."""
    path = filled(tmp_path)
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", len(MIGRATIONS) + 1)
    connection.close()
    before = path.read_bytes()

    with pytest.raises(SchemaTooNew):
        opened(tmp_path)
    assert before == path.read_bytes()


def test_an_index_of_another_analyzer_is_refused(tmp_path):
    """The tokens of two analyzers never meet in one index."""
    filled(tmp_path)

    with pytest.raises(IndexOutdated):
        opened(tmp_path, analyzer="0")
    opened(tmp_path).close()


@pytest.mark.parametrize("damage", ["middle", "truncated", "zeroed", "header"])
def test_damage_is_said_and_never_answered_with(tmp_path, damage):
    """Garbage, holes and lost tails are typed errors at opening or at the first read or write; nothing is made anew over them."""
    path = filled(tmp_path)
    content = bytearray(path.read_bytes())
    if damage == "middle":
        content[4096:] = b"\xa5" * (len(content) - 4096)
    elif damage == "truncated":
        del content[len(content) // 3 :]
    elif damage == "zeroed":
        content[4096:] = bytes(len(content) - 4096)
    else:
        content[40:90] = b"\xff" * 50
    path.write_bytes(content)

    with pytest.raises((Damaged, ForeignStore)):
        write_and_read(tmp_path)


def write_and_read(folder: Path) -> None:
    store = opened(folder)
    try:
        store.apply(1, [added(a_turn("more"))], cause())
        store.memories([1], Memories())
        store.turns([1], Turns())
        store.postings("memory", [1], ["oslo"], past=True, cap=9)
    finally:
        store.close()


# ------------------------------------------------------------------ what opening and closing leave


def test_opening_and_reading_write_nothing(tmp_path):
    """Open, read everything, close: the database has the same bytes and the same time of change, and no other file grew."""
    path = filled(tmp_path)
    (tmp_path / "yiku.db-wal").unlink(missing_ok=True)
    before, at = path.read_bytes(), path.stat().st_mtime_ns

    store = opened(tmp_path)
    (memory,) = store.memories([1], Memories())
    store.with_details([memory])
    store.turns([1], Turns())
    store.postings("memory", [1], ["oslo", "住"], past=True, cap=9)
    (
        totals(store, "turn", [1]),
        store.journal([1]),
        store.upkeep.counts([1]),
        store.upkeep.about(),
        store.receipt(1, "k"),
        store.scope("none"),
    )
    store.close()

    assert (before, at) == (path.read_bytes(), path.stat().st_mtime_ns)
    assert 0 == sum(p.stat().st_size for p in tmp_path.iterdir() if p.name.endswith(("-wal", "-journal")))


def test_files_are_for_their_owner_alone(tmp_path):
    """The database, its WAL and its side files are 0600, whatever the umask says."""
    before = os.umask(0)
    try:
        store = opened(tmp_path)
        new_scope(store, "user:mei")
    finally:
        os.umask(before)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert {"yiku.db", "yiku.db-wal", "yiku.db-shm", "store.id", "reserve", "write.lock"} == set(modes)
    assert {0o600} == set(modes.values())
    store.close()


def test_a_new_store_is_whole_in_its_file_after_its_first_close(tmp_path):
    """Made and closed, with nothing written: the schema is in the file itself, not in a WAL that a copy would miss."""
    opened(tmp_path).close()

    assert 0 == (tmp_path / "yiku.db-wal").stat().st_size
    check(tmp_path / "yiku.db")


def test_a_close_leaves_one_whole_file(tmp_path):
    """After the last close everything is in the database file itself: it can be copied alone."""
    filled(tmp_path)
    copy = tmp_path / "copy" / "yiku.db"
    copy.parent.mkdir()
    copy.write_bytes((tmp_path / "yiku.db").read_bytes())

    check(copy)
    store = opened(copy.parent)
    assert ["住在 Oslo"] == [memory.content for memory in store.memories([1], Memories())]
    store.close()


def test_a_symbolic_link_is_not_opened(tmp_path):
    """A store is never written through a link that somebody put in its place."""
    filled(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "yiku.db").symlink_to(tmp_path / "yiku.db")

    with pytest.raises(StoreError):
        opened(tmp_path / "elsewhere")


def test_who_came_while_the_file_was_empty_writes_checksums_too(tmp_path):
    """It finds the empty file of a creation that is under way, waits for it, writes, and is the last to close."""
    path, begun = tmp_path / "yiku.db", threading.Event()
    path.touch(0o600)

    def make() -> apsw.Connection:
        with Gate(tmp_path / "write.lock", 30.0).held():
            begun.set()
            time.sleep(0.2)  # the other looks at the file, and waits
            connection = connect.open_connection(path, durability="full", network=False, busy_timeout_s=30.0)
            schema.migrate(connection, path, analyzer=analyze.VERSION, key=b"", network=False)
        return connection

    with ThreadPoolExecutor() as threads:
        making = threads.submit(make)
        begun.wait()
        store = opened(tmp_path)
    making.result().wal_checkpoint()  # the WAL begins anew, without the first page, which the other has read from the old one
    making.result().close()
    store.apply(new_scope(store, "user:mei"), [kept(a_memory("住在 Oslo"))], cause())
    store.close()

    check(path)


@pytest.mark.parametrize("left", ["nothing", "empty", "empty wal", "header only"])
def test_an_unfinished_creation_is_finished_by_the_next(tmp_path, left):
    """Whatever a creation that was cut short left behind, the next opening makes a whole store of it."""
    path = tmp_path / "yiku.db"
    if left != "nothing":
        path.touch(0o600)
    if left in ("empty wal", "header only"):
        connection = apsw.Connection(str(path))
        connection.pragma("journal_mode", "wal")
        if left == "header only":
            connection.execute("begin; create table t (x); commit; begin; drop table t; commit")
        connection.close()

    opened(tmp_path).close()

    check(path)
    store = opened(tmp_path)
    assert (APPLICATION_ID, len(MIGRATIONS)) == (pragma(store, "application_id"), pragma(store, "user_version"))
    store.close()


# ------------------------------------------------------------------ a disk that says no


@pytest.mark.parametrize("beside", [("-wal", "-shm"), ("-wal",), ()])
def test_a_read_only_home_can_be_read_and_says_so_when_written(tmp_path, beside):
    """Permissions taken away, with or without SQLite's side files: reads answer, writes are ReadOnly; given back, all works."""
    filled(tmp_path)
    for suffix in {"-wal", "-shm"} - {*beside}:
        Path(f"{tmp_path / 'yiku.db'}{suffix}").unlink(missing_ok=True)
    with read_only(tmp_path):
        store = opened(tmp_path)
        assert ["住在 Oslo"] == [memory.content for memory in store.memories([1], Memories())]
        assert 1 == store.postings("memory", [1], ["oslo"], past=False, cap=9).found[0].documents
        assert store.upkeep.about()["read_only"]
        with pytest.raises(ReadOnly):
            store.apply(1, [added(a_turn())], cause())
        store.close()

    store = opened(tmp_path)
    store.apply(1, [added(a_turn("新 new"))], cause())
    store.close()
    check(tmp_path / "yiku.db")


@pytest.mark.parametrize("shared", [True, False])
def test_a_read_only_home_never_passes_over_its_wal(tmp_path, shared):
    """What was acknowledged lies in the WAL of a process that died: read-only it is read, or plainly refused, never left out."""
    died(tmp_path)
    assert (tmp_path / "yiku.db-wal").stat().st_size > 0
    if not shared:
        (tmp_path / "yiku.db-shm").unlink()
    with read_only(tmp_path):
        if shared:
            store = opened(tmp_path)
            assert ["住在 Oslo", "in the WAL 在日志里"] == [memory.content for memory in store.memories([1], Memories())]
            store.close()
        else:
            with pytest.raises(ReadOnly):
                opened(tmp_path)


def test_a_home_that_cannot_be_made_is_read_only(tmp_path):
    """No store and no right to make one: ReadOnly, and nothing appears."""
    with read_only(tmp_path), pytest.raises(ReadOnly):
        opened(tmp_path)
    assert [] == [*tmp_path.iterdir()]


# ------------------------------------------------------------------ others in the way


def test_a_long_writer_makes_others_wait_then_busy(tmp_path, store):
    """Held longer than the waiting time: StoreBusy, nothing written; reads go on meanwhile; then all works."""
    scope = new_scope(store, "user:mei")
    other = opened(tmp_path, busy_timeout_s=0.05)
    with store._database.gate.held():
        with pytest.raises(StoreBusy):
            other.apply(scope, [added(a_turn())], cause())
        assert [] == other.turns([scope], Turns())
    other.apply(scope, [added(a_turn())], cause())

    assert 1 == len(store.turns([scope], Turns()))
    other.close()


def test_a_foreign_lock_on_the_database_is_busy_too(tmp_path, store):
    """Another program that locks the file itself, past our gate: StoreBusy after the waiting time, and nothing is half-written."""
    scope = new_scope(store, "user:mei")
    ours = opened(tmp_path, busy_timeout_s=0.05)
    stranger = apsw.Connection(str(tmp_path / "yiku.db"))
    stranger.execute("begin immediate")

    with pytest.raises(StoreBusy):
        ours.apply(scope, [added(a_turn())], cause())
    stranger.execute("rollback")
    stranger.close()
    ours.apply(scope, [added(a_turn("之后 after"))], cause())

    assert ["之后 after"] == [turn.content for turn in store.turns([scope], Turns())]
    ours.close()


def test_readers_see_one_moment(tmp_path, store):
    """A reader in the middle of a question is not disturbed by a writer, and the next question sees the write."""
    scope = new_scope(store, "user:mei")
    other = opened(tmp_path)
    for i in range(50):
        store.apply(scope, [added(a_turn(f"{i}"))], cause())
        assert i + 1 == len(other.turns([scope], Turns()))
    other.close()


def test_the_wal_stays_small(tmp_path, store):
    """A thousand commits later the WAL has been brought back into the database, not grown with them."""
    scope = new_scope(store, "user:mei")
    for i in range(300):
        store.apply(scope, [added(a_turn(f"turn {i} " + "字" * 300))], cause())

    assert (tmp_path / "yiku.db-wal").stat().st_size < 8 * 1024 * 1024


# ------------------------------------------------------------------ forks, threads, closing


def run(target: object, *args: object) -> int:
    """Run a function in a fresh process; how it ended."""
    process = READY.Process(target=target, args=args)
    process.start()
    process.join()
    return process.exitcode


def fork_and_write(folder: Path) -> None:
    store = opened(folder)
    scope = new_scope(store, "user:mei")
    store.postings("turn", [scope], ["child"], past=False, cap=9)
    child = os.fork()
    for i in range(20):
        store.apply(scope, [added(a_turn(f"{'parent' if child else '孩子 child'} {i}", id=f"{bool(child)}{i}"))], cause())
        store.postings("turn", [scope], ["child"], past=False, cap=9)
    store.close()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)


def test_a_forked_child_has_its_own_connections(tmp_path):
    """After a fork, child and parent both write and read: nobody shares a connection, nothing is lost."""
    assert 0 == run(fork_and_write, tmp_path)

    store = opened(tmp_path)
    assert 40 == len(store.turns([1], Turns()))
    store.close()
    check(tmp_path / "yiku.db")


def fork_and_die_in_the_gate(folder: Path, stay: Path) -> None:
    """The child lives on until `stay` is removed; its parent dies with the gate in its hand."""
    with Gate(folder / "write.lock", 1.0).held():
        if os.fork() == 0:
            while stay.exists():
                time.sleep(0.01)
            os._exit(0)
        os.kill(os.getpid(), 9)


def test_a_child_forked_inside_the_gate_does_not_keep_it(tmp_path):
    """A process forks while it writes and is killed; its child lives on, and the gate is free."""
    stay = tmp_path / "stay"
    stay.touch()
    assert -9 == run(fork_and_die_in_the_gate, tmp_path, stay)

    try:
        opened(tmp_path, busy_timeout_s=0.5).close()
    finally:
        stay.unlink()


def test_threads_share_a_store(store):
    """Eight threads write and read at once through one store: every row is there once, no call fails."""
    scope = new_scope(store, "user:mei")
    failures: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for i in range(10):
                store.apply(scope, [added(a_turn(f"线程 {k} turn {i}", session=f"s{k}")), kept(a_memory(f"{k} says {i}"))], cause())
                store.postings("memory", [scope], ["say"], past=False, cap=1000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failures
    assert 80 == len({memory.content for memory in store.memories([scope], Memories())})
    assert [10] * 8 == [len(store.turns([scope], Turns(session=f"s{k}"))) for k in range(8)]


def test_threads_that_ended_leave_nothing_open(store):
    """A hundred threads that came and went hold no connections and no descriptors."""
    scope = new_scope(store, "user:mei")

    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd"))

    before = descriptors()
    for _ in range(100):
        thread = threading.Thread(target=lambda: store.turns([scope], Turns()))
        thread.start()
        thread.join()

    assert descriptors() <= before + 6


def work_until_closed(store: SqliteStore, scope: int, done: list[int], wrong: list[BaseException]) -> None:
    try:
        while True:
            store.apply(scope, [added(a_turn("忙 busy"))], cause())
            done.append(1)
            store.turns([scope], Turns(limit=5))
    except Closed:
        pass
    except BaseException as error:
        wrong.append(error)  # the test shows it


def test_closing_while_others_work_is_clean(tmp_path):
    """Closed under the hands of busy threads: each call succeeds or says Closed; what was acknowledged is there."""
    done: list[int] = []
    wrong: list[BaseException] = []
    for i in range(1, 6):
        store = opened(tmp_path)
        scope = store.scope("user:mei") or new_scope(store, "user:mei")
        threads = [threading.Thread(target=work_until_closed, args=(store, scope, done, wrong)) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(done) < 20 * i and not wrong:
            time.sleep(0.001)
        store.close()
        for thread in threads:
            thread.join()
        assert [] == wrong
        store = opened(tmp_path)
        assert len(done) == len(store.turns([scope], Turns()))
        store.close()
    check(tmp_path / "yiku.db")


def test_closing_says_nothing_of_a_home_that_took_its_place(tmp_path):
    """A home that was put where this one was keeps its own mark, and opens."""
    home, other = tmp_path / "home", tmp_path / "other"
    for folder in (home, other):
        folder.mkdir()
    filled(other)
    store = opened(home)
    new_scope(store, "user:mei")
    home.rename(tmp_path / "away")
    other.rename(home)
    mark = (home / "store.id").read_text()
    store.close()

    assert mark == (home / "store.id").read_text()
    assert store.store_id not in mark
    opened(home).close()


def died(folder: Path) -> None:
    """A store whose only process was killed after an acknowledged write."""
    filled(folder)
    assert -9 == run(write_and_die, folder)


def write_and_die(folder: Path) -> None:
    store = opened(folder)
    store.apply(1, [kept(a_memory("in the WAL 在日志里", id="another"))], cause())
    os.kill(os.getpid(), 9)


def test_a_killed_process_leaves_its_acknowledged_writes(tmp_path):
    """Killed right after an acknowledged write, with the WAL unfinished: the next opening has it, the file is whole."""
    died(tmp_path)

    store = opened(tmp_path)
    assert ["住在 Oslo", "in the WAL 在日志里"] == [memory.content for memory in store.memories([1], Memories())]
    store.close()
    check(tmp_path / "yiku.db")
