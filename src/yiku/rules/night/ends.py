"""
Why the night takes a memory out of recall: the reasons as they stand on the row. `restore` brings back what has one of them.

    active, candidate ── expired, faded ──► archived ── auto-delete ──► junk ── after GRACE ──► purged
"""

from __future__ import annotations

from datetime import datetime, timedelta

from yiku.types import SemanticMemory

EXPIRED = "expired"  # its time was over
FADED = "faded"  # little is left of its weight, and nobody asked for it
DUE = "auto-delete"  # the days that it was to be kept are over
PURGED = "grace-over"
REASONS = (EXPIRED, FADED, DUE)
GRACE = timedelta(days=30)  # so long junk can be brought back


def purgeable(memory: SemanticMemory, now: datetime) -> bool:
    """Tell whether junk has lain for its grace."""
    return memory.reason == DUE and now - memory.updated_at >= GRACE
