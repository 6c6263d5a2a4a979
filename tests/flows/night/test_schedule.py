"""When a night is due, who runs it, and the lines for cron and systemd."""

import shlex
import threading
import time

import pytest

from yiku import Memory
from yiku.flows.common import background
from yiku.flows.night import consolidate, schedule
from yiku.types import Memories, State


def due(memory: Memory) -> bool:
    return schedule.not_due(memory._handle) is None


@pytest.fixture
def used(memory: Memory, clock) -> Memory:
    """A memory in which something was said, a day ago."""
    memory.remember("The lift is broken. 电梯坏了。", priority="transient")
    clock.advance(hours=25)
    return memory


def test_a_night_is_due_once_in_20_hours(used, clock):
    """Not before a memory is that old, and not twice."""
    first = due(used)
    used.admin.consolidate()
    after = due(used)
    clock.advance(hours=19)
    early = due(used)
    clock.advance(hours=1)

    assert [True, False, False, True] == [first, after, early, due(used)]


def test_it_waits_for_20_idle_minutes_but_not_for_ever(used, clock):
    """While somebody writes it is not due; after 48 hours it is in any case."""
    used.remember("Somebody writes. 有人在写。")
    busy = due(used)
    clock.advance(minutes=20)
    idle = due(used)
    clock.advance(hours=24)
    used.remember("And goes on. 还在写。")

    assert [False, True, True] == [busy, idle, due(used)]


def test_a_run_that_was_cut_off_is_due_at_once(used, clock):
    """And after a day, when it is not resumed any more, a new one is."""
    used.admin.consolidate(budget_s=0)

    assert due(used)
    clock.advance(hours=1)

    assert due(used)


def test_an_empty_memory_has_no_night(memory):
    """Nothing was written yet."""
    report = memory.admin.consolidate(if_due=True)

    assert ("", ("not due: nothing was written yet",)) == (report.run, report.notes)
    assert None is memory.admin.schedule().next_due


def test_a_clock_that_was_set_back_stops_no_night(used, clock):
    """The last night lies ahead: it is due."""
    used.admin.consolidate()
    clock.advance(days=-20)

    assert due(used)


def test_if_due_runs_it_or_says_why_not(used):
    """The same verb, for cron."""
    first, second = used.admin.consolidate(if_due=True), used.admin.consolidate(if_due=True)

    assert {"expired": 1} == first.counts
    assert ("", ("not due: the last night was 0 hours ago",)) == (second.run, second.notes)


def test_a_thread_of_a_long_lived_memory_runs_the_missed_night(used, home, clock, monkeypatch):
    """With background=True it comes by itself; with nights=off it does not, and no thread stays."""
    done = threading.Event()
    whole = consolidate.consolidate

    def announced(*args, **given):
        report = whole(*args, **given)
        done.set()
        return report

    monkeypatch.setattr(schedule, "consolidate", announced)
    (one,) = used._handle.store.memories(used._handle.own(), Memories())
    with Memory(home, clock=clock, background=True, nights="off") as off:
        (thread,) = background._workers(off._handle, background.NIGHT)
        thread._thread.join(10)
        state = used.get(one.id).state
    with Memory(home, clock=clock, background=True):
        assert done.wait(60)

    assert State.ACTIVE is state
    assert State.ARCHIVED is used.get(one.id).state


def test_a_night_in_a_thread_rests_so_that_searches_are_not_kept_waiting(used, clock, monkeypatch):
    """After each short piece of work, between its decisions; a night that somebody waits for does not rest."""
    for number in range(60):
        used.remember(f"Lamp {number} burns oil. 第{number}盏灯。", priority="transient")
    clock.advance(hours=49)
    rests: list[float] = []
    done = threading.Event()
    whole, sleep = consolidate.consolidate, time.sleep

    def announced(*args, **given):
        report = whole(*args, **given)
        done.set()
        return report

    def resting(seconds: float) -> None:
        rests.append(seconds)
        sleep(0)

    monkeypatch.setattr(schedule, "consolidate", announced)
    monkeypatch.setattr(schedule, "WORK_S", 0.0)
    monkeypatch.setattr(schedule.time, "sleep", resting)
    worker = schedule.in_background(used._handle)
    assert done.wait(60)
    worker.stop(5)
    rested = rests.count(schedule.REST_S)
    clock.advance(hours=49)
    used.admin.consolidate()

    assert rested > 60
    assert rested == rests.count(schedule.REST_S)


def test_the_thread_lets_a_pause_be(used):
    """Paused, nothing is tidied, and that is no trouble."""
    worker = background.Worker.__new__(background.Worker)
    worker.handle, worker.trouble, worker._ended = used._handle, "before", threading.Event()
    used.admin.pause()

    assert schedule.LOOK_EACH_S == schedule.look(worker)
    assert (None, []) == (worker.trouble, used._handle.store.nights.runs(used._handle.own()[0]))


@pytest.mark.spec("S3-43")
def test_the_lines_for_the_system_run_it_each_hour(memory, home):
    """They name this home and scope, quoted, ask whether a night is due, and give way to other programs."""
    found = memory.admin.schedule()
    minute, words = found.cron.split(" ", 5)[0], shlex.split(found.cron.split(" ", 5)[5])

    assert minute.isdigit()
    assert ["nice", "-n", "10"] == words[:3]
    assert "\nNice=10\n" in found.service
    assert ["consolidate", "--if-due", "--quiet", "--home", str(home), "--scope", "user:mei"] == words[-7:]
    assert f'"{home}"' in found.service
    assert "OnCalendar=hourly\nPersistent=true" in found.timer


def test_status_says_that_nights_were_skipped(used, clock):
    """From the third day on, where there ever was one."""
    used.admin.consolidate()
    clock.advance(days=2)
    fine = [line for line in used.status().troubles if "night" in line]
    clock.advance(days=2)

    assert [] == fine
    assert ["the last night was 4 days ago: yiku consolidate, or yiku schedule"] == [
        line for line in used.status().troubles if "night" in line
    ]
