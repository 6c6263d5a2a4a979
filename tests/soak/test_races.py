"""R4 and R5: eight processes at once, in the counts that we promise."""

import pytest
from store.test_processes import chain, whole
from workers import clocked, create, give_values, record_many, say, together

from yiku import Memory

PROCESSES = 8


@pytest.mark.parametrize("spread", [True, False], ids=["said one after another", "said at the same time"])
def test_R4_eight_processes_give_one_slot_200_values(tmp_path, count, spread):
    """One is live, 199 are its history, and there is one order: that of saying, else that of arrival."""
    home, each = tmp_path / "home", count(200, 1_000, "values") // PROCESSES
    whole(home, together(give_values, [(home, each * k, each, spread) for k in range(PROCESSES)]))

    found = chain(home)
    assert sorted(found) == sorted(f"I live in Town{i}镇" for i in range(each * PROCESSES))
    if spread:
        assert [f"I live in Town{i}镇" for i in range(each * PROCESSES)] == found


@pytest.mark.parametrize("text", ["我对青霉素过敏。", "The code word is open sesame 芝麻开门"], ids=["a slot", "no slot"])
def test_R4_eight_processes_say_the_same(tmp_path, count, text):
    """One row with eight sources, in a new home each round."""
    for i in range(count(3, 30)):
        home = tmp_path / f"home{i}"
        whole(home, together(say, [(home, text, f"speaker {k}") for k in range(PROCESSES)]))
        with clocked(home) as memory:
            (found,) = memory.get_all()
        assert PROCESSES == len(found.sources)


def test_R4_eight_writers_of_fifty_wait_for_each_other(tmp_path, count):
    """None is told that the store is locked, no turn is lost or doubled, and each waits at most a moment."""
    home, each = tmp_path / "home", count(50, 500, "turns a writer")
    results = together(record_many, [(home, f"w{k}", each) for k in range(PROCESSES)])

    whole(home, results)
    with Memory(home) as memory:
        found = [turn.id for k in range(PROCESSES) for turn in memory.search_traces(session=f"s-w{k}", limit=10_000)]
    assert sorted(found) == sorted(id for ids in results for id in ids)
    assert PROCESSES * each == len(found)


def test_R5_eight_processes_make_one_home(tmp_path, count):
    """Nobody fails, nobody's turn is lost, and there is one store."""
    for i in range(count(10, 200)):
        home = tmp_path / f"home{i}"
        whole(home, together(create, [(home, f"你好 from {k}") for k in range(PROCESSES)]))
        with Memory(home) as memory:
            assert PROCESSES == len(memory.timeline())
