"""
Result types of adding notes, compacting daily logs and watching the vault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from yiku.types.value import value


@value(frozen=True, slots=True)
class Noted:
    """
    Where a note stands: its file, relative to the vault, and its lines there, from 1.

    new: False where it stood there already
    """

    path: str
    start_line: int
    end_line: int
    new: bool = True


@value(frozen=True, slots=True)
class Compacted:
    """
    What became of daily logs that are older than their retention, or with `dry_run` would.

    archived:   by the path of a log, where it lies now, whole
    summarized: logs whose points a model put into the digest of their month
    kept:       logs that stay for the next time, and why
    """

    archived: Mapping[str, str] = field(default_factory=dict)
    summarized: tuple[str, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False


@value(frozen=True, slots=True)
class Watching:
    """
    Who follows the files of a home: the process, since when, and how.

    how:     "events" of the file system, or "polling": looking through the folders every few seconds; `why` says why then
    alive:   False where it ended without saying so
    trouble: what keeps it from working, for now
    """

    pid: int
    since: str
    how: str = "events"
    why: str | None = None
    trouble: str | None = None
    alive: bool = True
