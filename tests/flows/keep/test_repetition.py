"""Saying a statement again: whose end, tags and pin hold then."""

import pytest

from yiku.types import Confirmed


def end(memory, id):
    row = memory.get(id)
    return row.expires_at, row.auto_delete_at, row.ttl_days


@pytest.mark.parametrize("text", ["Tea is at four.", "下午茶四点开始。"])
def test_saying_again_without_an_end_keeps_for_good(memory, clock, text):
    """What was kept for three days stays when it is said again without a limit; undoing that brings the limit back."""
    first = memory.remember(text, ttl_days=3).memory
    before = end(memory, first.id)
    clock.advance(days=1)
    again = memory.remember(text)

    assert isinstance(again, Confirmed)
    assert (None, None, None) == end(memory, first.id)

    memory.admin.undo(again.operation)

    assert before == end(memory, first.id)

    memory.remember(text)
    clock.advance(days=60)
    memory.admin.consolidate()

    assert [text] == [item.content for item in memory.get_all()]


@pytest.mark.parametrize("text", ["The parcel waits at the post office.", "包裹在邮局等着取。"])
def test_the_later_end_holds(memory, text):
    """A second telling moves the end ahead, and never back."""
    first, second, third = ("2990-06-01", "2999-06-01", "2995-06-01")
    memory.remember(text, expires_at=first)
    memory.remember(text, expires_at=second)
    id = memory.remember(text, expires_at=third).memory.id

    assert 2999 == memory.get(id).expires_at.year


@pytest.mark.parametrize(("text", "role"), [("The lift is out of order.", "tool"), ("电梯坏了。", "assistant")])
def test_only_the_user_moves_an_end(memory, text, role):
    """What an agent or a tool says again does not outlive the end that the user gave."""
    first = memory.remember(text, ttl_days=3).memory
    memory.remember(text, origin=role)

    assert 3 == memory.get(first.id).ttl_days


@pytest.mark.parametrize("text", ["I have an exam tomorrow.", "我明天考试。"])
def test_words_that_name_an_end_have_one(memory, clock, text):
    """Tomorrow is over the day after, though it is said twice without a limit."""
    first = memory.remember(text, ttl_days=1).memory
    clock.advance(hours=1)
    memory.remember(text)
    clock.advance(days=3)

    assert memory.get(first.id).expires_at < clock.now
    assert [] == memory.get_all()


@pytest.mark.parametrize("text", ["I have an exam tomorrow.", "我明天考试。"])
def test_a_plan_told_again_in_talk_moves_its_end(memory, clock, text):
    """Said again the next day, tomorrow is another day."""
    memory.record_turn("user", text)
    before = memory.get_all()[0].expires_at
    clock.advance(days=1)
    memory.record_turn("user", text)

    assert [before] < [item.expires_at for item in memory.get_all()]


@pytest.mark.parametrize("text", ["The office door code changes monthly.", "办公室的门禁密码每月更换。"])
def test_a_repetition_adds_tags_and_pins(memory, text):
    """Tags of a second telling join those of the first; what is pinned stays so; undoing takes both back."""
    first = memory.remember(text, tags=["door"]).memory
    again = memory.remember(text, tags=["office"], pinned=True)
    memory.remember(text)

    assert ({"door", "office"}, True) == (set(memory.get(first.id).tags), memory.get(first.id).pinned)

    memory.admin.undo(memory.remember(text, tags=["code"]).operation)

    assert {"door", "office"} == set(memory.get(first.id).tags)
    assert again.memory.id == first.id


@pytest.mark.parametrize(
    ("one", "other", "objects"),
    [
        ("Our mascot is a badger.", "Our mascot is an otter.", ("badger", "otter")),
        ("我们的吉祥物是獾。", "我们的吉祥物是水獭。", ("獾", "水獭")),
    ],
)
def test_confirming_in_review_keeps_an_end(memory, one, other, objects):
    """That a statement is right does not mean that it holds for longer than was said."""
    first = memory.remember(one, predicate="mascot", object=objects[0], ttl_days=3).memory
    memory.remember(other, predicate="mascot", object=objects[1])
    memory.confirm(first.id)

    assert 3 == memory.get(first.id).ttl_days
