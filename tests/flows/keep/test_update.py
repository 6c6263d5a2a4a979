"""`update`: a new text becomes a new version, other details change in place."""

from datetime import timedelta

import pytest

from yiku.errors import InvalidInput, NotFound
from yiku.types import Kind


def texts(items):
    return [item.content for item in items]


def test_a_new_text_is_a_new_version(memory, clock):
    """Said now, in the same line, with what was noted about the old one, which stays as history."""
    old = memory.remember("我住在奥斯陆", importance=0.9, tags=["家"], pinned=True, metadata={"a": 1}).memory
    clock.advance(days=1)
    new = memory.update(old.id[-8:], "我住在奥斯陆市中心")

    assert ["我住在奥斯陆", "我住在奥斯陆市中心"] == texts(memory.history(old.id))
    assert (old.line, clock.now, 0.9, ("家",), True, {"a": 1}) == (
        new.line, new.said_at, new.importance, new.tags, new.pinned, new.metadata,
    )  # fmt: skip
    assert new.id == memory.get(old.id).superseded_by
    assert new.id == memory.recall("我住在哪里？")[0].id


def test_an_old_id_means_the_current_version(memory):
    """Update acts on the line, whichever of its ids is given."""
    ids = [memory.remember(f"I live in {city}").memory.id for city in ("Bergen", "Oslo")]
    memory.update(ids[0], "I live in Rome")

    assert ["I live in Bergen", "I live in Oslo", "I live in Rome"] == texts(memory.history(ids[1]))


def test_a_text_without_a_slot_keeps_the_slot(memory):
    """Free words told for a line still fill its slot, so a later statement retires them."""
    old = memory.remember("I live in Oslo").memory
    memory.update(old.id, "The flat by the opera house")
    memory.remember("I live in Bergen")

    assert ["I live in Bergen"] == texts(memory.get_all())


@pytest.mark.spec("S3-66", "S2-39")
def test_what_is_noted_changes_in_place(memory, clock):
    """Weights, tags, expiry and the rest, on one version; the journal keeps what was."""
    kept = memory.remember("香蕉很好吃", tags=["水果"]).memory
    clock.advance(days=2)
    details = {"kind": Kind.RULE, "importance": 0.1, "confidence": 0.2, "strength": 5, "priority": "permanent", "pinned": True,
               "tags": ("吃", "b"), "metadata": {"x": [1]}, "basis": "why", "agent": "a", "project": "p", "external_id": "e"}  # fmt: skip
    changed = memory.update(kept.id, **details, ttl_days=3, expires_at="2026-04-01")

    assert {**details, "tags": ("b", "吃")} == {name: getattr(changed, name) for name in details}
    assert (kept.id, 1) == (changed.id, len(memory.history(kept.id)))
    assert (kept.created_at, clock.now) == (changed.created_at, changed.updated_at)
    assert "2026-03-06" == changed.auto_delete_at.date().isoformat()
    assert ["水果"] == [*memory.admin.journal(limit=1)[0].before["tags"]]
    assert changed == memory.get(kept.id)


def test_the_same_text_changes_in_place(memory):
    """The text that it has adds no version."""
    kept = memory.remember("I live in Oslo").memory
    changed = memory.update(kept.id, " I live in Oslo ", importance=0.9)

    assert (kept.id, 0.9, 1) == (changed.id, changed.importance, len(memory.history(kept.id)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Oslo.", "I live in OSLO."),
        ("The build uses make.", "The build uses Make."),
        ("The file is .env", "The file is env"),
        ("My name is us", "My name is US"),
        ("The pump is broken.", "The pump is broken"),
        ("门牌号是１２", "门牌号是12"),
        ("我住在oslo。", "我住在Oslo。"),
        ("我喜欢喝茶。", "我喜欢喝茶"),
    ],
)
def test_another_spelling_is_a_new_version(memory, before, after):
    """Case, width and punctuation change where somebody asks for it; one undo takes it back, and saying it again confirms it."""
    kept = memory.remember(before).memory
    changed = memory.update(kept.id, after)

    assert [after] == texts(memory.get_all())
    assert [before, after] == texts(memory.history(changed.id))
    memory.admin.undo(memory.admin.journal(limit=1)[0].transaction)
    assert [before] == texts(memory.get_all())
    assert "confirmed" == memory.remember(after).kind


def test_a_slot_held_by_another_is_refused(memory):
    """An update cannot make a second live value; the error names the one that is there."""
    memory.remember("My employer is Acme")
    other = memory.remember("香蕉很好吃").memory
    with pytest.raises(InvalidInput, match="My employer is Acme"):
        memory.update(other.id, "My employer is Globex")

    assert {"My employer is Acme", "香蕉很好吃"} == {*texts(memory.get_all())}


