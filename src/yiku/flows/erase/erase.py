"""
erase: what was said is gone, from every place of the home, and the receipt proves it.

Choose the statements and turns that are meant, with what came from them alone, the sentences that say them elsewhere
(redact.py), and what grew out of them (derived.py). Take them out of the store in one transaction that leaves tombstones,
keyed hashes of what must not come back. Then verify.py deals with every other copy and looks through the raw bytes of the home.
`again` does an erasure once more in a store that does not know of it: a backup, an older file put back.

A statement that was told several times loses the tellings that go. Where the first of them goes, the
statement goes, and what the next one said takes its place under a new id.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from yiku.errors import NotFound, StorageFull
from yiku.flows.common import checks, turn_texts
from yiku.flows.common.handle import Handle
from yiku.flows.common.lookup import find
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.erase import derived, quotes, redact, verify
from yiku.flows.erase.derived import Goes, Offshoots
from yiku.flows.erase.redact import Redaction
from yiku.flows.keep.forget import closed_up, unflagged
from yiku.rules import analyze, conflict, erasure, keys, redaction, values
from yiku.rules.slots import index_tokens
from yiku.rules.statements.read import read
from yiku.store.api import Reserve, identified, micros, moment
from yiku.types import (
    AddMemory,
    Blanked,
    Cause,
    Change,
    Condition,
    Erase,
    Erased,
    Expect,
    Gone,
    Group,
    HeldText,
    Memories,
    Place,
    Record,
    SemanticMemory,
    Slot,
    Source,
    State,
    Turn,
    Turns,
    UpdateMemory,
)


@dataclass(slots=True)
class Doomed:
    """What an erasure means to take."""

    memories: list[SemanticMemory] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)  # wholly
    redacted: list[Redaction] = field(default_factory=list)
    kept: list[SemanticMemory] = field(default_factory=list)  # they lose sources
    retold: dict[str, SemanticMemory] = field(default_factory=dict)  # by the id of the statement that goes
    sources: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # those that go of statements that stay
    texts: list[str] = field(default_factory=list)  # what must be found nowhere afterwards
    sought: quotes.Sought = field(default_factory=quotes.Sought)  # what must stand in no other row
    held: list[HeldText] = field(default_factory=list)  # where it does
    left: list[Place] = field(default_factory=list)  # turns that still say something of it
    deletes: bool = False  # turns are deleted, not blanked: a session or a scope goes whole
    whole_scope: bool = False
    spared: bool = False  # the turns that say it stay
    beside: Offshoots = field(default_factory=Offshoots)

    def __bool__(self) -> bool:
        return bool(self.memories or self.turns or self.redacted or self.whole_scope or self.sources or self.beside)


def erase(
    handle: Handle,
    id: str | None = None,
    *,
    session: str | None = None,
    source: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    everything: bool = False,
    confirm: str | None = None,
    keep_turns: bool = False,
    dry_run: bool = False,
    resume: bool = False,
    progress: Callable[[str], object] | None = None,
) -> Erased:
    """
    Erase a statement, a turn, a session, what came from a source, a time range, or everything in this scope.

    source:     an origin, agent or actor
    everything: all of the scope; `confirm` must be its name
    keep_turns: leave the turns that say an erased statement as they are
    resume:     instead, finish what a process that died left of its erasures
    Raises NotFound when nothing is meant.
    """
    if checks.flag(resume, "resume"):
        return verify.resumed(handle, again, progress=progress)
    for name, value in (("everything", everything), ("keep_turns", keep_turns), ("dry_run", dry_run)):
        checks.flag(value, name)
    _refuse_unclear(id, session, source, window=since is not None or until is not None, everything=everything)
    if everything and not dry_run and confirm != handle.scope:
        checks.refuse("confirm", f"must be the scope's name, {handle.scope}, to erase everything in it")
    now = handle.now()
    chosen = Choice(
        id=id,
        session=checks.optional_name(session, "session"),
        source=checks.optional_name(source, "source"),
        since=checks.optional_time(since, "since", now=now),
        until=checks.optional_time(until, "until", now=now),
        everything=everything,
        keep_turns=keep_turns,
    )
    if dry_run:
        doomed = _meant(handle, chosen, keep=False)
        return _answer(doomed, 0, [one for one in _held_by_others(doomed) if one.way == "kept"], dry_run=True)

    def attempt() -> tuple[Doomed, int]:
        doomed = _meant(handle, chosen, keep=True)
        seals, named = _seals(handle, doomed), _named_rows(doomed)
        return doomed, _taken_out(handle, handle.writes(), doomed, cause=handle.cause("erase"), seals=seals, named=named)

    with handle.store.exclusive():  # what is said meanwhile is said after the erasure
        try:
            doomed, number = attempt()
        except StorageFull:  # what is left of a long content wants a blob
            if not Reserve(handle.paths.root / "reserve").release():
                raise
            doomed, number = attempt()
    answer = _answer(doomed, number, quotes.held(handle, doomed.sought) if _held_by_others(doomed) else ())
    return verify.everywhere(
        handle, answer, doomed.texts, blob_names=_blobs(doomed), again=again, sought=doomed.sought, progress=progress
    )


def _refuse_unclear(id: str | None, session: str | None, source: str | None, *, window: bool, everything: bool) -> None:
    """Raise InvalidInput unless one thing is meant; a time range may narrow a session or a source."""
    told = [given for given in (id, session, source) if given is not None]
    if len(told) + everything > 1 or (window and (id is not None or everything)) or not (told or window or everything):
        checks.refuse("erase", "needs one of: an id, a session, a source, everything; or a time range")


def _held_by_others(doomed: Doomed) -> list[HeldText]:
    """What other rows than those that go hold of it."""
    gone = {memory.id for memory in doomed.memories} | {id for ids in doomed.beside.ids().values() for id in ids}
    return [one for one in doomed.held if one.id not in gone]


def _answer(doomed: Doomed, number: int, stays: Iterable[HeldText], *, dry_run: bool = False) -> Erased:
    return Erased(
        memories=tuple(memory for memory in doomed.memories if memory.id not in doomed.retold),
        turns=tuple(doomed.turns),
        redacted=tuple(one.after for one in doomed.redacted),
        widened=tuple(one.after.id for one in doomed.redacted if one.widened),
        kept=(*doomed.kept, *doomed.retold.values(), *quotes.kept(stays)),
        records=(*doomed.beside.gone, *(before for before, _ in doomed.beside.left)),
        places=tuple(doomed.left),
        out_of_reach=verify.OUT_OF_REACH,
        operation=number,
        dry_run=dry_run,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a call asks to erase, checked."""

    id: str | None = None
    session: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    everything: bool = False
    keep_turns: bool = False

    def covers(self, memory: SemanticMemory) -> bool:
        """Whether a statement comes from the source that is meant, whoever told it."""
        return self.source is not None and self.source in (memory.origin.value, memory.agent)

    def told(self, source: Source) -> bool:
        """Whether a statement was told there, then or by that source, without a turn."""
        if source.turn is not None or (self.session or self.source or self.since or self.until) is None:
            return False
        return (
            self.session in (None, source.session)
            and self.source in (None, source.origin.value, source.actor)
            and (self.since is None or source.said_at >= self.since)
            and (self.until is None or source.said_at < self.until)
        )


