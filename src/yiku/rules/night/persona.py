"""
Decide which persona traits are certain enough to be pinned, and group the pinned ones for the persona file.

A trait is promoted, which pins it, at a confidence of CONFIDENCE or after USES uses. The file shows what is pinned. The
dimension of a trait is named by a tag, `dimension:humor`, or by its own text, `humor=dry`; of a dimension only what was said
last is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from yiku.rules.deciding.conflict import key
from yiku.rules.pages.region import Shown
from yiku.types import Kind, Origin, SemanticMemory, Standing

CONFIDENCE, USES = 0.7, 3
GROUPS = {
    "style": frozenset(("formality", "humor", "emoji_usage", "reply_length", "address_style")),
    "interaction": frozenset(("proactiveness", "emotional_distance", "encouragement", "sticker_preference")),
    "care": frozenset(("care_topics",)),
    "other": frozenset[str](),
}
TAG = "dimension:"
_NAMED = re.compile(r"([a-z][a-z_]{1,39})\s{0,3}[=:：]\s{0,3}\S")


def is_sure(row: SemanticMemory) -> bool:
    """Whether a trait may be promoted: live, said by a person, of enough confidence or used often enough."""
    if row.kind is not Kind.PERSONA_TRAIT or not row.live or row.standing is not Standing.FACT or row.flag is not None:
        return False
    if row.origin in (Origin.TOOL, Origin.FILE):  # what they say is data, and no part of anybody
        return False
    return row.confidence >= CONFIDENCE or row.used + row.mentioned >= USES


def dimension(row: SemanticMemory) -> str:
    """Return the dimension of a trait; its id where it names none, so that it stands for itself."""
    tagged = next((tag[len(TAG) :].strip().casefold() for tag in row.tags if tag.casefold().startswith(TAG)), "")
    named = _NAMED.match(row.content.lstrip())
    return tagged or (named[1] if named else "") or row.id


def shown(rows: Iterable[SemanticMemory]) -> Sequence[tuple[str, Sequence[Shown]]]:
    """Return the groups of the file in order, each with its traits in the order in which they were said."""
    last: dict[str, SemanticMemory] = {}
    for row in sorted((row for row in rows if row.pinned and row.live), key=key):
        last[dimension(row)] = row
    groups: dict[str, list[Shown]] = {name: [] for name in GROUPS}
    for name, row in last.items():
        group = next((group for group, dimensions in GROUPS.items() if name in dimensions), "other")
        groups[group].append(Shown(row.content, row.id))
    return [(group, found) for group, found in groups.items() if found]
