"""
Decide whether age archives or demotes a memory, by a score computed from its row and the current time.

What a person said in plain words, without saying for how long, does not fall asleep: it holds until something else is said.
Rules, pins and what is permanent never do. What was to be kept for a while, and beliefs, do when little is left of their
weight, nobody asked for them twice, and the days that their priority gives are over since their last use.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from yiku.rules.deciding.retention import DAY, PRIORITY_DAYS
from yiku.rules.finding import score
from yiku.types import Kind, SemanticMemory, Standing

ARCHIVE_BELOW, DEMOTE_BELOW = 0.1, 0.3  # of the effective score
ASKED_FOR = 2  # accesses, from which on a memory does not fall asleep by age
TRANSIENT, PERMANENT = "transient", "permanent"
PASSING = (TRANSIENT, "short_term", "long_term")  # priorities with an end
TTL_DAYS = {str(priority): days for priority, days in PRIORITY_DAYS.items()}

Fading = Literal["archive", "demote"]


def effective(memory: SemanticMemory, now: datetime) -> float:
    """Return what a memory is worth now: its importance, as far as age has left it, and what its uses add."""
    return memory.importance * memory.base_score * score.decay(memory, now) + score.boost(memory, now)


def may_fade(memory: SemanticMemory) -> bool:
    """Tell whether a memory can fall asleep by age at all."""
    if memory.kind is Kind.RULE or memory.pinned or memory.priority == PERMANENT:
        return False
    return memory.priority in PASSING or memory.standing is not Standing.FACT


def decide(memory: SemanticMemory, now: datetime) -> Fading | None:
    """
    Return what age does to a memory.

    archive: it falls asleep; demote: it is kept for another day only, if nobody uses it
    """
    if not may_fade(memory) or memory.access_count >= ASKED_FOR:
        return None
    since = max(filter(None, (memory.confirmed_at, memory.last_used, memory.last_mentioned)))
    kept_until = max(filter(None, (memory.expires_at, since + TTL_DAYS.get(memory.priority or "", 0) * DAY)))
    if kept_until > now:  # of the two, the later ends it
        return None
    left = effective(memory, now)
    if left < ARCHIVE_BELOW:
        return "archive"
    return "demote" if left < DEMOTE_BELOW and memory.priority in PASSING and memory.priority != TRANSIENT else None
