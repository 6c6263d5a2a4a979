"""
Forget (archive) memories and turns, and restore them.

What is forgotten is archived with its reason: out of every answer, but on the disk, in the journal, and
restored by one call. Forgetting a memory takes its whole line of versions; forgetting a turn takes the
memories that came from it alone. (Erasure, which leaves nothing, is another thing.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from yiku.errors import NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.common.intake import clean
from yiku.flows.common.lookup import find
from yiku.flows.common.turn_texts import tokens
from yiku.flows.keep import transcripts
from yiku.rules.deciding import conflict
from yiku.rules.deciding.history import RETRACTED
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.learning.reread import OUTGROWN
from yiku.rules.night import ends
from yiku.types import (
    Change,
    Expect,
    Forgotten,
    Memories,
    Origin,
    SemanticMemory,
    SetTurnHidden,
    Standing,
    State,
    Turn,
    Turns,
    UpdateMemory,
)

FORGOTTEN = "forgotten"
CONFIRMED: Mapping[str, Any] = {"state": State.ARCHIVED, "reason": "confirmed"}  # what becomes of a candidate or belief that holds


def forget(
    handle: Handle,
    id: str | None = None,
    *,
    session: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> Forgotten:
    """Forget a memory, a turn, a session or a time range; with `dry_run` only list it."""
    if (id is None) == (session is None and since is None and until is None):
        checks.refuse("forget", "needs either an id, or a session or a time range")
    checks.flag(dry_run, "dry_run")
    why = FORGOTTEN if reason is None else f"{FORGOTTEN}: {clean(handle, checks.text(reason, 'reason'))}"

    def attempt() -> Forgotten:
        memories, turns = _meant(handle, id, session, since, until)
        gone = Forgotten(tuple(memories), tuple(turns), 0)
        if dry_run or not (memories or turns):
            return gone
        now = handle.now()
        changes: list[Change] = [
            *(UpdateMemory(m.n, {"state": State.ARCHIVED, "reason": why}, index_tokens(m)) for m in memories),
            *(UpdateMemory(m.n, columns, index_tokens(m)) for m, columns in clear_flags(handle, memories)),
            *(UpdateMemory(m.n, columns, index_tokens(m)) for m, columns in relink_neighbours(handle, memories)),
            *(SetTurnHidden(turn.n, now, tokens(turn)) for turn in turns),
        ]
        done = handle.store.apply(handle.writes(), changes, handle.cause("forget", why), _unchanged(memories))
        transcripts.note_write(handle)
        return Forgotten(gone.memories, gone.turns, done.transaction)

    return retry_if_stale(handle, attempt)


def restore(handle: Handle, id: str) -> Forgotten:
    """
    Restore a forgotten, retracted or archived memory with its line, or a forgotten turn.

    Of its slot the later said is live. It is flagged with what it contradicted before, where that is live.
    """

    def attempt() -> Forgotten:
        found = find(handle, id, handle.own())
        if isinstance(found, Turn):
            if found.hidden_at is None:
                raise NotFound(f"there is no forgotten turn {id}")
            done = handle.store.apply(handle.writes(), [SetTurnHidden(found.n, None, tokens(found))], handle.cause("restore"))
            transcripts.note_write(handle)
            return Forgotten((), (found,), done.transaction)
        line = handle.store.memories(handle.own(), Memories(line=found.line, states=(State.ARCHIVED, State.JUNK)))
        back = [
            memory
            for memory in line
            if (memory.reason or "").startswith((FORGOTTEN, RETRACTED, OUTGROWN, ends.REFUTED, *ends.REASONS))
        ]
        if not back:
            raise NotFound(f"there is no forgotten memory {id}")
        present = _present(handle, found)
        unsaid = [row for row in back if row.method != "told" and row.origin is not Origin.USER]  # nobody had confirmed it
        if unsaid:
            waits = {"state": State.CANDIDATE, "reason": None, "flag": None, "flagged_with": ()}
            updates: list[conflict.Update] = [(row, waits) for row in unsaid]
        else:
            updates = conflict.rejoin(back, present)
            updates += flagged_again(handle, updates)
            updates += settled(handle, [row for row, columns in updates if _comes_back(row, columns)])
        updates = [(row, {**columns, **_without_end(row, columns, handle.now())}) for row, columns in updates]
        changes = [UpdateMemory(memory.n, columns, index_tokens(memory)) for memory, columns in updates]
        expect = _unchanged([*back, *present, *(row for row, _ in updates)])
        done = handle.store.apply(handle.writes(), changes, handle.cause("restore"), expect)
        return Forgotten(tuple(back), (), done.transaction)

    return retry_if_stale(handle, attempt)


def _without_end(row: SemanticMemory, columns: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    """Return the columns of an end that is over: what somebody brings back is there to be found."""
    over = {name: getattr(row, name) for name in ("expires_at", "auto_delete_at")} if _comes_back(row, columns) else {}
    return {name: None for name, end in over.items() if end is not None and end <= now}


def _meant(
    handle: Handle, id: str | None, session: str | None, since: datetime | str | None, until: datetime | str | None
) -> tuple[list[SemanticMemory], list[Turn]]:
    """Return the live memories and visible turns that a call selects, with the memories of turns that are hidden already."""
    own, now = handle.own(), handle.now()
    if id is not None:
        found = find(handle, id, own)
        if isinstance(found, SemanticMemory):
            return handle.store.memories(own, Memories(line=found.line, states=(State.ACTIVE, State.CANDIDATE))), []
        turns = [found]
    else:
        select = Turns(
            session=checks.optional_name(session, "session"),
            since=checks.optional_time(since, "since", now=now),
            until=checks.optional_time(until, "until", now=now),
            hidden=True,
        )
        turns = handle.store.turns(own, select) if own else []
    derived, _ = derived_only_from(handle, {turn.id for turn in turns}, (State.ACTIVE, State.CANDIDATE)) if turns else ([], [])
    visible = [turn for turn in turns if turn.hidden_at is None]
    if id is None and not (visible or derived):  # an undone turn is hidden, and what was learned from it may be live
        raise NotFound("there are no turns in that session or time", "`yiku traces` lists turns, `yiku sessions` sessions.")
    return derived, visible


def derived_only_from(handle: Handle, ids: set[str], states: Sequence[State]) -> tuple[list[SemanticMemory], list[SemanticMemory]]:
    """Return the memories derived from these turns alone, and those with other sources too."""
    own = handle.own()
    derived = handle.store.with_details(handle.store.memories(own, Memories(sourced_in=sorted(ids), states=states)))
    others = {source.turn for memory in derived for source in memory.sources if source.turn is not None} - ids
    gone = ids | {turn.id for turn in handle.store.turns(own, Turns(ids=[*others], hidden=True)) if turn.hidden_at is not None}
    only_derived = {memory.n: memory for memory in derived if all(source.turn in gone for source in memory.sources)}
    return [*only_derived.values()], [memory for memory in derived if memory.n not in only_derived]


def relink_neighbours(handle: Handle, gone: Sequence[SemanticMemory]) -> list[conflict.Update]:
    """Return the changes that relink the neighbours of a removed version; they go behind those of `clear_flags`."""
    updates: list[conflict.Update] = []
    ns = {memory.n for memory in gone}
    for slot in {memory.slot for memory in gone if memory.slot}:
        versions = handle.store.memories(handle.own(), Memories(slot=slot, states=(State.ACTIVE,)))
        if rest := [version for version in versions if version.n not in ns]:
            updates += conflict.rejoin((), rest)
    flagged = [(row, columns) for row, columns in updates if row.flag]
    return [*updates, *flagged_again(handle, flagged, gone)] if flagged else updates


def clear_flags(handle: Handle, gone: Sequence[SemanticMemory]) -> list[conflict.Update]:
    """Return the changes that clear the conflict flags a removed memory caused."""
    ids = {memory.id for memory in gone}
    named = {id for memory in gone for id in memory.flagged_with} - ids
    rivals = handle.store.memories(handle.own(), Memories(ids=sorted(named), states=(State.ACTIVE,))) if named else []
    naming = [rival for rival in rivals if ids & {*rival.flagged_with}]  # a belief names its fact, and that does not name it
    left = [(rival, tuple(id for id in rival.flagged_with if id not in ids)) for rival in naming]
    return [(rival, {"flagged_with": rest, "flag": rival.flag if rest else None}) for rival, rest in left]


def flagged_again(handle: Handle, updates: Sequence[conflict.Update], gone: Sequence[SemanticMemory] = ()) -> list[conflict.Update]:
    """
    Return the changes that flag both sides of each contradiction of what is live again by these updates (the reverse of `clear_flags`).

    gone: what is removed at the same time, and contradicts nothing any more
    """
    ids = {memory.id for memory in gone}
    back = [row for row, columns in updates if row.flag and _comes_back(row, columns)]
    named = {id for row in back for id in row.flagged_with} - ids
    select = Memories(ids=sorted(named), states=(State.ACTIVE,), current=True)
    rivals = handle.store.memories(handle.own(), select) if named else []
    changes: list[conflict.Update] = []
    for row in back:
        live = tuple(rival.id for rival in rivals if rival.id in row.flagged_with)
        changes.append((row, {"flagged_with": live, "flag": row.flag if live else None}))
    for rival in rivals:
        kept = (id for id in rival.flagged_with if id not in ids)
        all_of = tuple(dict.fromkeys((*kept, *(row.id for row in back if rival.id in row.flagged_with))))
        changes.append((rival, {"flagged_with": all_of, "flag": conflict.CONFLICT}))
    return [(row, columns) for row, columns in changes if columns["flagged_with"] != row.flagged_with]


def settled(handle: Handle, said: Sequence[SemanticMemory]) -> list[conflict.Update]:
    """Return the changes that settle the candidates in the words of what the user says: nobody has to confirm them any more."""
    hashes = {row.content_hash for row in said if row.origin is Origin.USER and row.standing is Standing.FACT}
    selects = [Memories(hash=words, states=(State.CANDIDATE,), current=True) for words in sorted(hashes)]
    return [(row, CONFIRMED) for select in selects for row in handle.store.memories(handle.own(), select)]


def _comes_back(row: SemanticMemory, columns: Mapping[str, Any]) -> bool:
    return not row.live and columns.get("superseded_by", row.superseded_by) is None


def _present(handle: Handle, memory: SemanticMemory) -> list[SemanticMemory]:
    """Return the active versions that share a restored line's slot or words."""
    if memory.slot is not None:
        return handle.store.memories(handle.own(), Memories(slot=memory.slot, states=(State.ACTIVE,), order="said"))
    same = Memories(hash=memory.content_hash, states=(State.ACTIVE,), current=True)
    return [row for row in handle.store.memories(handle.own(), same) if row.kind is memory.kind]


def _unchanged(memories: Sequence[SemanticMemory]) -> Expect:
    rows: Mapping[int, int] = {memory.n: memory.changed for memory in memories}
    return Expect(rows=rows)
