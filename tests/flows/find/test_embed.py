"""Embedding: each text once, in order, with failing models and disks and concurrent processes; erased vectors are gone."""

import os
import shutil
import signal
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from conftest import Clock
from embedders import Hashed
from models.server import Answer, error, serving
from workers import together

from yiku import Memory
from yiku.errors import Closed, Damaged, InvalidInput, ModelFailed, ModelUnavailable, StoreBusy, StoreError
from yiku.flows.find import embed
from yiku.store.gate import Gate
from yiku.store.vectors.file import TRIES
from yiku.store.vectors.scope_vectors import encode

LIKE = {"allergic": "penicillin", "过敏": "penicillin", "屋": "flat"}  # what the model knows, and no index does
NEAR = "The metro is near, 地铁很近."
SPOKEN = [
    "I moved to a flat near the metro.",
    "我妹妹吃青霉素会起疹子。",
    "Lunch was soup 🍜 again.",
    "会议改到下周二，Ｌantern 项目。",
]


@pytest.fixture
def model() -> Hashed:
    return Hashed(known=LIKE)


@pytest.fixture
def open_it(blank: Path, home: Path, clock: Clock, model: Hashed) -> Iterator:
    """Opens the home with the model, or with what is told of it; what turns teach is not counted here."""
    shutil.copytree(blank, home)
    opened = []

    def opening(**given) -> Memory:
        opened.append(Memory(home, owner="user:mei", names=["Mei"], clock=clock, **{"embedder": model, "learn": "off", **given}))
        return opened[-1]

    yield opening
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_it) -> Memory:
    return open_it()


def said(memory: Memory, *texts: str, **details) -> list[str]:
    return [memory.record_turn("user", text, **{"session": "s1", **details}).id for text in texts]


