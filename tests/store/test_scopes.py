"""Nothing of a scope reaches another: names, calls, statements, time. The soak makes a million calls; here are a few."""

import inspect
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sampling
from store.scope_home import World
from store.scoped_sql import EXCUSED, SOMETIMES, Watch, judged, scoped_tables
from store.scopes import EXACT, OPERATIONS, REFUSED

from yiku import Memory
from yiku.admin import Admin
from yiku.agent import Agent
from yiku.errors import InvalidInput, InvalidScope, NotFound, ScopeRequired
from yiku.notes import Notes
from yiku.prompt import Prompts
from yiku.sessions import Sessions

NOT_CALLS = {"admin", "scope", "settings", "created"}
AT_MOST = 1.25  # times: the medians of one thing timed twice differ by up to a tenth here


# ------------------------------------------------------------------ names


@pytest.mark.spec("S1-53", "T-20")
@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_R26_a_name_that_could_be_taken_for_another_is_refused(home: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the scope to write, among the scopes to read, as the owner, from the environment; and it made nothing."""
    with pytest.raises(InvalidScope):
        Memory(home, scope=name)
    with pytest.raises(InvalidScope):
        Memory(home, owner=name)
    with pytest.raises(InvalidInput):
        Memory(home, reads=["a", name])
    if name and "\0" not in name:  # else a variable that is not set, or cannot be
        monkeypatch.setenv("YIKU_SCOPE", name)
        with pytest.raises(InvalidScope):
            Memory(home)
    assert not home.exists()


def test_R26_there_are_49_hostile_names() -> None:
    """Those that are refused and those that are exact, no two the same."""
    assert 49 == len({*EXACT, *REFUSED})


@pytest.mark.long
def test_R26_each_exact_name_is_a_scope_of_its_own(home: Path) -> None:
    """Twenty-six names that resemble one another, patterns, numbers and the index's prefixes: each sees its own words alone."""
    memories = {name: Memory(home, scope=name, owner="a", durability="fast") for name in EXACT}
    for name, memory in memories.items():
        memory.remember(f"Tea 茶 is for {name}")
        memory.record_turn("user", f"Tea 茶 said by {name}")

    for name, memory in memories.items():
        expected = [f"Tea 茶 is for {name}", f"Tea 茶 said by {name}"]
        sight = expected if name == "public" else sorted([*expected, "Tea 茶 is for public", "Tea 茶 said by public"])
        assert sight == sorted(hit.text for hit in memory.recall("tea 茶", limit=100))
        assert sight == sorted(item.content for item in memory.timeline())
        memory.close()


def test_R26_no_scope_is_not_all_scopes(home: Path) -> None:
    """A home without an owner wants a name; None never means everyone."""
    with Memory(home, owner="user:ann") as memory:
        memory.remember("I like tea 茶")
    (home / "yiku.toml").write_text("")

    with pytest.raises(ScopeRequired):
        Memory(home, scope=None)
    with pytest.raises(InvalidScope):
        Memory(home, scope="")


# ------------------------------------------------------------------ calls


def verbs() -> set[str]:
    """The public verbs of Memory and its drawers."""

    def public(kind: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}

    drawers = {"admin": Admin, "agent": Agent, "sessions": Sessions, "notes": Notes, "prompts": Prompts}
    return public(Memory) | {f"{drawer}.{name}" for drawer, kind in drawers.items() for name in public(kind)}


def test_R26_every_public_verb_is_tried() -> None:
    """A verb without an operation in scope_calls.py or scope_home.py fails here: give it one, with foreign ids if it takes any."""
    assert set() == verbs() - {operation.verb for operation in OPERATIONS}
    assert {"Memory"} == {operation.verb for operation in OPERATIONS} - verbs()


@pytest.mark.spec("S1-53", "T-20")
def test_R26_random_calls_show_nothing_of_another_scope(tmp_path: Path) -> None:
    """Hundreds of calls by twenty-six scopes of one home: no canary and no id in a foreign answer, error, explanation or count."""
    world = World(tmp_path, seed=sampling.SEED)
    world.run(400)  # the first leak ends it, with the last operations

    assert world.calls >= 400


def test_R26_what_is_in_sight_may_be_a_source_and_is_not_changed(home: Path) -> None:
    """A scope that one reads gives sources, but takes no update, no forgetting, no feedback."""
    with Memory(home, owner="user:ann") as ann, Memory(home, scope="team", reads=["user:ann"]) as team:
        said = ann.record_turn("user", "I like tea 茶")
        kept = ann.remember("I like tea 茶", source=said.id).memory

        assert said == team.get(said.id)
        assert said.id == team.remember("Ann likes tea 茶", source=said.id).memory.sources[0].turn
        for change in (lambda: team.update(kept.id, "x"), lambda: team.forget(kept.id), lambda: team.feedback(kept.id, "used")):
            with pytest.raises(NotFound):
                change()
        assert kept == ann.get(kept.id)


# ------------------------------------------------------------------ statements

HOMES = 12  # in one of which each operation has done all that it does


@pytest.mark.spec("S1-53", "T-20")
def test_R26_every_statement_keeps_to_its_scope(tmp_path: Path) -> None:
    """What SQLite really executes in a run over all verbs is narrowed to scopes that the handle reads, and writes to its own."""
    watch = Watch(tmp_path, seed=32)
    for _ in range(HOMES):  # chance leaves out what only some calls of an operation do; a further home makes up for it
        watch.each(3)
        if set(EXCUSED) <= watch.used and set(watch.scoped) <= watch.tables:
            break

    assert {} == watch.wrong
    assert set() == set(watch.scoped) - watch.tables, "a table with a scope that no verb has touched"
    assert set(EXCUSED) == watch.used - set(SOMETIMES), "an excuse that nobody needs"


@pytest.mark.parametrize(
    ("sql", "wrong"),
    [
        ("select content from memories m where m.scope_id in (?, ?) and m.n = ?", 0),
        ("select content from memories m where m.scope_id in (?) and (a = 1 or b = 2)", 0),
        ("select content from memories m where (+m.scope_id in (?)) and ((a) or (b))", 0),
        ("select content from memories m where m.scope_id in (?) and (a) or (b)", 1),
        ("select content from memories m where (m.scope_id in (?) or b = 2)", 1),
        ("select content from memories m where not m.scope_id = ?", 1),
        ("select content from memories m where m.n = ?", 1),
        ("select 1 from memories m where m.scope_id = ? and m.n in (select memory_n from memory_entities where entity = ?)", 1),
        (
            "select 1 from memories m where m.scope_id = ? and exists (select 1 from memory_sources o where o.scope_id = m.scope_id)",
            0,
        ),
        ("select 1 from memories m where m.n = ? and exists (select 1 from memory_sources o where o.scope_id = m.scope_id)", 2),
        ("select 1 from turn_state where scope_id = ? union all select 1 from turn_state", 1),
        ("update memories set content = ? where n = ?", 1),
        ("delete from memories where scope_id > ?", 1),
        ("insert into receipts values (1, 'a', x'', '', 0)", 1),
        ("insert into receipts (key, scope_id) values (?, ?)", 0),
    ],
)
def test_a_dropped_scope_is_noticed(memory: Memory, sql: str, wrong: int) -> None:
    """The judge of statements can say no."""
    tables = scoped_tables(memory._handle.store._database.connection())
    assert wrong == len(judged(sql, tables)[0])


# ------------------------------------------------------------------ time


@pytest.fixture
def crowded(home: Path) -> Iterator[tuple[Memory, list[str], list[str]]]:
    """A small scope beside one of 2,000 turns: its handle, ids of the other, and ids beside those that nothing has."""
    yield from beside(home, 2_000)


def beside(home: Path, crowd: int) -> Iterator[tuple[Memory, list[str], list[str]]]:
    """A small scope beside one of so many turns."""
    with Memory(home, owner="user:ann", durability="fast") as ann, Memory(home, scope="user:bo", durability="fast") as bo:
        for k in range(crowd // 1_000):
            turns = [{"role": "user", "content": f"tea 茶 {i} foreignword{i % 90}"} for i in range(1000 * k, 1000 * k + 1000)]
            ids = ann.record(turns).ids
        foreign = [*ids[::20], *(ann.remember(f"Statement {i} 陈述 with foreignword{i % 90}").memory.id for i in range(50))]
        for i in range(50):
            bo.remember(f"My own words {i} 自己的话")
        yield bo, foreign, [f"{id[:-1]}{(int(id[-1], 16) + 1) % 16:x}" for id in foreign]


def slower(one: Callable[[int], object], other: Callable[[int], object], pairs: int) -> float:
    """How many times longer the slower of two calls takes, by their medians, called in turns; of six rounds the first that will do."""
    ratios = []
    for _ in range(6):
        times: tuple[list[int], list[int]] = ([], [])
        for i in range(pairs):
            for which in (0, 1) if i % 2 else (1, 0):
                start = time.perf_counter_ns()
                (one, other)[which](i)
                times[which].append(time.perf_counter_ns() - start)
        medians = sorted(map(statistics.median, times))
        ratios.append(medians[1] / medians[0])
        if ratios[-1] <= AT_MOST:
            break
    return min(ratios)


def refused(call: Callable[[str], object], ids: list[str]) -> Callable[[int], None]:
    """The call with one id after another, each of which must be refused."""

    def tried(i: int) -> None:
        try:
            call(ids[i % len(ids)])
        except NotFound:
            return
        raise AssertionError("it was found")

    return tried


VERBS: dict[str, Callable[[Memory, str], object]] = {
    "get": lambda memory, id: memory.get(id),
    "update": lambda memory, id: memory.update(id, "told anew"),
    "forget": lambda memory, id: memory.forget(id),
    "history": lambda memory, id: memory.history(id),
    "feedback": lambda memory, id: memory.feedback(id, "used"),
    "the end of an id": lambda memory, id: memory.get(id[-12:]),
}


def timed(bo: Memory, foreign: list[str], absent: list[str], pairs: int) -> dict[str, float]:
    """For each verb how many times longer a foreign id takes than an absent one, or the reverse; and so for words."""
    found = {
        name: slower(
            refused(lambda id, call=call: call(bo, id), foreign), refused(lambda id, call=call: call(bo, id), absent), pairs
        )
        for name, call in VERBS.items()
    }
    found["words"] = slower(lambda i: bo.recall(f"foreignword{i % 90}"), lambda i: bo.recall(f"unheardword{i % 90}"), pairs)
    return found


@pytest.mark.long
def test_R26_what_is_foreign_takes_as_long_as_what_is_not_there(crowded: tuple[Memory, list[str], list[str]]) -> None:
    """Neither an id nor a word tells by its time whether another scope has it."""
    found = timed(*crowded, pairs=60)

    print("  ".join(f"{name} {ratio:.3f}" for name, ratio in found.items()))
    assert {} == {name: ratio for name, ratio in found.items() if ratio > AT_MOST}
