"""Several processes on one home at once; larger counts in `make soak-short`."""

from contextlib import suppress

import pytest
from integrity import open_and_check
from workers import clocked, create, give_values, record_many, say, together

from yiku import Memory
from yiku.errors import StoreBusy


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


def keep_variables(home, k):
    with clocked(home) as memory:
        for i in range(5):
            memory.sessions.set("s1", **{f"v{k}_{i}": i})


def compress_and_end(home, talk):
    with clocked(home) as memory:
        memory.sessions.compressing(talk, session="s1")
        with suppress(StoreBusy):
            memory.learn()
        memory.sessions.end("s1")


def plan(home, k):
    with clocked(home) as memory:
        memory.sessions.patch_scratchpad(add_next_steps=[f"step {k} 第{k}步"])


def test_what_several_keep_for_one_session_is_all_there(tmp_path):
    """Four processes set five variables each: twenty."""
    home = tmp_path / "home"
    whole(home, together(keep_variables, [(home, k) for k in range(4)]))

    with clocked(home) as memory:
        assert 20 == len(memory.sessions.get("s1").variables)


def test_a_session_that_several_compress_and_end_is_told_of_once(tmp_path):
    """Four processes hand in the same messages, and end the session: each message is one turn, and there is one episode."""
    home = tmp_path / "home"
    talk = [{"role": "user", "content": f"message {n} 第{n}条 [file: a{n}.pdf]"} for n in range(12)]
    clocked(home).close()
    whole(home, together(compress_and_end, [(home, talk)] * 4))

    with clocked(home) as memory:
        assert [m["content"] for m in talk] == [turn.content for turn in memory.timeline(limit=100)]
        assert 1 == len(memory.sessions.episodes())
        assert 12 == len(memory.sessions.attachments())


def test_a_scratchpad_that_several_begin_has_the_lines_of_all(tmp_path):
    """Four processes write the first lines of one scratchpad, and none is told of an index."""
    for i in range(4):
        home = tmp_path / f"home{i}"
        clocked(home).close()
        whole(home, together(plan, [(home, k) for k in range(4)]))

        with clocked(home) as memory:
            assert {f"step {k} 第{k}步" for k in range(4)} == set(memory.sessions.scratchpad().next_steps)
