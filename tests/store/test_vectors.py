"""The vector file: exact, shared by processes, rebuilt when untrusted, cleared of erased vectors."""

import os
import threading
import time
from pathlib import Path

import apsw
import numpy as np
import pytest
from faults.smalldisk import KINDS, MiB, Space, in_little_space
from powers import read_only

from yiku.errors import Closed, Damaged, ReadOnly, SchemaTooNew, StorageFull, StoreBusy
from yiku.store.gate import Gate
from yiku.store.identity_file import IdentityFile
from yiku.store.vectors import file as module
from yiku.store.vectors.file import Vectors
from yiku.store.vectors.scope_vectors import encode
from yiku.store.vectors.tables import of_pairs
from yiku.types import Superseded, Vector

SPACE, SCOPE, LENGTH = "test 24", 7, 24


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "vectors" / "vectors.db"


@pytest.fixture
def opened(path: Path):
    """Opens the file as a process of its own would; all are closed at the end."""
    path.parent.parent.mkdir()
    every: list[Vectors] = []

    def opening() -> Vectors:
        every.append(Vectors(path, busy_timeout_s=5.0))
        return every[-1]

    yield opening
    for each in every:
        each.close()


def drawn(n: int, seed: int = 1) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(n, LENGTH)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def add(vectors: Vectors, values: np.ndarray, first: int = 1, *, scope: int = SCOPE, item: str = "turn", parts: int = 1) -> None:
    """These vectors, `parts` of them a row, from this row number on."""
    rows = [Vector(item, first + k // parts, k % parts, k % 3 == 0, one) for k, one in enumerate(values)]
    marks = {"turns": 0, "memories": 0, {"turn": "turns", "memory": "memories"}[item]: rows[-1].n}
    assert vectors.add(scope, SPACE, rows, **marks, is_current=lambda: True)


def cosines(vectors: Vectors, question: np.ndarray, scopes=(SCOPE,)) -> dict[tuple[bool, int], float]:
    found = vectors.similar(scopes, SPACE, question)
    keys = zip(found.memories.tolist(), found.ns.tolist(), strict=True)
    return dict(zip(keys, found.alike.tolist(), strict=True))


# ------------------------------------------------------------------ exact


@pytest.mark.spec("S4-37")
def test_every_row_has_its_best_cosine(opened):
    """Rows of several windows, turns and memories of the same number, in any order of arrival: each has its own best, once."""
    vectors, question = opened(), drawn(1, seed=9)[0]
    late, early, stated = drawn(30), drawn(20, seed=2), drawn(10, seed=3)
    add(vectors, late, 11, parts=3)
    cosines(vectors, question)
    add(vectors, early, 1, parts=2)
    add(vectors, stated, 5, item="memory")

    found = cosines(vectors, question)

    def best(values: np.ndarray, parts: int) -> list[float]:
        return (values @ question).reshape(-1, parts).max(axis=1).tolist()

    expected = dict(zip([(False, n) for n in range(11, 21)], best(late, 3), strict=True))
    expected |= dict(zip([(False, n) for n in range(1, 11)], best(early, 2), strict=True))
    expected |= dict(zip([(True, n) for n in range(5, 15)], best(stated, 1), strict=True))
    assert expected.keys() == found.keys()
    assert expected == pytest.approx(found, abs=0.02)  # what int8 loses
    assert [*found] == sorted(found, key=lambda key: (key[1], key[0]))


def test_several_scopes_are_searched_as_one(opened):
    """Asked of two scopes, the rows of both come; a scope without vectors is no hindrance."""
    vectors, question = opened(), drawn(1, seed=9)[0]
    add(vectors, drawn(4), 1, scope=1)
    add(vectors, drawn(4, seed=2), 3, scope=2)

    found = vectors.similar([1, 99, 2], SPACE, question)

    assert [1, 2, 3, 3, 4, 4, 5, 6] == sorted(found.ns.tolist())
    assert vectors.similar([99], SPACE, question) is None
    assert vectors.similar([1], "another", question) is None
    assert vectors.similar([1], SPACE, question[:8]) is None


@pytest.mark.parametrize("sizes", [[1] * 40, [50, 1, 1, 1, 30, 2], [300]])
def test_pieces_that_came_one_by_one_are_what_a_fresh_look_finds(opened, monkeypatch, sizes):
    """Who has watched vectors come in pieces sees the same as who comes later; the pieces stay few."""
    monkeypatch.setattr(module, "READ_AT_ONCE", 64)
    watching, writing, question = opened(), opened(), drawn(1, seed=9)[0]
    first = 1
    for k, size in enumerate(sizes):
        add(writing, drawn(size, seed=k), first)
        first += size
        cosines(watching, question)

    assert cosines(opened(), question) == pytest.approx(cosines(watching, question), abs=1e-5)
    assert first - 1 == len(cosines(watching, question))
    assert all(len(held.ns) <= 12 for held in watching._held.values())


def test_a_row_that_is_embedded_again_has_its_new_vector_for_who_had_read_the_old_one(opened):
    """In this process and in another: the old vector, which may be the nearer one, is not found any more."""
    watching, writing, question = opened(), opened(), drawn(1, seed=9)[0]
    add(writing, np.stack([question, *drawn(3)]), 1)
    assert [1.0, 1.0] == [pytest.approx(cosines(each, question)[False, 1], abs=0.02) for each in (watching, writing)]

    other = drawn(1, seed=5)
    add(writing, other, 1)

    expected = pytest.approx(float(other[0] @ question), abs=0.02)
    assert [expected, expected] == [cosines(each, question)[False, 1] for each in (watching, writing)]


def test_what_is_added_while_somebody_reads_is_read_once(opened, monkeypatch):
    """Between the mark and the rows another process adds: the reader has each row once, then and later."""
    reading, writing, question = opened(), opened(), drawn(1, seed=9)[0]
    add(writing, drawn(5), 1)
    reading.load([SCOPE], SPACE)
    connection = reading._connection
    seen = []

    def meanwhile(statement) -> None:
        if "from vectors" in statement["sql"] and not seen:
            seen.append(statement)
            add(writing, drawn(5, seed=3), 11)

    add(writing, drawn(5, seed=2), 6)
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, meanwhile)
    cosines(reading, question)
    connection.trace_v2(0, None)
    cosines(reading, question)

    (held,) = reading._held.values()
    assert seen
    assert sorted(range(1, 16)) == sorted(np.concatenate(held.ns).tolist())


def test_many_scopes_do_not_fill_the_memory(opened):
    """Of the scopes asked, the last few are held."""
    vectors = opened()
    for scope in range(1, module.SCOPES_KEPT + 5):
        add(vectors, drawn(2), scope=scope)
        vectors.load([scope], SPACE)

    assert module.SCOPES_KEPT == len(vectors._held)


def test_taking_a_row_out_does_not_look_at_the_others(opened, monkeypatch):
    """A row's vectors are found by their index, however many others the scope has."""
    vectors, plans = opened(), []
    add(vectors, drawn(10))
    connection = vectors._connection
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda statement: plans.append(statement["sql"]))
    vectors.forget(SCOPE, [("turn", 3)])
    connection.trace_v2(0, None)
    (taking,) = [sql for sql in plans if sql.startswith("delete from vectors")]
    plan = [row[3] for row in connection.execute(f"explain query plan {taking}", (SCOPE, "turn", 3))]

    assert ["SEARCH vectors USING INDEX vectors_by_row (scope_id=? AND item=? AND row_n=?)"] == plan


