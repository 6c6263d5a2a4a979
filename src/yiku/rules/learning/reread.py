"""
Compare learned statements with what the current rules find; relink versions after removals; rule version number.

A statement is kept where the current rules find the same words in the same slot. Whatever else they find counts as known
where a statement of the same turn has the same value, or rests on the same words of it: spans of characters decide that,
so it does not matter in which words older rules had put it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from yiku.rules.deciding import conflict
from yiku.rules.text.analyze import fold
from yiku.types import Kind, SemanticMemory, Source, State

LEARNING_VERSION = (
    5  # goes up when the rules keep other statements of the same turns; `yiku status` then proposes to read them again
)
OUTGROWN = "no longer learned by the rules"  # the reason of what a new reading does not keep


def given(row: SemanticMemory, found: Sequence[SemanticMemory]) -> SemanticMemory | None:
    """Return the draft of a new reading that matches a row: same words, same slot, a rule if it is one."""
    return next((one for one in found if _is(row, one)), None)


def _is(row: SemanticMemory, one: SemanticMemory) -> bool:
    if one.slot != row.slot or (one.kind is Kind.RULE) is not (row.kind is Kind.RULE):
        return False
    told = (source.text for source in row.sources if source.turn == one.sources[0].turn and source.text)
    return one.content_hash == row.content_hash or fold(one.content) in {fold(text) for text in (row.content, *told)}


def known(one: SemanticMemory, rows: Sequence[SemanticMemory]) -> bool:
    """Whether a row already says what a new reading says: the same value in the slot, or the same words of the turn."""
    return any(
        (row.slot == one.slot and conflict.same_object(row, one)) if one.slot is not None else overlaps(row, one) for row in rows
    )


def overlaps(row: SemanticMemory, one: SemanticMemory) -> bool:
    """Whether both rest on overlapping words of the same turn; assumed where a span is unknown."""
    new = one.sources[0]
    return any(_meet(source, new) for source in row.sources if source.turn == new.turn)


def _meet(one: Source, other: Source) -> bool:
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return True
    return one.start < other.end and other.start < one.end


def flagged_by_words(one: SemanticMemory, other: SemanticMemory) -> bool:
    """Whether two statements were flagged only because of shared words, not by slot or predicate."""
    same_slot = one.slot is not None and one.slot == other.slot
    same_predicate = one.predicate is not None and (one.subject, one.predicate) == (other.subject, other.predicate)
    return not same_slot and not same_predicate


def closed(line: Sequence[SemanticMemory], gone: Collection[str]) -> Iterator[tuple[SemanticMemory, Mapping[str, Any]]]:
    """Yield the updates that close the gaps in a line after versions were removed."""
    versions = {row.id: row for row in line}
    for row in line:
        if row.state is not State.ACTIVE or row.id in gone or row.superseded_by not in gone:
            continue
        following = versions.get(row.superseded_by or "")
        while following is not None and (following.id in gone or following.state is not State.ACTIVE):
            following = versions.get(following.superseded_by or "")
        if following is None:
            yield row, {"superseded_by": None, "valid_to": None, "reason": None}
        else:
            yield row, {"superseded_by": following.id, "valid_to": following.valid_from, "reason": f"said later: {following.id}"}
