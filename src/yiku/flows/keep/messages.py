"""
Convert chat API messages to turns and back, store their files, and page through a session's messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from yiku.errors import Damaged, InvalidInput, NotFound, TooLarge
from yiku.files import blobs
from yiku.flows.common import checks, intake
from yiku.flows.common.handle import Handle
from yiku.rules.sessions import messages
from yiku.types import Attachment, Messages, Records, Turn, TurnDetails, Turns

TURN_FIELDS = frozenset(TurnDetails.__annotations__) | {"role", "content"}
ROLES = ("user", "assistant", "system", "tool")
ROLES_TAKEN = ", ".join((*ROLES, *messages.ROLES))


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file in a message: its details, blob name and cleaned content."""

    file: messages.File
    blob: str
    content: bytes


# ------------------------------------------------------------------ taken


def to_turn(handle: Handle, message: object, *, strict: bool = True) -> tuple[Mapping[str, Any], list[MessageFile]]:
    """
    Convert a message to a turn and its files. Writes nothing.

    strict: refuse fields that neither a turn nor a message of a chat API has; else they are kept with the turn
    """
    message = messages.plain(message, 0)
    if not isinstance(message, Mapping):  # a message of a chat library is one now
        what = "a turn" if strict else "a message"
        raise InvalidInput(f"{what} must be an object with role and content, not {type(message).__name__}")
    if messages.is_simple(message, TURN_FIELDS):
        return message, []
    checks.check_nesting(message, "a turn", checks.CONTENT_BYTES)  # first: what is nested in itself has no end
    message = dict(messages.plain(message))
    checks.check_nesting(message, "a turn", checks.CONTENT_BYTES)
    if (
        strict
        and not messages.is_item(message)
        and (unknown := [checks.shown(key) for key in message if key not in TURN_FIELDS | messages.FIELDS])
    ):
        known = ", ".join(sorted(TURN_FIELDS))
        raise InvalidInput(f"a turn has no {', '.join(sorted(unknown))}; known are {known}; put anything else into metadata")
    draft = messages.parse(message, TURN_FIELDS)
    if draft.trouble is not None:
        raise InvalidInput(draft.trouble)
    if draft.role not in ROLES:
        raise InvalidInput(f"role must be one of {ROLES_TAKEN}")
    return _turn(handle, message, draft)


def _turn(handle: Handle, message: Mapping[str, Any], draft: messages.Draft) -> tuple[Mapping[str, Any], list[MessageFile]]:
    files: list[MessageFile] = []

    def keep(file: messages.File) -> str:
        content = intake.clean_file(handle, file.content)
        files.append(MessageFile(file, blobs.name_of(content), content))
        return files[-1].blob

    draft.texts = [
        intake.clean(handle, checks.text(text, "content", at_most=checks.CONTENT_BYTES, empty=True)) for text in draft.texts
    ]
    frame = messages.without_files(messages.measure(draft), keep)
    turn = {name: value for name, value in message.items() if name in TURN_FIELDS}
    turn |= {"role": draft.role, "content": "\n".join(draft.texts), "tool_calls": draft.calls}
    turn["tool_results"] = [
        {**result, "parts": messages.without_files(result["parts"], keep)}
        if isinstance(result, dict) and "parts" in result
        else result
        for result in draft.results
    ]
    if turn.get("speaker") is None and draft.role in ("user", "assistant") and isinstance(name := message.get("name"), str):
        turn["speaker"] = name
    if frame:
        given = turn.get("metadata")
        turn["metadata"] = {**({} if given is None else checks.metadata(given)), messages.FRAME: _small(frame)}
    return turn, files


def _small(frame: Any) -> Any:
    """Return a frame if it is small enough to be stored with its turn."""
    found = checks.json_value(frame, "a turn's parts", at_most=checks.CONTENT_BYTES)
    if (size := len(json.dumps(found, ensure_ascii=False).encode())) > checks.METADATA_BYTES // 2:
        most = checks.METADATA_BYTES // 2
        raise TooLarge(f"the fields of a turn besides texts, calls, results and files take {size:,} bytes; at most {most:,}")
    return found


