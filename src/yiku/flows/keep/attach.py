"""
Store attachments, add descriptions of their content, list and read them.

A file is noted with its place, one that is there with its whole path; its content is kept only if that is asked for, as a
blob by its hash. What nobody could see yet (a description, a transcription, the text in it) is filled in later, and then it
is found by that. Files that turns name by themselves, or that tools wrote, are noted when the turns are learned from.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from yiku.errors import Ambiguous, InvalidInput, NotFound, TooLarge
from yiku.files import blobs
from yiku.flows.common import checks, forgotten, intake, lookup, pause
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.rules.sessions import attachments
from yiku.rules.text import analyze
from yiku.types import Attachment, Change, Put, Records, Tokens, Turn

DIRECTIONS = ("inbound", "outbound")
FILLED_LATER = ("description", "transcription", "extracted_text", "tags", "linked_memory_ids", "url", "mime_type")


def attach(handle: Handle, place: str | os.PathLike[str], *, session: str, keep: bool = False, **details: Any) -> Attachment:
    """
    Store a file that was sent (inbound by default) or made (outbound).

    place: a path, or an address
    keep:  keep its content here too; only of a path
    """
    pause.raise_if_paused(handle)
    now = handle.now()
    given = os.fspath(place) if isinstance(place, (str, os.PathLike)) else ""
    if not isinstance(given, str) or not given.strip():
        checks.refuse("place", "must be a path or an address")
    checks.text(given, "place", at_most=checks.PATH_BYTES)
    columns = _details(handle, details)
    direction = details.get("direction", "inbound")
    if direction not in DIRECTIONS:
        checks.refuse("direction", f"must be one of {', '.join(DIRECTIONS)}")
    turn = _turn(handle, details.get("turn"))
    is_address = "://" in given[:12] or given.startswith("data:")
    if is_address and keep:
        raise InvalidInput("only a file on this machine can be kept; a URL is only noted")
    place = intake.clean(handle, given)
    name = Path(place.split("?")[0]).name[-checks.NAME_CHARS :].strip() or "file"
    if not is_address:
        size, blob = _of_file(handle, Path(given), keep)
        if size is not None:
            place = intake.clean(handle, os.path.abspath(given))
        columns |= {"local_path": place, "file_size": size, "blob": blob, "missing": size is None}
    else:
        columns["url"] = place
    attachment = Attachment(
        id=handle.new_id(now),
        session=turn.session if turn else intake.name(handle, session, "session"),
        turn=turn.id if turn else None,
        direction=direction,
        filename=intake.name(handle, details.get("filename") or name, "filename"),
        **{"mime_type": attachments.mime(name), **columns},
        said_at=turn.said_at if turn else now,
        created_at=now,
        updated_at=now,
    )
    return _keep(handle, attachment)


def _details(handle: Handle, details: Mapping[str, Any]) -> dict[str, Any]:
    """Check and clean the details of an attachment."""
    known = {*FILLED_LATER, "direction", "turn", "filename", "original_filename"}
    if unknown := sorted(set(details) - known):
        raise InvalidInput(f"an attachment has no {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    found: dict[str, Any] = {}
    for name, value in details.items():
        if value is None or name in ("direction", "turn", "filename"):
            continue
        if name in ("tags", "linked_memory_ids"):
            found[name] = tuple(intake.clean(handle, list(checks.names(value, name))))
        else:
            found[name] = intake.clean(handle, checks.text(value, name, at_most=checks.CONTENT_BYTES))
    return found


def _turn(handle: Handle, id: object) -> Turn | None:
    if id is None:
        return None
    found = lookup.find(handle, checks.name(id, "turn"), handle.own())
    if not isinstance(found, Turn):
        raise NotFound(f"there is no turn with the id {str(id)[:80]} (this id is a memory's)")
    return found


def _of_file(handle: Handle, path: Path, keep: bool) -> tuple[int | None, str | None]:
    """Return the size of a file and the blob of its cleaned content; None for a missing file."""
    try:
        about = path.stat()
    except OSError as error:
        if keep:
            raise NotFound(f"{path}: {error.strerror}") from error
        return None, None
    if not stat.S_ISREG(about.st_mode):
        raise InvalidInput(f"{path} is not a file")
    if not keep:
        return about.st_size, None
    if about.st_size > blobs.LONGEST_BYTES:
        raise TooLarge(f"{path} has {about.st_size:,} bytes; at most {blobs.LONGEST_BYTES:,} can be kept")
    return about.st_size, blobs.put_bytes(handle.blobs, intake.clean_file(handle, path.read_bytes()))


def _keep(handle: Handle, attachment: Attachment) -> Attachment:
    handle.store.apply(handle.writes(), [Put(attachment, tokens(attachment))], handle.cause("attach"))
    return handle.store.records(Attachment, handle.own(), Records(ids=[attachment.id]))[0]


def tokens(attachment: Attachment) -> Tokens:
    """Return the search tokens of an attachment."""
    return analyze.tokens(attachments.text(attachment))


def describe(handle: Handle, id: str, **details: Any) -> Attachment:
    """Add a description, transcription or text of an attachment."""
    pause.raise_if_paused(handle)
    if not details:
        raise InvalidInput(f"describe needs at least one of {', '.join(FILLED_LATER)}")
    if others := sorted(set(details) - set(FILLED_LATER)):
        raise InvalidInput(f"{', '.join(others)} cannot be changed; these can: {', '.join(FILLED_LATER)}")
    columns = _details(handle, details)

    def attempt() -> Attachment:
        known = find(handle, id, handle.own())
        return _keep(handle, replace(known, **columns, updated_at=handle.now()))

    return retry_if_stale(handle, attempt)


def find(handle: Handle, id: str, scopes: Sequence[int]) -> Attachment:
    """Return one attachment by id or id suffix. Raises NotFound or Ambiguous."""
    whole = checks.name(id, "id")
    found = handle.store.records(Attachment, scopes, Records(suffix=whole, limit=2)) if scopes else []
    if not found:
        raise NotFound(f"there is no attachment with the id {whole[:80]}", "`yiku attachments` lists them.")
    if len(found) > 1:
        raise Ambiguous(f"the id {whole} fits {', '.join(one.id for one in found)}")
    return found[0]


def listed(handle: Handle, *, session: str | None = None, limit: int = 50) -> list[Attachment]:
    """Return attachments, newest first."""
    select = Records(sessions=None if session is None else [intake.name(handle, session, "session")])
    return forgotten.newest(handle, handle.reads(), Attachment, select, checks.integer(limit, "limit"))


def content(handle: Handle, id: str) -> bytes:
    """Return the stored content of an attachment. Raises NotFound if it was not stored."""
    known = find(handle, id, handle.reads())
    if known.blob is None:
        raise NotFound(
            f"there is no copy of {known.filename}: it was noted without `keep`; its location was {known.local_path or known.url}"
        )
    return blobs.get_bytes(handle.blobs, known.blob)


def find_in_turns(handle: Handle, scope: int, turns: Sequence[Turn]) -> list[Change]:
    """Return new attachments that these turns mention."""
    found = attachments.all_files(turns)
    if not found:
        return []
    now = handle.now()
    known = handle.store.records(Attachment, [scope], Records(turns=[turn.id for turn in turns]))
    noted = [(one.turn, one.local_path or one.url or one.filename) for one in known]
    fresh = [replace(one, id=handle.new_id(now), created_at=now, updated_at=now) for one in found]
    return [
        Put(one, tokens(one)) for one in fresh if not any(_is_place_of(place, one) for turn, place in noted if turn == one.turn)
    ]


def _is_place_of(place: str, attachment: Attachment) -> bool:
    """Tell whether an attachment may lie there: a turn names a file without the folder that `attach` knows."""
    named = attachment.local_path or attachment.url or attachment.filename
    return place == named or (place.startswith("/") and place.endswith(f"/{named}"))