# ------------------------------------------------------------------ what is meant


def _meant(handle: Handle, chosen: Choice, *, keep: bool) -> Doomed:
    """What a call asks to erase; with `keep` the blobs of what is left are on the disk. Raises NotFound when that is nothing."""
    own, store = handle.own(), handle.store
    if not own:
        raise NotFound("anything to erase")
    if chosen.everything:
        memories = store.filled(store.memories(own, Memories()))
        turns = store.turns(own, Turns(hidden=True))
        return _with_texts(handle, Doomed(memories, turns, deletes=True, whole_scope=True))
    found = _by_id(handle, chosen.id) if chosen.id is not None else None
    if found is not None and not isinstance(found, (SemanticMemory, Turn)):
        return _with_texts(handle, Doomed(spared=True), chosen, ids=[found.id])
    if isinstance(found, SemanticMemory):
        said = store.filled(_saying_the_same(handle, store.memories(own, Memories(line=found.line))))
        sought = quotes.Sought(quotes.sentences(said, names=handle.settings.names), turns=not chosen.keep_turns)
        held = quotes.held(handle, sought)
        doomed = Doomed([*said, *quotes.quoting(handle, said, held)], sought=sought, held=held)
    else:
        turns = [found] if found is not None else _chosen_turns(handle, chosen)
        window = chosen.since is not None or chosen.until is not None
        sought = quotes.Sought(quotes.sentences((), turns if found is not None else (), names=handle.settings.names), speech=False)
        doomed = Doomed(turns=turns, deletes=chosen.session is not None and not window, sought=sought)
        doomed.held = quotes.held(handle, sought)
        _choose_statements(handle, chosen, doomed)
    doomed.spared = chosen.keep_turns
    if not chosen.keep_turns:
        gone = {turn.id for turn in doomed.turns}
        statements = [memory for memory in doomed.memories if memory.id not in doomed.retold]
        doomed.redacted = [*redact.of(handle, statements, gone, keep=keep)]
        touched = redact.Gone(
            {turn.n for turn in (*doomed.turns, *(one.before for one in doomed.redacted))}, {memory.n for memory in doomed.memories}
        )
        doomed.left = redact.left_words(handle, doomed.redacted, statements, touched)
    if not _with_texts(handle, doomed, chosen):
        raise NotFound("anything to erase")
    return doomed


