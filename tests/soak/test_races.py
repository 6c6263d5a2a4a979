"""R4, R5: many processes at once, at the promised counts and speed."""

import pytest
from soak.conftest import RELEASE
from store.test_processes import chain, whole
from workers import add_timed, clocked, create, give_values, say, together

from yiku import Memory

PROCESSES = 16 if RELEASE else 8
ADDS_PER_S = {"full": 150, "fast": 2_000}
LONGEST_WAIT_S = 2.0 if RELEASE else 1.0


@pytest.mark.parametrize("spread", [True, False], ids=["said one after another", "said at the same time"])
def test_R4_many_processes_give_one_slot_many_values(tmp_path, count, spread):
    """One is live, all others are its history, and there is one order: that of saying, else that of arrival."""
    home, each = tmp_path / "home", count(200, 1_000, "values of one slot") // PROCESSES
    whole(home, together(give_values, [(home, each * k, each, spread) for k in range(PROCESSES)]))

    found = chain(home)
    assert sorted(found) == sorted(f"I live in Town{i}镇" for i in range(each * PROCESSES))
    if spread:
        assert [f"I live in Town{i}镇" for i in range(each * PROCESSES)] == found


@pytest.mark.parametrize("text", ["我对青霉素过敏。", "The code word is open sesame 芝麻开门"], ids=["a slot", "no slot"])
def test_R4_many_processes_say_the_same(tmp_path, count, text):
    """One row with a source for each, in a new home each round."""
    for i in range(count(3, 30, "rounds of all saying the same")):
        home = tmp_path / f"home{i}"
        whole(home, together(say, [(home, text, f"speaker {k}") for k in range(PROCESSES)]))
        with clocked(home) as memory:
            (found,) = memory.get_all()
        assert PROCESSES == len(found.sources)


@pytest.mark.parametrize("durability", ["full", "fast"])
def test_R4_many_writers_wait_for_each_other(tmp_path, count, figure, durability):
    """None is told that the store is locked, no turn is lost or doubled, each waits at most a moment, and all go fast."""
    home, each = tmp_path / "home", count(50, 1_000, f"turns by each of {PROCESSES}, {durability}")
    clocked(home).close()  # making the home is another test's
    results = together(add_timed, [(home, f"w{k}", each, durability) for k in range(PROCESSES)])

    whole(home, results)
    with Memory(home) as memory:
        found = [turn.id for k in range(PROCESSES) for turn in memory.search_traces(session=f"s-w{k}", limit=10_000)]
    assert sorted(found) == sorted(id for result in results for id in result.ids)
    assert PROCESSES * each == len(found)
    took_s = max(result.ended for result in results) - min(result.began for result in results)
    figure(f"adds at {durability}", len(found) / took_s, "a second", least=ADDS_PER_S[durability] if RELEASE else None)
    figure(f"longest wait at {durability}", max(result.longest_s for result in results), "s", most=LONGEST_WAIT_S)


def test_R5_many_processes_make_one_home(tmp_path, count):
    """Nobody fails, nobody's turn is lost, and there is one store."""
    for i in range(count(10, 200, f"homes made by {PROCESSES} at once")):
        home = tmp_path / f"home{i}"
        whole(home, together(create, [(home, f"你好 from {k}") for k in range(PROCESSES)]))
        with Memory(home) as memory:
            assert PROCESSES == len(memory.timeline())
