"""Usage counters: a memory was retrieved, used in an answer, or mentioned by the user."""

import pytest

from yiku.errors import InvalidInput, NotFound


@pytest.mark.spec("S0-69", "S0-70", "S0-71")
@pytest.mark.parametrize(
    ("access", "counter"),
    [
        ("retrieved", "retrieved"),
        ("retrieval", "retrieved"),
        ("used", "used"),
        ("used_in_response", "used"),
        ("useful", "used"),
        ("mentioned", "mentioned"),
        ("user_mentioned", "mentioned"),
        (" USED ", "used"),
    ],
)
def test_each_access_counts_one(memory, clock, access, counter):
    """The counter of its kind and the sum go up by one, the others stay, and the time is that of the call."""
    kept = memory.remember("我住在奥斯陆").memory
    memory.feedback(kept.id, "retrieved")
    clock.advance(days=1)
    counted = memory.feedback(kept.id[-8:], access)
    expected = {"retrieved": 1, "used": 0, "mentioned": 0}
    expected[counter] += 1

    assert expected == {name: getattr(counted, name) for name in expected}
    assert (2, clock.now, clock.now) == (counted.access_count, counted.last_accessed_at, getattr(counted, f"last_{counter}"))
    assert counted == memory.get(kept.id)


@pytest.mark.spec("S0-70")
def test_only_retrieval_counts_as_retrieval(memory):
    """Being used or mentioned is an access, and no retrieval."""
    kept = memory.remember("我住在奥斯陆").memory
    for access in ("used", "mentioned", "used"):
        memory.feedback(kept.id, access)

    assert (0, 3) == (memory.get(kept.id).retrieved, memory.get(kept.id).access_count)


def test_feedback_counts_each_time(memory):
    """Unlike what a context reports, an explicit retrieval counts each time it is told."""
    kept = memory.remember("我住在奥斯陆").memory
    for _ in range(3):
        memory.feedback(kept.id, "retrieved")

    assert 3 == memory.get(kept.id).retrieved


@pytest.mark.spec("S0-71")
def test_an_access_is_no_change(memory, clock):
    """Counters leave the time of the last change and the journal as they were."""
    kept = memory.remember("我住在奥斯陆").memory
    changes = memory.admin.stats().changes
    clock.advance(days=1)
    counted = memory.feedback(kept.id, "used")

    assert (kept.updated_at, changes) == (counted.updated_at, memory.admin.stats().changes)


def test_being_used_raises_a_memory_among_its_equals(memory, clock):
    """Of two memories that fit a question alike, the one that was of use comes first."""
    first, second = (memory.remember(f"{name} 香蕉", said_at="2026-02-01").memory for name in ("one", "two"))
    before = [hit.id for hit in memory.recall("香蕉")]
    for _ in range(3):
        memory.feedback(before[1], "used")

    assert {first.id, second.id} == {*before}
    assert before[::-1] == [hit.id for hit in memory.recall("香蕉")]


@pytest.mark.parametrize("access", ["liked", "", "retrieve", "使用"])
def test_an_unknown_access_is_refused(memory, access):
    """The error names the three that there are, and nothing is counted."""
    kept = memory.remember("我住在奥斯陆").memory
    with pytest.raises(InvalidInput, match="one of retrieved, used, mentioned"):
        memory.feedback(kept.id, access)

    assert 0 == memory.get(kept.id).access_count


def test_a_turn_is_not_counted(memory):
    """Its id is named as a turn's."""
    with pytest.raises(NotFound, match="this id is a turn's"):
        memory.feedback(memory.record_turn("user", "早").id, "used")
