"""
Store or correct a statement on an agent's word: as the user's if a user turn supports it, else as a candidate.

An agent may have it from the user, from a tool, or from nowhere, and its word does not tell which. So the user's turns are looked
at: where the statement stands in clauses of one of them (rules/learning/grounding.py), that turn is its source, and it is decided
like anything the user says. Else it waits, marked and never pinned, until somebody confirms it. A correction of a statement
of the user's waits in the same way, and until then the statement stays as it is. The same words in other case, width or
punctuation claim nothing new: they become a new version of what they correct, from where that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from yiku.errors import InvalidInput, NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.intake import clean
from yiku.flows.common.lookup import find_memory
from yiku.flows.keep import candidates
from yiku.flows.keep.forget import forget
from yiku.flows.keep.remember import remember
from yiku.flows.keep.update import update
from yiku.flows.learn.store_draft import details as details_of
from yiku.flows.learn.store_draft import known_of
from yiku.rules.deciding.conflict import text_hash
from yiku.rules.finding import score
from yiku.rules.learning import extraction
from yiku.rules.learning.drafts import drafts
from yiku.rules.lexicon import built_in
from yiku.rules.privacy import fence
from yiku.rules.text import analyze
from yiku.rules.text.analyze import fold
from yiku.rules.text.sentences import split
from yiku.types import (
    Confirmed,
    Draft,
    Forgotten,
    How,
    Kind,
    Memories,
    Origin,
    Outcome,
    Refused,
    Replaced,
    SemanticMemory,
    Standing,
    State,
    Turn,
    Turns,
)

METHOD = "agent"
LOOKED_AT = 40  # turns that share most words with the statement, of which the user's are read
READ_TURNS = 8
READ_CHARS = 4_000  # of each of them
READ_SENTENCES = 40  # of each of them
QUOTE_CHARS = 600
GIVEN = frozenset("kind tags metadata expires_at importance".split())
INHERITED = ("kind", "tags", "metadata", "importance")  # by a correction; that of a candidate also its end


def propose(
    handle: Handle,
    text: str,
    details: Mapping[str, Any],
    *,
    evidence: str | None = None,
    idempotency_key: str | None = None,
    replaces: SemanticMemory | None = None,
) -> Outcome:
    """
    Store a statement of an agent; see Agent.propose.

    replaces: the live memory that it is a correction of
    """
    if unknown := sorted(set(details) - GIVEN):
        raise InvalidInput(f"a proposal has no {', '.join(unknown)[:80]}; known are {', '.join(sorted(GIVEN))}")
    stated = checks.text(text, "text").strip()
    quote = checks.text(evidence, "evidence", at_most=QUOTE_CHARS) if evidence is not None else None
    kind = checks.enum_member(details.get("kind"), Kind, "kind") if details.get("kind") is not None else Kind.FACT
    digest = None
    if idempotency_key is not None:
        digest = handle.seal(repr((stated, kind, quote, sorted(details.items()))))
        handle.first_result(clean(handle, checks.name(idempotency_key, "idempotency_key")), digest)  # raises for another call
    found = _said_by_user(handle, stated, kind, quote) if len(stated) <= QUOTE_CHARS else None
    if found is None:
        given = {**details, "origin": Origin.ASSISTANT}
        how = How(method=METHOD, state=State.CANDIDATE)
        return remember(handle, stated, given, idempotency_key=idempotency_key, how=how, digest=digest)  # type: ignore[arg-type]
    draft, turn = found
    known = next((memory for memory in _learned(handle, turn, draft) if memory.live), None)
    if known is not None:
        return Confirmed(memory=known)
    read = details_of(handle, turn, draft, candidate=False)
    noted = {**checks.metadata(details.get("metadata") or {}, "metadata"), **(read.get("metadata") or {})}
    given = {**read, **details, "metadata": noted}
    how = How(method=METHOD, quote=draft.quote, replaces=replaces.n if replaces else None)
    return remember(handle, draft.text, given, idempotency_key=idempotency_key, how=how, digest=digest)  # type: ignore[arg-type]


def amend(handle: Handle, id: str, text: str | None, details: Mapping[str, Any], *, evidence: str | None = None) -> Outcome:
    """Correct a memory on an agent's word; see Agent.amend."""
    if unknown := sorted(set(details) - {"tags", "metadata"}):
        raise InvalidInput(f"an agent cannot set {', '.join(unknown)[:80]}; it can set tags and metadata")
    memory = find_memory(handle, id, handle.own())
    if memory.state not in (State.ACTIVE, State.CANDIDATE) or memory.superseded_by:
        raise NotFound(f"memory {id} is no longer current: it was replaced, forgotten or retracted")
    if text is None:
        return Confirmed(memory=update(handle, memory.id, None, details))
    if _is_respelled(memory, checks.text(text, "text").strip()):
        new = update(handle, memory.id, text, details, keep_provenance=True)
        return Confirmed(memory=new) if new.id == memory.id else Replaced(memory=new, replaced=memory)
    waits = memory.state is State.CANDIDATE
    memory = handle.store.with_details([memory])[0]
    inherited = {name: getattr(memory, name) for name in (*INHERITED, *(["expires_at"] if waits else [])) if getattr(memory, name)}
    done = propose(handle, text, inherited | dict(details), evidence=evidence, replaces=None if waits else memory)
    if not waits or isinstance(done, Refused) or done.memory.line == memory.line:
        return done
    forget(handle, memory.id, reason=f"{candidates.AMENDED}: {done.memory.id}")
    return done if done.kind in ("replaced", "flagged") else Replaced(memory=done.memory, replaced=memory, operation=done.operation)


