"""
Reason codes for nightly archiving and deletion, and when a memory in the trash is deleted for good (30 days).

    active, candidate ── expired, faded ──► archived ── auto-delete ──► junk ── after GRACE ──► purged
"""

from __future__ import annotations

from datetime import datetime, timedelta

from yiku.types import SemanticMemory

EXPIRED = "expired"  # its time was over
FADED = "faded"  # little is left of its weight, and nobody asked for it
DUE = "auto-delete"  # the days that it was to be kept are over
PURGED = "grace-over"
REFUTED = "refuted"  # a fact speaks against a belief
REASONS = (EXPIRED, FADED, DUE)
GRACE = timedelta(days=30)  # so long junk can be brought back


def purgeable(memory: SemanticMemory, now: datetime) -> bool:
    """Tell whether junk has lain for its grace."""
    return memory.reason == DUE and now - memory.updated_at >= GRACE