def rows(home: Path, sql: str = "select item, row_n, part from vectors order by seq") -> list[tuple]:
    """What lies in the file, read from outside."""
    with closing(sqlite3.connect(f"{(home / 'vectors' / 'vectors.db').as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


def lines(memory: Memory, question: str = "metro 地铁", **details) -> list[str]:
    """What an answer by words says is missing; that it is an answer is asserted."""
    hits = memory.recall(question, **details)
    assert hits, "words find it"
    assert all(set(hit.routes) <= {"words", "session", "recency", "role"} for hit in hits)
    return list(hits.diagnostics)


# ------------------------------------------------------------------ once, and in order


@pytest.mark.spec("S4-37")
def test_what_shares_no_word_is_found_by_meaning(memory):
    """Embedded, a turn is found by a question without a word of it, in the other language too; before, it is not."""
    said(memory, *SPOKEN)
    assert not memory.recall("allergic")

    report = memory.admin.embed()

    assert (4, 0, 0) == (report.done, report.waiting, report.failed)
    assert SPOKEN[0] == memory.recall("屋")[0].text


def test_what_is_embedded_is_not_asked_again(memory, model):
    """A second call asks the model for nothing but the new turn, and the rows stand once."""
    said(memory, *SPOKEN)
    memory.remember("I like tea. 我喜欢茶。")
    memory.admin.embed()
    asked_before, model.asked = model.asked, []
    said(memory, "And a new one, 新的。")

    assert 1 == memory.admin.embed().done
    assert asked_before
    assert all("new one" in text for text in model.asked)
    assert len({*rows(memory._handle.paths.root)}) == len(rows(memory._handle.paths.root)) == 6


def test_a_short_turn_is_embedded_behind_the_one_before_it_in_its_session(memory, model):
    """`Yes` means little alone: it is also embedded behind the question, not behind a turn of another session."""
    said(memory, "Shall we meet on Monday, as ever, at the little café behind the station? 老地方？")
    said(memory, "别的会话里的话。", session="s2")
    said(memory, "好的，Yes.")
    memory.admin.embed()

    behind = [text for text in model.asked if text.endswith("\n好的，Yes.")]
    assert 1 == len(behind)
    assert "老地方" in behind[0]
    assert "别的" not in behind[0]


def test_a_long_turn_has_a_vector_for_each_window(memory, home):
    """64 KiB are embedded to the end: a question for the last sentence finds the turn, as one hit."""
    said(memory, "Nothing else. 没有别的。", "filler words 废话 and more. " * 2_000 + "The violin hangs in the attic.")
    memory.admin.embed()

    windows = rows(home, "select count(*) from vectors where row_n = 2")[0][0]
    assert 20 < windows < 60
    assert 1 == sum("violin" in hit.text for hit in memory.recall("violin attic"))


@pytest.mark.long
def test_the_turn_before_is_found_for_thousands_at_once(memory):
    """The neighbours of a batch are looked up together: ten thousand turns of one session take no second."""
    memory.record([{"role": "user", "content": f"{n}"} for n in range(10_000)], session="s1")
    columns = memory._handle.store.columns(memory._handle.reads())
    began = time.process_time()
    found = [embed._before(columns, columns.ns[start : start + 128].tolist()) for start in range(0, 10_000, 128)]

    assert time.process_time() - began < 1.0
    assert {n: n - 1 for n in range(2, 10_001)} == {n: before for part in found for n, before in part.items()}


def test_an_update_gets_a_vector_of_its_own(memory, model):
    """A new version is embedded; the old one keeps its vector, for questions about the past."""
    first = memory.remember("The kettle is blue. 水壶是蓝的。").memory
    memory.admin.embed()
    model.asked = []
    memory.update(first.id, "The kettle is green. 水壶是绿的。")

    assert 1 == memory.admin.embed().done
    assert ["The kettle is green. 水壶是绿的。"] == model.asked


def test_forgetting_and_restoring_need_no_model(memory, model):
    """What was forgotten keeps its vector: it is not found while it is gone, and found by meaning when it is back."""
    (first, *_) = said(memory, *SPOKEN)
    memory.admin.embed()
    memory.forget(first)
    gone = [hit.id for hit in memory.recall("屋")]
    memory.restore(first)

    assert first not in gone
    assert first == memory.recall("屋")[0].id
    assert 0 == memory.admin.embed().done


@pytest.mark.parametrize("wrong", [{"budget_s": -1}, {"budget_s": float("nan")}, {"budget_s": "5"}, {"progress": 5}])
def test_what_embed_cannot_take_is_refused(memory, model, wrong):
    """A time that is none, and what cannot be called: InvalidInput, before the model is asked anything."""
    said(memory, *SPOKEN)

    with pytest.raises(InvalidInput):
        memory.admin.embed(**wrong)
    assert [] == model.asked


# ------------------------------------------------------------------ a model that fails


def test_one_text_that_the_model_refuses_holds_up_no_other(memory, model, home):
    """All the others are embedded at once; the one is tried a few times, then passed over, counted, and told by status."""
    said(memory, *(f"turn {n} 第{n}句" for n in range(40)), "poison 毒药", *(f"later {n} 之后{n}" for n in range(40)))
    model.refuses = "poison"

    reports = [memory.admin.embed() for _ in range(TRIES + 1)]

    # the turn behind it is embedded behind it, and so refused with it
    assert [79, 0, 0, 0] == [report.done for report in reports]
    assert [2, 2, 0, 0] == [report.waiting for report in reports]
    assert [0, 0, 2, 2] == [report.failed for report in reports]
    assert ["2 turns, statements and notes are found by words only: the model refuses them"] == [*memory.status().troubles]
    assert 79 == len(rows(home))


def test_a_refused_text_that_is_taken_later_is_embedded(memory, model):
    """A refusal that passes costs nothing: the next call embeds what the first could not."""
    said(memory, "poison 毒药", "bread 面包")
    model.refuses = "毒"
    first = memory.admin.embed()
    model.refuses = None

    assert (0, 2) == (first.done, first.waiting)
    assert (2, 0) == ((second := memory.admin.embed()).done, second.waiting)


@pytest.mark.spec("T-36")
def test_a_model_that_is_away_counts_against_no_text(memory, model):
    """While nothing is answered, nothing is given up: the call says so, and what was embedded before stays."""
    said(memory, *SPOKEN[:2])
    memory.admin.embed()
    said(memory, *SPOKEN[2:])
    model.broken = True
    for _ in range(TRIES + 1):
        with pytest.raises(ModelUnavailable):
            memory.admin.embed()
    model.broken = False

    assert (2, 0, 0) == ((report := memory.admin.embed()).done, report.waiting, report.failed)


@pytest.mark.parametrize("wrong", ["nan", "zero", "few", "flat"])
def test_an_answer_that_is_no_list_of_vectors_is_refused(memory, model, monkeypatch, wrong):
    """Not a number, nothing, too few, the wrong shape: a ModelFailed, nothing is kept, and recall answers by words."""
    made = Hashed.embed

    def broken(self, texts, role):
        found = made(self, texts, role)
        return {"nan": found * np.nan, "zero": found * 0, "few": found[1:], "flat": found.ravel()}[wrong]

    said(memory, NEAR)
    memory.admin.embed()
    said(memory, "more 更多")
    monkeypatch.setattr(Hashed, "embed", broken)

    with pytest.raises(ModelFailed):
        memory.admin.embed()
    assert 1 == len(found := lines(memory))
    assert found[0].startswith("searched by words: test:hashed:32 made ")


def test_an_endpoint_that_dies_over_one_text_is_worked_around(home, blank, clock):
    """A server that answers 500 to every batch with one text, and rightly to others: the others are embedded."""
    shutil.copytree(blank, home)
    with serving() as server:
        server.always = lambda asked: error(500) if any("毒" in text for text in asked["input"]) else Answer()
        settings = {"embed_url": server.url, "embed_model": "m", "embed_timeout_s": 0.3, "search": "api"}
        with Memory(home, owner="user:mei", clock=clock, **settings) as memory:
            said(memory, "a long enough turn, so that no other is embedded behind it: " + "word " * 40, "毒药 poison " * 20)
            said(memory, "bread 面包 " * 60)
            report = memory.admin.embed()

    assert (2, 1) == (report.done, report.waiting)


def test_a_space_that_is_known_after_the_first_answer_only(open_it):
    """A model that learns its name from its first answer is embedded under that name, and asked under it."""

    class Late(Hashed):
        def embed(self, texts, role):
            self.space = "test late 32"
            return super().embed(texts, role)

    memory = open_it(embedder=Late(space="test unknown", known=LIKE))
    said(memory, *SPOKEN)

    report = memory.admin.embed()

    assert (4, 0, "test late 32") == (report.done, report.waiting, report.space)
    assert SPOKEN[0] == memory.recall("屋")[0].text


@pytest.mark.spec("T-36")
def test_a_model_that_changed_its_length_under_its_name_is_embedded_anew(open_it, home):
    """Old vectors do not meet new ones: recall says so and answers by words, `embed` makes all of them anew."""
    memory = open_it()
    said(memory, *SPOKEN)
    memory.admin.embed()
    memory.close()
    memory = open_it(embedder=Hashed(known=LIKE, dimensions=48))

    (line,) = lines(memory)
    report = memory.admin.embed()

    assert "has changed since these vectors were made; yiku embed recomputes them" in line
    assert (4, 0) == (report.done, report.waiting)
    assert {(48,)} == {*rows(home, "select length(code) from vectors")}
    assert SPOKEN[0] == memory.recall("屋")[0].text


def test_new_turns_after_such_a_change_take_the_old_ones_along(open_it, home):
    """It is noticed by the first new vector, too, in the middle of a run, and no turn is left out."""
    memory = open_it()
    said(memory, *SPOKEN)
    memory.admin.embed()
    memory.close()
    memory = open_it(embedder=Hashed(known=LIKE, dimensions=48))
    said(memory, "new 新")

    memory.admin.embed()

    assert [(48, 5)] == rows(home, "select length(code), count(*) from vectors group by 1")


# ------------------------------------------------------------------ unplugged: words, and one line


def test_unplugged_without_a_model_nobody_misses_it(open_it):
    """A home that never had vectors answers by words and says nothing of them."""
    memory = open_it(embedder=None)
    said(memory, NEAR)

    assert [] == lines(memory)


@pytest.mark.spec("T-21")
def test_unplugged_half_an_index_says_how_much_waits(memory):
    """What is embedded is found by meaning, what waits by words, and one line counts it."""
    said(memory, SPOKEN[0])
    memory.admin.embed()
    said(memory, "地铁 metro", "白天 day")

    hits = memory.recall("屋 白天")

    assert {SPOKEN[0], "白天 day"} <= {hit.text for hit in hits}
    assert ["2 turns, statements and notes are found by words only: yiku embed"] == [*hits.diagnostics]


@pytest.mark.spec("S3-06")
def test_unplugged_nothing_embedded_yet(memory):
    """A model and no vectors: one line says what makes them; also where the model was asked for by name."""
    said(memory, NEAR)

    assert ["searched by words: nothing is embedded yet; yiku embed makes vectors"] == lines(memory)


@pytest.mark.spec("T-36")
def test_unplugged_another_models_vectors(open_it):
    """The vectors of another model are never compared, and named; the old model finds by its own again."""
    memory = open_it()
    said(memory, *SPOKEN, NEAR)
    memory.admin.embed()
    other = open_it(embedder=Hashed("test:other:32"))

    assert ["searched by words: the vectors here are of another model (test:hashed:32); yiku embed makes vectors"] == lines(other)
    assert SPOKEN[0] == memory.recall("屋")[0].text


def damaged(home: Path) -> None:
    """Every page behind the first is noise."""
    path = home / "vectors" / "vectors.db"
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    content = bytearray(path.read_bytes())
    content[4_096:] = os.urandom(len(content) - 4_096)
    path.write_bytes(content)


@pytest.mark.parametrize("harm", [damaged, lambda home: (home / "vectors" / "vectors.db").write_bytes(b"not a database" * 999)])
def test_unplugged_damaged_vectors(open_it, home, harm):
    """Damage is noticed: words and one line, a line of status; asked for by name an error; `embed` begins anew."""
    memory = open_it()
    said(memory, *SPOKEN, NEAR)
    memory.admin.embed()
    memory.close()
    harm(home)
    memory = open_it()

    assert ["searched by words: the vectors are damaged; yiku embed recomputes them"] == lines(memory)
    assert ["search by words only: the vectors are damaged; yiku embed recomputes them"] == [*memory.status().troubles]
    with pytest.raises(Damaged, match="yiku embed"):
        open_it(search="local").recall("metro")
    assert 5 == memory.admin.embed().done
    assert SPOKEN[0] == memory.recall("屋")[0].text
    assert () == memory.status().troubles


def test_damage_that_is_met_while_embedding_begins_anew(open_it, home):
    """A new turn meets the damage at the write: all turns are embedded into a new file, in the same call."""
    memory = open_it()
    said(memory, *SPOKEN)
    memory.admin.embed()
    memory.close()
    damaged(home)
    memory = open_it()
    said(memory, "new 新")

    assert 5 == memory.admin.embed().done
    assert 5 == len(rows(home))


def test_unplugged_wrong_key_and_dead_endpoint(open_it):
    """A refused key, and nobody there: words and one line that names the endpoint; by name, an error."""
    with serving() as server:
        api = {"embedder": None, "embed_url": server.url, "embed_model": "m", "embed_timeout_s": 0.5}
        memory = open_it(**api, embed_key="right")
        said(memory, NEAR)
        memory.admin.embed()
        server.always = lambda asked: error(401)

        (refused,) = lines(open_it(**api, embed_key="wrong-key"))
        with pytest.raises(ModelUnavailable, match="refuses the key"):
            open_it(**api, embed_key="wrong-key", search="api").recall("metro")

    assert "refuses the key in embed_key (401)" in refused
    assert "wrong-key" not in refused
    (dead,) = lines(open_it(**api, embed_key="right"))
    assert "cannot be reached" in dead
    with pytest.raises(ModelUnavailable):
        open_it(**api, embed_key="right", search="api").recall("metro")


def test_a_folder_that_is_a_link_is_not_followed(memory, home, tmp_path):
    """Vectors never leave the home: nothing is written or read through a link, and recall answers by words."""
    said(memory, NEAR)
    (tmp_path / "elsewhere").mkdir()
    (home / "vectors").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError, match="is a link"):
        memory.admin.embed()
    assert [] == [*(tmp_path / "elsewhere").iterdir()]


def test_only_the_owner_may_read_the_files(memory, home):
    """The folder is 0700, its files are 0600, whatever the umask is."""
    said(memory, *SPOKEN)
    before = os.umask(0)
    try:
        memory.admin.embed()
    finally:
        os.umask(before)

    folder = home / "vectors"
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


# ------------------------------------------------------------------ several at once


def test_who_comes_second_is_told_that_another_embeds(memory, home):
    """One process embeds at a time; the other's call says so and does nothing."""
    said(memory, *SPOKEN)
    lock = Gate(home / "locks" / "embedder.lock", 0.0)
    with lock.held(), pytest.raises(StoreBusy, match="another process is embedding"):
        memory.admin.embed()
    lock.close()

    assert 4 == memory.admin.embed().done


def _embedding(home: Path, turns: int) -> None:
    embed.LOOK_EACH_S = 0.02  # in a process of our own
    with Memory(home, owner="user:mei", embedder=Hashed(), background=True) as memory:
        for n in range(turns):
            memory.record_turn("user", f"turn {n} of {os.getpid()} 第{n}句", session="s1")
        _wait_for(lambda: "to embed" not in memory.status().waiting)


def test_two_processes_embed_in_the_background_and_nothing_is_doubled(blank, home):
    """Both record and have a worker: each turn has its vector once, and none waits."""
    shutil.copytree(blank, home)

    assert [None, None] == together(_embedding, [(home, 30), (home, 30)])
    assert 60 == len({*rows(home)}) == len(rows(home))


def _killed(home: Path) -> None:
    memory = Memory(home, owner="user:mei", embedder=Hashed())
    memory.admin.embed(progress=lambda done, total: os.kill(os.getpid(), signal.SIGKILL) if done >= 256 else None)


@pytest.mark.long
def test_who_is_killed_while_embedding_is_gone_on_from(blank, home):
    """The next call embeds the rest, asks nothing twice, and no row is doubled."""
    shutil.copytree(blank, home)
    with Memory(home, owner="user:mei", embedder=Hashed()) as memory:
        memory.record([{"role": "user", "content": f"turn {n} 第{n}句"} for n in range(500)], session="s1")
    assert not in_a_child(lambda: _killed(home))

    with Memory(home, owner="user:mei", embedder=Hashed()) as memory:
        assert 244 == memory.admin.embed().done
    assert 500 == len({*rows(home)}) == len(rows(home))


def in_a_child(holds: Callable[[], object]) -> bool:
    """Whether something is true in a forked child, within ten seconds."""
    child = os.fork()
    if not child:
        try:
            signal.alarm(10)
            os._exit(0 if holds() else 1)
        finally:
            os._exit(2)
    return (child, 0) == os.waitpid(child, 0)


def test_a_forked_child_searches_for_itself(memory):
    """The parent's connection and locks are not the child's: it finds and embeds while a thread of the parent is at it."""
    said(memory, *SPOKEN)
    memory.admin.embed()
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with memory._handle.vectors._lock:
            held.set()
            go_on.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        assert in_a_child(lambda: memory.recall("屋")[0].text == SPOKEN[0])
        assert in_a_child(lambda: said(memory, "new 新") and memory.admin.embed().done == 1)
    finally:
        go_on.set()
        thread.join()

    assert "new 新" in [hit.text for hit in memory.recall("new 的")]


def test_what_is_said_is_embedded_in_the_background(open_it):
    """With `background` nobody has to call anything; the trouble of the thread stands in status."""
    model = Hashed(known=LIKE)
    model.broken = True
    memory = open_it(embedder=model, background=True)
    said(memory, *SPOKEN)
    _wait_for(lambda: any("in the background" in trouble for trouble in memory.status().troubles))

    (line,) = [trouble for trouble in memory.status().troubles if "background" in trouble]
    assert line.startswith("nothing is embedded in the background: the endpoint does not answer")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_fails_says_so_and_another_goes_on(open_it, monkeypatch):
    """A model of the host's own raises what no error of ours is: `status` says which, and what waits is embedded later."""
    monkeypatch.setattr("yiku.flows.common.background.AFTER_TROUBLE_S", 0.1)
    model, raises = Hashed(known=LIKE), [LookupError("模型 lost its weights")]

    class Odd(Hashed):
        def embed(self, texts, role):
            if raises and role == "passage":
                raise raises[0]
            return model.embed(texts, role)

    memory = open_it(embedder=Odd(), background=True)
    said(memory, *SPOKEN)
    _wait_for(lambda: any("LookupError: 模型 lost" in trouble for trouble in memory.status().troubles))
    raises.clear()
    _wait_for(lambda: not memory.status().troubles)

    assert "to embed" not in memory.status().waiting
    assert memory.recall("屋")[0].text == SPOKEN[0]


def test_closing_does_not_wait_for_a_slow_model(open_it, monkeypatch, home):
    """A model that takes minutes keeps nobody: close returns in time, what was embedded stays, and nothing is opened again."""
    monkeypatch.setattr("yiku.memory.CLOSE_WITHIN_S", 0.2)
    monkeypatch.setattr("yiku.flows.find.embed.LOOK_EACH_S", 0.02)
    asked, go_on = [], []

    class Slow(Hashed):
        def embed(self, texts, role):
            asked.extend(texts)
            while "slow 慢" in texts and not go_on:
                time.sleep(0.01)
            return super().embed(texts, role)

    memory = open_it(embedder=Slow(), background=True)
    said(memory, *SPOKEN)
    _wait_for(lambda: not memory.status().waiting)
    said(memory, "slow 慢")
    _wait_for(lambda: "slow 慢" in asked)
    worker = memory._workers[0]
    memory.close()  # returns while the model is at it
    go_on.append(True)

    assert worker.stop(600)
    assert memory._handle.vectors._connection is None
    with pytest.raises(Closed):
        memory._handle.vectors.progress_of(1, "any")
    assert 4 == len(rows(home))


def _wait_for(what) -> None:
    while not what():
        time.sleep(0.02)


# ------------------------------------------------------------------ erased


def codes(home: Path, n: int) -> list[bytes]:
    return [code for (code,) in rows(home, f"select code from vectors where item = 'turn' and row_n = {n}")]


def in_the_files(home: Path, code: bytes) -> bool:
    return any(code in path.read_bytes() for path in (home / "vectors").iterdir())


def test_nothing_of_an_erased_turn_stays_in_the_file(memory, home, model):
    """Its numbers, those of the short turn behind it, and the cache's are in no byte of the folder; the follower is made anew."""
    _, secret, _ = said(memory, "hello 你好", "my locker code is 4711 柜子密码", "ok 好")
    memory.admin.embed()
    old = codes(home, 2) + codes(home, 3)
    cached = {code for (code,) in rows(home, "select code from embedding_cache")} - {*codes(home, 1)}
    assert all(in_the_files(home, code) for code in (*old, *cached))

    erased = memory.admin.erase(secret)

    assert "vectors" in {place.name for place in erased.places}
    assert not any(in_the_files(home, code) for code in (*old, *cached))
    assert [] == rows(home, "select 1 from embedding_cache")
    assert 1 == memory.status().waiting["to embed"]
    model.asked = []
    assert 1 == memory.admin.embed().done
    assert model.asked
    assert not any("4711" in text or "柜子" in text for text in model.asked)


def test_a_redacted_turn_is_embedded_again_without_what_went(memory, home, model):
    """The sentence leaves the turn and its vector; what is left of the turn is found by meaning once it is embedded."""
    said(memory, "My locker code is 4711. The gym is on Storgata.", "ok 好")
    statement = memory.remember("My locker code is 4711.").memory
    memory.admin.embed()
    old = codes(home, 1) + codes(home, 2) + [rows(home, "select code from vectors where item = 'memory'")[0][0]]
    model.asked = []

    memory.admin.erase(statement.id)
    memory.admin.embed()

    assert not any(in_the_files(home, code) for code in old)
    assert 1 == len(codes(home, 1)) == len(codes(home, 2))
    assert any("Storgata" in text for text in model.asked)
    assert not any("4711" in text for text in model.asked)


@pytest.mark.parametrize(("first", "again"), [("I live in Bergen.", "i live in bergen!"), ("我住在卑尔根。", "我住在卑尔根！")])
def test_a_statement_told_anew_by_what_stays_loses_its_old_vector(open_it, home, first, again):
    """Its first telling was erased: its vector is gone, and the row in its place is embedded."""
    memory = open_it(learn="at_once")
    said(memory, first)
    said(memory, again, session="s2")
    memory.admin.embed()
    (old,) = memory.get_all()
    memory.admin.erase(session="s1")
    (new,) = memory.get_all()

    assert (1, []) == (old.n, rows(home, "select 1 from vectors where item = 'memory'"))
    assert 1 == memory.admin.embed().done
    assert [(new.n,)] == rows(home, "select row_n from vectors where item = 'memory'")


def test_erasing_a_scope_takes_its_vectors_and_no_others(open_it, home, clock):
    """Everything of one scope goes; another scope of the home keeps its vectors and is not embedded again."""
    memory, other = open_it(), open_it(scope="team")
    said(memory, *SPOKEN)
    said(other, "别人的 others")
    memory.admin.embed()
    other.admin.embed()

    other.admin.erase(everything=True, confirm="team")

    assert 4 == len(rows(home))
    assert 0 == memory.admin.embed().done
    clock.advance(hours=1)
    said(other, "new 新的")
    assert 1 == other.admin.embed().done
    assert ["new 新的"] == [hit.text for hit in other.recall("new")]


def test_an_erasure_that_was_cut_short_takes_all_vectors(memory, home, monkeypatch):
    """When nobody knows any more what went, every vector goes, and what is left is embedded again."""
    _, secret = said(memory, "hello 你好", "my locker code is 4711 柜子密码")
    memory.admin.embed()
    old = codes(home, 2)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("yiku.flows.erase.finish._delete_vectors", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.admin.erase(secret)
    assert in_the_files(home, old[0])
    memory.admin.erase(resume=True)

    assert not in_the_files(home, old[0])
    assert memory.admin.embed().done


@pytest.mark.parametrize("kind", ["attachment", "episode", "scratchpad"])
def test_erasing_what_has_no_vector_takes_none(open_it, home, kind):
    """The vectors of all scopes stay and nothing is embedded again; texts that the model was asked for are remembered no more."""
    memory, other = open_it(), open_it(scope="team")
    said(memory, *SPOKEN)
    said(other, "别人的 others")
    attachment = memory.sessions.attach("/tmp/猫 cat.jpg", session="s1", description="a cat on the mat 猫")
    episode = memory.sessions.end("s1").episode
    memory.sessions.patch_scratchpad(add_open_questions=["who is 谁?"])
    memory.admin.embed()
    other.admin.embed()
    kept = rows(home)
    ids = {"attachment": attachment.id, "episode": episode.id, "scratchpad": memory.sessions.scratchpad().id}

    erased = memory.admin.erase(ids[kind])

    assert ([], kept) == (rows(home, "select 1 from embedding_cache"), rows(home))
    assert ["there are none of it"] == [place.done for place in erased.places if place.name == "vectors"]
    assert (0, 0) == (memory.admin.embed().done, other.admin.embed().done)


def test_what_is_erased_while_it_is_embedded_gets_no_vector(memory, home, model, monkeypatch):
    """The model had the text when it was erased: its vector is thrown away, and so is what the cache would keep."""
    _, secret = said(memory, "hello 你好", "my locker code is 4711 柜子密码")
    made, floats = Hashed.embed, []

    def meanwhile(self, texts, role):
        found = made(self, texts, role)
        if not floats:
            floats.append(found[-1].tobytes())
            memory.admin.erase(secret)
        return found

    monkeypatch.setattr(Hashed, "embed", meanwhile)
    memory.admin.embed()

    vector = np.frombuffer(floats[0], np.float32)
    vector = vector / np.linalg.norm(vector)
    assert 0 == memory.status().waiting.get("to embed", 0)
    assert not in_the_files(home, encode(vector)[1])
    assert not in_the_files(home, vector.tobytes())
    assert [("turn", 1, 0)] == rows(home)


def test_erasing_takes_damaged_vectors_whole(memory, open_it, home):
    """Nobody can say what is left in a damaged file: it goes, and the erasure is clean."""
    _, secret = said(memory, *SPOKEN[:2])
    memory.admin.embed()
    memory.close()
    damaged(home)
    memory = open_it()

    assert memory.admin.erase(secret).clean
    assert 1 == memory.admin.embed().done


# ------------------------------------------------------------------ other stores


def test_vectors_of_another_store_are_not_taken_for_this_ones(memory, open_it, home):
    """Who removed the database and begins anew does not meet the old vectors, whose numbers mean other turns."""
    said(memory, *SPOKEN)
    memory.admin.embed()
    memory.close()
    for name in ("yiku.db", "yiku.db-wal", "yiku.db-shm", "store.id", "key", "reserve"):
        (home / name).unlink(missing_ok=True)
    shutil.rmtree(home / "transcripts")
    memory = open_it()
    said(memory, NEAR, "day 白天")

    assert ["searched by words: nothing is embedded yet; yiku embed makes vectors"] == lines(memory)
    assert 2 == memory.admin.embed().done
    assert 2 == len(rows(home))


def test_a_restored_backup_finds_its_own_by_meaning(memory):
    """Turns that the backup has keep their vectors; those that it lacks are in no answer, and new ones get their own."""
    said(memory, *SPOKEN[:2])
    memory.admin.embed()
    name = Path(memory.admin.backup().path).name
    said(memory, *SPOKEN[2:])
    memory.admin.embed()
    memory.admin.restore_backup(name)
    said(memory, "a new flat 新屋")

    assert 1 == memory.admin.embed().done
    assert {SPOKEN[0], "a new flat 新屋"} <= {hit.text for hit in memory.recall("屋")}
    assert not {*SPOKEN[2:]} & {hit.text for hit in memory.recall("soup 会议")}
