"""
record: turns are stored, verbatim, before anything is made of them.

Check every turn, take out what Yiku itself had injected, put long contents into blobs, then store all
turns of the call in one transaction. A call under an idempotency key is done once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from yiku.errors import InvalidInput, NotFound, TooLarge
from yiku.files import blobs
from yiku.flows import checks
from yiku.flows.handle import Handle, settled
from yiku.rules import analyze, fence
from yiku.types import AddTurns, Change, Origin, Receipt, Recorded, Tokens, Turn, Turns

ROLES = ("user", "assistant", "system", "tool")
_ORIGINS = {"user": Origin.USER, "assistant": Origin.ASSISTANT, "system": Origin.FILE, "tool": Origin.TOOL}
_KEYS = frozenset(
    "role content session said_at speaker tool_calls tool_results external_id parent agent project metadata origin actor".split()
)


def record(
    handle: Handle,
    turns: Iterable[Mapping[str, Any]],
    *,
    session: str | None = None,
    idempotency_key: str | None = None,
) -> Recorded:
    """
    Store turns, each a mapping with role, content and what else a turn may have.

    session: of the turns that name none
    Returns the stored turns; those whose external id was known are only counted.
    """
    now = handle.now()
    given = _mappings(turns)
    drafts = [checked(handle, draft, session, now) for draft in given]
    fresh = _fresh(handle, drafts)
    if not fresh and idempotency_key is None:
        return Recorded((), known=len(drafts))
    changes: list[Change] = [AddTurns(fresh, [tokens(turn) for turn in fresh], [_tool_tokens(turn) for turn in fresh])]
    digest = b""
    if idempotency_key is not None:
        digest = _digest(drafts, [draft.get("said_at") is not None for draft in given])
        changes.append(Receipt(checks.name(idempotency_key, "idempotency_key"), digest, {"ids": [turn.id for turn in fresh]}))
    scope = handle.writes()

    def attempt() -> Recorded:
        if idempotency_key is not None and (first := handle.first_result(idempotency_key, digest)):
            stored = handle.store.turns([scope], Turns(ids=first["ids"], hidden=True))
            ids = tuple(turn.id for turn in stored)
            return Recorded(ids, known=len(drafts) - len(ids), operation=first["operation"])
        done = handle.store.apply(scope, changes, handle.cause("record"))
        ids = tuple(turn.id for turn, n in zip(fresh, done.rows[0], strict=True) if n)
        return Recorded(ids, known=len(drafts) - len(ids), operation=done.transaction)

    return settled(handle, attempt)


def record_turn(handle: Handle, draft: Mapping[str, Any], *, idempotency_key: str | None = None) -> Turn:
    """Store one turn and return it as stored; one whose external id is known comes back as it was."""
    recorded = record(handle, [draft], idempotency_key=idempotency_key)
    if recorded.ids:
        return handle.store.turn(handle.own(), recorded.ids[0])
    known = checks.name(draft["external_id"], "external_id")
    return handle.store.turns(handle.own(), Turns(external_ids=[known], hidden=True))[0]


def _fresh(handle: Handle, drafts: Sequence[Turn]) -> Sequence[Turn]:
    """Those whose external id is not known: an import that is done again costs no analysis. The store looks once more."""
    given = [turn.external_id for turn in drafts if turn.external_id is not None]
    if not given or not (own := handle.own()):
        return drafts
    known = {turn.external_id for turn in handle.store.turns(own, Turns(external_ids=given, hidden=True))}
    return [turn for turn in drafts if turn.external_id is None or turn.external_id not in known]


def _digest(drafts: Sequence[Turn], dated: Sequence[bool]) -> bytes:
    """What makes a call this call: everything that was given, and nothing that the clock or chance added."""
    moment = datetime.min.replace(tzinfo=UTC)
    told = [
        replace(turn, id="", recorded_at=moment, said_at=turn.said_at if at else moment)
        for turn, at in zip(drafts, dated, strict=True)
    ]
    return hashlib.blake2b(repr(told).encode(), digest_size=16).digest()


def tokens(turn: Turn) -> Tokens:
    """What a turn is found by: its speaker's name and what was said."""
    return analyze.tokens(f"{turn.speaker}: {turn.content}" if turn.speaker else turn.content)


