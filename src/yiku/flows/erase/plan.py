"""
Compute the erasure plan: statements, turns and everything derived from them.

First the statements and turns that a call means are chosen, with what came from them alone. Then the turns that say such a
statement are redacted (redact.py), and what grew out of all that goes with it (derived.py). Nothing is changed here.

A statement that was told several times loses the tellings that go. Where the first of them goes, the
statement goes, and what the next one said takes its place under a new id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from yiku.errors import NotFound
from yiku.flows.common import turn_texts
from yiku.flows.common.handle import Handle
from yiku.flows.common.lookup import find
from yiku.flows.erase import derived, quotes, redact
from yiku.flows.erase.derived import DerivedRecords, ErasureContext
from yiku.flows.erase.redact import Redaction
from yiku.rules.deciding import conflict
from yiku.rules.privacy import erasure
from yiku.store.api import micros
from yiku.types import (
    Condition,
    Group,
    HeldText,
    Memories,
    Place,
    Record,
    SemanticMemory,
    Slot,
    Source,
    Turn,
    Turns,
)

SourceKey = tuple[int, int]  # a source without a word of it: its number, and when it was recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The checked arguments of an erasure."""

    id: str | None = None
    session: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    everything: bool = False
    keep_turns: bool = False

    @property
    def window(self) -> derived.Window | None:
        """Whether a time range is meant."""
        return None if self.since is self.until is None else (self.since, self.until)

    def covers(self, memory: SemanticMemory) -> bool:
        """Tell whether a statement comes from the chosen source."""
        return self.source is not None and self.source in (memory.origin.value, memory.agent)

    def told_there(self, source: Source) -> bool:
        """Tell whether a source without a turn falls under the choice."""
        if source.turn is not None or (self.session or self.source or self.since or self.until) is None:
            return False
        return (
            self.session in (None, source.session)
            and self.source in (None, source.origin.value, source.actor)
            and (self.since is None or source.said_at >= self.since)
            and (self.until is None or source.said_at < self.until)
        )


NO_CHOICE = Choice()


@dataclass(frozen=True, slots=True)
class Statements:
    """
    The statements that an erasure affects.

    gone:   they go
    retold: of these, by id, those that were told again in what stays: what takes their places
    kept:   they stay, and lose sources
    lost:   by id, the sources that go of statements that stay or are told anew
    """

    gone: Sequence[SemanticMemory] = ()
    retold: Mapping[str, SemanticMemory] = field(default_factory=dict)
    kept: Sequence[SemanticMemory] = ()
    lost: Mapping[str, Sequence[SourceKey]] = field(default_factory=dict)

    @property
    def deleted(self) -> list[SemanticMemory]:
        """Return the statements that are deleted and not restated."""
        return [memory for memory in self.gone if memory.id not in self.retold]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """
    The statements and turns that a call selects.

    records: ids of records that go in any case
    sought:  what must stand in no other row; held: where it does
    deletes: turns are deleted, not blanked: a session or a scope goes whole
    spared:  the turns that say it stay
    """

    statements: Statements = Statements()
    turns: Sequence[Turn] = ()
    records: Sequence[str] = ()
    sought: quotes.Sought = quotes.NOTHING
    quotes: Sequence[HeldText] = ()
    deletes: bool = False
    whole_scope: bool = False
    spared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasurePlan:
    """
    Everything that an erasure deletes, redacts and keeps.

    turns:    go wholly
    redacted: turns that lose what says it
    left:     turns that still say something of it
    derived:  what grew out of it
    texts:    what must be found nowhere afterwards
    The rest as in Selection.
    """

    statements: Statements = Statements()
    turns: Sequence[Turn] = ()
    redacted: Sequence[Redaction] = ()
    left: Sequence[Place] = ()
    derived: DerivedRecords = field(default_factory=DerivedRecords)
    texts: Sequence[str] = ()
    sought: quotes.Sought = quotes.NOTHING
    quotes: Sequence[HeldText] = ()
    deletes: bool = False
    whole_scope: bool = False
    spared: bool = False

    def __bool__(self) -> bool:
        affected = self.statements.gone or self.statements.lost or self.turns or self.redacted or self.derived
        return bool(affected or self.whole_scope)


def plan(handle: Handle, choice: Choice, *, keep: bool) -> ErasurePlan:
    """Plan an erasure; with `keep`, store the blobs of redacted texts. Raises NotFound if nothing is selected."""
    if not handle.own():
        raise NotFound("there is nothing to erase")
    chosen = _with_summaries(handle, select(handle, choice))
    if chosen.whole_scope or chosen.records:
        return complete(handle, chosen, choice=choice)
    redacted, left = _redact(handle, chosen, keep=keep)
    found = complete(handle, chosen, redacted, left, choice=choice)
    if not found:
        raise NotFound("there is nothing to erase")
    return found


