"""Re-weighing beliefs at night, on new evidence for or against them."""

import pytest

from yiku.rules.deciding.slots import index_tokens
from yiku.types import Standing, State, UpdateMemory


def remember_all(memory, clock, *texts, **details):
    found = []
    for text in texts:
        found.append(memory.remember(text, **details).memory)
        clock.advance(days=1)
    return found


@pytest.mark.parametrize(
    ("belief", "fact"),
    [
        ("Maybe the harbour office closes on Mondays", "The harbour office closes on Mondays"),
        ("也许码头的办公室周一关门", "码头办公室周一关门"),
    ],
)
def test_a_fact_that_says_the_same_confirms_a_belief(memory, clock, belief, fact):
    """The belief becomes history of the fact, which holds since it was said itself."""
    (one,) = remember_all(memory, clock, belief, standing=Standing.BELIEF)
    (two,) = remember_all(memory, clock, fact)
    done = memory.admin.consolidate()

    assert {"merged": 1} == done.counts
    assert (two.id, one.id) == done.items[0].ids
    assert two.id == memory.get(one.id).superseded_by
    assert two.said_at == memory.get(two.id).said_at
    assert {} == memory.admin.consolidate().counts


@pytest.mark.parametrize(
    ("belief", "fact"),
    [
        ("Perhaps Ann lives in Oslo", "Ann lives in Bergen"),
        ("我姐姐可能住在昆明", "我姐姐住在成都"),
    ],
)
def test_a_later_fact_of_another_value_refutes_a_belief(memory, clock, belief, fact):
    """It is archived with the reason, and comes back when that is undone."""
    (one,) = remember_all(memory, clock, belief, standing=Standing.BELIEF)
    (two,) = remember_all(memory, clock, fact)
    done = memory.admin.consolidate()

    assert {"archived": 1} == done.counts
    assert (State.ARCHIVED, f"refuted: {two.id}") == (memory.get(one.id).state, memory.get(one.id).reason)
    memory.admin.undo(done.items[0].operation)
    assert State.ACTIVE is memory.get(one.id).state


@pytest.mark.parametrize(
    ("belief", "fact"),
    [("Perhaps Ann lives in Oslo", "Ann lives in Bergen"), ("我姐姐可能住在昆明", "我姐姐住在成都")],
)
def test_a_refuted_belief_that_is_restored_stays(memory, clock, belief, fact):
    """It is live beside the fact, as it was, and no night to come weighs the two again."""
    (one,) = remember_all(memory, clock, belief, standing=Standing.BELIEF)
    remember_all(memory, clock, fact)
    memory.admin.consolidate()
    memory.restore(one.id)
    clock.advance(days=1)
    counts = memory.admin.consolidate().counts
    row = memory.get(one.id)

    assert {} == counts
    assert (State.ACTIVE, Standing.BELIEF, None) == (row.state, row.standing, row.reason)
    assert one.id in {hit.id for hit in memory.recall(belief)}


def test_a_refuted_belief_takes_its_flag_with_it(memory, clock):
    """What it seemed to contradict is flagged no more; undone, both are."""
    (one,) = remember_all(memory, clock, "Perhaps Ann lives in Oslo", standing=Standing.BELIEF)
    (rival,) = remember_all(memory, clock, "安住在哪里还不知道。")
    handle, pair = memory._handle, ((one, rival), (rival, one))
    marks = [UpdateMemory(row.n, {"flag": "conflict", "flagged_with": (other.id,)}, index_tokens(row)) for row, other in pair]
    handle.store.apply(handle.writes(), marks, handle.cause("flag"))
    remember_all(memory, clock, "Ann lives in Bergen")
    (item,) = memory.admin.consolidate().items
    after = memory.get(rival.id)
    memory.admin.undo(item.operation)

    assert ("archived", "belief-refuted") == (item.action, item.reason)
    assert (None, ()) == (after.flag, after.flagged_with)
    assert ("conflict", (one.id,)) == (memory.get(rival.id).flag, memory.get(rival.id).flagged_with)


def test_an_earlier_fact_only_lowers_it(memory, clock):
    """Its confidence falls once, whatever the number of nights, and both are for review."""
    remember_all(memory, clock, "Ann lives in Bergen")
    (belief,) = remember_all(memory, clock, "Perhaps Ann lives in Oslo now", standing=Standing.BELIEF, confidence=0.6)
    counts = [dict(memory.admin.consolidate().counts) for _ in range(3)]
    row = memory.get(belief.id)

    assert [{"flagged": 1}, {}, {}] == counts
    assert 0.4 == row.confidence
    assert Standing.BELIEF is row.standing
    assert State.ACTIVE is row.state


@pytest.mark.parametrize(
    ("belief", "facts"),
    [
        (
            "Maybe my sister repairs old bicycles",
            (
                "My sister repairs old bicycles for free",
                "My sister repairs old bicycles and boats",
                "My sister repairs old bicycles in winter",
            ),
        ),
        ("我姐姐好像修旧自行车", ("我姐姐免费修旧自行车", "我姐姐修旧自行车和小船", "我姐姐冬天修旧自行车")),
    ],
)
def test_facts_that_imply_a_belief_raise_it_until_it_is_one(memory, clock, belief, facts):
    """Each counts once and is one of its sources; above the threshold it is a fact."""
    (one,) = remember_all(memory, clock, belief, standing=Standing.BELIEF, confidence=0.6)
    seen = []
    for fact in facts:
        remember_all(memory, clock, fact)
        memory.admin.consolidate()
        memory.admin.consolidate()
        row = memory.get(one.id)
        seen.append((row.confidence, row.standing, len(row.sources)))

    assert [(0.7, Standing.BELIEF, 2), (0.8, Standing.BELIEF, 3), (0.9, Standing.FACT, 4)] == seen


@pytest.mark.parametrize(
    ("belief", "fact"),
    [
        ("Maybe I don't eat fish", "I don't eat fish on Fridays"),
        ("Maybe Ann chairs the meeting", "Bob chairs the meeting"),
        ("Maybe the ferry carries cars", "The ferry carries bicycles"),
        ("我可能不吃鱼", "我周五不吃鱼"),
        ("也许小安主持会议", "小明主持会议"),
    ],
)
def test_what_says_something_else_moves_nothing(memory, clock, belief, fact):
    """A restriction, another person, another thing."""
    (one,) = remember_all(memory, clock, belief, standing=Standing.BELIEF, confidence=0.6)
    remember_all(memory, clock, fact)

    assert {} == memory.admin.consolidate().counts
    assert (0.6, Standing.BELIEF) == (memory.get(one.id).confidence, memory.get(one.id).standing)
