"""`undo` of one operation; refused where a later one builds on it."""

from dataclasses import replace

import pytest

from yiku import Memory
from yiku.errors import CannotUndo, NotFound
from yiku.flows.keep.remember import remember
from yiku.flows.learn import at_once, episodes


def texts(items):
    return [item.content for item in items]


def seen(memory):
    """All that can be seen: live memories with their details, their histories, turns in recall, what grew out of sessions."""
    live = [
        (m.id, m.content, m.importance, m.confidence, m.tags, m.valid_to, m.flag, m.flagged_with, m.said_at, len(m.sources))
        for m in memory.get_all()
    ]
    chains = [
        [(v.id, v.state, v.superseded_by, v.valid_to) for v in memory.history(m.id) if v.state == "active"]
        for m in memory.get_all()
    ]
    grown = [replace(one, changed=0) for one in (*memory.sessions.episodes(), *memory.sessions.attachments())]
    pad = memory.sessions.scratchpad()
    pads = [replace(pad, changed=0)] if pad.changed else []
    return live, chains, sorted(t.id for t in memory.search_traces()), grown, pads


def last(memory):
    """The number of the operation that was done last."""
    return memory.admin.journal(limit=1)[0].transaction


def scene(memory, clock):
    """A home with a bit of everything; by name, what can be done next."""
    turns = memory.record([{"role": "user", "content": text} for text in ("I live in Bergen", "早", "我喜欢绿茶")], session="s").ids
    bergen = memory.remember("I live in Bergen", source=turns[0], said_at="2026-02-01").memory
    tea = memory.remember("我喜欢绿茶", source=turns[2], importance=0.4, tags=["茶"], confidence=0.5).memory
    memory.remember("My mentor is Ann")
    gone = memory.remember("香蕉很好吃").memory
    memory.forget(gone.id)
    cat = memory.sessions.attach("/tmp/小猫 cat.jpg", session="s", description="一只猫")
    memory.sessions.patch_scratchpad(add_next_steps=["浇花"])
    clock.advance(days=1)
    moved = memory.get(memory.record([{"role": "user", "content": "I live in Oslo."}], session="s").ids[0])
    handle = memory._handle
    return {
        "new": lambda: memory.remember("I own a boat"),
        "replaced": lambda: memory.remember("我搬到奥斯陆了"),
        "past": lambda: memory.remember("I live in Rome", said_at="2026-01-01"),
        "confirmed": lambda: memory.remember("我喜欢绿茶！"),
        "confirmed earlier": lambda: memory.remember("I live in Bergen", said_at="2026-01-01"),
        "flagged": lambda: memory.remember("My mentor is 李雷"),
        "retracted": lambda: memory.remember("我不喜欢绿茶了"),
        "updated": lambda: memory.update(tea.id, tags=["b"], importance=0.9, pinned=True),
        "told anew": lambda: memory.update(bergen.id, "I live in Oslo"),
        "forgot a memory": lambda: memory.forget(bergen.id),
        "forgot a turn": lambda: memory.forget(turns[0]),
        "forgot a session": lambda: memory.forget(session="s"),
        "restored": lambda: memory.restore(gone.id),
        "learned": lambda: at_once.learn_from(handle, moved),
        "attached": lambda: memory.sessions.attach("/tmp/狗.jpg", session="s"),
        "described": lambda: memory.sessions.describe(cat.id, description="two cats 两只猫"),
        "patched": lambda: memory.sessions.patch_scratchpad(add_next_steps=["发布 release"], settle_next_steps=["浇花"]),
        "told an episode": lambda: episodes.create(handle, [memory.get(id) for id in turns], "context_compress", None),
        "recorded": lambda: memory.record([{"role": "user", "content": "晚"}, {"role": "assistant", "content": "Good night"}]),
    }


NAMES = (
    "new|replaced|past|confirmed|confirmed earlier|flagged|retracted|updated|told anew"
    "|forgot a memory|forgot a turn|forgot a session|restored|learned|attached|described|patched|told an episode|recorded"
).split("|")


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_can_be_undone_and_done_again(memory, clock, name):
    """Undo gives back what was there before; undo of the undo gives what was there after; and once more."""
    act = scene(memory, clock)[name]
    before = seen(memory)
    act()
    after, operation = seen(memory), last(memory)
    assert before != after

    for expected in (before, after, before, after):
        operation = memory.admin.undo(operation).operation
        assert expected == seen(memory)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_undone_twice(memory, clock, name):
    """What was taken back is changed since: the undo must be undone instead."""
    scene(memory, clock)[name]()
    operation = last(memory)
    memory.admin.undo(operation)
    with pytest.raises(CannotUndo, match=f"operation {operation}"):
        memory.admin.undo(operation)


