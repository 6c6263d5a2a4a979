"""In-memory turn columns: always equal to the store, though only new rows are read."""

import os
import signal

import pytest
from conftest import Clock

from yiku import Memory


def columns(memory: Memory):
    return memory._handle.store.columns(memory._handle.reads())


def column_values(memory: Memory) -> list[tuple]:
    """What the columns say of each turn: its number, session, whether the user said it, its speaker."""
    found = columns(memory)
    names = [*found.names, None]
    speakers = [names[place] for place in found.speakers.tolist()]
    return [*zip(found.ns.tolist(), found.sessions.tolist(), found.user.tolist(), speakers, strict=True)]


def say(memory: Memory, *texts: str, role: str = "user", **details) -> list[str]:
    return [memory.record_turn(role, text, **{"session": "s1", **details}).id for text in texts]


def test_what_came_since_is_there_too(memory: Memory):
    """A turn that was recorded after the first look has its row, with names in both scripts, a comma and a quote in them."""
    say(memory, "one 一", speaker="安")
    first = column_values(memory)
    say(memory, "two 二", role="assistant", speaker='O"Neil, Ann')
    say(memory, "three 三", session="s2", speaker="安")

    assert [(1, 1, True, "安")] == first
    found = column_values(memory)
    assert [(1, 1, True, "安"), (2, 1, False, 'O"Neil, Ann')] == found[:2]
    assert (3, True, "安") == (found[2][0], *found[2][2:])
    assert found[2][1] > 1


def test_a_turn_that_is_imported_late_stands_at_its_number(memory: Memory, clock: Clock):
    """Turns said long ago come behind in their numbers, whatever their times; the times are those that were said."""
    say(memory, "now 现在")
    columns(memory)
    say(memory, "then 从前", said_at="2020-01-01T00:00:00Z")

    assert [1, 2] == columns(memory).ns.tolist()
    assert 1_577_836_800_000_000 == columns(memory).said_at.tolist()[1]


def test_what_other_scopes_said_since_is_looked_at_once(memory: Memory, blank, home):
    """A scope in which nothing new was said does not read what was said elsewhere with each question."""
    say(memory, "one 一")
    columns(memory)
    with Memory(home, scope="team") as other:
        say(other, *"abc")
    columns(memory)
    store, read = memory._handle.store, []
    store._database.connection().set_exec_trace(lambda cursor, sql, bound: read.append((sql, bound)) or True)
    columns(memory)
    store._database.connection().set_exec_trace(None)

    assert [1] == columns(memory).ns.tolist()
    assert not [sql for sql, _ in read if "group_concat" in sql]


def _erased(home, ids: list[str]) -> None:
    child = os.fork()
    if not child:
        try:
            with Memory(home, owner="user:mei") as memory:
                for id in ids:
                    memory.admin.erase(session=id)
            os._exit(0)
        finally:
            os._exit(2)
    assert (child, 0) == os.waitpid(child, 0)


def test_what_another_process_erased_is_gone(memory: Memory, home):
    """A session in the middle that another process erased is in no column, nor is one at the end."""
    for session in ("a", "b", "c"):
        say(memory, f"{session} said 说", session=session)
    columns(memory)
    _erased(home, ["b"])
    middle = columns(memory).ns.tolist()
    _erased(home, ["c"])

    assert [1, 3] == middle
    assert [1] == columns(memory).ns.tolist()


def test_a_backup_that_is_put_back_and_taken_back_again(memory: Memory, home):
    """Each time the columns are those of the store that is there, also for a memory that was open all the while."""
    with Memory(home, owner="user:mei") as open_all_the_while:
        say(memory, "one 一")
        name = memory.admin.backup().path.rpartition("/")[2]
        say(memory, "two 二")
        assert [1, 2] == columns(open_all_the_while).ns.tolist()
        kept = memory.admin.restore_backup(name).kept
        assert [1] == columns(open_all_the_while).ns.tolist()
        say(memory, "three 三")
        (three,) = columns(open_all_the_while).ns.tolist()[1:]
        memory.admin.restore_backup(kept)

        assert [1, 2] == columns(open_all_the_while).ns.tolist()
        assert three > 2


def test_a_forked_child_looks_for_itself(memory: Memory):
    """A child that is forked while a thread of its parent reads does not wait for that thread."""
    say(memory, "one 一")
    cache = memory._handle.store._columns
    with cache._lock:
        child = os.fork()
        if not child:
            try:
                signal.alarm(10)
                os._exit(0 if [1] == columns(memory).ns.tolist() else 1)
            finally:
                os._exit(2)
        assert (child, 0) == os.waitpid(child, 0)


@pytest.mark.parametrize("scopes", [(), ("team",), ("team", "public")])
def test_several_scopes_are_one_in_the_order_of_numbers(memory: Memory, home, scopes):
    """Turns of several scopes lie side by side by their numbers, and the names of all are known; nobody asked is nothing."""
    say(memory, "one 一", speaker="安")
    for scope in ("team", "public"):
        with Memory(home, scope=scope) as other:
            say(other, f"in {scope}", speaker=scope)
    handle = memory._handle
    found = handle.store.columns([number for number, name, _ in handle.store.scopes() if name in scopes])

    assert list(range(2, 2 + len(scopes))) == found.ns.tolist()
    assert [*scopes] == [found.names[place] for place in found.speakers.tolist()]
