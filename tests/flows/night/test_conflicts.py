"""Contradictions found at night: replaced or flagged; compatible statements are left alone."""

from dataclasses import replace

import pytest

from yiku import Memory
from yiku.types import Kind, SemanticMemory, State

FLAGGED = [
    ("The office opens at 9", "The office opens at 10"),
    ("办公室九点开门", "办公室十点开门"),
    ("I use dark mode in the editor", "I don't use dark mode in the editor"),
    ("我在编辑器里用深色主题", "我在编辑器里不用深色主题"),
    ("I run 5 km every morning", "I run 8 km every morning"),
    ("The pump runs at 300 rpm", "The pump runs at 400 rpm"),
    ("水箱装50升", "水箱装60升"),
    ("The gate is closed at 5", "The gate is closed at 7"),
]
LEFT = [
    ("I bought 3 apples", "I bought 5 apples"),
    ("My sister eats fish", "I don't eat fish"),
    ("我姐姐吃鱼", "我不吃鱼"),
    ("My sister bought 3 apples", "My sister bought 5 apples"),
    ("我妹妹买了3个苹果", "我妹妹买了5个苹果"),
    ("周杰买了590个苹果。", "周杰买了635个苹果。"),
    ("My sister walked 5 km", "My sister walked 8 km"),
    ("The lamp fell at 5", "The lamp fell at 7"),
    ("Parcel 8 is at the gate", "Parcel 9 is at the gate"),
    ("The 3rd chapter is long", "The 4th chapter is long"),
    ("第3步很难", "第4步很难"),
    ("Our bus 5 is late", "Our bus 6 is late"),
    ("第3章很无聊", "第4章很无聊"),
    ("发票41已付", "发票42已付"),
    ("I like tea", "I like coffee"),
    ("我喜欢喝茶", "我喜欢喝咖啡"),
    ("I have a meeting on Monday", "I have a meeting on Friday"),
    ("我周一有会", "我周五有会"),
    ("I take the bus to work", "I don't take the bus to work on Mondays"),
    ("我坐公交上班", "我周一不坐公交上班"),
    ("The office opens at 9", "Maybe the office opens at 10"),
    ("办公室九点开门", "也许办公室十点开门"),
    ("The office opened at 9 today", "The office opens at 10"),
    ("Ann's shop opens at 9", "Bob's shop opens at 10"),
    ("安的店九点开门", "小明的店十点开门"),
    ("I use dark mode in the editor", "I don't use dark mode in the terminal"),
]


def night(memory: Memory) -> dict[str, int]:
    return dict(memory.admin.consolidate().counts)


@pytest.mark.spec("T-01", "S3-45")
@pytest.mark.parametrize(("first", "second"), FLAGGED)
def test_a_pair_that_cannot_both_hold_is_flagged(memory, clock, first, second):
    """Both stay live, each names the other, and the report points at the clauses."""
    one = memory.remember(first).memory
    clock.advance(days=3)
    two = memory.remember(second).memory
    done = memory.admin.consolidate()

    assert {"flagged": 1} == done.counts
    assert (two.id, one.id) == done.items[0].ids
    assert ((two.id,), (one.id,)) == (memory.get(one.id).flagged_with, memory.get(two.id).flagged_with)
    start, end = done.items[0].evidence["new"]
    assert two.content[start:end].strip("。.") == two.content.strip("。.")
    assert {} == night(memory)


@pytest.mark.spec("T-06")
@pytest.mark.parametrize("text", ["The office opens at {}", "办公室{}点开门"])
def test_one_night_flags_all_that_contradict_each_other(memory, clock, text):
    """As many nights would, though each flag changes a row that the next pair has, too; the night after it finds nothing."""
    rows = []
    for hour in range(6, 11):
        rows.append(memory.remember(text.format(hour)).memory)
        clock.advance(days=1)
    ids = {row.id for row in rows}

    assert {"flagged": 10} == night(memory)
    assert [ids - {row.id} for row in rows] == [{*memory.get(row.id).flagged_with} for row in rows]
    assert {} == night(memory)


@pytest.mark.parametrize(("first", "second"), LEFT)
def test_what_may_hold_together_is_left(memory, clock, first, second):
    """Other people, other occasions, many values, hedges, the past: nothing is flagged or replaced."""
    memory.remember(first)
    clock.advance(days=3)
    memory.remember(second)
    before = [(one.id, one.flag, one.superseded_by) for one in memory.get_all(limit=100) if isinstance(one, SemanticMemory)]

    assert {} == night(memory)
    assert before == [(one.id, one.flag, one.superseded_by) for one in memory.get_all(limit=100) if isinstance(one, SemanticMemory)]


ONE_PERSON = [
    ("My sister's name is Freya", "Freya lives in Bergen", "My sister lives in Oslo"),
    ("我姐姐叫李小雨", "李小雨住在昆明", "我姐姐住在成都"),
]


@pytest.mark.spec("T-01", "S3-45")
@pytest.mark.parametrize(("named", "elsewhere", "here"), ONE_PERSON)
def test_one_person_under_two_names_has_one_home(memory, clock, named, elsewhere, here):
    """Once it is known who somebody is, what was said later of them replaces what was said before, and stays so."""
    old = memory.remember(elsewhere).memory
    clock.advance(days=1)
    new = memory.remember(here).memory
    clock.advance(days=1)
    memory.remember(named)
    clock.advance(days=1)
    done = memory.admin.consolidate()

    assert {"replaced": 1} == done.counts
    assert (new.id, old.id) == done.items[0].ids
    assert new.id == memory.get(old.id).superseded_by
    assert memory.get(new.id).live
    assert {} == night(memory)
    assert () == tuple(memory.admin.check().problems)


@pytest.mark.parametrize("said", ONE_PERSON)
@pytest.mark.parametrize("how", ["pinned", "believed more", "said at once"])
def test_one_slot_alone_replaces_nothing_that_stands_firmer(memory, clock, how, said):
    """What is pinned, what came from a better source, and what was said in the same moment is flagged; both stay live."""
    named, elsewhere, here = said
    old = memory.remember(elsewhere, pinned=how == "pinned").memory
    clock.advance(days=0 if how == "said at once" else 1)
    new = memory.remember(here, origin="assistant" if how == "believed more" else "user").memory
    clock.advance(days=1)
    memory.remember(named)
    clock.advance(days=1)

    assert {"flagged": 1} == night(memory)
    assert memory.get(old.id).live and memory.get(new.id).live
    assert {(new.id,), (old.id,)} == {memory.get(old.id).flagged_with, memory.get(new.id).flagged_with}
    assert {} == night(memory)


def test_undoing_it_brings_the_earlier_back_for_good(memory, clock):
    """A person's word stands: the next night does not replace it again."""
    old = memory.remember("Freya lives in Bergen").memory
    clock.advance(days=1)
    memory.remember("My sister lives in Oslo")
    memory.remember("My sister's name is Freya")
    done = memory.admin.consolidate()
    memory.admin.undo(done.items[0].operation)
    clock.advance(days=1)

    assert memory.get(old.id).live
    assert {} == night(memory)
    assert memory.get(old.id).live


@pytest.mark.parametrize(("first", "second"), FLAGGED[:2])
def test_a_pinned_statement_is_never_replaced(memory, clock, first, second):
    """It is flagged at most."""
    one = memory.remember(first, kind=Kind.FACT, pinned=True).memory
    clock.advance(days=3)
    memory.remember(second)
    night(memory)
    kept = memory.get(one.id)

    assert (State.ACTIVE, None) == (kept.state, kept.superseded_by)
    assert kept == replace(kept, pinned=True)