def test_nothing_is_taken_from_under_a_later_change(memory, clock):
    """Later changes are undone first, newest first; then it can be."""
    operations = []
    for city in ("Bergen", "Oslo", "Rome"):
        operations.append(memory.remember(f"I live in {city}").operation)
        clock.advance(days=1)
    for operation in operations[:2]:
        with pytest.raises(CannotUndo, match="newest first"):
            memory.admin.undo(operation)
    for operation, left in zip(operations[::-1], (["I live in Oslo"], ["I live in Bergen"], []), strict=True):
        memory.admin.undo(operation)
        assert left == texts(memory.get_all())


def test_what_cannot_be_undone_at_all_says_so(memory):
    """The journal lists the opening of a scope, and no undo takes it back."""
    memory.remember("I live in Oslo")
    opened = min(change.transaction for change in memory.admin.journal())
    with pytest.raises(CannotUndo, match=rf"operation {opened} \(open scope\) cannot be undone") as failed:
        memory.admin.undo(opened)

    assert "Undo those first" not in str(failed.value)


@pytest.mark.parametrize("text", ["I live in Oslo", "香蕉很好吃"])
def test_what_was_erased_is_not_undone(memory, text):
    """There is no other operation to undo first, and the advice names none."""
    kept = memory.remember(text)
    memory.admin.erase(kept.memory.id)
    for operation in (kept.operation, last(memory)):
        with pytest.raises(CannotUndo, match="erased") as failed:
            memory.admin.undo(operation)
        assert "What was erased cannot be brought back." == failed.value.advice


@pytest.mark.parametrize("text", ["I live in Oslo", "香蕉很好吃"])
def test_what_was_said_again_is_not_doubled(memory, clock, text):
    """Forgotten, said again: the forgetting cannot be undone while the new one stands."""
    first = memory.remember(text)
    gone = memory.forget(first.memory.id)
    clock.advance(days=1)
    again = memory.remember(text)
    with pytest.raises(CannotUndo):
        memory.admin.undo(gone.operation)
    assert [again.memory.id] == [m.id for m in memory.get_all()]
    memory.admin.undo(again.operation)
    memory.admin.undo(gone.operation)
    assert [first.memory.id] == [m.id for m in memory.get_all()]


def test_a_recording_under_a_forgetting_is_not_undone(memory):
    """A turn that was forgotten since is changed since."""
    operation = memory.record([{"role": "user", "content": "早"}]).operation
    turn = memory.search_traces()[0]
    forgotten = memory.forget(turn.id).operation
    with pytest.raises(CannotUndo):
        memory.admin.undo(operation)
    memory.admin.undo(forgotten)
    memory.admin.undo(operation)

    assert [] == memory.search_traces()


def test_undone_text_stays_on_the_disk(memory):
    """A turn that was undone leaves recall, and can still be looked at by its id."""
    recorded = memory.record([{"role": "user", "content": "早"}])
    undone = memory.admin.undo(recorded.operation)

    assert (0, 1) == (undone.memories, undone.turns)
    assert ("早", True) == (memory.get(recorded.ids[0]).content, memory.get(recorded.ids[0]).hidden_at is not None)
    assert "recorded again" not in memory.recall("早").text


@pytest.mark.parametrize("operation", [99, 10**6, 2**62])
def test_an_operation_that_never_was_is_not_found(memory, operation):
    """Whatever its number."""
    memory.remember("早")
    with pytest.raises(NotFound, match=f"operation {operation}"):
        memory.admin.undo(operation)


@pytest.mark.spec("T-17")
def test_another_scope_s_operation_is_not_found(memory, home, clock):
    """As if it had never been, and it stands."""
    with Memory(home, scope="user:ann", clock=clock) as ann:
        operation = ann.remember("I live in Oslo").operation
        with pytest.raises(NotFound, match=f"operation {operation}"):
            memory.admin.undo(operation)

        assert ["I live in Oslo"] == texts(ann.get_all())


