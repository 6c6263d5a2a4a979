"""
Validate a statement, decide what it does to stored ones (new, confirms, replaces, conflicts), and store it.

Check it, mask secrets and take out what is private, read its slot by rules, look at what the store has of
that slot and of those words, decide (rules/deciding/conflict.py says how), and apply the decision only if nothing of
what it rested on has changed; else look and decide again. No model is asked and nothing is lost: what is retired stays as history.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from yiku.errors import InvalidInput, KeptOut, NotFound
from yiku.flows.common import checks, lookup, pause, tombstones, turn_texts
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.common.intake import clean
from yiku.flows.keep import candidates
from yiku.flows.keep.forget import CONFIRMED, clear_flags, settled
from yiku.flows.keep.retract import retract_last, retracted
from yiku.rules.deciding import conflict, history, retention, retract, slots
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.lexicon import lists
from yiku.rules.privacy import private
from yiku.rules.statements import keys
from yiku.types import (
    AddMemory,
    AddSource,
    Cardinality,
    Change,
    Confirmed,
    ConflictSet,
    CountAccess,
    Details,
    Expect,
    Flagged,
    How,
    Kind,
    Memories,
    New,
    Origin,
    Outcome,
    Past,
    Receipt,
    Refused,
    Relation,
    RemoveSources,
    Replaced,
    Retracted,
    SemanticMemory,
    Slot,
    Source,
    Standing,
    State,
    Turn,
    UpdateMemory,
)

Keyed = Callable[[Handle, SemanticMemory, str, Details, bool], tuple[SemanticMemory, Expect, conflict.Decision]]

TRUST = {Origin.USER: 1.0, Origin.FILE: 0.7, Origin.IMPORT: 0.7, Origin.ASSISTANT: 0.5, Origin.TOOL: 0.3}
KINDS: Mapping[str, type[Outcome]] = {  # by their names in receipts
    kind.kind: kind for kind in (New, Confirmed, Replaced, Past, Flagged, Retracted)
}
PRIORITIES = ("permanent", "long_term", "short_term", "transient")
WHOLE_ID = 36  # characters; what is shorter is the end of an id
_DETAILS = frozenset(Details.__annotations__)


def remember(
    handle: Handle,
    text: str,
    details: Details,
    *,
    idempotency_key: str | None = None,
    despite_erasure: bool = False,
    dry_run: bool = False,
    how: How | None = None,
    keyed: Keyed | None = None,
    digest: bytes | None = None,
) -> Outcome:
    """
    Decide on a statement and store it; with `dry_run` only decide. Erased ones are refused by default.

    how:   how it was learned, where nobody told it outright
    keyed: decides for a statement with an external id (flows/keep/upsert.py)
    digest: of the call that an idempotency key stands for, where that is not the statement
    """
    admit(handle, details)
    new = validate(handle, text, details, quote=how.quote if how else None)
    if how is not None:
        new = _add_origin(handle, new, how)
    dated = details.get("said_at") is not None or details.get("source") is not None
    digest = digest or _digest(new, dated=dated)
    if idempotency_key is not None:
        idempotency_key = clean(handle, checks.name(idempotency_key, "idempotency_key"))
    checks.flag(despite_erasure, "despite_erasure")
    checks.flag(dry_run, "dry_run")

    def attempt() -> Outcome:
        if idempotency_key is not None and (first := handle.first_result(idempotency_key, digest)):
            return _outcome(handle, KINDS[first["outcome"]], first["ids"], first["operation"])
        erasure, turn = handle.store.erasures.last(), new.sources[0].turn
        if erasure and turn is not None:
            handle.store.turn(handle.reads(), turn)  # raises NotFound where it was erased since it was read
        if erasure and (refused := _refuse_erased(handle, new, despite_erasure=despite_erasure, dry_run=dry_run)):
            return refused
        receipt = Receipt(idempotency_key, digest, {}) if idempotency_key else None
        if new.state is State.CANDIDATE:
            return candidates.store(handle, new, Expect(erasure=erasure), receipt, dry_run=dry_run)
        confirms = how.confirms if how else None
        if keyed is not None:
            statement, expect, decision = keyed(handle, new, text, details, dated)
            return _apply_decision(handle, statement, replace(expect, erasure=erasure), decision, receipt, dry_run=dry_run)
        short = len(new.content) <= slots.LONGEST_STATEMENT and not confirms  # a story takes nothing back
        sort = retract.marker(new.content) if short else None
        if sort and (done := retract_last(handle, new, sort, receipt, stated="predicate" in details, dry_run=dry_run)):
            return done
        expect, decision = decide(handle, new, dated, confirms)
        if how is not None:
            expect, decision = _as_learned(handle, new, how, expect, decision)
        operation = "confirm" if confirms else "remember"
        return _apply_decision(
            handle, new, replace(expect, erasure=erasure), decision, receipt, operation=operation, dry_run=dry_run
        )

    if keyed is None or dry_run:
        return retry_if_stale(handle, attempt)
    with handle.store.exclusive():  # two that tell one id for the first time would each make a line
        return attempt()


def _refuse_erased(handle: Handle, new: SemanticMemory, *, despite_erasure: bool, dry_run: bool) -> Refused | None:
    """Refuse what was erased before; lift its tombstones if it is stored despite that."""
    at = tombstones.erased_since(handle, new)
    if at is None:
        return None
    if not despite_erasure:
        return Refused(memory=new, why=f"erased on {at.astimezone(new.created_at.tzinfo):%Y-%m-%d %H:%M}")
    if not dry_run:
        tombstones.lift(handle, new)
    return None


def _add_origin(handle: Handle, new: SemanticMemory, how: How) -> SemanticMemory:
    """Add to a learned statement its method and source words."""
    quote = None if how.quote is None or how.quote == new.content else clean(handle, how.quote)
    return replace(new, method=how.method, state=how.state, sources=tuple(replace(source, text=quote) for source in new.sources))


def _as_learned(
    handle: Handle, new: SemanticMemory, how: How, expect: Expect, decision: conflict.Decision
) -> tuple[Expect, conflict.Decision]:
    """Adapt a decision to how the statement was learned."""
    if how.replaces is not None and isinstance(decision.outcome, New | Flagged):
        expect, decision = _updating(handle, new, how.replaces, expect, decision)
    if how.confirms is not None:
        expect = replace(expect, rows={**expect.rows, how.confirms.n: how.confirms.changed})
        decision = replace(decision, updates=(*decision.updates, (how.confirms, CONFIRMED)))
    return expect, decision


def _updating(
    handle: Handle, new: SemanticMemory, n: int, expect: Expect, decision: conflict.Decision
) -> tuple[Expect, conflict.Decision]:
    """Decide on a statement that was learned as an update of a given live one."""
    known = next(iter(handle.store.memories(handle.own(), Memories(ns=[n], states=(State.ACTIVE,), current=True))), None)
    if known is None:
        return expect, decision
    return replace(expect, rows={known.n: known.changed}), conflict.contradict(new, known)


def _digest(memory: SemanticMemory, *, dated: bool) -> bytes:
    """Hash everything the caller gave, without clock or random parts, for idempotency."""
    moment = datetime.min.replace(tzinfo=UTC)
    normalized = replace(memory, id="", line="", sources=(), created_at=moment, updated_at=moment, auto_delete_at=None)
    if not dated:
        normalized = replace(normalized, said_at=moment, confirmed_at=moment, valid_from=moment)
    return hashlib.blake2b(repr(normalized).encode(), digest_size=16).digest()


def _apply_decision(
    handle: Handle,
    new: SemanticMemory,
    expect: Expect,
    decision: conflict.Decision,
    receipt: Receipt | None,
    *,
    operation: str = "remember",
    dry_run: bool,
) -> Outcome:
    """Apply a decision. Raises Stale if another writer interfered."""
    if dry_run:
        return decision.outcome
    retired = [row for row, columns in decision.updates if row.flagged_with and columns.get("superseded_by")]
    updates = [*decision.updates, *clear_flags(handle, retired)] if retired else decision.updates
    changes: list[Change] = [
        *(UpdateMemory(row.n, columns, index_tokens(row)) for row, columns in updates),
        *(AddMemory(row, index_tokens(row)) for row in decision.adds),
    ]
    if decision.moved:
        changes.append(RemoveSources(decision.updates[0][0].n, decision.moved))
    if decision.source_for is not None and not _is_source(handle, new.sources[0].turn, decision.source_for):
        said_so = None if new.content == decision.source_for.content else new.content
        changes.append(AddSource(decision.source_for.n, replace(new.sources[0], text=said_so)))
        if new.method == "rules":  # it was said again in talk
            changes.append(CountAccess([decision.source_for.n], "mentioned"))
    kind, ids = type(decision.outcome), [row.id for row in _rows(decision.outcome)]
    if receipt is not None:
        changes.append(replace(receipt, result={"outcome": kind.kind, "ids": ids}))
    done = handle.store.apply(handle.writes(), changes, handle.cause(operation, decision.outcome.memory.reason), expect)
    return _outcome(handle, kind, ids, done.transaction)


def _is_source(handle: Handle, turn: str | None, row: SemanticMemory) -> bool:
    """Tell whether this turn is a source of a row: one turn counts as evidence once."""
    return turn is not None and any(source.turn == turn for source in handle.store.with_details([row])[0].sources)


def decide(
    handle: Handle, new: SemanticMemory, dated: bool, confirms: SemanticMemory | None = None
) -> tuple[Expect, conflict.Decision]:
    """Compare a statement with its conflict set; return the decision and its expectation."""
    own = handle.own()
    nothing = Expect(slots={new.slot: 0} if new.slot else {}, hashes={new.content_hash: 0})
    conflicts = handle.store.conflict_set(own[0], new) if own else ConflictSet(expect=nothing)
    live = conflicts.live
    ahead = live is not None and live.said_at > (new.created_at if dated else new.said_at)
    if live is not None and ahead and (not dated or _said_undated(handle, new)):  # the clock went back: now is still after before
        new = ordered_after(live, new)
        conflicts = handle.store.conflict_set(own[0], new)
    if conflicts.previous is not None and conflicts.previous.superseded_by not in (None, getattr(conflicts.following, "id", None)):
        conflicts = _with_ended(handle, conflicts, new)
    if confirms is not None:  # what it takes the place of does not stand in its way
        same, rivals = ([row for row in rows if row.n != confirms.n] for rows in (conflicts.same, conflicts.rivals))
        conflicts = replace(conflicts, same=same, rivals=rivals)
    decision = conflict.decide(new, conflicts, split_id=handle.new_id())
    if decision.source_for is not None and new.tags and new.method == conflict.TOLD:
        decision = _with_tags(handle, new, decision, decision.source_for)
    if any(conflicts.expect.hashes.values()) and any(row.content_hash == new.content_hash for row in decision.adds):
        waiting = [update for update in settled(handle, [new]) if confirms is None or update[0].n != confirms.n]
        decision = replace(decision, updates=(*decision.updates, *waiting))
    return conflicts.expect, decision


def _with_ended(handle: Handle, conflicts: ConflictSet, new: SemanticMemory) -> ConflictSet:
    """Put between its neighbours the versions that took the place of the previous one, and that a night has put away since."""
    previous, following, rows = conflicts.previous, conflicts.following, dict(conflicts.expect.rows)
    while previous is not None and previous.superseded_by not in (None, following.id if following else None):
        found = handle.store.memories(handle.own(), Memories(ids=[previous.superseded_by or ""]))
        if not found or not history.put_away(found[0]):
            break
        rows[found[0].n] = found[0].changed
        if conflict.key(found[0]) > conflict.key(new):
            following = found[0]
        else:
            (previous,) = handle.store.with_details(found)
    live = conflicts.live if conflicts.following else following or previous
    return replace(conflicts, expect=replace(conflicts.expect, rows=rows), previous=previous, following=following, live=live)


def _said_undated(handle: Handle, new: SemanticMemory) -> bool:
    """Whether a statement has its time from a turn that nobody dated."""
    turn = handle.store.turn(handle.reads(), new.sources[0].turn) if new.sources[0].turn else None
    return turn is not None and new.said_at == turn.said_at == turn.recorded_at


def _with_tags(handle: Handle, new: SemanticMemory, decision: conflict.Decision, known: SemanticMemory) -> conflict.Decision:
    """Add the tags of a repetition to those of the statement that it confirms."""
    tags = tuple(dict.fromkeys((*handle.store.with_details([known])[0].tags, *new.tags)))
    updates = ((row, {**columns, "tags": tags} if row.n == known.n else columns) for row, columns in decision.updates)
    return replace(decision, updates=tuple(updates))


def ordered_after(row: SemanticMemory, new: SemanticMemory) -> SemanticMemory:
    """Date a statement without a time no earlier than the one before it."""
    at = max(row.said_at, new.said_at)
    valid_from = at if new.valid_from == new.said_at else new.valid_from
    return replace(new, said_at=at, confirmed_at=at, valid_from=valid_from, place=max(row.place, new.place))


def _rows(outcome: Outcome) -> tuple[SemanticMemory, ...]:
    """Return the statement of an outcome, and those it affected."""
    match outcome:
        case Replaced():
            return outcome.memory, outcome.replaced
        case Past():
            return outcome.memory, outcome.current
        case Flagged():
            return outcome.memory, *outcome.others
    return (outcome.memory,)


def _outcome(handle: Handle, kind: type[Outcome], ids: Sequence[str], operation: int) -> Outcome:
    """Build the outcome from the current rows."""
    if kind is Retracted:
        return retracted(handle, ids, operation)
    memory, *others = (handle.store.version(handle.writes(), id) for id in ids)
    if kind is Replaced:
        return Replaced(memory=memory, replaced=others[0], operation=operation)
    if kind is Past:
        return Past(memory=memory, current=others[0], operation=operation)
    if kind is Flagged:
        return Flagged(memory=memory, others=tuple(others), operation=operation)
    return New(memory=memory, operation=operation) if kind is New else Confirmed(memory=memory, operation=operation)


# ------------------------------------------------------------------ what comes in


def admit(handle: Handle, details: Mapping[str, Any]) -> None:
    """Raise Paused while memory is paused, and KeptOut for private folders."""
    pause.raise_if_paused(handle)
    if pause.in_private_folder(handle, details):
        raise KeptOut("it was said in a private folder")


def validate(handle: Handle, text: str, details: Mapping[str, Any], *, quote: str | None = None) -> SemanticMemory:
    """
    Validate a statement with the details of the caller and its source turn. Raises InvalidInput.

    quote: the words of its turn that it rests on, where they are others than the text
    """
    if unknown := [str(key)[:40] for key in details if key not in _DETAILS]:
        raise InvalidInput(f"a memory has no {', '.join(sorted(unknown))}; known are {', '.join(sorted(_DETAILS))}")
    now = handle.now()
    content = clean(handle, checks.text(text, "text").strip())
    if content.startswith("[") and private.is_nothing(content):
        raise KeptOut("all of it is private")
    turn = _source_turn(handle, details.get("source"))
    given = details.get("said_at")
    said_at, ahead = checks.said_at(turn.said_at if given is None and turn else given, now=now)
    speaker = clean(handle, checks.optional_name(details.get("speaker"), "speaker")) or (
        turn.speaker if turn and turn.role == "user" else None
    )
    value = details.get("object")
    once = slots.is_past(content, value if isinstance(value, str) else None)  # whatever else it is, is refused below
    slot = _current_slot(_slot(handle, content, details, speaker), content, once=once, named=details.get("predicate") is not None)
    slot = _resolve_subject(handle, slot, explicit=details.get("cardinality") is not None)
    origin, kind, standing = _classify(details, turn, slot, content)
    source = Source(origin=origin, said_at=said_at, recorded_at=now, actor=speaker or handle.settings.actor)
    if turn is None:
        source = replace(source, session=clean(handle, checks.optional_name(details.get("session"), "session")))
    else:
        source = _in_turn(handle, source, turn, content if quote is None else quote)
    id = handle.new_id(now)
    memory = SemanticMemory(
        id=id,
        line=id,
        valid_to=said_at if once else None,
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


def _in_turn(handle: Handle, source: Source, turn: Turn, words: str) -> Source:
    """Add to a source its turn, and the span of the words in it."""
    start, end = turn_texts.span(handle, turn, words) or (None, None)
    return replace(source, turn=turn.id, session=turn.session, place=turn.position, start=start, end=end)


def _classify(details: Mapping[str, Any], turn: Turn | None, slot: Slot | None, content: str) -> tuple[Origin, Kind, Standing]:
    """Return origin, kind and standing, as given or else by the source turn, the slot, and what the user orders."""
    given, kind, standing = (details.get(field) for field in ("origin", "kind", "standing"))
    origin = (turn.origin if turn else Origin.USER) if given is None else checks.enum_member(given, Origin, "origin")
    ordered = slot is None and origin is Origin.USER and slots.is_rule(content)
    return (
        origin,
        (Kind.RULE if ordered else slots.kind_of(slot)) if kind is None else checks.enum_member(kind, Kind, "kind"),
        _standing_named(str(kind).casefold()) if standing is None else checks.enum_member(standing, Standing, "standing"),
    )


def _standing_named(kind: str) -> Standing:
    """Return the standing that a kind such as "belief" or 摘要 implies."""
    if kind in lists.words("slots.belief"):
        return Standing.BELIEF
    return Standing.SUMMARY if kind in lists.words("slots.summary") else Standing.FACT


def _slot(handle: Handle, content: str, details: Mapping[str, Any], speaker: str | None) -> Slot | None:
    names, subject, predicate = handle.settings.names, details.get("subject"), details.get("predicate")
    given = details.get("cardinality")
    cardinality = None if given is None else checks.enum_member(given, Cardinality, "cardinality")
    if predicate is not None:
        slot = slots.stated(
            clean(handle, checks.name(subject if subject is not None else "user", "subject")),
            clean(handle, checks.name(predicate, "predicate")),
            clean(handle, checks.optional_name(details.get("object"), "object")),
            cardinality,
            speaker=speaker,
            names=names,
        )
        if not slot.predicate:
            checks.refuse("predicate", "must have more in it than quotation marks and stops")
        return slot
    if subject is not None or details.get("object") is not None or cardinality is not None:
        raise InvalidInput("subject, object and cardinality need a predicate; give the whole slot, or none of it")
    is_rule = details.get("kind") in (Kind.RULE, Kind.RULE.value)  # what is always to be done is nobody's attribute
    return None if is_rule else slots.read(content, speaker=speaker, names=names)


def _current_slot(slot: Slot | None, content: str, *, once: bool, named: bool) -> Slot | None:
    """Return the slot that a statement fills now, or None if it describes the past."""
    if slot is not None and once:
        return slot._replace(predicate="", key="")  # history from the start: asked for what holds, nobody finds it by its slot
    return None if named and slots.is_open(content) else slot  # what is named with its slot may say that it is not so yet


def _resolve_subject(handle: Handle, slot: Slot | None, *, explicit: bool) -> Slot | None:
    """Replace a subject's name by the subject known to have it, such as `my sister` for 小雨."""
    if slot is None or not slot.key or slot.subject == keys.USER or "'s " in slot.subject:
        return slot
    owner = lookup.canonical_subject(handle, slot.subject)
    return slot if owner == slot.subject else keys.finished(owner, slot.predicate, slot.object, slot.cardinality, told=explicit)