def _tool_tokens(turn: Turn) -> Tokens | None:
    """What its tool calls are found by: names, inputs and results."""
    if not turn.tool_calls and not turn.tool_results:
        return None
    called = (f"{call.get('name', '')} {json.dumps(call.get('input'), ensure_ascii=False)}" for call in turn.tool_calls)
    return analyze.tokens(" ".join([*called, *(str(result.get("content", "")) for result in turn.tool_results)]))


def _mappings(turns: object) -> list[Mapping[str, Any]]:
    if isinstance(turns, (str, bytes, Mapping)) or not isinstance(turns, Iterable):
        raise InvalidInput("turns must be a list of objects with role and content")
    found = list(islice(turns, checks.TURNS_AT_MOST + 1))
    if len(found) > checks.TURNS_AT_MOST:
        raise TooLarge(f"more than {checks.TURNS_AT_MOST:,} turns in one call")
    for turn in found:
        if not isinstance(turn, Mapping):
            raise InvalidInput(f"a turn must be an object with role and content, not {type(turn).__name__}")
    return found


def checked(handle: Handle, draft: Mapping[str, Any], session: str | None, now: datetime, *, keep: bool = True) -> Turn:
    """A checked turn; with `keep` its long contents are blobs on the disk already."""
    if unknown := [checks.shown(key) for key in draft if key not in _KEYS]:
        raise InvalidInput(f"a turn has no {', '.join(sorted(unknown))}; known are {', '.join(sorted(_KEYS))}")
    role = draft.get("role")
    if role not in ROLES:
        raise InvalidInput(f"role must be one of {', '.join(ROLES)}")
    content = fence.strip(checks.text(draft.get("content", ""), "content", at_most=checks.CONTENT_BYTES, empty=True))
    calls = _tools(draft.get("tool_calls"), "tool_calls")
    results = [_shortened(handle, result) if keep else result for result in _tools(draft.get("tool_results"), "tool_results")]
    if not content.strip() and not calls and not results:
        raise InvalidInput("a turn needs content, tool_calls or tool_results")
    blob = None
    content_hash = hashlib.blake2b(content.encode(), digest_size=16).digest()
    if keep and blobs.is_long(content):
        blob, content = blobs.put(handle.blobs, content), blobs.excerpt(content)
    said_at, ahead = checks.said(draft.get("said_at"), now=now)
    metadata = {} if (given := draft.get("metadata")) is None else checks.metadata(given)
    if ahead:
        metadata["clock"] = f"said_at was {draft['said_at']}, more than a day ahead; counted as now"
    origin = draft.get("origin")
    return Turn(
        id=handle.new_id(now),
        session=checks.name(next(name for name in (draft.get("session"), session, "default") if name is not None), "session"),
        role=role,
        content=content,
        content_hash=content_hash,
        blob=blob,
        said_at=said_at,
        recorded_at=now,
        speaker=checks.optional_name(draft.get("speaker"), "speaker"),
        tool_calls=tuple(calls),
        tool_results=tuple(results),
        external_id=checks.optional_name(draft.get("external_id"), "external_id"),
        parent=checks.optional_name(draft.get("parent"), "parent"),
        agent=checks.optional_name(draft.get("agent"), "agent") or handle.settings.agent,
        project=checks.optional_name(draft.get("project"), "project") or handle.settings.project,
        metadata=metadata,
        origin=_ORIGINS[role] if origin is None else checks.one_of(origin, Origin, "origin"),
        actor=checks.optional_name(draft.get("actor"), "actor") or handle.settings.actor,
    )


def _tools(value: object, what: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(item, Mapping) for item in value):
        raise InvalidInput(f"{what} must be a list of objects")
    return list(checks.plain(value, what, at_most=checks.CONTENT_BYTES)) if value else []


def _shortened(handle: Handle, result: dict[str, Any]) -> dict[str, Any]:
    """A tool's result whose long text has become a blob."""
    content = result.get("content")
    if not isinstance(content, str) or not blobs.is_long(content):
        return result
    return {**result, "content": blobs.excerpt(content), "blob": blobs.put(handle.blobs, content)}


def blob(handle: Handle, name: str) -> str:
    """A long content, whole. Raises NotFound unless a turn in sight names it."""
    known = checks.name(name, "blob")
    if not handle.store.turns(handle.reads(), Turns(blob=known, hidden=True, limit=1)):
        raise NotFound(f"blob {known[:80]}")
    return blobs.get(handle.blobs, known)