def _by_id(handle: Handle, id: str) -> SemanticMemory | Turn | Record:
    try:
        return find(handle, id, handle.own())
    except NotFound:
        if (record := next(iter(derived.named(handle, [], suffix=id)), None)) is not None:
            return record
        raise


def _chosen_turns(handle: Handle, chosen: Choice) -> list[Turn]:
    where = None
    if chosen.source is not None:
        where = Group("or", tuple(Condition(name, "eq", chosen.source) for name in ("origin", "agent", "actor")))
    select = Turns(session=chosen.session, where=where, since=chosen.since, until=chosen.until, hidden=True)
    return handle.store.turns(handle.own(), select)


def _saying_the_same(handle: Handle, line: Sequence[SemanticMemory]) -> list[SemanticMemory]:
    """The versions of a line, and rows of other lines, forgotten ones too, that say what one of them says."""
    found = {memory.n: memory for memory in line}
    values: dict[tuple[str, str], set[str]] = {}
    for text in {memory.content_hash for memory in line}:
        found |= {row.n: row for row in handle.store.memories(handle.own(), Memories(hash=text))}
    for memory in line:
        if memory.predicate and memory.object:
            values.setdefault((memory.subject or "", memory.predicate), set()).add(analyze.plain(memory.object))
    for (subject, predicate), objects in values.items():
        same = handle.store.memories(handle.own(), Memories(pairs=([subject], [predicate])))
        found |= {row.n: row for row in same if analyze.plain(row.object or "") in objects}
    return [found[n] for n in sorted(found)]