def _entities(given: Sequence[str], slot: Slot | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the normalized entities: those given, and those of the slot."""
    found = [*given, *((slot.subject, slot.object) if slot and slot.object else ())]
    return tuple(dict.fromkeys(keys.subject_of(name, names=names) for name in found))


def _slot_fields(slot: Slot, standing: Standing) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "subject": slot.subject,
        "predicate": slot.predicate or None,
        "object": slot.object or None,
        "cardinality": slot.cardinality,
    }
    return fields | ({"slot": slot.key} if standing is Standing.FACT and slot.key else {})


def _source_turn(handle: Handle, id: object) -> Turn | None:
    if id is None:
        return None
    if len(whole := checks.name(id, "source")) == WHOLE_ID:
        return handle.store.turn(handle.reads(), whole.lower())
    found = lookup.find(handle, whole, handle.reads())
    if not isinstance(found, Turn):
        raise NotFound(f"there is no turn with the id {whole[:80]} (this id is a memory's)")
    return found


def _optional(handle: Handle, details: Mapping[str, Any], now: datetime, said_at: datetime) -> dict[str, Any]:
    """Check the independent details; omitted ones stay out."""
    take: dict[str, Any] = {}

    def each(check: Any, *fields: str, **more: Any) -> None:
        take.update({field: check(details[field], field, **more) for field in fields if details.get(field) is not None})

    each(checks.text, "basis")
    each(checks.names, "tags", "entities")
    each(checks.name, "agent", "project", "external_id", "priority")
    each(checks.metadata, "metadata")
    each(checks.triples, "relations")
    take = {field: clean(handle, value) for field, value in take.items()}
    each(checks.fraction, "importance", "confidence")
    each(checks.integer, "strength", at_most=1000)
    each(checks.integer, "ttl_days", at_least=1, at_most=36_500)
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
    elif not (take.get("pinned") or "expires_at" in take or retention.UNTIL_SESSION in take.get("metadata", {})):
        # what is pinned has no end but one that is named, and what is for a session ends with it
        days = retention.PRIORITY_DAYS.get(take.get("priority", "permanent"))
        take |= {"expires_at": max(said_at, now - retention.DAY) + days * retention.DAY} if days else {}
    return take