def test_a_text_that_is_there_is_refused(memory):
    """Two live rows with one text would be one statement twice; also when only the kind makes them alike."""
    memory.remember("香蕉很好吃")
    other = memory.remember("Bananas are fine").memory
    skill = memory.remember("香蕉很好吃", kind="skill").memory
    for call in (lambda: memory.update(other.id, "香蕉很好吃"), lambda: memory.update(skill.id, kind="fact")):
        with pytest.raises(InvalidInput, match="another memory has the same text"):
            call()

    assert {("香蕉很好吃", "fact"), ("Bananas are fine", "fact"), ("香蕉很好吃", "skill")} == {
        (m.content, m.kind) for m in memory.get_all()
    }


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ({}, "needs a text or something to change"),
        ({"subject": "x"}, "subject cannot change without a new text"),
        ({"colour": 1}, "colour cannot change"),
        ({"text": "I live in Rome", "said_at": "2020-01-01"}, "use remember"),
        ({"importance": 2}, "importance must be"),
        ({"text": ""}, "text is empty"),
    ],
)
def test_what_cannot_be_updated_is_refused(memory, call, why):
    """The error says which argument it was, and nothing has changed."""
    kept = memory.remember("I live in Oslo").memory
    with pytest.raises(InvalidInput, match=why):
        memory.update(kept.id, **call)

    assert kept == memory.get(kept.id)


def test_what_is_forgotten_must_be_restored_first(memory):
    """A forgotten line has no live version to change."""
    kept = memory.remember("I live in Oslo").memory
    memory.forget(kept.id)
    with pytest.raises(NotFound, match="restore it first"):
        memory.update(kept.id, importance=0.1)


DESKS = pytest.mark.parametrize("text", ["Bob's desk is near the window.", "小王的桌子靠窗。"])
PERMANENT, PINNED = {"priority": "permanent"}, {"pinned": True}


@DESKS
@pytest.mark.parametrize("before", [{"priority": "short_term"}, {"priority": "long_term", "said_at": "2026-01-01"}])
@pytest.mark.parametrize("given", [PERMANENT, PINNED, {"priority": "transient", "pinned": True}])
def test_what_becomes_permanent_or_pinned_has_no_end(memory, clock, text, before, given):
    """The end that came with its priority is lifted, whatever else was noted since; months of nights later it is found."""
    row = memory.remember(text, **before).memory
    clock.advance(hours=5)
    memory.update(row.id, tags=["office"])
    row = memory.update(row.id, **given)
    clock.advance(days=100)
    memory.admin.consolidate()

    assert row.expires_at is None
    assert [row.id] == [hit.id for hit in memory.recall(text, types=["memory"])]


@DESKS
def test_a_pin_lifts_the_end_that_a_use_or_another_priority_moved(memory, clock, text):
    """As it lifts the first one."""
    used, other = (memory.remember(f"{text} {n}", priority="short_term").memory for n in (1, 2))
    clock.advance(days=2)
    memory.feedback(used.id, "used")
    memory.update(other.id, priority="long_term")
    clock.advance(days=2)

    assert [None, None] == [memory.update(row.id, pinned=True).expires_at for row in (used, other)]


@DESKS
def test_a_pin_keeps_an_end_that_was_named(memory, clock, text):
    """At once, later, or with a priority; a priority given afterwards takes its place, as does an end."""
    end = clock.now + timedelta(days=9)
    first = memory.remember(f"{text} 1", priority="short_term", expires_at=end).memory
    second = memory.remember(f"{text} 2", priority="short_term").memory
    memory.update(second.id, expires_at=end)
    third = memory.remember(f"{text} 3", ttl_days=9).memory
    pinned = [memory.update(row.id, pinned=True) for row in (first, second, third)]

    assert [end, end, None] == [row.expires_at for row in pinned]
    assert end == pinned[2].auto_delete_at
    assert [None] * 3 == [memory.update(row.id, priority="permanent").ends_at for row in pinned]


@DESKS
def test_a_priority_brings_its_end(memory, clock, text):
    """Counted from now, however long ago it was said; an end or days that are named with it count instead."""
    row = memory.remember(text, said_at="2025-01-01").memory
    clock.advance(days=1)

    def given(**details):
        changed = memory.update(row.id, **details)
        return [end - clock.now if end else None for end in (changed.expires_at, changed.auto_delete_at)]

    day = timedelta(days=1)
    assert [day, None] == given(priority="transient")
    assert [30 * day, None] == given(priority="long_term")
    assert [2 * day, None] == given(priority="long_term", expires_at=clock.now + 2 * day)
    assert [None, 7 * day] == given(priority="short_term", ttl_days=7)
    assert [None, None] == given(priority="permanent")


@DESKS
def test_told_again_by_its_key_a_priority_brings_its_end(memory, clock, text):
    """As by `update`."""
    row = memory.remember(text, external_id="desk").memory
    clock.advance(days=1)
    memory.remember(text, external_id="desk", priority="short_term")
    ends = memory.get(row.id).expires_at
    memory.remember(text, external_id="desk", priority="permanent")

    assert clock.now + timedelta(days=3) == ends
    assert memory.get(row.id).expires_at is None


@DESKS
def test_pinned_from_the_beginning_it_has_no_end_of_its_priority(memory, clock, text):
    """Nor has its next version; an end that is named with it counts."""
    row = memory.remember(text, priority="short_term", pinned=True).memory
    named = memory.remember(f"{text} 2", priority="short_term", pinned=True, expires_at=clock.now + timedelta(days=1)).memory

    assert [None, None] == [row.expires_at, memory.update(row.id, f"{text} 3").expires_at]
    assert clock.now + timedelta(days=1) == named.expires_at