# ------------------------------------------------------------------ pairs

PAIRS = of_pairs("test")


def add_pairs(vectors: Vectors, *found: Superseded, scope: int = SCOPE, turns: int = 9, done=()) -> bool:
    return vectors.add_superseded(scope, PAIRS, found, turns=turns, done=done, is_current=lambda: True)


def test_pairs_are_found_by_the_earlier_turn(opened):
    """The likeliest first, of the scopes asked and of this model alone; another process reads them too."""
    vectors = opened()
    assert [] == vectors.superseded([SCOPE], PAIRS, [1])
    one, other, third = Superseded(1, 5, 0.5, 0, 7), Superseded(1, 6, 0.75, 0, 7), Superseded(2, 6, 1.0, 3, 9)
    assert add_pairs(vectors, one, other, third)
    add_pairs(vectors, Superseded(1, 8, 0.9, 0, 1), scope=SCOPE + 1)

    assert [other, one] == opened().superseded([SCOPE], PAIRS, [1])
    assert [third, other, one] == vectors.superseded([SCOPE], PAIRS, [1, 2, 3])
    assert 4 == len(vectors.superseded([SCOPE, SCOPE + 1], PAIRS, [1, 2]))
    assert [] == vectors.superseded([SCOPE], of_pairs("another"), [1])
    assert (9, []) == (vectors.progress_of(SCOPE, PAIRS).turns, vectors.other_spaces(SPACE))