def test_the_journal_says_who_what_when_and_why(memory, home, clock):
    """Newest first: the time, the actor, the operation, the reason and what it overwrote."""
    with Memory(home, actor="nightly", clock=clock) as other:
        kept = other.remember("I live in Oslo").memory
        clock.advance(days=1)
        forgotten = other.forget(kept.id, reason="搬走了")
    row = memory.admin.journal()[0]

    assert (forgotten.operation, clock.now, "nightly") == (row.transaction, row.at, row.actor)
    assert ("forget", "update", "memories", kept.n) == (row.operation, row.action, row.table, row.row)
    assert ("forgotten: 搬走了", {"state": "active", "reason": None}) == (row.reason, dict(row.before))
    assert 1 == len(memory.admin.journal(limit=1))


def test_what_was_learned_from_a_turn_and_undone_is_not_learned_again(memory):
    """Neither by the next learning nor when the session is compressed; said again it is."""
    memory.record_turn("user", "I live in Oslo.", session="s")
    assert ["I live in Oslo."] == texts(memory.get_all())
    memory.admin.undo(last(memory))
    memory.learn()
    memory.sessions.compressing([{"role": "user", "content": "I live in Oslo."}], session="s")

    assert [] == memory.get_all()
    memory.record_turn("user", "I live in Oslo.", session="s")
    assert ["I live in Oslo."] == texts(memory.get_all())


def test_a_retraction_can_be_taken_back(memory, clock):
    """`just kidding` took back what was said before it: undone, that holds again, and is not taken back once more."""
    for text in ("I live in Oslo.", "我开玩笑的"):
        clock.advance(minutes=1)
        memory.record_turn("user", text, session="s")
    assert [] == memory.get_all()
    memory.admin.undo(last(memory))
    memory.learn()

    assert ["I live in Oslo."] == texts(memory.get_all())


def test_a_record_that_changed_since_is_not_taken_back(memory):
    """What a later operation changed, or an erasure took, must be undone first, or cannot be."""
    kept = memory.sessions.attach("/tmp/小猫 cat.jpg", session="s")
    first = last(memory)
    memory.sessions.describe(kept.id, description="一只猫 a cat")
    second = last(memory)
    with pytest.raises(CannotUndo, match=f"operation {second}"):
        memory.admin.undo(first)
    memory.admin.erase(kept.id)
    for operation in (first, second):
        with pytest.raises(CannotUndo):
            memory.admin.undo(operation)


# ------------------------------------------------------------------ runs


def in_a_run(memory, name="r 一"):
    """Three operations under one name: a statement, what replaces it, and what confirms another that was there; their numbers."""
    handle = replace(memory._handle, run=name)
    texts = ("I live in Oslo.", "我搬到卑尔根了", "Ann has a cat.")
    return [remember(handle, text, {}).operation for text in texts]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_the_operations_of_a_run_are_undone_together(memory, clock, which):
    """By the number of any of them; a statement that came between them stays; and again, and back."""
    memory.remember("Ann has a cat.")
    clock.advance(days=1)
    before = seen(memory)
    numbers = in_a_run(memory)
    after = seen(memory)
    done = memory.admin.undo(numbers[which])

    assert (3, before) == (done.memories, seen(memory))
    with pytest.raises(CannotUndo, match=f"operation {done.operation}"):
        memory.admin.undo(numbers[which])
    memory.admin.undo(done.operation)
    assert after == seen(memory)


def test_what_was_done_while_a_run_was_under_way_is_not_later_than_it(memory, clock):
    """Another's change to a statement before the run came to it stands, and is no reason to refuse."""
    cat = memory.remember("Ann has a cat.").memory
    handle = replace(memory._handle, run="r")
    first = remember(handle, "I live in Oslo.", {}).operation
    memory.update(cat.id, tags=["猫"])
    remember(handle, "Ann has a cat.", {})
    memory.admin.undo(first)

    assert [("Ann has a cat.", ("猫",), 1)] == [(m.content, m.tags, len(memory.get(m.id).sources)) for m in memory.get_all()]


def test_a_run_under_a_later_change_is_undone_after_it(memory, clock):
    """A later change of one statement holds all of the run; an undo of the run frees what was before it."""
    first = memory.remember("Ann has a cat.").operation
    clock.advance(days=1)
    numbers = in_a_run(memory)
    clock.advance(days=1)
    later = memory.remember("I live in Rome.").operation
    with pytest.raises(CannotUndo, match=f"operation {later}"):
        memory.admin.undo(numbers[2])
    memory.admin.undo(later)
    with pytest.raises(CannotUndo):
        memory.admin.undo(first)
    memory.admin.undo(numbers[0])
    memory.admin.undo(first)

    assert [] == memory.get_all()
