"""
Reject erased content on every input path; mirror erasures in files, to detect that an older copy was restored.

A statement that was erased is refused whenever it is told, unless the caller says that it is meant. A turn
that was said before the erasure is left out, or loses the sentences that were erased: it comes from an old
file. What a person says after the erasure is recorded as it was said; only learning from it is refused.
What something else still says was not erased there, and may come in again.
While nothing was erased, none of this is asked.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from yiku.errors import ErasureUndone
from yiku.files import blobs
from yiku.files import mirror as mirrored
from yiku.files.vault import Home
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import blob_names, content, rewrite, texts
from yiku.rules.privacy import erasure, redaction
from yiku.rules.text import analyze
from yiku.store.api import Store, with_id
from yiku.types import Attachment, Lift, Memories, Record, Records, Scratchpad, SemanticMemory, State, Turn, Turns

TEXT = "text\0"  # before the words that stand for a sentence, as rules.erasure has them


# ------------------------------------------------------------------ statements


def erased_since(handle: Handle, memory: SemanticMemory) -> datetime | None:
    """Return when a statement was erased, by its words or by its slot and value; None if a live one still says the same."""
    found, own = _erased_texts(handle, erasure.of_statement(memory)), handle.own()
    if not found or not own:
        return max(found.values(), default=None)
    if any(text.startswith(TEXT) for text in found):
        same = Memories(hash=memory.content_hash, states=(State.ACTIVE,), current=True, limit=1)
        return None if handle.store.memories(own, same) else max(found.values())
    values, slot = {*erasure.of_value(memory)}, ([memory.subject or ""], [memory.predicate or ""])
    rows = handle.store.memories(own, Memories(pairs=slot, states=(State.ACTIVE,)))
    return max(found.values()) if all(values.isdisjoint(erasure.of_value(row)) for row in rows) else None


def lift(handle: Handle, memory: SemanticMemory) -> None:
    """Remove the tombstones of a statement, so that it can be stored again."""
    seals = [handle.scope_seal(text) for text in erasure.of_statement(memory)]
    handle.store.apply(handle.writes(), [Lift(seals)], handle.cause("lift"))
    mirror(handle)
    mirrored.allow(handle.paths, handle.store.store_id, seals)


# ------------------------------------------------------------------ older copies


def mirror(handle: Handle) -> None:
    """Write a file for each erasure beside the database, converting entries of earlier versions."""
    home, store = handle.paths, handle.store
    mirrored.write(home, store.store_id, [*map(with_id, mirrored.lines(home)), *store.erasures.all()])


def unknown_erasures(home: Home, store: Store) -> list[Mapping[str, Any]]:
    """Return erasures recorded beside a database that lacks them: an older copy was restored over it."""
    recorded = [*map(with_id, mirrored.lines(home))]
    missing = _missing(home, store)
    known = [entry for entry in recorded if entry["id"] in missing]
    others = sorted(missing - {entry["id"] for entry in known})
    return sorted([*known, *mirrored.entries(home, store.store_id, others)], key=lambda entry: entry["at"])


def mirrored_ids(home: Home, store_id: str) -> set[str]:
    """Return the ids of all erasures recorded in files beside the database."""
    found = set(mirrored.names(home, store_id))
    with suppress(OSError, ValueError, KeyError):  # one that cannot be read hides nothing that a file of its own tells
        found |= {with_id(entry)["id"] for entry in mirrored.lines(home)}
    return found


def _missing(home: Home, store: Store) -> set[str]:
    """Return the ids of erasures in files that the store does not know."""
    recorded = mirrored_ids(home, store.store_id)
    return recorded - store.erasures.known(sorted(recorded)) if recorded else set()


def refuse_older_copy(home: Home, store: Store) -> None:
    """Raise ErasureUndone if an older copy was restored over the home. Reads names only, writes nothing."""
    if missing := _missing(home, store):
        what = "what an erasure took" if len(missing) == 1 else f"what {len(missing):,} erasures took"
        raise ErasureUndone(f"{home.database} holds {what} since the copy was made that lies over it")


# ------------------------------------------------------------------ turns


def admit_turns(handle: Handle, given: Sequence[Turn]) -> list[Turn]:
    """Return the turns that may be stored, without sentences erased after they were said."""
    sealed = {text for turn in given for text in _sealed_of(handle, turn)}
    found = _erased_texts(handle, sealed)
    spared = {text for text, at in found.items() if _said_by_turn(handle, text, at)}
    erased = {text: at for text, at in found.items() if text not in spared}
    if not erased:
        return [*given]
    kept = [left for turn in given if (left := _redact_erased(handle, turn, erased, spared)) is not None]
    delete_unused_blobs(handle, given, kept)
    return kept


def without_erased(handle: Handle, text: str, said_at: datetime | None = None) -> str:
    """
    Return a text without the sentences that were erased after it was said; a text that is erased as a whole is empty.

    said_at: None for a file, whose time is that of its last edit: what was ever erased is cut out
    """
    runs = erasure.runs(text)
    found = _erased_texts(handle, runs) if runs else {}
    if not found:
        return text
    spared = {key for key, at in found.items() if _said_by_turn(handle, key, at)}
    gone = [key for key, at in found.items() if key not in spared and (said_at is None or said_at <= at)]
    ranges = redaction.merge_ranges(place for key in gone for place in runs[key])
    kept = redaction.merge_ranges(place for key in spared for place in runs[key])
    return redaction.cut_out(text, redaction.without(text, ranges, kept)) if ranges else text


def delete_unused_blobs(handle: Handle, given: Iterable[Turn], kept: Iterable[Turn] = ()) -> None:
    """Delete blobs stored for turns that were then rejected, unless another turn refers to them."""
    named = {name for turn in given for name in blob_names(turn)} - {name for turn in kept for name in blob_names(turn)}
    for name in sorted(named):
        with handle.store.exclusive():
            if not is_named(handle, name):
                blobs.remove(handle.blobs, name)


def is_named(handle: Handle, blob: str) -> bool:
    """Tell whether a turn or attachment of any scope refers to a blob."""
    every = [number for number, *_ in handle.store.scopes()]
    if not every:
        return False
    return bool(handle.store.turns(every, Turns(blob=blob, hidden=True, limit=1))) or any(
        attachment.blob == blob for attachment in handle.store.records(Attachment, every, Records())
    )


def _redact_erased(handle: Handle, turn: Turn, erased: Mapping[str, datetime], spared: Container[str]) -> Turn | None:
    def gone(text: str) -> bool:
        return text in erased and turn.said_at <= erased[text]

    def left(text: str) -> str:
        runs = erasure.runs(text)
        ranges = redaction.merge_ranges(place for key, places in runs.items() if gone(key) for place in places)
        kept = redaction.merge_ranges(place for key, places in runs.items() if key in spared for place in places)
        return redaction.cut_out(text, redaction.without(text, ranges, kept))

    if any(map(gone, (*erasure.of_turn(turn), erasure.of_session(turn.session)))):
        return None
    return rewrite(handle, turn, left)


def _sealed_of(handle: Handle, turn: Turn) -> list[str]:
    """Return every part of a turn that a tombstone may stand for."""
    said = [text for part in texts(handle, turn) for text in erasure.runs(part)]
    return [*erasure.of_turn(turn), erasure.of_session(turn.session), *said]


def _said_by_turn(handle: Handle, text: str, at: datetime) -> bool:
    """Tell whether a turn from before the erasure, which stayed, contains a sentence."""
    words, own = analyze.tokens(text.removeprefix(TEXT)), handle.own()
    terms = list(dict.fromkeys([*words.words, *words.characters]))
    if not text.startswith(TEXT) or not own or not terms:
        return False
    postings = handle.store.postings("turn", own, terms, past=True, cap=1 << 62)
    ns = set.intersection(*(set(posting.ns.tolist()) for posting in postings.found))
    found = handle.store.turns(own, Turns(ns=sorted(ns), hidden=True)) if ns else []
    there = (turn for turn in found if turn.recorded_at <= at)
    return any(text in erasure.of_turn(turn) or text in erasure.runs(content(handle, turn)) for turn in there)


def _erased_texts(handle: Handle, candidates: Iterable[str]) -> dict[str, datetime]:
    """Return which of these texts have a tombstone, and since when."""
    seals = {handle.scope_seal(text): text for text in candidates}
    return {seals[seal]: at for seal, at in handle.store.erasures.tombstoned(list(seals)).items()}


# ------------------------------------------------------------------ records


def is_erased(handle: Handle, record: Record) -> bool:
    """Tell whether an episode, scratchpad or attachment was erased since, or its session or a sentence in it."""
    said = [text for part in erasure.strings(record) for text in erasure.runs(part)]
    session = [] if isinstance(record, Scratchpad) else [erasure.of_session(record.session)]
    found = _erased_texts(handle, [erasure.of_record(record.id), *session, *said])
    return any(record.updated_at <= at for at in found.values())