def _choose_statements(handle: Handle, chosen: Choice, doomed: Doomed) -> None:
    """The statements that come from what goes: they go, or lose the sources that go."""
    own, store = handle.own(), handle.store
    gone = {turn.id for turn in doomed.turns}
    found = {memory.n: memory for memory in store.memories(own, Memories(sourced_in=sorted(gone)))} if gone else {}
    if chosen.session is not None:
        found |= {row.n: row for row in store.memories(own, Memories(where=Condition("session", "eq", chosen.session)))}
    elif chosen.source is not None:
        named = tuple(Condition(name, "eq", chosen.source) for name in ("origin", "agent", "speaker"))
        found |= {row.n: row for row in store.memories(own, Memories(where=Group("or", named)))}
    elif chosen.id is None:
        said = store.memories(own, Memories(until=chosen.until))
        found |= {row.n: row for row in said if chosen.since is None or row.confirmed_at >= chosen.since}
    every = store.filled([found[n] for n in sorted(found)])
    named_turns = {source.turn for memory in every for source in memory.sources if source.turn is not None} - gone
    there = store.turns(own, Turns(ids=sorted(named_turns), hidden=True)) if named_turns else []
    forgotten = {turn.id for turn in there if turn.hidden_at is not None}
    for memory in every:
        going, left = list[Source](), list[Source]()
        for source in memory.sources:
            (going if source.turn in gone or chosen.told(source) else left).append(source)
        if chosen.covers(memory) or (going and all(source.turn in forgotten for source in left)):
            doomed.memories.append(memory)
            continue
        if not going:
            continue
        if memory.sources[0] is going[0]:
            doomed.memories.append(memory)
            doomed.retold[memory.id] = _told_anew(handle, memory, left)
        else:
            doomed.kept.append(memory)
        doomed.sources[memory.id] = [_named_source(source) for source in going]


def _named_source(source: Source) -> tuple[int, int]:
    """A source without a word of it: its number, and when it was recorded."""
    return source.seq, micros(source.recorded_at)


def _told_anew(handle: Handle, memory: SemanticMemory, left: Sequence[Source]) -> SemanticMemory:
    """A statement as those sources said it that are left; what only the first knew of it goes."""
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


def _with_texts(handle: Handle, doomed: Doomed, chosen: Choice | None = None, *, ids: Sequence[str] = ()) -> Doomed:
    """Also what grew out of it, and what the files are looked through for: every text that goes. `ids` of records that go too."""
    texts = [*erasure.strings(doomed.memories), *erasure.strings(doomed.turns), *erasure.strings(_images(handle, doomed))]
    for memory in doomed.kept:
        texts += erasure.strings([source for source in memory.sources if _named_source(source) in doomed.sources[memory.id]])
    for turn in doomed.turns:
        texts += turn_texts.texts(handle, turn)
    texts += [text for one in doomed.redacted for text in one.texts]
    doomed.beside = _beside(handle, doomed, chosen or Choice(), texts, ids)
    texts += doomed.beside.texts()
    doomed.texts = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    return doomed


def _beside(handle: Handle, doomed: Doomed, chosen: Choice, texts: Sequence[str], ids: Sequence[str]) -> Offshoots:
    """What grew out of what goes."""
    if doomed.whole_scope:
        return derived.everything(handle)
    window = None if chosen.since is chosen.until is None else (chosen.since, chosen.until)
    goes = Goes(
        statements=[memory for memory in doomed.memories if memory.id not in doomed.retold],
        memories=doomed.memories,
        retold=[*doomed.retold.values()],
        turns=doomed.turns,
        redacted=[(one.before, one.after) for one in doomed.redacted],
        texts=texts,
        session=chosen.session,
        window=window if chosen.source is None else None,
        spared=doomed.spared,
        ids=ids,
    )
    return derived.of(handle, goes)


def _images(handle: Handle, doomed: Doomed) -> list[Any]:
    """What the journal keeps of the statements that go: reasons, and what they said before."""
    ns = [memory.n for memory in doomed.memories]
    found = [row for table in ("memories", "memory_sources") for row in handle.store.journal(handle.own(), table=table, row_ns=ns)]
    return [text for row in found for text in (row.reason, dict(row.before or {}))]


# ------------------------------------------------------------------ out of the store


