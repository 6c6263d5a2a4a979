"""`undo` of a run, decision by decision; changes made since stay and are named."""

from dataclasses import fields, replace
from datetime import timedelta

import pytest

from yiku import Memory
from yiku.errors import CannotUndo, InvalidInput, NotFound
from yiku.flows.keep.remember import remember
from yiku.rules.deciding.slots import index_tokens
from yiku.types import Memories, SemanticMemory, State, UpdateMemory

NOT_EXPORTED = {"n", "changed", "updated_at", "said_later"}
RUN = "night 1"


def everything(memory: Memory) -> dict[str, dict[str, object]]:
    """Each field of each version, but for the row's number and when it was last written."""
    handle = memory._handle
    rows = handle.store.with_details(handle.store.memories(handle.own(), Memories()))
    return {row.id: {one.name: getattr(row, one.name) for one in fields(row) if one.name not in NOT_EXPORTED} for row in rows}


def as_run(memory: Memory, run: str = RUN):
    """The memory as a run sees it: all that it does bears the run's name."""
    handle = memory._handle
    return replace(handle, run=run)


def archive(memory: Memory, row: SemanticMemory, run: str = RUN) -> int:
    handle = as_run(memory, run)
    change = UpdateMemory(row.n, {"state": State.ARCHIVED, "reason": "faded"}, index_tokens(row))
    return handle.store.apply(handle.writes(), [change], handle.cause("consolidate")).transaction


def merge(memory: Memory, row: SemanticMemory, into: SemanticMemory) -> int:
    handle = as_run(memory)
    changes = [
        UpdateMemory(row.n, {"state": State.ARCHIVED, "reason": f"merged into {into.id}"}, index_tokens(row)),
        UpdateMemory(into.n, {"importance": 0.9, "tags": ("茶", "tea")}, index_tokens(into)),
    ]
    return handle.store.apply(handle.writes(), changes, handle.cause("consolidate")).transaction


def remember_all(memory: Memory, *texts: str) -> list[SemanticMemory]:
    return [memory.get(memory.remember(text).memory.id) for text in texts]


def test_a_run_is_undone_whole_and_brought_back(memory):
    """Three decisions, two of them about one memory: every field as before; one undo of the undo brings all of it back."""
    tea, cha, boat = remember_all(memory, "I like tea", "我喜欢喝茶", "I own a boat")
    before = everything(memory)
    merge(memory, cha, tea)
    archive(memory, memory.get(tea.id))
    archive(memory, boat)
    after = everything(memory)

    planned = memory.admin.undo_run(RUN, dry_run=True)
    assert after == everything(memory)
    done = memory.admin.undo_run(RUN)
    assert before == everything(memory)
    assert ((1, 2, 3), (), 0, True) == (planned.items, planned.skipped, planned.operation, planned.dry_run)
    assert (done.items, done.memories) == (planned.items, planned.memories)
    assert () == memory.admin.undo_run(RUN).items

    memory.admin.undo(done.operation)
    assert after == everything(memory)
    again = memory.admin.undo_run(RUN)
    assert ((1, 2, 3), ()) == (again.items, again.skipped)
    assert before == everything(memory)
    assert () == memory.admin.undo_run(RUN).skipped


def test_one_item_is_undone_alone(memory):
    """The second of three: the others stand; after that the run has two left."""
    rows = remember_all(memory, "I like tea", "我有一条船", "I own a boat")
    for row in rows:
        archive(memory, row)

    assert (2,) == memory.admin.undo_run(RUN, 2).items
    assert ["我有一条船"] == [row.content for row in memory.get_all()]
    assert (1, 3) == memory.admin.undo_run(RUN).items
    with pytest.raises(NotFound, match="has no item 4"):
        memory.admin.undo_run(RUN, 4)