def attach_files(handle: Handle, turn: Turn, files: Sequence[MessageFile]) -> list[Attachment]:
    """Store the files of a message as attachments of its turn."""
    for kept in files:
        blobs.put_bytes(handle.blobs, kept.content)
    return [
        Attachment(
            id=handle.new_id(turn.recorded_at),
            session=turn.session,
            turn=turn.id,
            direction="inbound" if turn.role == "user" else "outbound",
            filename=(filename := _filename(handle, kept)),
            original_filename=filename,
            mime_type=intake.clean(handle, kept.file.mime_type[: checks.NAME_CHARS]),
            file_size=len(kept.content),
            blob=kept.blob,
            said_at=turn.said_at,
            created_at=turn.recorded_at,
            updated_at=turn.recorded_at,
        )
        for kept in {(kept.blob, kept.file.name or kept.file.sort): kept for kept in files}.values()
    ]


def _filename(handle: Handle, kept: MessageFile) -> str:
    name = (kept.file.name or f"{kept.file.sort}-{kept.blob[:8]}.{kept.file.suffix}").strip()
    return intake.clean(handle, " ".join(name.split())[: checks.NAME_CHARS]) or "file"


# ------------------------------------------------------------------ given back


def page(handle: Handle, session: str, *, limit: int = 100, after: str | None = None, last: bool = False) -> Messages:
    """Return a page of a session's messages, in order. Raises NotFound."""
    name, most = intake.name(handle, session, "session"), checks.integer(limit, "limit", at_least=1)
    checks.flag(last, "last")
    own = handle.own()
    if not own or not handle.store.sessions(own[0], id=name):
        raise NotFound(f"there is no session {checks.shown(name)}", "`yiku sessions` lists the sessions.")
    begin = _position(after)
    if last and begin is not None:
        raise InvalidInput("give `last` (the end of the session) or `after` (the next page), not both")
    select = Turns(session=name, beyond=-1 if begin is None else begin, order="position", newest_first=last, limit=most + 1)
    turns = handle.store.turns(own, select)
    more, turns = len(turns) > most, turns[:most]
    if last:
        turns = turns[::-1]
    files = handle.store.records(Attachment, own, Records(turns=[turn.id for turn in turns if _has_frame(turn)])) if turns else []
    known = {(file.turn, file.blob) for file in files}
    found: list[Mapping[str, Any]] = []
    for turn in turns:
        whole = _whole(handle, turn)

        def content(name: str, id: str = turn.id) -> bytes | None:
            return _content(handle, name) if (id, name) in known else None  # a name alone, in a text of somebody's, opens nothing

        found += messages.shown(whole, content)
    cursor = str(turns[-1].position) if turns and more and not last else None
    return Messages(tuple(found), tuple(turn.id for turn in turns), cursor)


def _has_frame(turn: Turn) -> bool:
    return messages.FRAME in turn.metadata or any("parts" in result for result in turn.tool_results)


def _position(after: object) -> int | None:
    if after is None:
        return None
    if not isinstance(after, str) or not after.isdecimal() or len(after) > 15:
        checks.refuse("after", "must be the cursor of a page")
    return int(after)


def _whole(handle: Handle, turn: Turn) -> Turn:
    """Return the turn with its long texts in full, as far as they exist."""
    if turn.blob is not None:
        turn = replace(turn, content=_text(handle, turn.blob, turn.content))
    if any("blob" in result for result in turn.tool_results):
        results = tuple(
            {**result, "content": _text(handle, result["blob"], result.get("content", ""))} if "blob" in result else result
            for result in turn.tool_results
        )
        turn = replace(turn, tool_results=results)
    return turn


def _text(handle: Handle, blob: str, otherwise: str) -> str:
    found = _content(handle, blob)
    return otherwise if found is None else found.decode(errors="replace")


def _content(handle: Handle, blob: str) -> bytes | None:
    with suppress(NotFound, Damaged):
        return blobs.get_bytes(handle.blobs, blob)
    return None
