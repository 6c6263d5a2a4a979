"""
`Night`: the context passed to each phase of a maintenance run; `decide` applies and records one decision.

A decision is one transaction: its changes, and a row that says what was decided, about what, and by which evidence. So a
night that is cut off anywhere has done whole decisions, and each of them can be taken back. A phase finds its work in the
store as it is: what was decided is not found again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from yiku.errors import Stale
from yiku.flows.common.handle import Handle
from yiku.flows.keep.forget import clear_flags
from yiku.models.api import ChatModel
from yiku.rules.deciding.slots import index_tokens
from yiku.types import Change, Expect, KeepItem, Memories, NightAction, NightItem, NightRun, SemanticMemory, UpdateMemory

BATCH = 500  # rows read at a time
OPERATION = "consolidate"  # of each change, in the journal
TAKEN_BACK = ("undo", "restore")  # what a person took back stays as they left it, until it changes otherwise
TURN_S, WAIT_S = 0.025, 0.003  # writers of other processes get their turn so often; longer than they pause between two looks
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}\Z")  # ids and codes: no word of what was said has this form and a space


@dataclass(slots=True)
class _Pace:
    """When other writers had their turn, and how many decisions were made."""

    since: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Night:
    """
    One run in one scope.

    handle: its `run` is the run's name, so that its changes carry that
    scope:  the number of the scope
    model:  where there is one, and the night may ask it
    now:    the time by which everything is decided, the same in a run that goes on
    over:   whether it has to stop before the next decision
    notes:  what was put off or left out, and why
    """

    handle: Handle
    scope: int
    run: NightRun
    model: ChatModel | None = None
    dry_run: bool = False
    over: Callable[[], bool] = lambda: False
    notes: list[str] = field(default_factory=list)
    phase: int = 0
    found: dict[tuple[int, float], list[int]] = field(
        default_factory=dict
    )  # what shares words with a row (near.py), looked up once a run
    touched: set[int] = field(default_factory=set)  # the rows of memories that its decisions changed: one read before is outdated
    _pace: _Pace = field(default_factory=_Pace)
    _decided: dict[str, set[str]] = field(default_factory=dict)  # by action, as first asked

    @property
    def now(self) -> datetime:
        """The time by which everything is decided."""
        return self.run.at

    @property
    def light(self) -> bool:
        """Whether only what waits is learned from."""
        return self.run.mode == "light"

    def decided(self, action: NightAction, id: str) -> bool:
        """Tell whether some night decided this about an id before this phase."""
        if action not in self._decided:
            self._decided[action] = self.handle.store.nights.decided(self.scope, action)
        return id in self._decided[action]

    def as_it_is(self, row: SemanticMemory) -> SemanticMemory:
        """Return a row that was read before, anew where a decision of this night changed it."""
        return self.handle.store.version(self.scope, row.id) if row.n in self.touched else row

    def unflagged(self, gone: SemanticMemory) -> list[Change]:
        """Return the changes that clear the conflict flags caused by a row that is archived or retired."""
        cleared = clear_flags(self.handle, [gone])
        return [UpdateMemory(rival.n, columns, index_tokens(rival)) for rival, columns in cleared]

    def memories(self, select: Memories) -> Iterator[SemanticMemory]:
        """Yield the memories of a selection of this scope in the order of their rows, until the time is up."""
        after = 0
        while not self.over():
            found = self.handle.store.memories([self.scope], replace(select, after=after, limit=BATCH))
            for memory in found:
                if self.over():
                    return
                yield memory
            if len(found) < BATCH:
                return
            after = found[-1].n

    def decide(
        self,
        action: NightAction,
        changes: Sequence[Change] = (),
        *,
        ids: Sequence[str],
        reason: str,
        evidence: Mapping[str, Any] | None = None,
        expect: Expect | None = None,
    ) -> NightItem | None:
        """
        Make a decision in one transaction and write it down; with `dry_run` only return it.

        ids:      what it is about, the first the one that stays, if one does
        reason:   a code; evidence: ids, numbers, spans and codes by their names
        expect:   what it rests on; None is returned, and nothing written, where that has changed meanwhile, or where the last
                  thing that happened to one of its rows is an undo

        Raises ValueError for evidence that may be somebody's words.
        """
        item = NightItem(
            phase=self.phase, action=action, ids=tuple(ids), reason=reason, evidence=dict(evidence or {}), at=self.handle.now()
        )
        _refuse_words([reason, *item.ids, item.evidence])
        if expect is not None and self.taken_back(*expect.rows.values()):
            return None
        if self.dry_run:
            return item
        self._let_others_write()
        try:
            applied = self.handle.store.apply(
                self.scope, [*changes, KeepItem(self.run.id, item)], self.handle.cause(OPERATION, reason), expect
            )
        except Stale:
            return None  # somebody has just changed it: the next night looks at it again
        self.touched.update(change.n for change in changes if isinstance(change, UpdateMemory))
        return NightItem(
            item=applied.rows[-1][0],
            phase=item.phase,
            action=action,
            ids=item.ids,
            reason=reason,
            evidence=item.evidence,
            operation=applied.transaction,
            at=item.at,
        )

    def taken_back(self, *changes: int) -> bool:
        """Tell whether one of these, the last changes of some rows, took something back."""
        for changed in changes:
            last = self.handle.store.journal([self.scope], after=changed - 1, limit=1) if changed else []
            if last and last[0].number == changed and last[0].operation in TAKEN_BACK:
                return True
        return False

    def _let_others_write(self) -> None:
        if time.monotonic() - self._pace.since > TURN_S:
            time.sleep(WAIT_S)
            self._pace.since = time.monotonic()


def _refuse_words(given: Any) -> None:
    """Raise ValueError unless it is made of numbers, codes and ids."""
    match given:
        case None | bool() | int() | float():
            return
        case str():
            if not _CODE.match(given):
                raise ValueError("evidence holds ids, numbers and codes, and no text")
        case Mapping():
            _refuse_words([*given, *given.values()])
        case Sequence():
            for each in given:
                _refuse_words(each)
        case _:
            raise ValueError("evidence holds ids, numbers and codes, and no text")