def found_pairs(vectors: Vectors) -> list[tuple[int, int]]:
    return sorted((each.earlier, each.later) for each in vectors.superseded([SCOPE], PAIRS, range(1, 20)))


def test_a_forgotten_turn_is_in_no_pair(opened, path):
    """Whether it was the earlier or the later; nor are its numbers anywhere in the file."""
    vectors = opened()

    def content() -> bytes:
        return path.read_bytes() + Path(f"{path}-wal").read_bytes()

    add_pairs(vectors, *(Superseded(earlier, earlier + 1, 0.515625, 4_321, 5_432) for earlier in (1, 2, 3, 5)))
    assert vectors.forget(SCOPE, [("turn", 2), ("turn", 6), ("memory", 3)])

    assert [(3, 4)] == found_pairs(vectors)
    assert [] == vectors.progress_of(SCOPE, PAIRS).again
    assert [4_321, 5_432] == [number for number in (4_321, 5_432) if number.to_bytes(2, "big") in content()]
    assert vectors.forget(SCOPE, [("turn", 3)])
    assert not [number for number in (4_321, 5_432) if number.to_bytes(2, "big") in content()]
    vectors.drop(SCOPE)
    assert ([], 0) == (found_pairs(vectors), vectors.progress_of(SCOPE, PAIRS).turns)


def test_a_turn_that_is_embedded_again_keeps_its_pairs(opened):
    """Its text is the same, so they hold, in both directions; it is not compared again."""
    vectors = opened()
    add(vectors, drawn(9))
    add_pairs(vectors, Superseded(1, 2, 0.5, 0, 1), Superseded(2, 3, 0.5, 0, 1), Superseded(2, 6, 0.5, 0, 1))
    vectors.forget(SCOPE, [("turn", 6)], again=[("turn", 2), ("memory", 1)])

    assert [(1, 2), (2, 3)] == found_pairs(vectors)
    assert [("memory", 1), ("turn", 2)] == sorted(vectors.progress_of(SCOPE, SPACE).again)
    assert [] == vectors.progress_of(SCOPE, PAIRS).again


def test_a_changed_turn_is_compared_again_and_so_is_what_superseded_it(opened):
    """But no turn that is erased with it; what else the later turns supersede stays."""
    vectors = opened()
    add(vectors, drawn(9))
    add_pairs(vectors, *(Superseded(earlier, later, 0.5, 0, 1) for earlier, later in [(1, 2), (1, 5), (2, 4), (2, 5), (2, 6)]))
    vectors.forget(SCOPE, [("turn", 6)], changed=[("turn", 2)])

    assert [(1, 5)] == found_pairs(vectors)
    assert [("turn", 2)] == vectors.progress_of(SCOPE, SPACE).again
    assert [("turn", n) for n in (2, 4, 5)] == vectors.progress_of(SCOPE, PAIRS).again
    add_pairs(vectors, Superseded(2, 5, 0.75, 0, 1), done=[("turn", 2), ("turn", 4), ("turn", 5)])
    assert [(1, 5), (2, 5)] == found_pairs(vectors)
    assert [] == vectors.progress_of(SCOPE, PAIRS).again


def test_pairs_are_stored_while_nothing_is_erased_meanwhile(opened):
    """A pair that was found again has the new number; what is not current is not stored."""
    vectors = opened()
    add_pairs(vectors, Superseded(2, 5, 0.5, 0, 1))
    add_pairs(vectors, Superseded(2, 5, 0.75, 0, 1))

    assert [0.75] == [each.likely for each in vectors.superseded([SCOPE], PAIRS, [2])]
    assert not vectors.add_superseded(SCOPE, PAIRS, [], turns=50, done=[], is_current=lambda: False)
    assert 9 == vectors.progress_of(SCOPE, PAIRS).turns