def _with_summaries(handle: Handle, chosen: Selection) -> Selection:
    """Add the summaries that were made from statements that go, and those of these."""
    gone, found = [*chosen.statements.gone], {memory.n for memory in chosen.statements.gone}
    ns = [memory.n for memory in gone]
    while ns and not chosen.whole_scope:
        made = handle.store.memories(handle.own(), Memories(summarizing=ns))
        made = [memory for memory in handle.store.with_details(made) if memory.n not in found]
        gone, ns = [*gone, *made], [memory.n for memory in made]
        found.update(ns)
    return replace(chosen, statements=replace(chosen.statements, gone=gone))


def complete(
    handle: Handle,
    chosen: Selection,
    redacted: Sequence[Redaction] = (),
    left: Sequence[Place] = (),
    *,
    choice: Choice = NO_CHOICE,
) -> ErasurePlan:
    """Add derived records and the texts to search for."""
    statements, texts = chosen.statements, _texts(handle, chosen, redacted)
    context = ErasureContext(
        statements=statements.deleted,
        memories=statements.gone,
        retold=[*statements.retold.values()],
        turns=chosen.turns,
        redacted=[(one.before, one.after) for one in redacted],
        texts=texts,
        session=choice.session,
        window=choice.window if choice.source is None else None,
        spared=chosen.spared,
        ids=chosen.records,
    )
    grown = derived.select_all(handle) if chosen.whole_scope else derived.derived_from(handle, context)
    return ErasurePlan(
        statements=statements,
        turns=chosen.turns,
        redacted=redacted,
        left=left,
        derived=grown,
        texts=list(dict.fromkeys(text.strip() for text in (*texts, *grown.texts()) if text.strip())),
        sought=chosen.sought,
        quotes=chosen.quotes,
        deletes=chosen.deletes,
        whole_scope=chosen.whole_scope,
        spared=chosen.spared,
    )


# ------------------------------------------------------------------ what is meant


def select(handle: Handle, choice: Choice) -> Selection:
    """Select the statements, turns or record of a call. Raises NotFound for an unknown id."""
    own, store = handle.own(), handle.store
    if choice.everything:
        memories = store.with_details(store.memories(own, Memories()))
        turns = store.turns(own, Turns(hidden=True))
        return Selection(statements=Statements(memories), turns=turns, deletes=True, whole_scope=True)
    match _by_id(handle, choice.id) if choice.id is not None else None:
        case SemanticMemory() as meant:
            said = store.with_details(_same_statements(handle, store.memories(own, Memories(line=meant.line))))
            sought = quotes.Sought(quotes.sentences(said, names=handle.settings.names), turns=not choice.keep_turns)
            quotes_found = quotes.find_quotes(handle, sought)
            statements = Statements([*said, *quotes.quoting_statements(handle, said, quotes_found)])
            return Selection(statements=statements, sought=sought, quotes=quotes_found, spared=choice.keep_turns)
        case Turn() as turn:
            return _including_statements(handle, choice, [turn], quotes.sentences((), [turn], names=handle.settings.names))
        case None:
            return _including_statements(handle, choice, _chosen_turns(handle, choice), ())
        case record:
            return Selection(records=[record.id], spared=True)


def _including_statements(handle: Handle, choice: Choice, turns: Sequence[Turn], sentences: Sequence[str]) -> Selection:
    """Add the statements that come from these turns, or from the chosen source or time."""
    sought = quotes.Sought(sentences, speech=False)
    return Selection(
        statements=_statements_of(handle, choice, turns),
        turns=turns,
        sought=sought,
        quotes=quotes.find_quotes(handle, sought),
        deletes=choice.session is not None and choice.window is None,
        spared=choice.keep_turns,
    )


def _by_id(handle: Handle, id: str) -> SemanticMemory | Turn | Record:
    try:
        return find(handle, id, handle.own())
    except NotFound:
        if (record := next(iter(derived.select_by_id(handle, [], suffix=id)), None)) is not None:
            return record
        raise


def _chosen_turns(handle: Handle, choice: Choice) -> list[Turn]:
    where = None
    if choice.source is not None:
        where = Group("or", tuple(Condition(name, "eq", choice.source) for name in ("origin", "agent", "actor")))
    select = Turns(session=choice.session, where=where, since=choice.since, until=choice.until, hidden=True)
    return handle.store.turns(handle.own(), select)


def _same_statements(handle: Handle, line: Sequence[SemanticMemory]) -> list[SemanticMemory]:
    """Return the versions of a line, and rows of other lines with the same statement, also forgotten ones."""
    found = {memory.n: memory for memory in line}
    values: dict[tuple[str, str], set[str]] = {}
    for text in {memory.content_hash for memory in line}:
        found |= {row.n: row for row in handle.store.memories(handle.own(), Memories(hash=text))}
    for memory in line:
        if memory.predicate and memory.object:
            values.setdefault((memory.subject or "", memory.predicate), set()).update(erasure.of_value(memory))
    for (subject, predicate), said in values.items():
        same = handle.store.memories(handle.own(), Memories(pairs=([subject], [predicate])))
        found |= {row.n: row for row in same if not said.isdisjoint(erasure.of_value(row))}
    return [found[n] for n in sorted(found)]