def test_what_a_person_changed_since_stays_and_is_named(memory, clock):
    """A merged memory that was told anew, a faded one that was told again: both stay; the third comes back."""
    tea, cha, boat, cat = remember_all(memory, "I like tea", "我喜欢喝茶", "I own a boat", "我有一只猫")
    merge(memory, cha, tea)
    archive(memory, boat)
    archive(memory, cat)
    clock.advance(days=1)
    update = memory.update(tea.id, importance=0.2)
    memory.remember("I own a boat")

    done = memory.admin.undo_run(RUN)
    last = memory.admin.journal(limit=50)
    changed = next(row.transaction for row in last if row.operation == "update")
    assert (3,) == done.items
    assert [(1, f"changed since by operation {changed} (update)"), (2, '"I own a boat" was said since')] == [
        (one.item, one.why) for one in done.skipped
    ]
    assert 0.2 == memory.get(update.id).importance
    assert "我有一只猫" in [row.content for row in memory.get_all()]


@pytest.mark.parametrize("text", ["I live in Bergen", "我住在昆明"])
def test_a_value_that_was_given_again_as_another_kind_is_in_the_way(memory, clock, text):
    """The same words in another kind are another text, but they fill the same slot."""
    (lives,) = remember_all(memory, text)
    archive(memory, lives)
    clock.advance(days=1)
    memory.remember(text, kind="preference")

    assert [f'"{text}" was said since'] == [one.why for one in memory.admin.undo_run(RUN).skipped]


def test_a_change_of_another_field_is_no_obstacle(memory):
    """Pinned since it faded: it is active again, and pinned."""
    (boat,) = remember_all(memory, "I own a boat")
    archive(memory, boat)
    memory._handle.store.apply(
        memory._handle.writes(), [UpdateMemory(boat.n, {"pinned": True}, index_tokens(boat))], memory._handle.cause("update")
    )

    assert (1,) == memory.admin.undo_run(RUN).items
    assert (State.ACTIVE, True) == (memory.get(boat.id).state, memory.get(boat.id).pinned)


def test_an_item_under_one_that_stays_stays_too(memory):
    """The last decision about a memory cannot be taken back, so neither can the one before it about the same field."""
    (boat,) = remember_all(memory, "I own a boat")
    archive(memory, boat)
    handle = as_run(memory)
    back = UpdateMemory(boat.n, {"state": State.ACTIVE, "reason": None}, index_tokens(boat))
    handle.store.apply(handle.writes(), [back], handle.cause("consolidate"))
    memory.forget(boat.id)

    done = memory.admin.undo_run(RUN)
    assert ((), [1, 2]) == (done.items, [one.item for one in done.skipped])
    assert done.operation == 0


def test_two_items_about_one_field_are_planned_as_they_are_undone(memory):
    """The second stands on what the first did: a dry run counts the second as taken back before it looks at the first."""
    (boat,) = remember_all(memory, "我有一条船")
    before = everything(memory)
    handle = as_run(memory)
    for importance in (0.7, 0.9):
        change = UpdateMemory(boat.n, {"importance": importance}, index_tokens(boat))
        handle.store.apply(handle.writes(), [change], handle.cause("consolidate"))

    assert ((1, 2), ()) == (memory.admin.undo_run(RUN, dry_run=True).items, memory.admin.undo_run(RUN, dry_run=True).skipped)
    assert (1, 2) == memory.admin.undo_run(RUN).items
    assert before == everything(memory)


def test_what_a_run_added_and_a_person_changed_stays(memory):
    """A memory that a run added, then edited by somebody, whatever field: it is theirs now."""
    handle = as_run(memory)
    done = remember(handle, "The pump hums. 水泵嗡嗡响。", {})
    memory.update(done.memory.id, importance=0.9)

    undone = memory.admin.undo_run(RUN)
    assert ((), 1) == (undone.items, len(undone.skipped))
    assert 0.9 == memory.get_all()[0].importance


