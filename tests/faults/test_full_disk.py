"""
R9: every verb on a really full disk, a mount of a few MB.

What was acknowledged stays, what is refused is StorageFull and not stored, reading and searching go on, and
forgetting works, because the home holds 1 MiB back for it. With space again, all works as if nothing had been.
"""

import pytest
from faults.smalldisk import KINDS, MiB, Space, in_little_space
from faults.test_failing_disk import LONG, opened, prepared
from integrity import check

from yiku import Memory
from yiku.errors import StorageFull

DISK_BYTES = 6 * MiB
RESERVE_BYTES = MiB
MOST_WRITES = 2_000  # a log that was started over has room for some


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_R9_a_full_disk_refuses_new_things_and_does_all_else(tmp_path, kind):
    """Full to the last byte: StorageFull, nothing lost, all can be read and forgotten; freed: everything works."""
    in_little_space(kind, DISK_BYTES, tmp_path, a_disk_fills_up)


def a_disk_fills_up(space: Space) -> None:
    home = space.folder / "home"
    with opened(home) as memory:
        prepared(memory)
        kept = [memory.record_turn("user", f"第 {i} turn 轮 😀").id for i in range(50)]
        space.fill()
        kept += acknowledged_until_full(memory)
        refused(memory)
        readable(memory, kept)
        forgetting_works(memory, kept)
    space.fill()  # closing made room: the log went into the database
    with opened(home) as memory:  # opening needs none
        readable(memory, kept)
        kept += acknowledged_until_full(memory)
        refused(memory)
        space.free()
        kept.append(memory.record_turn("user", "现在 there is space again").id)
        memory.remember("我对青霉素过敏。")
        assert memory.record_turn("user", LONG).blob
    with opened(home) as memory:
        readable(memory, kept)
        assert 0 == len(memory.search_traces("refused 拒绝"))
    assert RESERVE_BYTES == (home / "reserve").stat().st_size, "what was held back is held back again"
    check(home / "yiku.db")


def acknowledged_until_full(memory: Memory) -> list[str]:
    """The turns that still found room, up to the first that did not."""
    ids = []
    for i in range(MOST_WRITES):
        try:
            ids.append(memory.record_turn("user", f"squeezed in 挤进 {i}").id)
        except StorageFull:
            return ids
    raise AssertionError("the disk never was full")


def refused(memory: Memory) -> None:
    """Every way of adding something is refused by the same name."""
    for add in (
        lambda: memory.record_turn("user", "refused 拒绝"),
        lambda: memory.record([{"role": "user", "content": f"refused 拒绝 {i}"} for i in range(20)]),
        lambda: memory.record_turn("user", f"refused 拒绝 {LONG}"),
        lambda: memory.remember("refused 拒绝"),
    ):
        with pytest.raises(StorageFull):
            add()


def readable(memory: Memory, kept: list[str]) -> None:
    """What was acknowledged is found by id, by question, by time."""
    assert kept == [memory.get(id).id for id in kept]
    assert "Oslo" in memory.recall("where do I live? 我住在哪里？").text
    assert "Oslo" in memory.context("我住在哪里？").text
    assert len(kept) <= len(memory.timeline(limit=5_000))
    assert memory.admin.stats().turns >= len(kept)
    assert memory.status().store_id
    assert memory.history("Oslo")
    assert memory.search_traces("轮")


def forgetting_works(memory: Memory, kept: list[str]) -> None:
    """One statement, one turn, and what is forgotten is not found; what is left still is."""
    tea = next(row for row in memory.get_all() if "Ann" in row.content)
    memory.forget(tea.id)
    memory.forget(kept[0])

    assert "Ann" not in memory.recall("What does Ann like? 安喜欢什么？").text
    assert kept[0] not in [turn.id for turn in memory.search_traces("第 0 turn", limit=100)]
    assert kept[1] in [turn.id for turn in memory.search_traces("第 1 turn", limit=100)]
