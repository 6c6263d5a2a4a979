"""R7: other processes open, read and close the store, with three SQLite libraries, while we write."""

from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from faults.test_locks import OTHERS
from integrity import check
from workers import READY, clocked

VISITORS = ["apsw", "sqlite3", "yiku"]


def visit(what: str, home: Path, ready: Event, stop: Event) -> None:
    """Come and go, until it is over."""
    while not stop.is_set():
        OTHERS[what](home)
        ready.set()


@pytest.mark.parametrize("others", [*([what] for what in VISITORS), VISITORS], ids="+".join)
def test_R7_who_comes_and_goes_costs_no_commit(tmp_path, count, figure, others):
    """Through a long write of ours, whoever opens and closes the store beside us: 0 of our commits lost."""
    home, commits = tmp_path / "home", count(300, 50_000, "commits")
    clocked(home).close()
    stop, ready = READY.Event(), [READY.Event() for _ in others]
    visitors = [READY.Process(target=visit, args=(what, home, here, stop)) for what, here in zip(others, ready, strict=True)]
    for visitor in visitors:
        visitor.start()
    try:
        assert all(here.wait(30) for here in ready)
        with clocked(home) as memory:
            for i in range(commits):
                memory.record_turn("user", f"第 {i} turn", session=f"s{i % 50}")
    finally:
        stop.set()
        for visitor in visitors:
            visitor.join()
    with clocked(home) as memory:
        found = {turn.content for turn in memory.timeline(limit=commits)}
    check(home / "yiku.db")
    assert [0] * len(visitors) == [visitor.exitcode for visitor in visitors]
    figure("commits lost", commits - len(found), most=0)