def _taken_out(
    handle: Handle, scope: int, doomed: Doomed, *, cause: Cause, seals: Sequence[bytes], named: Mapping[str, Any]
) -> int:
    """
    One transaction: the rows go, what they were linked with is mended, tombstones stay. The number of the erasure.

    named: what the erasure takes, by ids, as it is remembered
    """
    mended: list[Change] = []
    if not doomed.whole_scope:
        for memory, columns in [*_unlinked(handle, doomed), *_unflagged(handle, doomed)]:
            mended.append(UpdateMemory(memory.n, columns, index_tokens(memory)))
        mended += [*_closed_up(handle, doomed), *doomed.beside.put()]
    erasing = Erase(
        memories=[Gone(memory.n, memory.id, index_tokens(memory)) for memory in doomed.memories],
        turns=[_gone(turn) for turn in doomed.turns if doomed.deletes],
        blanked=[*_blanked(handle, doomed)],
        records=doomed.beside.ids(),
        images=[*doomed.beside.images],
        sessions=[state.id for state in doomed.beside.states],
        texts=quotes.emptied(doomed.held, doomed.sought),
        whole_scope=doomed.whole_scope,
        seals=seals,
        rows=named,
    )
    expect = Expect(rows={memory.n: memory.changed for memory in doomed.memories}, erasure=handle.store.erasures.last())
    done = handle.store.apply(scope, [erasing, *mended], cause, expect).transaction
    for forget in (read.cache_clear, keys.forget, values.forget, redaction.forget):  # what was read of it goes, too
        forget()
    return done


def _blanked(handle: Handle, doomed: Doomed) -> Iterator[Blanked]:
    """The turns that stay with less, and where in them something went."""
    for one in (*doomed.redacted, *(() if doomed.deletes else (redact.whole(handle, turn) for turn in doomed.turns))):
        said = turn_texts.content(handle, one.before)
        cuts = [(start, end, len(redaction.mark(said[start:end]))) for start, end in one.cuts]
        yield Blanked(_gone(one.before), one.after, tokens(one.after), tool_tokens(one.after), cuts)


def _named_rows(doomed: Doomed) -> dict[str, Any]:
    """An erasure as it is remembered: rows and blobs, and not a word."""
    blank = {one.before.id for one in doomed.redacted if one.blanked}
    return {
        "memories": [memory.id for memory in doomed.memories],
        "turns": [turn.id for turn in doomed.turns],
        "redacted": [one.before.id for one in doomed.redacted if one.before.id not in blank],
        "blanked": sorted(blank),
        "sources": doomed.sources,
        "retold": {id: memory.id for id, memory in doomed.retold.items()},
        "blobs": sorted(_blobs(doomed)),
        "records": doomed.beside.ids(),
        "session": doomed.deletes,
        "whole_scope": doomed.whole_scope,
        "spared": doomed.spared,
    }


def _seals(handle: Handle, doomed: Doomed) -> list[bytes]:
    """The seals of what must not come back. What a statement that stays says is not among them."""
    sealed = [text for memory in doomed.memories for text in erasure.of_statement(memory)]
    for turn in doomed.turns:
        sealed += [
            *erasure.of_turn(turn),
            *(text for said in turn_texts.texts(handle, turn) for text in erasure.of_sentences(said)),
        ]
    for one in doomed.redacted:
        left = {text for said in turn_texts.texts(handle, one.after) for text in erasure.runs(said)}
        sealed += [text for text in erasure.of_parts(_sentences_cut(handle, one)) if text not in left]
    if doomed.deletes:
        sealed += [erasure.of_session(session) for session in sorted({turn.session for turn in doomed.turns})]
    sealed += [erasure.of_record(id) for ids in doomed.beside.ids().values() for id in ids]
    stays = {text for memory in (*doomed.kept, *doomed.retold.values()) for text in erasure.of_statement(memory)}
    return [handle.sealed(text) for text in dict.fromkeys(sealed) if text not in stays]


def _sentences_cut(handle: Handle, one: Redaction) -> list[str]:
    """The whole sentences of a turn that lost something, and what they lost."""
    said = turn_texts.content(handle, one.before)
    return [*redaction.around(said, one.cuts), *one.texts]


