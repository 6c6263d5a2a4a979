"""Cost of each call does not grow with the store: measured at two sizes in one run."""

import statistics
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from yiku import Memory
from yiku.store import byte_search

SMALL, LARGE = 200, 2_000
RATIO = 3.0  # a cost that grew with the rows would be ten times as high
PROMISED = 10_000  # memories


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Memory]]:
    """The same sort of memories, few and many, written in bulk."""
    opened = {}
    for size in (SMALL, LARGE):
        memory = Memory(tmp_path_factory.mktemp("costs") / str(size), owner="user:mei", durability="fast", search="words")
        fill(memory, size)
        opened[size] = memory
    yield opened
    for memory in opened.values():
        memory.close()


def fill(memory: Memory, size: int) -> None:
    """Statements about `size // 10` people, through the store's own bulk door: one transaction a thousand."""
    from yiku.flows.keep.remember import validate
    from yiku.rules.deciding.slots import index_tokens
    from yiku.types import AddMemory

    handle = memory._handle
    scope = handle.writes()
    for start in range(0, size, 1_000):
        rows = [
            validate(handle, f"Person{n % (size // 10)} uses tool{n}", {"entities": [f"Person{n % (size // 10)}"]})
            for n in range(start, min(start + 1_000, size))
        ]
        handle.store.apply(scope, [AddMemory(row, index_tokens(row)) for row in rows], handle.cause("fill"))


def cost_ms(call: Callable[[], object]) -> float:
    """The median CPU time of a call, in milliseconds."""
    call()
    spans = []
    for _ in range(30):
        start = time.process_time_ns()
        call()
        spans.append((time.process_time_ns() - start) / 1e6)
    return statistics.median(spans)


def promised(costs: dict[int, float]) -> float:
    """What a call would cost at ten thousand memories, if it grew on as it grew here."""
    return costs[LARGE] + max(0.0, costs[LARGE] - costs[SMALL]) / (LARGE - SMALL) * (PROMISED - LARGE)


@pytest.mark.spec("S0-07", "S0-95")
def test_an_access_update_costs_the_same_in_any_store(stores: dict[int, Memory]) -> None:
    """One row is updated by its number: O(1), and far below 5 ms at ten thousand memories."""
    ids = {size: memory.get_all(limit=1)[0].id for size, memory in stores.items()}
    costs = {size: cost_ms(lambda size=size, memory=memory: memory.feedback(ids[size], "used")) for size, memory in stores.items()}

    assert costs[LARGE] < RATIO * costs[SMALL]
    assert promised(costs) < 5


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Memory]]:
    """The same sort of talk, some and ten times as much; all of it was looked at by learning."""
    opened = {}
    for size in (400, 4_000):
        memory = Memory(tmp_path_factory.mktemp("talks") / str(size), owner="user:mei", durability="fast", search="words")
        for start in range(0, size, 400):
            at = [memory._handle.now() - timedelta(minutes=size - n) for n in range(start, start + 400)]
            memory.record([{"role": "assistant", "content": f"line 第{k}", "said_at": said} for k, said in enumerate(at)])
        memory.learn()
        opened[size] = memory
    yield opened
    for memory in opened.values():
        memory.close()


@pytest.mark.parametrize(
    "look",
    [
        lambda memory, end: memory.timeline(limit=20),
        lambda memory, end: memory.timeline(limit=20, since="2020-01-01"),
        lambda memory, end: memory.get(end),
        lambda memory, end: memory.status(),
    ],
    ids=["timeline", "timeline since", "short id", "status"],
)
def test_a_look_at_a_page_costs_the_same_in_a_large_scope(talks: dict[int, Memory], look: Callable[[Memory, str], object]) -> None:
    """A page of the timeline, a turn by the end of its id, the state of the home: a scope of ten times as many turns is no dearer."""
    ends = {size: memory.timeline(limit=1)[0].id[-8:] for size, memory in talks.items()}
    small, large = (cost_ms(lambda memory=memory, end=ends[size]: look(memory, end)) for size, memory in talks.items())

    assert large < 2 * small


@pytest.mark.spec("S0-96")
def test_an_entity_query_costs_what_it_finds(stores: dict[int, Memory]) -> None:
    """Ten memories about somebody are found by an index, far below 20 ms at ten thousand memories."""
    costs = {size: cost_ms(lambda memory=memory: memory.about("Person7")) for size, memory in stores.items()}

    assert 10 == len(stores[LARGE].about("Person7"))
    assert costs[LARGE] < RATIO * costs[SMALL]
    assert promised(costs) < 20


@pytest.mark.spec("S0-06", "S3-244")
def test_a_search_by_words_needs_nothing_and_costs_little(stores: dict[int, Memory], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made ready first and no network is asked: 2 ms at ten thousand memories on a quiet machine."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("somebody asks the network")

    monkeypatch.setattr("socket.socket", refused)
    kept = stores[LARGE].record_turn("user", "我把自行车停在地铁站")

    assert [kept.id] == [hit.id for hit in stores[LARGE].recall("自行车")]
    assert promised({size: cost_ms(lambda memory=memory: memory.recall("tool77")) for size, memory in stores.items()}) < 20


def test_an_erasure_reads_all_rows_as_often_with_many_sessions(tmp_path, monkeypatch):
    """The transcript of each session has words that rows say, too; which of them these are is asked once, not for each file."""
    read = byte_search.texts_in_rows
    passes: dict[int, int] = {}
    for sessions in (3, 30):
        home = tmp_path / str(sessions)
        with Memory(home, owner="user:mei") as memory:
            for n in range(sessions):
                memory.record_turn("user", f"Boat {n} lay in the harbour. 船在港口。", session=f"s{n}")
        calls = []
        monkeypatch.setattr(byte_search, "texts_in_rows", lambda *given, calls=calls: calls.append(given) or read(*given))
        with Memory(home, owner="user:mei") as memory:
            statement = memory.remember("The master of the harbour is called Gibra. 港口的主人叫吉布拉。").memory
            receipt = memory.admin.erase(statement.id)
        assert receipt.clean
        assert any(place.name.endswith("other files") and int(place.name.split()[0]) >= sessions for place in receipt.places)
        passes[sessions] = len(calls)

    assert passes[3] == passes[30] > 0
