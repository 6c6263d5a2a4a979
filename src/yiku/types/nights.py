"""
Types of nightly consolidation: runs and their decisions, reports, and the schedule for cron or systemd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from yiku.types.value import value

NightMode = Literal["full", "light", "phase"]
NightAction = Literal[
    "added",
    "merged",
    "replaced",
    "flagged",
    "archived",
    "expired",
    "junked",
    "purged",
    "confirmed",
    "refused",
    "stale",
    "promoted",
    "published",
]


@value(frozen=True, slots=True, kw_only=True)
class NightItem:
    """
    One decision of a run.

    item:     its number in the run, from 1; 0 where nothing was written
    ids:      of the memories, episodes or files that it is about, the first of them the one that stays, if one does
    reason:   a code, such as `expired`
    evidence: ids, spans, numbers and codes that it rests on, never a word of what was said
    operation: the number of its changes, 0 where it changed nothing
    """

    item: int = 0
    phase: int
    action: NightAction
    ids: tuple[str, ...]
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    operation: int = 0
    at: datetime


@value(frozen=True, slots=True, kw_only=True)
class NightRun:
    """
    A run of the night in one scope.

    id:     its name, that its changes carry in the journal
    at:     the time by which it decides, also when it goes on after it was cut off
    phase:  the one that it is at
    seen:   the number of the last change before it began
    counts: how many decisions of each action
    """

    id: str
    mode: NightMode
    at: datetime
    started_at: datetime
    finished_at: datetime | None = None
    phase: int = 0
    seen: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)


@value(frozen=True, slots=True)
class KeepRun:
    """A run is there as given, in the place of its earlier form."""

    run: NightRun


@value(frozen=True, slots=True)
class KeepItem:
    """
    A decision is written down under its run, with the next number of it.

    Its operation is the one it names, or else that of the changes before it in the same transaction.
    """

    run: str
    item: NightItem


@value(frozen=True, slots=True)
class CiteSources:
    """A summary, by its id, was made from these statements, by their numbers."""

    summary: str
    sources: Sequence[int]


@value(frozen=True, slots=True, kw_only=True)
class NightReport:
    """
    Report of a run, or with `dry_run` what it would do.

    run:     its name; `admin.undo` of any of its operations takes back all of it
    phase:   the one that it came to; finished: whether it came to its end, or waits for the next call
    counts:  how many decisions of each action; items: the first of them, in order
    notes:   what was put off or left out, and why
    """

    run: str
    mode: NightMode
    at: datetime
    phase: int = 0
    finished: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    items: tuple[NightItem, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False
    seconds: float = 0.0


@value(frozen=True, slots=True, kw_only=True)
class RunReport:
    """
    The report of a run.

    items:  every decision, in order
    texts:  what the memories that its page names say now, by their ids; what was erased is not among them
    undone: the operations that were taken back since
    page:   the report for a person, as Markdown
    """

    run: NightRun
    items: tuple[NightItem, ...]
    texts: Mapping[str, str]
    undone: frozenset[int]
    page: str


@value(frozen=True, slots=True, kw_only=True)
class Schedule:
    """
    How the system can run the nights: a line for cron, or a service and a timer for systemd.

    next_due: when a night is due at the earliest; not_due: why none is due now
    """

    cron: str
    service: str
    timer: str
    next_due: datetime | None
    not_due: str | None