def _gone(turn: Turn) -> Gone:
    return Gone(turn.n, turn.id, tokens(turn), tool_tokens(turn))


def _blobs(doomed: Doomed) -> set[str]:
    """The blobs that what goes had named."""
    named = doomed.beside.blobs()
    for turn in (*doomed.turns, *(one.before for one in doomed.redacted)):
        named |= {blob for blob in (turn.blob, *(result.get("blob") for result in turn.tool_results)) if isinstance(blob, str)}
    return named


# ------------------------------------------------------------------ what is left joins again


def _closed_up(handle: Handle, doomed: Doomed) -> list[Change]:
    """Slots that lose a version are one chain again, and statements that are told anew stand in it."""
    changes: list[Change] = []
    anew = {memory.id: memory for memory in doomed.retold.values()}
    for slot in sorted({memory.slot for memory in anew.values() if memory.slot and memory.state is State.ACTIVE}):
        gone = {memory.n for memory in doomed.memories}
        versions = handle.store.memories(handle.own(), Memories(slot=slot, states=(State.ACTIVE,)))
        back = [memory for memory in anew.values() if memory.slot == slot and memory.state is State.ACTIVE]
        for memory, columns in conflict.rejoined(back, [row for row in versions if row.n not in gone]):
            if memory.id in anew:
                anew[memory.id] = replace(memory, **columns)
            else:
                changes.append(UpdateMemory(memory.n, columns, index_tokens(memory)))
    closed = {memory.slot for memory in anew.values()}
    others = [memory for memory in doomed.memories if memory.slot not in closed]
    changes += [UpdateMemory(memory.n, columns, index_tokens(memory)) for memory, columns in closed_up(handle, others)]
    changes += [AddMemory(memory, index_tokens(memory)) for memory in anew.values()]
    return changes


def _unflagged(handle: Handle, doomed: Doomed) -> list[tuple[SemanticMemory, Mapping[str, Any]]]:
    """Rivals contradict what goes no more; what is told anew they contradict as before."""
    changed: list[tuple[SemanticMemory, Mapping[str, Any]]] = []
    for rival, columns in unflagged(handle, doomed.memories):
        still = [doomed.retold[id].id for id in rival.flagged_with if id in doomed.retold]
        flagged = (*columns["flagged_with"], *still)
        changed.append((rival, {"flagged_with": flagged, "flag": rival.flag if flagged else None}))
    return changed


def _unlinked(handle: Handle, doomed: Doomed) -> list[tuple[SemanticMemory, Mapping[str, Any]]]:
    """Versions that no slot's chain holds point to the next that is left, or to none."""
    gone = {memory.id: memory for memory in doomed.memories}
    lines = sorted({memory.line for memory in doomed.memories})
    rest = [row for line in lines for row in handle.store.memories(handle.own(), Memories(line=line)) if row.id not in gone]
    changed: list[tuple[SemanticMemory, Mapping[str, Any]]] = []
    for row in rest:
        successor, passed = row.superseded_by, set[str]()
        while successor in gone and successor not in doomed.retold:
            if successor in passed:  # a circle, which an older version took in
                successor = None
                break
            passed.add(successor)
            successor = gone[successor].superseded_by
        successor = doomed.retold[successor].id if successor in doomed.retold else successor
        if successor != row.superseded_by and not (row.slot and row.state is State.ACTIVE):
            ended: dict[str, Any] = {} if successor else {"valid_to": None, "reason": None} if row.state is State.ACTIVE else {}
            changed.append((row, {"superseded_by": successor, **ended}))
    return changed


# ------------------------------------------------------------------ the same in another copy


