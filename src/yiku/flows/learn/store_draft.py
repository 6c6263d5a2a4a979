"""
Store an extracted draft as a statement sourced from its turn; result types of learning steps.

It is shared by rules and model. A turn gives a statement once, however often it is read, and a draft that cannot be kept
is left out and stops nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yiku.errors import InvalidInput, KeptOut, NotFound, Paused, Stale
from yiku.flows.common.handle import Handle
from yiku.flows.keep.remember import remember
from yiku.rules.deciding import retention, retract
from yiku.rules.text.analyze import fold
from yiku.types import Draft, How, Memories, Outcome, SemanticMemory, State, Turn
from yiku.types.changes import RETRACTION


@dataclass(frozen=True, slots=True)
class Trouble:
    """A line of the report about something that failed."""

    line: str


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Time ran out before the turn was done: it is read again."""


Result = Outcome | Trouble | Unfinished


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one step: a batch of turns by rules, or one model job."""

    results: Sequence[Result] = ()
    turns: int = 0
    jobs: int = 0


def counted(results: Iterable[Result]) -> Counter[str]:
    """Return the number of outcomes by name."""
    return Counter(result.kind for result in results if isinstance(result, Outcome))


def troubles(results: Iterable[Result]) -> list[str]:
    """Return the report lines of what failed."""
    return [result.line for result in results if isinstance(result, Trouble)]


def known_of(handle: Handle, scope: int, turn: Turn) -> list[SemanticMemory]:
    """Return what was learned from a turn before, by an interrupted run or another process."""
    return handle.store.with_details(handle.store.memories([scope], Memories(sourced_in=[turn.id])))


def keep(
    handle: Handle,
    scope: int,
    turn: Turn,
    draft: Draft,
    known: Sequence[SemanticMemory],
    *,
    method: str,
    candidate: bool = False,
    replaces: int | None = None,
    dry_run: bool = False,
) -> Result | None:
    """
    Decide on a draft and store it; None if this turn gave it before.

    known:     what was learned from this turn
    candidate: it waits until somebody confirms it
    replaces:  the number of the statement that it updates
    """
    once = None
    if not candidate and retract.marker(draft.text) is not None:  # what states something may take something back, too
        once = f"{RETRACTION} {turn.id} {handle.scope_seal(fold(draft.text)).hex()}"
        if handle.store.receipt(scope, once) is not None:
            return None
    known_texts = {
        fold(text)
        for memory in known
        for text in (memory.content, *(s.text for s in memory.sources if s.turn == turn.id and s.text))
    }
    if fold(draft.text) in known_texts:
        return None
    how = How(method=method, quote=draft.quote, state=State.CANDIDATE if candidate else State.ACTIVE, replaces=replaces)
    return try_remember(handle, draft, details(handle, turn, draft, candidate=candidate), how, once, dry_run=dry_run)


def details(handle: Handle, turn: Turn, draft: Draft, *, candidate: bool) -> Mapping[str, Any]:
    """Return the details of a draft's statement."""
    metadata = dict(draft.metadata)
    found: dict[str, Any] = {
        "source": turn.id,
        "origin": metadata.pop("origin", None),  # of what a tool showed: not that of who called it
        "kind": draft.kind,
        "standing": draft.standing,
        "importance": draft.importance,
        "confidence": draft.confidence,
        "tags": draft.tags or None,
        "entities": draft.entities or None,
        "relations": draft.relations or None,
        "basis": draft.basis,
        "metadata": metadata | ({"until_session": turn.session} if draft.session else {}),
    }
    if draft.slot is not None:
        slot = draft.slot
        found |= {"subject": slot.subject, "predicate": slot.predicate, "object": slot.object, "cardinality": slot.cardinality}
    kept = retention.until(
        draft.kind,
        draft.priority,
        session=draft.session,
        now=max(turn.said_at, handle.now() - retention.DAY),
        expires_at=draft.expires_at,
    )
    found |= {"priority": kept.priority, "expires_at": kept.expires_at, "pinned": (draft.pinned or kept.pinned) and not candidate}
    return {name: value for name, value in found.items() if value}


def try_remember(
    handle: Handle, draft: Draft, details: Mapping[str, Any], how: How, once: str | None = None, *, dry_run: bool = False
) -> Result | None:
    """
    Remember a draft, or say why not; None if its turn was erased meanwhile.

    once: the idempotency key of what must not be done again
    """
    try:
        return remember(handle, draft.text, details, idempotency_key=once, dry_run=dry_run, how=how)  # type: ignore[arg-type]
    except Paused:
        raise
    except NotFound:  # there is nothing to tell of it
        return None
    except (InvalidInput, KeptOut) as error:
        return Trouble(f"left out: {draft.text[:60]}: {error.detail}")
    except Stale:  # decided twice, the second time alone: it holds up none of the turns behind it
        return Trouble(f"left out: {draft.text[:60]}: it does not fit with what is known")
