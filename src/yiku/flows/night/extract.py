"""
Phases 1 to 3, collect, filter and extract: learn from pending turns, and make the episodes that sessions lack.

A turn is read once, so the three are one pass: what waits is collected by the mark behind the last turn that was learned from,
what is not worth learning from is dropped from learning only, and the rest is learned by rules and, where there is one, by a
model. A turn that was learned from when it was recorded is not read again. All of it is done by `learn` under the name of the
run, and written down here from the journal, also what a run that was cut off had learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from yiku.errors import NotFound, StoreBusy
from yiku.flows.learn import episodes, learn
from yiku.flows.night.run import OPERATION, Night
from yiku.types import ChangeRow, Episode, KeepItem, Memories, NightItem, Records, Turn, Turns

IDLE = timedelta(hours=2)  # after so long without a turn, a session is over for now
LEARNED, EPISODE = "learned", "episode-missing"  # reasons


def steps(night: Night) -> Iterator[NightItem]:
    """Learn from what waits, and tell the sessions that nobody ended."""
    if night.dry_run:
        night.notes.extend(_waiting(count, what) for what, count in learn.waiting(night.handle).items())
        if sessions := sum(1 for _ in _untold(night)):
            night.notes.append(_waiting(sessions, "sessions without an episode"))
        return
    if not night.light:
        for turns in _untold(night):
            if night.over():
                break
            try:
                episodes.create(night.handle, turns, "daily_consolidation", None)
            except NotFound:  # erased meanwhile
                continue
        yield from _written_down(night)
    try:
        report = learn.learn(night.handle, stopped=night.over)
        night.notes.extend(report.troubles)
    except StoreBusy as error:
        night.notes.append(f"not learned: {error.detail}")
    yield from _written_down(night)


def _waiting(count: int, what: str) -> str:
    """Say what waits; the first word of it is singular where it is one."""
    return f"waiting: {count:,} {what.replace('s ', ' ', 1) if count == 1 else what}"


def _untold(night: Night) -> Iterator[list[Turn]]:
    """Yield the turns of each session that is over, as far as no episode tells of them."""
    store, scope = night.handle.store, night.scope
    for name in store.nights.untold(scope, night.now - IDLE):
        known = store.records(Episode, [scope], Records(sessions=[name]))
        ends = store.turns([scope], Turns(ids=[episode.last_turn for episode in known if episode.last_turn], hidden=True))
        turns = store.turns([scope], Turns(session=name, after=max((turn.n for turn in ends), default=None)))
        for start in range(0, len(turns), episodes.MOST_TURNS):
            part = turns[start : start + episodes.MOST_TURNS]
            if not night.decided("added", part[-1].id):  # it was told once, and somebody took it back
                yield part


def _written_down(night: Night) -> Iterator[NightItem]:
    """Write down what was done under the name of this run and is not written down yet, a row for each operation."""
    store, scope = night.handle.store, night.scope
    known = {item.operation for item in store.nights.items(scope, night.run.id)}
    done: dict[int, list[ChangeRow]] = {}
    for change in reversed(store.journal([scope], run=night.run.id)):
        if change.operation != OPERATION and change.transaction not in known:
            done.setdefault(change.transaction, []).append(change)
    for operation, changes in done.items():
        new_episodes = [row.row for row in changes if row.table == "episodes" and row.action == "insert"]
        added = [row.row for row in changes if row.table == "memories" and row.action == "insert"]
        ids = [
            id for episode in store.records(Episode, [scope], Records(ns=new_episodes)) for id in (episode.id, episode.last_turn)
        ]
        ids += [memory.id for memory in (store.memories([scope], Memories(ns=added)) if added else ())]
        reason = EPISODE if new_episodes else LEARNED
        item = NightItem(
            phase=night.phase,
            action="added" if ids else "confirmed",
            ids=tuple(id for id in ids if id),
            reason=reason,
            evidence={"changes": sum(row.count for row in changes)},
            operation=operation,
            at=night.handle.now(),
        )
        store.apply(scope, [KeepItem(night.run.id, item)], night.handle.cause(OPERATION, reason))
        yield item
