"""
remember: one statement becomes one outcome.

Check it, mask secrets and take out what is private, read its slot by rules, look at what the store has of
that slot and of those words, decide (rules/conflict.py says how), and apply the decision only if nothing of
what it rested on has changed; else look and decide again. No model is asked and nothing is lost: what is retired stays as history.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from os.path import exists
from typing import Any, TypeVar

from yiku.errors import InvalidInput, KeptOut, NotFound
from yiku.flows import barred, checks, intake, pause
from yiku.flows.browse import find
from yiku.flows.handle import Handle, settled
from yiku.rules import analyze, conflict, slots
from yiku.types import (
    AddMemory,
    AddSource,
    Cardinality,
    Change,
    Confirmed,
    Details,
    Expect,
    Flagged,
    Kind,
    Met,
    New,
    Origin,
    Outcome,
    Past,
    Receipt,
    Refused,
    Relation,
    RemoveSources,
    Replaced,
    SemanticMemory,
    Slot,
    Source,
    Standing,
    Tokens,
    Turn,
    UpdateMemory,
)

T = TypeVar("T")

TRUST = {Origin.USER: 1.0, Origin.FILE: 0.7, Origin.IMPORT: 0.7, Origin.ASSISTANT: 0.5, Origin.TOOL: 0.3}
PRIORITIES = ("permanent", "long_term", "short_term", "transient")
WHOLE_ID = 36  # characters; what is shorter is the end of an id
_STANDINGS = {
    "belief": Standing.BELIEF,
    "信念": Standing.BELIEF,
    "summary": Standing.SUMMARY,
    "摘要": Standing.SUMMARY,
    "总结": Standing.SUMMARY,
}
_DETAILS = frozenset(Details.__annotations__)


def remember(
    handle: Handle,
    text: str,
    details: Details,
    *,
    idempotency_key: str | None = None,
    despite_erasure: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """One statement, decided and stored; with `dry_run` only decided. What was erased is refused, unless `despite_erasure`."""
    admit(handle, details)
    new = checked(handle, text, details)
    dated = details.get("said_at") is not None or details.get("source") is not None
    digest = _digest(new, dated=dated)
    if idempotency_key is not None:
        idempotency_key = _clean(handle, checks.name(idempotency_key, "idempotency_key"))
    checks.flag(despite_erasure, "despite_erasure")
    checks.flag(dry_run, "dry_run")

    def attempt() -> Outcome:
        if idempotency_key is not None and (first := handle.first_result(idempotency_key, digest)):
            return _outcome(handle, first["outcome"], first["ids"], first["operation"])
        erasure = handle.store.last_erasure()
        if erasure and (at := barred.since(handle, new)) is not None:
            if not despite_erasure:
                return Refused(memory=new, why=f"erased on {at.astimezone(new.created_at.tzinfo):%Y-%m-%d %H:%M}")
            if not dry_run:
                barred.lift(handle, new)
        expect, decision = _decided(handle, new, dated)
        receipt = Receipt(idempotency_key, digest, {}) if idempotency_key else None
        return _kept(handle, new, replace(expect, erasure=erasure), decision, receipt, dry_run=dry_run)

    return settled(handle, attempt)


def _digest(memory: SemanticMemory, *, dated: bool) -> bytes:
    """What makes a call this call: everything that was given, and nothing that the clock or chance added."""
    moment = datetime.min.replace(tzinfo=UTC)
    told = replace(memory, id="", line="", sources=(), created_at=moment, updated_at=moment, auto_delete_at=None)
    if not dated:
        told = replace(told, said_at=moment, confirmed_at=moment, valid_from=moment)
    return hashlib.blake2b(repr(told).encode(), digest_size=16).digest()


def _kept(
    handle: Handle, new: SemanticMemory, expect: Expect, decision: conflict.Decision, receipt: Receipt | None, *, dry_run: bool
) -> Outcome:
    """Apply a decision. Raises Stale when others were faster."""
    if dry_run:
        return _named(decision.outcome, decision.subject, decision.others, 0)
    changes: list[Change] = [
        *(UpdateMemory(row.n, columns, index_tokens(row)) for row, columns in decision.updates),
        *(AddMemory(row, index_tokens(row)) for row in decision.adds),
    ]
    if decision.moved:
        changes.append(RemoveSources(decision.updates[0][0].n, decision.moved))
    if decision.source_for is not None:
        said_so = None if new.content == decision.source_for.content else new.content
        changes.append(AddSource(decision.source_for.n, replace(new.sources[0], text=said_so)))
    ids = [decision.subject.id, *(other.id for other in decision.others)]
    if receipt is not None:
        changes.append(replace(receipt, result={"outcome": decision.outcome, "ids": ids}))
    done = handle.store.apply(handle.writes(), changes, handle.cause("remember", decision.subject.reason), expect)
    return _outcome(handle, decision.outcome, ids, done.transaction)


def _decided(handle: Handle, new: SemanticMemory, dated: bool) -> tuple[Expect, conflict.Decision]:
    """Look at what the statement meets, and decide; with what the decision rests on."""
    own = handle.own()
    nothing = Expect(slots={new.slot: 0} if new.slot else {}, hashes={new.content_hash: 0})
    met = handle.store.met(own[0], new) if own else Met(expect=nothing)
    if not dated and met.live is not None and met.live.said_at > new.said_at:  # the clock went back: now is still after before
        new = told_after(met.live, new)
        met = handle.store.met(own[0], new)
    return met.expect, conflict.decide(new, met, split_id=handle.new_id())


def told_after(row: SemanticMemory, new: SemanticMemory) -> SemanticMemory:
    """A statement that was told without a time, dated no earlier than what was told before it, whatever the clock says."""
    at = max(row.said_at, new.said_at)
    valid_from = at if new.valid_from == new.said_at else new.valid_from
    return replace(new, said_at=at, confirmed_at=at, valid_from=valid_from, place=max(row.place, new.place))


def _outcome(handle: Handle, outcome: str, ids: Sequence[str], operation: int) -> Outcome:
    """The outcome with the rows as they are now: first the one that holds the statement, then those it met."""
    memory, *others = (handle.store.version(handle.writes(), id) for id in ids)
    return _named(outcome, memory, others, operation)


def _named(outcome: str, memory: SemanticMemory, others: Sequence[SemanticMemory], operation: int) -> Outcome:
    match outcome:
        case "new":
            return New(memory=memory, operation=operation)
        case "replaced":
            return Replaced(memory=memory, replaced=others[0], operation=operation)
        case "past":
            return Past(memory=memory, current=others[0], operation=operation)
        case "flagged":
            return Flagged(memory=memory, others=tuple(others), operation=operation)
    return Confirmed(memory=memory, operation=operation)


def index_tokens(memory: SemanticMemory) -> Tokens:
    """What a memory is found by: its words, and its slot where the words do not say it. Never changes for a row."""
    slot = (part for part in (memory.subject, memory.predicate, memory.object) if part and part != slots.USER)
    return analyze.tokens(" ".join([memory.content, *(part for part in slot if part.casefold() not in memory.content.casefold())]))


# ------------------------------------------------------------------ what comes in


def admit(handle: Handle, details: Mapping[str, Any]) -> None:
    """Raise Paused while memory is paused, and KeptOut for what was said in a private folder."""
    if exists(f"{handle.home}/{pause.FILE}"):  # asked here, so that this walk is no longer than it must be
        pause.refuse(handle)
    if handle.settings.private_folders and pause.in_private_folder(handle, details):
        raise KeptOut("it was said in a private folder")


def _clean(handle: Handle, value: T) -> T:
    """A checked value as it may be kept. Nearly all need nothing done, and go no further."""
    return intake.clean(handle, value) if any(pattern.search(str(value)) for pattern in intake.SUSPECT) else value


def checked(handle: Handle, text: str, details: Mapping[str, Any]) -> SemanticMemory:
    """The statement with everything that its details and its source turn say, or InvalidInput."""
    if unknown := [str(key)[:40] for key in details if key not in _DETAILS]:
        raise InvalidInput(f"a memory has no {', '.join(sorted(unknown))}; known are {', '.join(sorted(_DETAILS))}")
    now = handle.now()
    content = _clean(handle, checks.text(text, "text").strip())
    if content in intake.NOTHING:
        raise KeptOut("all of it is private")
    turn = _source_turn(handle, details.get("source"))
    given = details.get("said_at")
    said_at, ahead = checks.said(turn.said_at if given is None and turn else given, now=now)
    speaker = _clean(handle, checks.optional_name(details.get("speaker"), "speaker")) or (
        turn.speaker if turn and turn.role == "user" else None
    )
    slot = _slot(handle, content, details, speaker)
    told_origin, told_kind, told_standing = (details.get(field) for field in ("origin", "kind", "standing"))
    origin = (turn.origin if turn else Origin.USER) if told_origin is None else checks.one_of(told_origin, Origin, "origin")
    kind = slots.kind_of(slot) if told_kind is None else checks.one_of(told_kind, Kind, "kind")
    standing = _STANDINGS.get(str(told_kind).casefold(), Standing.FACT)
    if told_standing is not None:
        standing = checks.one_of(told_standing, Standing, "standing")
    source = Source(
        origin=origin,
        said_at=said_at,
        recorded_at=now,
        turn=turn.id if turn else None,
        session=turn.session if turn else _clean(handle, checks.optional_name(details.get("session"), "session")),
        place=turn.position if turn else 0,
        actor=speaker or handle.settings.actor,
    )
    id = handle.new_id(now)
    memory = SemanticMemory(
        id=id,
        line=id,
        kind=kind,
        standing=standing,
        content=content,
        content_hash=conflict.text_hash(content, slot),
        said_at=said_at,
        confirmed_at=said_at,
        place=source.place,
        origin=origin,
        trust=TRUST[origin],
        reason=f"said_at was {given}, more than a day ahead; counted as now" if ahead else None,
        sources=(source,),
        created_at=now,
        updated_at=now,
        **_optional(handle, details, now, said_at),
        **(_slot_fields(slot, standing) if slot else {}),
    )
    return replace(
        memory,
        agent=memory.agent or (turn.agent if turn else None) or handle.settings.agent,
        project=memory.project or (turn.project if turn else None) or handle.settings.project,
        entities=_entities(memory.entities, slot, handle.settings.names),
    )


def _slot(handle: Handle, content: str, details: Mapping[str, Any], speaker: str | None) -> Slot | None:
    names, subject, predicate = handle.settings.names, details.get("subject"), details.get("predicate")
    told = details.get("cardinality")
    cardinality = None if told is None else checks.one_of(told, Cardinality, "cardinality")
    if predicate is not None:
        return slots.stated(
            _clean(handle, checks.name(subject if subject is not None else "user", "subject")),
            _clean(handle, checks.name(predicate, "predicate")),
            _clean(handle, checks.optional_name(details.get("object"), "object")),
            cardinality,
            speaker=speaker,
            names=names,
        )
    if subject is not None or details.get("object") is not None or cardinality is not None:
        raise InvalidInput("subject, object and cardinality need a predicate; give all of the slot, or leave it to the sentence")
    return slots.read(content, speaker=speaker, names=names)


def _entities(given: Sequence[str], slot: Slot | None, names: Sequence[str]) -> tuple[str, ...]:
    """Whom and what a statement is about, in the form in which they are looked up: those given, and those of its slot."""
    found = [*given, *((slot.subject, slot.object) if slot and slot.object else ())]
    return tuple(dict.fromkeys(slots.subject_of(name, names=names) for name in found))


def _slot_fields(slot: Slot, standing: Standing) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "subject": slot.subject,
        "predicate": slot.predicate,
        "object": slot.object or None,
        "cardinality": slot.cardinality,
    }
    return fields | ({"slot": slot.key} if standing is Standing.FACT else {})


def _source_turn(handle: Handle, id: object) -> Turn | None:
    if id is None:
        return None
    if len(whole := checks.name(id, "source")) == WHOLE_ID:
        return handle.store.turn(handle.reads(), whole)
    found = find(handle, whole, handle.reads())
    if not isinstance(found, Turn):
        raise NotFound(f"turn {whole[:80]} (this id is a memory's)")
    return found


def _optional(handle: Handle, details: Mapping[str, Any], now: datetime, said_at: datetime) -> dict[str, Any]:
    """The details that stand for themselves, checked; those that were not given are left out."""
    take: dict[str, Any] = {}

    def each(check: Any, *fields: str, **more: Any) -> None:
        take.update({field: check(details[field], field, **more) for field in fields if details.get(field) is not None})

    each(checks.text, "basis")
    each(checks.names, "tags", "entities")
    each(checks.name, "agent", "project", "external_id", "priority")
    each(checks.metadata, "metadata")
    each(checks.triples, "relations")
    take = {field: _clean(handle, value) for field, value in take.items()}
    each(checks.share, "importance", "confidence")
    each(checks.whole, "strength", at_most=1000)
    each(checks.whole, "ttl_days", at_least=1, at_most=36_500)
    each(checks.flag, "pinned")
    each(checks.time, "valid_from", "expires_at", now=now)
    if "relations" in take:
        take["relations"] = tuple(Relation(*triple) for triple in take["relations"])
    if take.get("priority", "permanent") not in PRIORITIES:
        checks.refuse("priority", f"must be one of {', '.join(PRIORITIES)}")
    if take.setdefault("valid_from", said_at) > max(now, said_at):
        checks.refuse(
            "valid_from",
            "lies ahead; what holds only later is a plan, so leave valid_from out and say when in the text",
        )
    if "ttl_days" in take:
        take["auto_delete_at"] = now + timedelta(days=take["ttl_days"])
    return take
