"""
Decide what a new statement does to earlier ones (confirm, replace, flag); the only place where a correction is decided.

The versions of a slot form a chain in the order in which they were *said* (then the place in the
session, then the order of arrival); each ends where the next begins, and the last is live. A new
statement is put where it belongs in that order, so a history recorded in any order leaves the same
chain: said last, it retires the one before; said earlier, it becomes history and retires nothing.
Neighbours that say the same are one version with several sources.

Nothing here looks at how similar two texts are. Only the slot, or the same words, count. Where these name a day from the
one on which they were said ("tomorrow", 下周五), they are the same only of the same day; else they are the next version.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from yiku.rules.deciding import retention
from yiku.rules.statements import keys
from yiku.rules.text.analyze import normal
from yiku.rules.text.sentences import STOPS
from yiku.rules.values import canonical
from yiku.types import Cardinality, Confirmed, ConflictSet, Flagged, New, Past, Replaced, SemanticMemory, Slot, State

CONFIDENCE_STEP = 0.5  # of what is missing to 1, by each confirmation
CONFLICT = "conflict"
MERGED = "merged"  # the reason of what a night made history of a statement that says the same
VERSION = "version"
TOLD = "told"  # the method of what somebody stored outright
Update = tuple[SemanticMemory, Mapping[str, Any]]  # a row as it is, and the columns that change
_BETWEEN = re.compile(r"[\s，。！；：、…]+")
_AROUND = ".,;:!?~\"'“”‘’「」『』()"


@dataclass(frozen=True, slots=True)
class Decision:
    """
    What to write: rows to add, columns to update, a source to add, and the outcome to report.

    outcome: with the rows as they are before the decision is written, and the new ones as they will be
    """

    outcome: New | Confirmed | Replaced | Past | Flagged
    adds: tuple[SemanticMemory, ...] = ()
    updates: tuple[Update, ...] = ()
    source_for: SemanticMemory | None = None
    moved: tuple[int, ...] = ()  # sources of the first updated row that now belong to an added one

    @property
    def subject(self) -> SemanticMemory:
        """The statement that holds the new one afterwards."""
        return self.outcome.memory


def text_hash(text: str, slot: Slot | None) -> bytes:
    """Return the content hash of a statement; case, width and punctuation make no difference, the subject does."""
    parts = (_words(text), *((slot.subject, slot.predicate, _words(slot.object)) if slot else ()))
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=16).digest()


def _words(text: str) -> str:
    """Normalize width, the case of plain words and punctuation around them; a question mark stays."""
    normalized = normal(text.strip())
    words = (word.strip(_AROUND) for word in _BETWEEN.split(normalized))
    plain = (word.casefold() if word.istitle() or word.isupper() or word.islower() else word for word in words if word)
    return " ".join(plain) + ("?" if normalized.endswith("?") else "")


def key(memory: SemanticMemory) -> tuple[datetime, int, int]:
    """Sort key: the order in which things were said. A row without a number sorts after its equals."""
    return memory.said_at, memory.place, memory.n or 1 << 62


def decide(new: SemanticMemory, met: ConflictSet, *, split_id: str = "") -> Decision:
    """
    Decide what to do with a statement, given the rows that it meets.

    split_id: an id for the second half of a version that the statement falls into
    """
    previous, following = met.previous, met.following
    for known in (*met.same, previous):
        if known is None or known.content_hash != new.content_hash:
            continue
        if known.expired(new.created_at) or known.state is not State.ACTIVE:  # a new version begins
            return _linked(new, known, following, met.live or new, split_id)
        if _same_days(known, new) or known.said_at <= new.said_at < known.confirmed_at:
            return confirm(new, known)
        if known is not previous:
            later = new.said_at < known.said_at
            return _linked(new, None if later else known, known if later else None, known if later else new, split_id)
    inside_previous = previous is not None and previous.confirmed_at > new.said_at
    again = following is not None and following.content_hash == new.content_hash and _same_days(following, new)
    if following is not None and again and not inside_previous:
        return _began_earlier(following, new, previous)
    if previous is None and following is None:
        return _beside(new, met.rivals)
    return _linked(new, previous, following, met.live or new, split_id)


def _same_days(known: SemanticMemory, new: SemanticMemory) -> bool:
    """Whether the same words name the same days in both: "tomorrow" of the 10th is not that of the 12th."""
    forms = (canonical.form(one.content[: canonical.LONGEST], one.said_at).split() for one in (known, new))
    first, second = ([token for token in tokens if token[0] in canonical.TIMES] for tokens in forms)
    return first == second


def confirmation(known: SemanticMemory, new: SemanticMemory) -> dict[str, Any]:
    """Return the columns that change when a statement is repeated: its confidence rises, and its end is the later one."""
    said_at = min(known.said_at, new.said_at)
    columns: dict[str, Any] = {
        "confidence": known.confidence + (1 - known.confidence) * CONFIDENCE_STEP,
        "importance": max(known.importance, new.importance),
        "confirmed_at": max(known.confirmed_at, new.said_at),
    }
    if said_at < known.said_at:
        columns |= {"said_at": said_at, "valid_from": min(known.valid_from, new.valid_from)}
    if new.pinned and not known.pinned and new.method == TOLD:
        columns["pinned"] = True
    return columns | retention.retold(known, new)


def confirm(new: SemanticMemory, known: SemanticMemory) -> Decision:
    """Decide for a repetition: the known row gets one more source."""
    return Decision(Confirmed(memory=known), updates=((known, confirmation(known, new)),), source_for=known)


def contradict(new: SemanticMemory, known: SemanticMemory) -> Decision:
    """Decide between a statement and the one it updates: the one said later is current."""
    if new.said_at < known.said_at:
        return _linked(new, None, known, known, "")
    return flag(new, (known,)) if known.confirmed_at > new.said_at else _linked(new, known, None, new, "")


def _began_earlier(following: SemanticMemory, new: SemanticMemory, previous: SemanticMemory | None) -> Decision:
    """Move the beginning of the following version back to an earlier statement with the same content."""
    columns = {"said_at": new.said_at, "place": new.place, "valid_from": min(new.valid_from, following.valid_from)}
    updates: list[Update] = [(following, columns)]
    if previous is not None:
        updates.append((previous, {"valid_to": columns["valid_from"]}))
    return Decision(Confirmed(memory=following), updates=tuple(updates), source_for=following)


def _beside(new: SemanticMemory, rivals: Sequence[SemanticMemory]) -> Decision:
    """Add the first statement of a slot; flag it with its rivals where it may contradict them."""
    if not rivals or new.cardinality is not Cardinality.UNKNOWN:
        return Decision(New(memory=new), adds=(new,))
    return flag(new, rivals)


def flag(new: SemanticMemory, rivals: Sequence[SemanticMemory]) -> Decision:
    """Keep all of them, each flagged as a possible contradiction."""
    marked = replace(new, flag=CONFLICT, flagged_with=tuple(rival.id for rival in rivals))
    updates = tuple((rival, {"flag": CONFLICT, "flagged_with": (*rival.flagged_with, new.id)}) for rival in rivals)
    return Decision(Flagged(memory=marked, others=tuple(rivals)), adds=(marked,), updates=updates)


def _linked(
    new: SemanticMemory,
    previous: SemanticMemory | None,
    following: SemanticMemory | None,
    live: SemanticMemory,
    split_id: str,
) -> Decision:
    """Insert a version into its chain: each points to the next and ends where that begins."""
    line = (previous or following or new).line
    updates: list[Update] = []
    adds: list[SemanticMemory] = []
    second_half = None
    if previous is not None and previous.confirmed_at > new.said_at:
        second_half = _second_half(previous, new, split_id)
        following = second_half
    moved = tuple(source.seq for source in second_half.sources) if second_half is not None else ()
    if previous is not None:
        ended: dict[str, Any] = {"superseded_by": new.id, "valid_to": new.valid_from, "reason": f"said later: {new.id}"}
        if previous.state is not State.ACTIVE:
            del ended["reason"]  # that its time was over
        if second_half is not None:
            ended["confirmed_at"] = max((s.said_at for s in previous.sources if s.said_at <= new.said_at), default=previous.said_at)
        updates.append((previous, ended))
    if following is None:
        placed = replace(new, line=line)
    else:
        placed = replace(
            new,
            line=line,
            superseded_by=following.id,
            valid_to=following.valid_from,
            reason=f"said later: {following.id}",
        )
    adds.append(placed)
    if second_half is not None:
        adds.append(second_half)
    if following is not None:
        current = second_half if live is previous and second_half else live
        return Decision(Past(memory=placed, current=current), adds=tuple(adds), updates=tuple(updates), moved=moved)
    assert previous is not None  # it goes between two, or behind one
    restated = same_object(previous, new)
    outcome = Confirmed(memory=placed) if restated else Replaced(memory=placed, replaced=previous)
    return Decision(outcome, adds=tuple(adds), updates=tuple(updates))


def _second_half(previous: SemanticMemory, new: SemanticMemory, split_id: str) -> SemanticMemory:
    """Split off the part of a version that was repeated after the new statement."""
    later = tuple(source for source in previous.sources if source.said_at > new.said_at)
    said_at = min((source.said_at for source in later), default=previous.confirmed_at)
    return replace(
        previous,
        n=0,
        id=split_id,
        sources=later,
        said_at=said_at,
        valid_from=said_at,
        place=later[0].place if later else 0,
        created_at=new.created_at,
        updated_at=new.created_at,
        retrieved=0,
        used=0,
        mentioned=0,
        last_retrieved=None,
        last_used=None,
        last_mentioned=None,
    )


def same_object(one: SemanticMemory, other: SemanticMemory) -> bool:
    """Whether two versions of a slot have the same value, in whatever spelling."""
    if not one.object or not other.object or keys.denies(one.predicate or "") is not keys.denies(other.predicate or ""):
        return False
    said = [normal(object_).strip(f" {STOPS}").casefold() for object_ in (one.object, other.object)]
    if said[0] == said[1]:
        return canonical.form(one.object, one.said_at) == canonical.form(other.object, other.said_at)
    alike = canonical.same(one.object, one.said_at, other.object, other.said_at)
    return alike and keys.tail(one.predicate or "") != VERSION  # 1.2 and 1.20 are one number, and two versions


def rejoin(back: Sequence[SemanticMemory], present: Sequence[SemanticMemory]) -> list[Update]:
    """
    Return the updates that merge restored versions and present ones into one chain.

    The rows that retire come first, so that no slot has two live values at any moment. What was merged into a version that
    was said earlier stays merged into that.
    """
    line = (present or back)[0].line
    rows = sorted((*back, *present), key=key)
    places = {memory.id: place for place, memory in enumerate(rows)}
    merged = {memory.n for place, memory in enumerate(rows) if places.get(memory.superseded_by or "", place) < place}
    chain = [memory for memory in rows if memory.n not in merged]
    joined = chain[0].slot is not None or any(memory.superseded_by for memory in chain) or bool(present)
    updates: list[tuple[SemanticMemory, dict[str, Any]]] = []
    for memory, successor in zip(chain, (*chain[1:], None), strict=True):
        wanted: dict[str, Any] = {"state": State.ACTIVE, "line": line}
        if joined:
            wanted |= {"superseded_by": successor and successor.id, "valid_to": successor and successor.valid_from}
            wanted["reason"] = f"said later: {successor.id}" if successor else None
        elif memory.state is not State.ACTIVE:
            wanted["reason"] = None
        updates.append((memory, wanted))
    for memory in (row for row in rows if row.n in merged):
        updates.append((memory, {"state": State.ACTIVE, "line": line, "reason": f"{MERGED}: {memory.superseded_by}"}))
    changes = [
        (memory, {name: value for name, value in wanted.items() if getattr(memory, name) != value}) for memory, wanted in updates
    ]
    updates = [(memory, changed) for memory, changed in changes if changed]
    return sorted(updates, key=lambda update: update[1].get("superseded_by", update[0].superseded_by) is None)
