"""
Validate, sanitize and store turns in one transaction: long contents as blobs, known ids and repeated calls once.

Check every turn, take out what Yiku itself had injected and what is private, mask secrets, put long contents
into blobs, then store all turns of the call in one transaction. A call under an idempotency key is done once.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from yiku.errors import Damaged, InvalidInput, KeptOut, NotFound, StoreError, TooLarge, WasErased, YikuError
from yiku.files import blobs
from yiku.flows.common import checks, pause, tombstones
from yiku.flows.common.handle import Handle, content_hash, retry_if_stale
from yiku.flows.common.intake import clean
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.keep import attach, messages, transcripts
from yiku.rules.privacy import fence, private
from yiku.rules.sessions.messages import holds, plain
from yiku.types import AddTurns, Change, Expect, Learned, Origin, Put, Receipt, Recorded, Turn, Turns

READ_AT_MOST = 1_000  # turns that are noted as learned from, before that is written
ROLES = messages.ROLES
_ORIGINS = {"user": Origin.USER, "assistant": Origin.ASSISTANT, "system": Origin.FILE, "tool": Origin.TOOL}
_UNIQUE = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{24}")
_KEYS = messages.TURN_FIELDS

_log = logging.getLogger(__name__)

Draft = tuple[Mapping[str, Any], Sequence[messages.MessageFile]]  # a turn as it was given, and the files that stood in it


def record(
    handle: Handle,
    turns: Iterable[Mapping[str, Any]],
    *,
    session: str | None = None,
    idempotency_key: str | None = None,
) -> Recorded:
    """
    Store turns: mappings with role, content and optional fields.

    session: of the turns that name none
    Returns the stored turns; those whose external id was known are only counted. What is in neither was
    kept out: wholly private turns, and those of private folders. Raises Paused while memory is paused.
    """
    return store_turns(handle, to_turns(handle, turns), session=session, idempotency_key=idempotency_key)[0]


def to_turns(handle: Handle, turns: Iterable[Mapping[str, Any]]) -> list[Draft]:
    """Convert messages of any format to turns with their files, dropping those of private folders."""
    pause.raise_if_paused(handle)
    return [messages.to_turn(handle, draft) for draft in _mappings(turns) if not pause.in_private_folder(handle, draft)]


def store_turns(
    handle: Handle, given: Sequence[Draft], *, session: str | None = None, idempotency_key: str | None = None
) -> tuple[Recorded, Mapping[str, Turn]]:
    """Store turns; return the report and the new turns by id, without reading them again."""
    pause.raise_if_paused(handle)
    now = handle.now()
    read = [(validate_turn(handle, draft, session, now), draft.get("said_at") is not None, files) for draft, files in given]
    storable = [(turn, dated) for turn, dated, _ in read if not wholly_private(turn)]
    drafts = [turn for turn, _ in storable]
    files = {turn.id: kept for turn, _, kept in read if kept}
    fresh = _without_known(handle, drafts)
    if len(fresh) < len(drafts) and handle.store.erasures.last():
        # what was known may have been erased since, and has its long contents here again
        tombstones.delete_unused_blobs(handle, drafts, kept=fresh)
    if not fresh and idempotency_key is None:
        return Recorded((), known=len(drafts)), {}
    digest = b""
    if idempotency_key is not None:
        digest = _digest(drafts, [dated for _, dated in storable])
        idempotency_key = clean(handle, checks.name(idempotency_key, "idempotency_key"))

    def attempt() -> tuple[Recorded, Mapping[str, Turn]]:
        scope = handle.writes()  # each time: another process may have erased it
        if idempotency_key is not None and (first := handle.first_result(idempotency_key, digest)):
            stored = handle.store.turns([scope], Turns(ids=first["ids"], hidden=True))
            ids = tuple(turn.id for turn in stored)
            return Recorded(ids, known=len(drafts) - len(ids), operation=first["operation"]), {}
        erasure = handle.store.erasures.last()
        kept = tombstones.admit_turns(handle, fresh) if erasure else fresh
        changes: list[Change] = [AddTurns(kept, [tokens(turn) for turn in kept], [tool_tokens(turn) for turn in kept])]
        noted = [one for turn in kept if turn.id in files for one in messages.attach_files(handle, turn, files[turn.id])]
        changes += [Put(one, attach.tokens(one)) for one in noted]
        if idempotency_key is not None:
            changes.append(Receipt(idempotency_key, digest, {"ids": [turn.id for turn in kept]}))
        done = handle.store.apply(scope, changes, handle.cause("record"), Expect(erasure=erasure))
        transcripts.note_write(handle)
        new = {turn.id: replace(turn, n=n) for turn, n in zip(kept, done.rows[0], strict=True) if n}
        erased = len(fresh) - len(kept)
        known = len(drafts) - len(new) - erased
        return Recorded(tuple(new), known=known, operation=done.transaction, erased=erased), new

    if not files:
        return retry_if_stale(handle, attempt)
    with handle.store.exclusive():  # no other may record the same messages meanwhile, and leave their files without turns
        fresh = _without_known(handle, fresh)
        return attempt()


def record_turn(handle: Handle, draft: Mapping[str, Any], *, idempotency_key: str | None = None) -> Turn:
    """
    Store one turn and return it; a known external id returns the stored turn.

    Where it was stored and cannot be read again, it comes back without its position: an error would have it told twice.
    """
    done, stored = store_turns(handle, to_turns(handle, [draft]), idempotency_key=idempotency_key)
    if done.ids:
        try:
            return handle.store.turn(handle.own(), done.ids[0])
        except StoreError as error:
            if done.ids[0] not in stored:
                raise
            _log.warning("a turn is stored, and cannot be read again: %s", error.detail)
            return stored[done.ids[0]]
    if done.erased:
        raise WasErased("the turn")
    if not done.known:
        raise KeptOut("the turn or its folder is private")
    known = clean(handle, checks.name(draft["external_id"], "external_id"))
    return handle.store.turns(handle.own(), Turns(external_ids=[known], hidden=True))[0]


def mark_read(handle: Handle, turn: Turn) -> None:
    """Note in memory that a turn needs no further learning; written on close."""
    handle.read.append(turn.n)
    if len(handle.read) >= READ_AT_MOST:
        flush_read_marks(handle)


def flush_read_marks(handle: Handle) -> None:
    """Write the notes of `mark_read`; turns whose note is lost are read again."""
    if handle.read and (own := handle.own()):
        ns, handle.read = handle.read, []
        with suppress(YikuError):
            upto = handle.store.learning.upto(own[0])
            if late := [n for n in ns if n > upto]:  # `learn` has not been at them since
                handle.store.apply(own[0], [Learned(read=late)], handle.cause("learn"))


def _without_known(handle: Handle, drafts: Sequence[Turn]) -> Sequence[Turn]:
    """Drop turns whose external id is known before analysing them; the store checks again."""
    given = [turn.external_id for turn in drafts if turn.external_id is not None]
    if not given or not (own := handle.own()):
        return drafts
    known = {turn.external_id for turn in handle.store.turns(own, Turns(external_ids=given, hidden=True))}
    return [turn for turn in drafts if turn.external_id is None or turn.external_id not in known]


def is_unique(external_id: str) -> bool:
    """Tell whether an id is globally unique, like a UUID; others are unique within a session."""
    return _UNIQUE.search(external_id) is not None


def unique_message_id(external_id: str, session: str) -> str:
    """Return an id for a message whose external id another session uses."""
    return f"{external_id}#{hashlib.blake2b(session.encode(), digest_size=6).hexdigest()}"


def _digest(drafts: Sequence[Turn], dated: Sequence[bool]) -> bytes:
    """Hash everything the caller gave, without clock or random parts, for idempotency."""
    moment = datetime.min.replace(tzinfo=UTC)
    parts = [
        replace(turn, id="", recorded_at=moment, said_at=turn.said_at if at else moment)
        for turn, at in zip(drafts, dated, strict=True)
    ]
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).digest()


def _mappings(turns: object) -> list[Mapping[str, Any]]:
    if isinstance(turns, (str, bytes, Mapping)) or not isinstance(turns, Iterable):
        raise InvalidInput("turns must be a list of objects with role and content")
    found = list(islice(turns, checks.TURNS_AT_MOST + 1))
    if len(found) > checks.TURNS_AT_MOST:
        raise TooLarge(f"more than {checks.TURNS_AT_MOST:,} turns in one call")
    return [*map(_message, found)]


def _message(given: object) -> Mapping[str, Any]:
    """Return a message as a mapping, converting objects of chat libraries."""
    found = plain(given, 0)
    if not isinstance(found, Mapping):
        raise InvalidInput(f"a turn must be an object with role and content, not {type(given).__name__}")
    return found


def validate_turn(handle: Handle, draft: Mapping[str, Any], session: str | None, now: datetime, *, keep: bool = True) -> Turn:
    """Validate a turn; with `keep` store its long contents as blobs."""

    def name(field: str) -> str | None:
        return None if (given := draft.get(field)) is None else clean(handle, checks.name(given, field))

    if unknown := [checks.shown(key) for key in draft if key not in _KEYS]:
        raise InvalidInput(f"a turn has no {', '.join(sorted(unknown))}; known are {', '.join(sorted(_KEYS))}")
    role = draft.get("role")
    if role not in ROLES:
        raise InvalidInput(f"role must be one of {messages.ROLES_TAKEN}")
    content = checks.text(draft.get("content", ""), "content", at_most=checks.CONTENT_BYTES, empty=True)
    unfenced = fence.strip_ours(content, handle.seal)
    content = clean(handle, unfenced.text)
    calls = _tools(handle, draft.get("tool_calls"), "tool_calls")
    results = [_unfence(handle, result) for result in _tools(handle, draft.get("tool_results"), "tool_results")]
    if keep:
        results = [_shorten(handle, result) for result in results]
    metadata = {} if (given := draft.get("metadata")) is None else clean(handle, checks.metadata(given))
    if not content.strip() and not calls and not results and not holds(metadata):
        raise InvalidInput("a turn needs content, tool_calls or tool_results")
    blob = None
    digest = content_hash(content)
    if keep and blobs.is_long(content):
        blob, content = blobs.put(handle.blobs, content), blobs.excerpt(content)
    said_at, ahead = checks.said_at(draft.get("said_at"), now=now)
    metadata |= unfenced.marks
    if ahead:
        metadata["clock"] = f"said_at was {draft['said_at']}, more than a day ahead; counted as now"
    origin = draft.get("origin")
    return Turn(
        id=handle.new_id(now),
        session=name("session") or clean(handle, checks.name("default" if session is None else session, "session")),
        role=role,
        content=content,
        content_hash=digest,
        blob=blob,
        said_at=said_at,
        recorded_at=now,
        speaker=name("speaker"),
        tool_calls=tuple(calls),
        tool_results=tuple(results),
        external_id=name("external_id"),
        parent=name("parent"),
        agent=name("agent") or handle.settings.agent,
        project=name("project") or handle.settings.project,
        metadata=metadata,
        origin=_ORIGINS[role] if origin is None else checks.enum_member(origin, Origin, "origin"),
        actor=name("actor") or handle.settings.actor,
    )


def wholly_private(turn: Turn) -> bool:
    """Tell whether everything in a turn was private."""
    return private.is_nothing(turn.content) and not turn.tool_calls and not turn.tool_results


def _tools(handle: Handle, value: object, what: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(item, Mapping) for item in value):
        raise InvalidInput(f"{what} must be a list of objects")
    return clean(handle, list(checks.json_value(value, what, at_most=checks.CONTENT_BYTES))) if value else []


def _unfence(handle: Handle, result: dict[str, Any]) -> dict[str, Any]:
    """Remove Yiku's own context blocks from a tool's result."""
    content = result.get("content")
    return {**result, "content": fence.strip_ours(content, handle.seal).text} if isinstance(content, str) else result


def _shorten(handle: Handle, result: dict[str, Any]) -> dict[str, Any]:
    """Replace a long tool result by an excerpt and a blob."""
    if "blob" in result:  # the key is ours; what somebody else gave under it is no name of a blob
        result = {("given_blob" if key == "blob" else key): value for key, value in result.items()}
    content = result.get("content")
    if not isinstance(content, str) or not blobs.is_long(content):
        return result
    return {**result, "content": blobs.excerpt(content), "blob": blobs.put(handle.blobs, content)}


def blob(handle: Handle, name: str) -> str:
    """Return a long content. Raises NotFound unless a visible turn refers to it."""
    known = checks.name(name, "blob")
    if not handle.store.turns(handle.reads(), Turns(blob=known, hidden=True, limit=1)):
        raise NotFound(f"there is no blob {known[:80]}")
    try:
        return blobs.get(handle.blobs, known)
    except NotFound as error:  # a turn names it, so it was there
        raise Damaged(f"blob {known} is missing") from error
