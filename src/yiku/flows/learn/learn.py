"""
Process pending turns: rules first, then the model queue; count the memories that replies used.

Turns are dealt with in the order in which they came, by rules first (by_rules.py). Where there is a model, what may hold more
goes into the queue and is read by it (by_model.py). A mark in the scope says how far the turns are learned from. Every step can be
cut off and done again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress

from yiku.errors import Stale
from yiku.flows.common import checks, pause
from yiku.flows.common.handle import Handle
from yiku.flows.keep import attach, feedback
from yiku.flows.learn import by_model, by_rules
from yiku.flows.learn.store_draft import Result, Step, Unfinished, counted, troubles
from yiku.models.api import ChatModel
from yiku.rules.privacy import fence
from yiku.rules.text.analyze import fold
from yiku.store.api import one_at_a_time
from yiku.types import AddJobs, Change, CountAccess, Expect, Learned, LearnReport, SemanticMemory, Turn, Turns

BATCH = 100  # turns between two steps of the mark
CITED = 8  # characters of a memory's id that a reply cites
OBJECT_CHARS = 2  # an object this short may stand in a reply by chance

Progress = Callable[[int, int], object]


def learn(
    handle: Handle,
    *,
    budget_s: float | None = None,
    session: str | None = None,
    everything: bool = False,
    asking: bool = True,
    wait_s: float = 0.0,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> LearnReport:
    """
    Process pending turns within a time budget.

    budget_s: looked at between sentences; the turn that comes first is read to its end, so that each call gets on
    session:    of the queue only what belongs to this one
    everything: also what is not due yet, and what failed for good
    asking:     whether the queue is worked on; else what a model is to read is only queued
    wait_s:     for whoever learns here already
    progress:   told how many turns and jobs are done, of how many
    Raises StoreBusy while another process learns here.
    """
    checks.optional_call(progress, "progress")
    checks.optional_name(session, "session")
    checks.flag(everything, "everything")
    checks.optional_seconds(budget_s, "budget_s")
    handle.store.upkeep.about()  # a memory that was closed says so
    pause.raise_if_paused(handle)
    began, own = time.monotonic(), handle.own()
    model = handle.chat()
    if not own or handle.settings.learn == "off":
        return LearnReport(model=model.name if model else None)

    def over() -> bool:
        return stopped() or (budget_s is not None and time.monotonic() - began >= budget_s)

    outcomes, lines, turns, jobs = Counter[str](), dict[str, None](), 0, 0
    with one_at_a_time(handle.paths.locks / "learner.lock", "another process is learning", wait_s):
        total = sum(waiting(handle).values())
        with closing(_steps(handle, own[0], model, session, everything=everything, asking=asking, over=over)) as steps:
            for step in steps:
                turns, jobs = turns + step.turns, jobs + step.jobs
                outcomes += counted(step.results)
                lines |= dict.fromkeys(troubles(step.results))
                if progress is not None:
                    progress(turns + jobs, max(total, turns + jobs))
    left = waiting(handle)
    handle.put_off = None
    return LearnReport(
        turns=turns,
        jobs=jobs,
        outcomes=dict(outcomes),
        waiting=sum(left.values()),
        dead=len(handle.store.learning.jobs(own[0], dead=True)),
        model=model.name if model else None,
        seconds=round(time.monotonic() - began, 3),
        troubles=tuple(lines),
    )


def waiting(handle: Handle) -> Mapping[str, int]:
    """
    Count pending turns and model jobs; 0 with `learn = off`.

    A turn that was learned from at once is not counted, nor one that an import has learned from.
    """
    own = handle.own()
    if not own or handle.settings.learn == "off":
        return {}
    late = handle.store.learning.waiting(own[0])
    if read := [n for n in {*handle.read} if n > handle.store.learning.upto(own[0])]:  # which is written when this memory is closed
        late -= len({*read} - handle.store.learning.extracted(own[0], read) - {*handle.store.learning.compressions(own[0], read)})
    queued = len(handle.store.learning.jobs(own[0], dead=False)) if handle.chat() is not None else 0
    return {name: count for name, count in (("turns to learn from", late), ("questions to the model", queued)) if count}


def _steps(
    handle: Handle,
    scope: int,
    model: ChatModel | None,
    session: str | None,
    *,
    everything: bool,
    asking: bool,
    over: Callable[[], bool],
) -> Generator[Step]:
    """Process batches of turns by rules, then model jobs."""
    yield from _batches(handle, scope, over, asks=model is not None)
    if model is not None and asking:
        if everything:
            by_model.revive(handle, scope, session)
        yield from by_model.steps(by_model.Asking(handle, scope, model), session, due=not everything, over=over)


def _batches(handle: Handle, scope: int, over: Callable[[], bool], *, asks: bool) -> Iterator[Step]:
    """
    Process turns in batches, advancing the mark after each.

    asks: what may hold more is queued for a model
    """
    store, begun = handle.store, False
    while not over():
        erasure, upto = store.erasures.last(), store.learning.upto(scope)
        turns = store.turns([scope], Turns(after=upto, limit=BATCH))
        if not turns:
            hidden = store.turns([scope], Turns(after=upto, limit=1, hidden=True))
            if not hidden:
                return
        last = turns[-1].n if turns else hidden[-1].n
        known = store.learning.extracted(scope, [turn.n for turn in turns])  # where an import has them from
        results, read, used = list[Result](), list[Turn](), dict[int, SemanticMemory]()
        for turn in (turn for turn in turns if turn.n not in known):
            results += by_rules.from_turn(handle, scope, turn, over if begun else by_rules.never)
            if results and isinstance(results[-1], Unfinished):
                last = turn.n - 1  # it comes first in the next run
                break
            used |= {memory.n: memory for memory in _count_used(handle, scope, turn)}
            read.append(turn)
            begun = True
        changes: list[Change] = [Learned(upto=last, since=upto)]
        if used:
            changes += [CountAccess(sorted(used), "used"), *feedback.renewed([*used.values()], handle.now())]
        if asks and (jobs := by_model.jobs_for(handle, scope, read)):
            changes.append(AddJobs(jobs))
        cause = handle.cause("learn")
        with suppress(Stale), store.exclusive():  # something was erased meanwhile: what is left is read again
            files = attach.find_in_turns(handle, scope, read)  # the end of a session notes them, too
            store.apply(scope, [*changes, *files], cause, Expect(erasure=erasure))
        yield Step(results, turns=len(read))


def _count_used(handle: Handle, scope: int, turn: Turn) -> list[SemanticMemory]:
    """Count the memories that a reply used: shown that day and cited by id or value."""
    if turn.role != "assistant" or not turn.content:
        return []
    day = turn.said_at.replace(hour=0, minute=0, second=0, microsecond=0)
    said = fold(fence.strip_all(turn.content))
    return [
        memory
        for memory in handle.store.retrieved_since(scope, day)
        if (memory.last_retrieved is not None and memory.last_retrieved <= turn.recorded_at)
        and (memory.id[-CITED:] in said or (len(memory.object or "") >= OBJECT_CHARS and fold(memory.object or "") in said))
    ]