def test_a_file_of_version_5_is_brought_to_todays_form(opened, path):
    """Its vectors are found before and after; pairs from the first write on."""
    values = drawn(3)
    add(opened(), values)
    connection = apsw.Connection(str(path))
    connection.execute("drop table superseded")
    connection.execute("pragma user_version = 5")
    connection.close()
    vectors = opened()

    assert [] == vectors.superseded([SCOPE], PAIRS, [1])
    add_pairs(vectors, Superseded(1, 2, 0.5, 0, 1))
    assert (1, 3) == (len(vectors.superseded([SCOPE], PAIRS, [1])), len(cosines(vectors, values[0])))


# ------------------------------------------------------------------ shared


def test_rows_that_another_process_took_out_are_not_found(opened):
    """Forgotten, dropped, dropped by scope: who held the vectors notices with the next question."""
    holding, taking, question = opened(), opened(), drawn(1, seed=9)[0]
    for scope in (1, 2, 3):
        add(taking, drawn(6), scope=scope)
        cosines(holding, question, (scope,))

    assert taking.forget(1, [("turn", 2)], again=[("turn", 3)])
    assert taking.drop(2)
    assert taking.keep_only([1, 2])

    assert [1, 4, 5, 6] == holding.similar([1], SPACE, question).ns.tolist()
    assert holding.similar([2], SPACE, question) is None
    assert holding.similar([3], SPACE, question) is None
    assert [("turn", 3)] == [*holding.progress_of(1, SPACE).again]
    assert (0, 0) == (holding.progress_of(2, SPACE).turns, holding.progress_of(3, SPACE).turns)


def test_a_file_that_was_begun_anew_is_not_mixed_with_the_old_one(opened):
    """Another process puts a new file in its place: who had the old one open reads and writes the new one."""
    old, new, question = opened(), opened(), drawn(1, seed=9)[0]
    add(old, drawn(6))
    cosines(old, question)
    new.reset()
    add(new, drawn(9, seed=2))

    assert cosines(new, question) == cosines(old, question)
    add(old, drawn(1, seed=3), 20)
    assert 10 == len(cosines(new, question))


def test_reading_does_not_wait_for_who_writes(opened, path):
    """While one thread waits for another process's gate, a question is answered."""
    vectors, question = opened(), drawn(1, seed=9)[0]
    add(vectors, drawn(6))
    gate = Gate(path.with_name("lock"), 5.0)
    with gate.held():
        waiting = threading.Thread(target=lambda: add(vectors, drawn(1), 9))
        waiting.start()
        time.sleep(0.1)
        assert 6 == len(cosines(vectors, question)), "or StoreBusy, if it waited"
    waiting.join()
    gate.close()

    assert 7 == len(cosines(vectors, question))


def test_who_waits_too_long_is_told_and_nothing_is_half_done(opened, path):
    """A gate that stays shut is StoreBusy; the rows are as they were."""
    vectors = opened()
    add(vectors, drawn(3))
    vectors._gate.timeout_s = 0.05
    gate = Gate(path.with_name("lock"), 5.0)
    with gate.held(), pytest.raises(StoreBusy):
        vectors.drop()
    gate.close()

    assert 3 == vectors.progress_of(SCOPE, SPACE).turns


def test_an_erasure_says_when_the_log_could_not_be_emptied(opened, path, monkeypatch):
    """While another process reads, what was deleted may stay in the log: the answer is no, and later it is yes."""
    monkeypatch.setattr(module, "EMPTIED_WITHIN_MS", 50)
    vectors = opened()
    add(vectors, drawn(3))
    reader = apsw.Connection(str(path))
    reader.execute("begin")
    reader.execute("select count(*) from vectors").fetchone()

    assert not vectors.forget(SCOPE, [("turn", 1)])
    reader.close()
    assert vectors.forget(SCOPE, [("turn", 1)])
    assert 0 == Path(f"{path}-wal").stat().st_size


def test_nothing_is_opened_again_after_closing(opened):
    """A thread that comes too late is told so, and leaves no file open."""
    vectors = opened()
    add(vectors, drawn(3))
    vectors.close()

    with pytest.raises(Closed):
        add(vectors, drawn(1), 4)
    assert vectors._connection is None
    vectors.close()


# ------------------------------------------------------------------ the file