def _statements_of(handle: Handle, choice: Choice, turns: Sequence[Turn]) -> Statements:
    """Return the statements that lose sources: deleted, or kept with the others."""
    own, store = handle.own(), handle.store
    gone_turns = {turn.id for turn in turns}
    found = {memory.n: memory for memory in store.memories(own, Memories(sourced_in=sorted(gone_turns)))} if gone_turns else {}
    if choice.session is not None:
        found |= {row.n: row for row in store.memories(own, Memories(where=Condition("session", "eq", choice.session)))}
    elif choice.source is not None:
        named = tuple(Condition(name, "eq", choice.source) for name in ("origin", "agent", "speaker"))
        found |= {row.n: row for row in store.memories(own, Memories(where=Group("or", named)))}
    elif choice.id is None:
        said = store.memories(own, Memories(until=choice.until))
        found |= {row.n: row for row in said if choice.since is None or row.confirmed_at >= choice.since}
    every = store.with_details([found[n] for n in sorted(found)])
    named_turns = {source.turn for memory in every for source in memory.sources if source.turn is not None} - gone_turns
    there = store.turns(own, Turns(ids=sorted(named_turns), hidden=True)) if named_turns else []
    forgotten = {turn.id for turn in there if turn.hidden_at is not None}

    gone, kept = list[SemanticMemory](), list[SemanticMemory]()
    retold, lost = dict[str, SemanticMemory](), dict[str, list[SourceKey]]()
    for memory in every:
        going, left = list[Source](), list[Source]()
        for source in memory.sources:
            (going if source.turn in gone_turns or choice.told_there(source) else left).append(source)
        if choice.covers(memory) or (going and all(source.turn in forgotten for source in left)):
            gone.append(memory)
            continue
        if not going:
            continue
        if memory.sources[0] is going[0]:
            gone.append(memory)
            retold[memory.id] = restate(handle, memory, left)
        else:
            kept.append(memory)
        lost[memory.id] = [source_key(source) for source in going]
    return Statements(gone, retold, kept, lost)


def source_key(source: Source) -> SourceKey:
    """Identify a source without its words."""
    return source.seq, micros(source.recorded_at)


def restate(handle: Handle, memory: SemanticMemory, left: Sequence[Source]) -> SemanticMemory:
    """Return a statement as its remaining sources said it, without details only the erased ones knew."""
    said = next((source.text for source in left if source.text is not None), memory.content)
    if any(source.text is None for source in left):
        said = memory.content
    first = min(left, key=lambda source: (source.said_at, source.place))
    slot = None
    if memory.predicate is not None and memory.cardinality is not None:
        slot = Slot(memory.subject or "", memory.predicate, memory.object or "", memory.cardinality, memory.slot or "")
    return replace(
        memory,
        n=0,
        id=handle.new_id(),
        content=said,
        content_hash=conflict.text_hash(said, slot),
        sources=tuple(left),
        said_at=first.said_at,
        valid_from=first.said_at if memory.valid_from == memory.said_at else memory.valid_from,
        place=first.place,
        basis=None,
        external_id=None,
        tags=(),
        metadata={},
        relations=(),
    )


# ------------------------------------------------------------------ what else goes with them


def _redact(handle: Handle, chosen: Selection, *, keep: bool) -> tuple[list[Redaction], list[Place]]:
    """Redact the turns that contain deleted statements; return what they still say of them."""
    if chosen.spared:
        return [], []
    statements = chosen.statements.deleted
    redacted = [*redact.redact_sources(handle, statements, {turn.id for turn in chosen.turns}, keep=keep)]
    touched = redact.Touched(
        {turn.n for turn in (*chosen.turns, *(one.before for one in redacted))}, {memory.n for memory in chosen.statements.gone}
    )
    return redacted, redact.remaining_words(handle, redacted, statements, touched)


def _texts(handle: Handle, chosen: Selection, redacted: Sequence[Redaction]) -> list[str]:
    """Return the deleted texts of statements and turns, including journal images."""
    statements = chosen.statements
    texts = [*erasure.strings(statements.gone), *erasure.strings(chosen.turns), *erasure.strings(_images(handle, statements.gone))]
    for memory in statements.kept:
        texts += erasure.strings([source for source in memory.sources if source_key(source) in statements.lost[memory.id]])
    for turn in chosen.turns:
        texts += turn_texts.texts(handle, turn)
    return [*texts, *(text for one in redacted for text in one.texts)]


def _images(handle: Handle, gone: Sequence[SemanticMemory]) -> list[Any]:
    """Return the texts that the journal keeps of deleted statements."""
    ns = [memory.n for memory in gone]
    found = [row for table in ("memories", "memory_sources") for row in handle.store.journal(handle.own(), table=table, row_ns=ns)]
    return [text for row in found for text in (row.reason, dict(row.before or {}))]
