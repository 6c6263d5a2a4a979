"""`external_id` as a key: a known id updates its memory, within its scope only."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.types import Confirmed, New, Past, Replaced


def texts(memories):
    return [memory.content for memory in memories]


def test_another_text_is_a_new_version_of_the_line(memory):
    """The first stays as history; what was not given is taken over, the key too."""
    first = memory.remember("The standup is at nine. 站会在九点。", external_id="doc-1", tags=["team"], metadata={"page": 1})
    second = memory.remember("The standup is at ten. 站会在十点。", external_id="doc-1")

    assert (New, Replaced) == (type(first), type(second))
    assert (first.memory.line, first.memory.id) == (second.memory.line, second.replaced.id)
    assert ("doc-1", ("team",), {"page": 1}) == (second.memory.external_id, second.memory.tags, dict(second.memory.metadata))
    assert texts([first.memory, second.memory]) == texts(memory.history(first.memory.id))
    assert [second.memory.id] == [item.id for item in memory.get_all()]


def test_the_same_text_confirms_and_changes_what_is_noted(memory):
    """No second memory; metadata and tags that are given take the place of those before."""
    first = memory.remember("Ann prefers tea.", external_id="m1", metadata={"v": 1}, importance=0.9)
    second = memory.remember("Ann prefers tea.", external_id="m1", metadata={"v": 2}, tags=["茶"], importance=0.2)

    assert isinstance(second, Confirmed)
    assert (first.memory.id, {"v": 2}, ("茶",), 0.2) == (
        second.memory.id,
        dict(second.memory.metadata),
        second.memory.tags,
        second.memory.importance,
    )
    assert 2 == len(second.memory.sources)


def test_what_was_said_before_is_history(memory):
    """An older form that comes later goes where it belongs, and the newest stays."""
    memory.remember("Version three. 第三版。", external_id="k", said_at="2025-03-03")
    past = memory.remember("Version one. 第一版。", external_id="k", said_at="2025-03-01")
    between = memory.remember("Version two. 第二版。", external_id="k", said_at="2025-03-02")

    assert (Past, Past) == (type(past), type(between))
    assert ["Version one. 第一版。", "Version two. 第二版。", "Version three. 第三版。"] == texts(memory.history(past.memory.id))
    assert ["Version three. 第三版。"] == texts(memory.get_all())
    assert () == memory.admin.check("deep").problems


def test_two_scopes_do_not_meet(memory, home, clock):
    """One key in two scopes is two memories, and each is updated alone, also where one reads the other."""
    mine = memory.remember("I drink tea.", external_id="k").memory
    with Memory(home, scope="auth0|Ab12", reads=[memory.scope], clock=clock) as other:
        assert isinstance(other.remember("I drink coffee. 我喝咖啡。", external_id="k"), New)
        other.remember("I drink water.", external_id="k")

    assert [mine] == memory.get_all()


def test_a_statement_that_was_known_without_a_key_gets_it(memory):
    """The first telling with a key confirms it, the second one updates it."""
    plain = memory.remember("The gate code changes on Mondays.").memory
    assert isinstance(memory.remember("The gate code changes on Mondays.", external_id="gate"), Confirmed)
    done = memory.remember("The gate code changes on Fridays.", external_id="gate")

    assert plain.line == done.memory.line and isinstance(done, Replaced)


def test_the_key_stays_with_its_line(memory):
    """Through an update by id, a dry run and undo; what was forgotten is told anew."""
    first = memory.remember("One. 一", external_id="k").memory
    memory.update(first.id, "Two. 二")
    assert "replaced" in type(memory.remember("Three. 三", external_id="k", dry_run=True)).__name__.lower()
    third = memory.remember("Three. 三", external_id="k")
    assert ["One. 一", "Two. 二", "Three. 三"] == texts(memory.history(first.id))
    memory.admin.undo(third.operation)
    assert ["Two. 二"] == texts(memory.get_all())
    memory.forget(first.id)
    again = memory.remember("Four. 四", external_id="k")
    assert isinstance(again, New) and again.memory.line != first.line


def test_a_key_is_of_one_line(memory):
    """It cannot be given to a second memory, and a text that another memory has is refused with the reason."""
    memory.remember("One. 一", external_id="a")
    second = memory.remember("Two. 二", external_id="b").memory
    with pytest.raises(InvalidInput, match="has the external_id a"):
        memory.update(second.id, external_id="a")
    with pytest.raises(InvalidInput, match="has the same text"):
        memory.remember("One. 一", external_id="b")

    assert {"One. 一", "Two. 二"} == {*texts(memory.get_all())}


def test_a_repeated_call_under_a_key_of_its_own_is_done_once(memory):
    """An idempotency key and an external id go together."""
    memory.remember("One. 一", external_id="k")
    first = memory.remember("Two. 二", external_id="k", idempotency_key="call-1")
    memory.remember("Three. 三", external_id="k")

    assert first.memory.id == memory.remember("Two. 二", external_id="k", idempotency_key="call-1").memory.id
    assert ["Three. 三"] == texts(memory.get_all())


def test_many_at_once_make_one_line(memory):
    """Eight threads that tell one key for the first time: one line, one live version."""
    with ThreadPoolExecutor(8) as pool:
        lines = {*pool.map(lambda k: memory.remember(f"Number {k}. 第{k}", external_id="k").memory.line, range(8))}

    assert (1, 1) == (len(lines), len(memory.get_all()))


def test_relations_are_asked_for(memory):
    """By any of their parts, on one triple, live statements only."""
    memory.remember("Ann works for Acme.", relations=[("Ann", "works for", "Acme"), ("Acme", "based in", "Oslo")], external_id="r")
    memory.remember("王芳在奥斯陆工作。", relations=[("王芳", "works in", "奥斯陆")])

    assert ["Ann works for Acme."] == texts(memory.related(subject="Ann"))
    assert [] == memory.related(subject="Ann", object="Oslo")
    assert ["王芳在奥斯陆工作。"] == texts(memory.related(object="奥斯陆"))
    assert 2 == len(memory.related())
    memory.remember("Ann left Acme.", external_id="r", relations=[("Ann", "left", "Acme")])
    assert ["Ann left Acme."] == texts(memory.related(subject="Ann"))