def again(handle: Handle, entries: Iterable[Mapping[str, Any]]) -> int:
    """
    Take out of a store what was erased from another of its copies: a backup, an older file that was put back.

    entries: erasures as `Store.erasures` has them; how many rows went
    """
    told, count = [*{entry["id"]: entry for entry in map(identified, entries)}.values()], 0  # each once, wherever it is told
    names = {number: name for number, name, _ in handle.store.scopes()}
    known = handle.store.erasures.known([entry["id"] for entry in told])
    seals = {bytes.fromhex(seal) for entry in told for seal in entry["seals"]}
    for entry in told:
        at = moment(entry["at"])
        assert at is not None
        one = replace(handle, scope=names.get(entry["scope"], handle.scope))
        doomed = _named(one, entry["rows"], seals, at) if entry["scope"] in names else Doomed()
        if doomed or entry["id"] not in known:
            own = [bytes.fromhex(seal) for seal in entry["seals"]]
            _taken_out(one, entry["scope"], doomed, cause=Cause("erase", at), seals=own, named=entry["rows"])
            count += len(doomed.memories) + len(doomed.turns) + len(doomed.redacted) + len(doomed.beside.gone)
    return count


def _named(handle: Handle, named: Mapping[str, Any], seals: Container[bytes], at: datetime) -> Doomed:
    """What an erasure named, as far as it is in this store."""
    own, store = handle.own(), handle.store
    ids = [id for among in named.get("records", {}).values() for id in among]  # older erasures name none
    if named["whole_scope"]:
        memories = [
            memory for memory in store.memories(own, Memories()) if memory.created_at <= at or memory.id in named["memories"]
        ]
        turns = [turn for turn in store.turns(own, Turns(hidden=True)) if turn.recorded_at <= at or turn.id in named["turns"]]
        left = len(store.memories(own, Memories())) - len(memories) + len(store.turns(own, Turns(hidden=True))) - len(turns)
        beside = derived.everything(handle, until=at, ids=ids)
        left += len(derived.everything(handle).gone) - len(beside.gone)
        return Doomed(store.filled(memories), turns, deletes=True, whole_scope=not left, beside=beside)
    memories = store.filled(store.memories(own, Memories(ids=named["memories"])))
    doomed = Doomed(memories, deletes=named["session"])
    doomed.turns = [turn for turn in store.turns(own, Turns(ids=named["turns"], hidden=True)) if turn != redact.blank(turn)]
    doomed.redacted = [*_named_turns(handle, named, memories, seals)]
    for memory in memories:
        going = [tuple(each) for each in named["sources"].get(memory.id, ())]
        left_of = [source for source in memory.sources if _named_source(source) not in going]
        if memory.id in named["retold"] and left_of:
            doomed.retold[memory.id] = replace(_told_anew(handle, memory, left_of), id=named["retold"][memory.id])
    for memory in store.filled(store.memories(own, Memories(ids=sorted({*named["sources"]} - {*named["memories"]})))):
        going = [tuple(each) for each in named["sources"][memory.id]]
        if any(_named_source(source) in going for source in memory.sources):
            doomed.kept.append(memory)
            doomed.sources[memory.id] = going
    doomed.spared = named.get("spared", False)
    return _with_texts(handle, doomed, ids=ids) if doomed or derived.named(handle, ids) else doomed


def _named_turns(
    handle: Handle, named: Mapping[str, Any], memories: Sequence[SemanticMemory], seals: Container[bytes]
) -> Iterator[Redaction]:
    """Turns that lost sentences, as far as they still have them here."""
    ids = [*named["redacted"], *named["blanked"]]

    def also(text: str) -> list[redaction.Range]:
        return [place for key, places in erasure.runs(text).items() if handle.sealed(key) in seals for place in places]

    sought = redact.sought(memories)
    for turn in handle.store.turns(handle.own(), Turns(ids=ids, hidden=True)):
        one = redact.of_turn(handle, turn, sought, keep=True, also=also)
        swept = any(mark in text for text in turn_texts.texts(handle, turn) for mark in redaction.marks())
        if turn.id in named["blanked"] or (one.after == turn and not swept):  # nobody can tell here which sentence it was
            one = redact.whole(handle, turn)
        if one.after != turn:
            yield one