def withdraw(handle: Handle, id: str) -> Forgotten:
    """Forget an item on an agent's word; see Agent.forget."""
    return forget(handle, id, reason=candidates.BY_AGENT)


def _is_respelled(memory: SemanticMemory, text: str) -> bool:
    """Whether a text has the words of a memory and differs only in case, width or punctuation."""
    return text != memory.content and text_hash(text, None) == text_hash(memory.content, None)


def _learned(handle: Handle, turn: Turn, draft: Draft) -> list[SemanticMemory]:
    """Return what was learned from this turn before in these words, or in this slot."""
    return [
        memory
        for memory in known_of(handle, handle.writes(), turn)
        if fold(memory.content) == fold(draft.text) or (draft.slot and memory.slot == draft.slot.key)
    ]


def _taken_out_since(handle: Handle, turn: Turn, draft: Draft) -> bool:
    """Whether what a turn says was forgotten or taken back after it said so, and does not hold again."""
    same = handle.store.memories(handle.own(), Memories(hash=text_hash(draft.text, draft.slot)))
    rows = [*_learned(handle, turn, draft), *same]
    gone = [row for row in rows if candidates.taken_out(row)]
    return not any(row.live for row in rows) and any(not _said_after(handle, turn, row) for row in gone)


def _said_after(handle: Handle, turn: Turn, gone: SemanticMemory) -> bool:
    """Whether a turn was said, and also recorded, after a memory was taken out: a clock that ran ahead dates it later than it was."""
    if gone.updated_at >= turn.said_at:
        return False
    since = handle.store.journal(handle.own(), table="conversation_turns", after=gone.changed, limit=LOOKED_AT)
    return turn.n >= next((change.row for change in since if change.action == "insert"), turn.n + 1)


def _said_by_user(handle: Handle, text: str, kind: Kind, quote: str | None) -> tuple[Draft, Turn] | None:
    """Return the draft that rests on the user's own words, and their turn; None where nothing they said holds it."""
    for turn in _turns(handle, text if quote is None else f"{text} {quote}"):
        for evidence in [quote] if quote is not None else _sentences(turn.content):
            item = {"type": kind.value, "content": text, "evidence": evidence}
            for found in extraction.drafts([item], [turn], names=handle.settings.names)[0]:
                plain = found.own_words and _stated_plainly(handle, found.draft, evidence, turn)
                if plain and not _taken_out_since(handle, turn, found.draft):
                    return found.draft, turn
    return None


def _stated_plainly(handle: Handle, draft: Draft, evidence: str, turn: Turn) -> bool:
    """Whether the user's words assert it, or as a rule tell the agent so: what is imagined, hedged or quoted is not theirs."""
    if draft.kind is Kind.RULE:
        return any(one.kind is Kind.RULE for one in drafts(evidence, said_at=turn.said_at, names=handle.settings.names))
    return draft.standing is Standing.FACT


def _sentences(text: str) -> Sequence[str]:
    return [one.strip() for one in split(text[:READ_CHARS], built_in())[:READ_SENTENCES] if one.strip()]


def _turns(handle: Handle, text: str) -> list[Turn]:
    """Return the user's own turns in this scope that share most words with a text, the best first."""
    own, terms = handle.own(), analyze.question(text)
    if not own or not (terms.words or terms.characters):
        return []
    weights = [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters)
    postings = handle.store.postings("turn", own, (*terms.words, *terms.characters), past=False, cap=score.COMMON_ROWS)
    ns, scores, _ = score.bm25(postings, weights)
    best, _ = score.best(ns, scores, LOOKED_AT)
    rows = {turn.n: turn for turn in handle.store.turns(own, Turns(ns=best, roles=("user",)))} if best else {}
    said = [fence.own_words(rows[n]) for n in best if n in rows and rows[n].origin is Origin.USER]
    return [replace(turn, content=turn.content[:READ_CHARS]) for turn in said[:READ_TURNS]]
