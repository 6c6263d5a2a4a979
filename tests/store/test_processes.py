"""Several processes on one home at once. The counts are small here; `make soak-short` has the large ones."""

import pytest
from integrity import open_and_check
from workers import clocked, create, give_values, record_many, say, together

from yiku import Memory


def whole(home, results):
    """No worker met an error, and the store is whole."""
    assert [] == [repr(result) for result in results if isinstance(result, BaseException)]
    open_and_check(home)


def chain(home) -> list[str]:
    with Memory(home) as memory:
        (live,) = memory.get_all()
        line = memory.history(live.id)
    assert live.id == line[-1].id
    assert [*(version.id for version in line[1:]), None] == [version.superseded_by for version in line]
    assert [*(version.valid_from for version in line[1:]), None] == [version.valid_to for version in line]
    return [version.content for version in line]


@pytest.mark.parametrize("spread", [True, False], ids=["said one after another", "said at the same time"])
def test_R4_one_slot_given_many_values_at_once_has_one_order(tmp_path, spread):
    """Four processes, twenty values: one is live, nineteen its history, in the order in which they were said or came."""
    home = tmp_path / "home"
    results = together(give_values, [(home, 5 * k, 5, spread) for k in range(4)])

    whole(home, results)
    found = chain(home)
    assert sorted(found) == sorted(f"I live in Town{i}镇" for i in range(20))
    if spread:
        assert [f"I live in Town{i}镇" for i in range(20)] == found


@pytest.mark.parametrize("text", ["我对青霉素过敏。", "The code word is open sesame 芝麻开门"], ids=["a slot", "no slot"])
def test_R4_one_text_said_by_many_at_once_is_one_memory(tmp_path, text):
    """Four processes say the same: one row, with four sources."""
    home = tmp_path / "home"
    results = together(say, [(home, text, f"speaker {k}") for k in range(4)])

    whole(home, results)
    with clocked(home) as memory:
        (found,) = memory.get_all()
    assert 4 == len(found.sources)
    assert sorted(name for names in results for name in names) == ["Confirmed"] * 3 + ["New"]


def test_R5_a_home_made_by_many_at_once_is_one_home(tmp_path):
    """Four processes open a home that is not there: one store, every turn in it, no errors."""
    for i in range(2):
        home = tmp_path / f"home{i}"
        results = together(create, [(home, f"你好 from {k}") for k in range(4)])

        whole(home, results)
        with Memory(home) as memory:
            assert {f"你好 from {k}" for k in range(4)} == {turn.content for turn in memory.timeline()}


def test_R4_many_writers_wait_for_each_other(tmp_path):
    """Four processes record ten turns each: none is told that the store is locked, none is lost or doubled."""
    home = tmp_path / "home"
    results = together(record_many, [(home, f"w{k}", 10) for k in range(4)])

    whole(home, results)
    with Memory(home) as memory:
        found = [turn.id for turn in memory.timeline(limit=1000)]
    assert sorted(found) == sorted(id for ids in results for id in ids)