def test_an_undo_that_was_cut_off_is_continued(memory):
    """One item was taken back alone; the run takes back the rest, and nothing twice."""
    rows = remember_all(memory, "I like tea", "我有一条船")
    operations = [archive(memory, row) for row in rows]
    memory.admin.undo_run(RUN, 2)

    assert (1,) == memory.admin.undo_run(RUN).items
    assert 2 == len(memory.get_all())
    with pytest.raises(CannotUndo):
        memory.admin.undo(operations[0])


def test_a_run_that_is_not_there(memory):
    """A name that no run has is said so; a number is no name."""
    with pytest.raises(NotFound, match="no run 'night 9'"):
        memory.admin.undo_run("night 9")
    with pytest.raises(InvalidInput):
        memory.admin.undo_run(7)  # type: ignore[arg-type]


def test_an_operation_can_be_looked_at_before_it_is_undone(memory):
    """With `dry_run` an undo of one operation says what would change, and changes nothing."""
    done = memory.remember("I own a boat")
    planned = memory.admin.undo(done.operation, dry_run=True)

    assert (1, 0) == (planned.memories, planned.operation)
    assert ["I own a boat"] == [row.content for row in memory.get_all()]


@pytest.mark.parametrize(
    ("texts", "objects"),
    [
        (("Ann's hobby is novels", "Ann's hobby is chess", "Ann's hobby is golf"), ("novels", "chess", "golf")),
        (("安的爱好是小说", "安的爱好是象棋", "安的爱好是高尔夫"), ("小说", "象棋", "高尔夫")),
    ],
)
def test_a_night_that_archived_one_side_is_undone_when_the_other_was_flagged_since(memory, clock, texts, objects):
    """Its memory is back, its rival is flagged with it again, and with what was said since; undone, that alone is left."""
    slot = {"subject": "ann", "predicate": "hobby"}
    ends = clock.now + timedelta(days=2)
    one = memory.remember(texts[0], object=objects[0], expires_at=ends, **slot).memory
    other = memory.remember(texts[1], object=objects[1], **slot).memory
    clock.advance(days=3)
    run = memory.admin.consolidate().run
    third = memory.remember(texts[2], object=objects[2], **slot).memory
    done = memory.admin.undo_run(run)
    flags = {row.id: {*memory.get(row.id).flagged_with} for row in (one, other, third)}
    state = memory.get(one.id).state
    memory.admin.undo(done.operation)

    assert ((1,), (), State.ACTIVE) == (done.items, done.skipped, state)
    assert {one.id: {other.id}, other.id: {one.id, third.id}, third.id: {other.id}} == flags
    assert (State.ARCHIVED, ("conflict", (third.id,))) == (
        memory.get(one.id).state,
        (memory.get(other.id).flag, memory.get(other.id).flagged_with),
    )


def test_a_flag_that_a_run_set_is_taken_back_from_among_later_ones(memory):
    """What was flagged since stays flagged, and what was settled since stays settled."""
    tea, coffee, boat = remember_all(memory, "I like tea", "我喜欢咖啡", "I own a boat")

    def flag(handle, *pairs):
        changes = [
            UpdateMemory(n, {"flag": "conflict" if ids else None, "flagged_with": ids}, index_tokens(memory.get(id)))
            for id, n, ids in pairs
        ]
        handle.store.apply(handle.writes(), changes, handle.cause("consolidate"))

    flag(as_run(memory), (tea.id, tea.n, (coffee.id,)), (coffee.id, coffee.n, (tea.id,)))
    flag(memory._handle, (tea.id, tea.n, (coffee.id, boat.id)), (coffee.id, coffee.n, ()), (boat.id, boat.n, (tea.id,)))
    done = memory.admin.undo_run(RUN)

    assert ((1,), ()) == (done.items, done.skipped)
    assert [("conflict", (boat.id,)), (None, ()), ("conflict", (tea.id,))] == [
        (memory.get(row.id).flag, memory.get(row.id).flagged_with) for row in (tea, coffee, boat)
    ]
