"""Marks of superseded, contradicted and expired statements are the same in `recall`, `context`, `list` and `history`."""

import pytest

from yiku import Memory

BADGER = ("Our mascot is a badger. 我们的吉祥物是獾。", "badger", "2025-01-01")
OTTER = ("Our mascot is an otter. 我们的吉祥物是水獭。", "otter", "2025-02-01")


@pytest.fixture
def two(memory):
    """Two statements of one slot that nobody has settled, the earlier first."""
    return [memory.remember(text, predicate="mascot", object=value, said_at=at).memory.id for text, value, at in (BADGER, OTTER)]


def later(items):
    return {item.id: item.said_later for item in items}


@pytest.mark.parametrize("question", ["What is our mascot?", "我们的吉祥物是什么？"])
def test_an_answer_marks_the_earlier_and_puts_it_behind(memory, two, question):
    """In `recall` the mark is at the hit, in `context` in the text; the later one says what it may contradict."""
    badger, otter = two
    hits = memory.recall(question, types=["memory"])
    text = memory.context(question).text

    assert [(otter, None), (badger, otter)] == [(hit.id, hit.said_later) for hit in hits]
    assert (badger,) == hits[0].item.flagged_with
    assert any(mark in text for mark in ("[said later: ", "[此后另有说法："))
    assert any(f"{mark}{badger[-8:]}" in text for mark in ("may contradict #", "可能有矛盾：#"))


def test_lists_mark_it_alike(memory, two):
    """`get_all`, filtered or of a time, and `about`: the earlier names the later, also where only the earlier is on the page."""
    badger, otter = two

    assert {badger: otter, otter: None} == later(memory.get_all())
    assert {badger: otter} == later(memory.get_all(where={"content": {"contains": "badger"}}))
    assert {badger: otter} == later(memory.get_all(limit=1, offset=1))
    assert {badger: None} == later(memory.get_all(valid_at="2025-01-15"))
    assert {badger: otter} == later(memory.about("badger"))


def test_history_of_a_text_has_what_it_puts_behind(memory, two):
    """By an id it is the line alone; by what it is about, also the statement that was said before, marked."""
    badger, otter = two

    assert [(badger, otter), (otter, None)] == [(one.id, one.said_later) for one in memory.history("our mascot 吉祥物")]
    assert [(otter, None)] == [(one.id, one.said_later) for one in memory.history(otter)]
    assert [(badger, otter)] == [(one.id, one.said_later) for one in memory.history(badger)]


def test_a_settled_one_marks_nothing(memory, two):
    """When one of the two is rejected, no mark is left anywhere; nothing of a mark was ever stored."""
    badger, otter = two
    memory.reject(otter)

    assert {badger: None} == later(memory.get_all())
    assert [None] == [hit.said_later for hit in memory.recall("mascot", types=["memory"])]


def test_many_values_and_beliefs_mark_nothing(memory):
    """What one may like much of, and a later belief, put nobody behind."""
    memory.remember("I like tea.", said_at="2025-01-01")
    memory.remember("我喜欢喝咖啡。", said_at="2025-02-01")
    memory.remember("The port is 8080.", subject="gateway", predicate="port", object="8080", said_at="2025-01-01")
    memory.remember(
        "The port is 9090.", subject="gateway", predicate="port", object="9090", standing="belief", said_at="2025-02-01"
    )

    assert {None} == {*later(memory.get_all()).values()}


def test_another_scope_marks_nothing(memory, two, home, clock):
    """Who reads a scope sees its marks, and puts nothing of his own behind it."""
    with Memory(home, scope="T02/U7", reads=[memory.scope], clock=clock) as other:
        mine = other.remember("Our mascot is a crow. 乌鸦", predicate="mascot", object="crow", said_at="2025-03-01").memory.id

        assert {two[0]: two[1], two[1]: None, mine: None} == later(other.get_all())


def test_history_and_list_agree_on_what_expired(memory, clock):
    """A list leaves it out, and a history says so."""
    kept = memory.remember("The lift is broken. 电梯坏了。", expires_at="2030-01-01").memory
    assert not memory.history(kept.id)[-1].expired(clock.now)
    gone = memory.remember("The heating is off. 暖气关了。", ttl_days=1).memory
    clock.now = clock.now.replace(year=clock.now.year + 1)

    assert [kept.id] == [one.id for one in memory.get_all()]
    assert [True] == [one.expired(clock.now) for one in memory.history(gone.id)]