def test_a_file_of_a_later_version_is_left_alone(opened, path):
    """Who is older reads and writes nothing of it, and does not begin anew."""
    add(opened(), drawn(3))
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma user_version = {module.VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    late = opened()

    for call in (lambda: late.progress_of(SCOPE, SPACE), lambda: add(late, drawn(1)), late.drop):
        with pytest.raises(SchemaTooNew):
            call()
    assert before == path.read_bytes()


def test_a_file_of_an_earlier_version_is_made_anew(opened, path):
    """It counts as nothing when it is read, and the first vector begins a new file."""
    add(opened(), drawn(3))
    connection = apsw.Connection(str(path))
    connection.execute("pragma user_version = 1")
    connection.close()
    vectors = opened()

    assert 0 == vectors.progress_of(SCOPE, SPACE).turns
    add(vectors, drawn(1))
    assert 1 == len(cosines(vectors, drawn(1)[0]))


def test_a_file_of_version_3_is_brought_to_todays_form(opened, path):
    """Its vectors are found before and after; what it had cached as floats goes, at the first write."""
    values = drawn(3)
    add(opened(), values)
    connection = apsw.Connection(str(path))
    connection.execute("drop table embedding_cache")
    connection.execute("drop table superseded")
    connection.execute(
        "create table embedding_cache (provider text not null, model text not null, provider_key text not null, hash blob not null,"
        " embedding blob not null, dims integer not null, updated_at integer not null,"
        " primary key (provider, model, provider_key, hash)) strict, without rowid"
    )
    connection.execute("create index cache_by_use on embedding_cache (updated_at)")
    old = values.astype("float32").tobytes()
    connection.execute("insert into embedding_cache values ('a', 'b', 'c', x'01', ?, 3, 1)", (old,))
    connection.execute("pragma user_version = 3")
    connection.close()
    vectors = opened()

    assert ({}, 3) == (vectors.cached(("a", "b", "c"), [b"\x01"]), len(cosines(vectors, values[0])))
    vectors.cache(("a", "b", "c"), [(b"\x02", values[0])], lambda: True)
    assert 3 == len(cosines(opened(), values[0]))
    assert [b"\x02"] == [*opened().cached(("a", "b", "c"), [b"\x01", b"\x02"])]
    vectors.close()
    assert old not in path.read_bytes()


def test_the_cache_says_what_the_vectors_say(opened):
    """A text that is asked for again gets the very numbers under which it is kept, in a fifth of the space of floats."""
    values = drawn(1, seed=4)[0]
    vectors = opened()
    vectors.cache(("a", "b", "c"), [(b"x", values)], lambda: True)

    assert encode(values)[1] == encode(vectors.cached(("a", "b", "c"), [b"x"])[b"x"])[1]


def test_vectors_of_another_store_count_as_none(opened, path):
    """The store's id stands in the file; under another id it is begun anew, under the same it is read."""
    mark = IdentityFile(path.parent.parent / "store.id")
    mark.write("a" * 32, 5)
    add(opened(), drawn(3))
    same = opened().progress_of(SCOPE, SPACE).turns
    mark.write("b" * 32, 5)
    other = opened()

    assert (3, 0) == (same, other.progress_of(SCOPE, SPACE).turns)
    add(other, drawn(1))
    assert 1 == len(cosines(other, drawn(1)[0]))


def test_one_flipped_bit_is_noticed(opened, path):
    """A page that is not what was written is Damaged, never a wrong cosine."""
    vectors = opened()
    add(vectors, drawn(500))
    vectors.close()
    content = bytearray(path.read_bytes())
    place = content.index(encode(drawn(500)[250])[1])
    content[place] ^= 0x40
    path.write_bytes(content)

    with pytest.raises(Damaged, match="yiku embed"):
        opened().similar([SCOPE], SPACE, drawn(1)[0])


def test_reading_makes_no_file(opened, path):
    """Whatever is asked of a home without vectors, nothing is made."""
    vectors = opened()

    assert vectors.load([SCOPE], SPACE) is None
    assert vectors.similar([SCOPE], SPACE, drawn(1)[0]) is None
    assert ({}, []) == (vectors.cached(("a", "b", "c"), [b"x"]), vectors.other_spaces(SPACE))
    assert vectors.forget(SCOPE, [("turn", 1)])
    assert vectors.drop()
    assert not path.parent.exists()


def test_a_file_that_another_is_just_making_is_not_opened(opened, path, monkeypatch):
    """A connection to an empty file would never learn that its pages carry checksums, and write pages without them."""
    path.parent.mkdir()
    path.touch(0o600)
    with monkeypatch.context() as patch:
        patch.delattr(module.connect, "open_connection")
        assert opened().similar([SCOPE], SPACE, drawn(1)[0]) is None

    add(opened(), drawn(9))
    assert 9 == len(cosines(opened(), drawn(1)[0]))


# ------------------------------------------------------------------ the cache


def test_the_cache_keeps_the_newest(opened, monkeypatch):
    """Of more texts than it may have, the oldest go; each provider, model and variant has its own."""
    monkeypatch.setattr(module, "CACHED_AT_MOST", 4)
    vectors, key = opened(), ("api", "a model", "own passage")
    for k in range(6):
        vectors.cache(key, [(bytes([k]), drawn(1, seed=k)[0])], lambda: True)

    found = vectors.cached(key, [bytes([k]) for k in range(6)])

    assert {bytes([k]) for k in range(2, 6)} == {*found}
    assert encode(drawn(1, seed=5)[0])[1] == encode(found[bytes([5])])[1]
    assert {} == vectors.cached(("api", "a model", "own query"), [bytes([5])])


def test_nothing_is_cached_of_what_is_gone(opened, path):
    """What was erased while the model had it is neither kept nor cached."""
    vectors = opened()
    add(vectors, drawn(1))
    vectors.cache(("a", "b", "c"), [(b"x", drawn(1)[0])], lambda: False)

    assert {} == vectors.cached(("a", "b", "c"), [b"x"])
    assert not vectors.add(SCOPE, SPACE, [Vector("turn", 2, 0, False, drawn(1)[0])], turns=2, memories=0, is_current=lambda: False)
    assert 1 == vectors.progress_of(SCOPE, SPACE).turns


def test_the_files_survive_a_child_that_dies(opened):
    """A forked child that ends without a word takes no lock and no row with it."""
    vectors = opened()
    add(vectors, drawn(3))
    child = os.fork()
    if not child:
        try:
            add(vectors, drawn(2), 4)
            os._exit(0)
        finally:
            os._exit(2)
    assert (child, 0) == os.waitpid(child, 0)
    add(vectors, drawn(1), 6)

    assert 6 == len(cosines(vectors, drawn(1)[0]))


# ------------------------------------------------------------------ disks


def test_a_home_that_can_only_be_read_is_searched(opened, path):
    """Without the right to write anything, what is there is found; to add is ReadOnly, and no file changes."""
    add(opened(), drawn(3))
    for each in [*module._EVERY]:
        each.close()
    files = {one: one.read_bytes() for one in path.parent.iterdir()}
    with read_only(path.parent.parent):
        vectors = opened()
        assert 3 == len(cosines(vectors, drawn(1)[0]))
        with pytest.raises(ReadOnly):
            add(vectors, drawn(1), 4)
        vectors.close()

    assert files == {one: one.read_bytes() for one in path.parent.iterdir()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_refuses_vectors_and_keeps_those_it_has(tmp_path, kind):
    """Full to the last byte: StorageFull, what is there is found and can be taken out; with space again it goes on."""
    in_little_space(kind, 3 * MiB, tmp_path, a_disk_fills_up)


def a_disk_fills_up(space: Space) -> None:
    vectors = Vectors(space.folder / "vectors" / "vectors.db", busy_timeout_s=2.0)
    add(vectors, drawn(200))
    space.fill()
    first = added_until_full(vectors, 201)
    assert first - 1 == len(cosines(vectors, drawn(1)[0])) == vectors.progress_of(SCOPE, SPACE).turns
    space.free()
    assert vectors.forget(SCOPE, [("turn", 1)])
    add(vectors, drawn(200), first)
    assert first + 198 == len(cosines(vectors, drawn(1)[0]))
    vectors.close()


def added_until_full(vectors: Vectors, first: int) -> int:
    """The number behind the last row that was kept."""
    for number in range(first, first + 20_000, 200):
        try:
            add(vectors, drawn(200), number)
        except StorageFull:
            return number
    raise AssertionError("the disk was never full")
