"""
Erase from captured events that are not recorded yet: cut out the sentences, or drop the event.

An erasure records what waits before it plans, so that little is left here: what came meanwhile, what memory kept waiting while
paused, and lines that were set aside. Nobody reads or claims a file meanwhile; hooks append to a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from yiku.errors import Paused, StoreError
from yiku.files import inbox
from yiku.files.inbox import Broken, Event
from yiku.flows.common import tombstones
from yiku.flows.common.handle import Handle
from yiku.flows.erase.transcripts import Holds
from yiku.flows.learn import ingest
from yiku.store.api import one_at_a_time
from yiku.types import Erased, Place

LOCK_S = 60.0  # that an erasure waits for somebody who records the inbox


def record_first(handle: Handle) -> None:
    """Record what waits, so that the erasure finds it; what cannot be recorded now is looked through afterwards."""
    with suppress(Paused, StoreError, OSError):
        ingest.ingest(handle, wait_s=LOCK_S)


def sweep(handle: Handle, answer: Erased, holds: Holds | None, says: Holds | None) -> Place:
    """
    What an erasure took is taken out of the inbox.

    holds: whether bytes have a word of it; says: whether they have all of a text of it; None where nobody knows the words any more
    """
    home = handle.paths
    if not inbox.every_file(home):
        return Place("inbox", "empty")
    entry = next((entry for entry in handle.store.erasures.all() if entry["number"] == answer.operation), None)
    sessions = {turn.session for turn in answer.turns} if entry is not None and entry["rows"]["session"] else set[str]()
    count, change = 0, _change(handle, sessions, holds, says)
    with one_at_a_time(home.locks / "inbox.lock", "another process records the inbox", LOCK_S):
        ours = {path for scope in ingest.scopes(handle) for path in inbox.files(home, scope)}
        for path in inbox.every_file(home):
            if path.name != inbox.UNREADABLE and path not in ours:
                continue
            if (taken := path if path.name == inbox.UNREADABLE else inbox.claim(path)) is None:
                continue
            if not handle.own() and taken.name != inbox.UNREADABLE:
                inbox.remove(taken)
                count += 1
            elif changed := inbox.rewrite(taken, change):
                inbox.set_marks(home, {**inbox.marks(home), taken.name: 0})  # its lines stand elsewhere now
                count += changed
    return Place("inbox", f"{count:,} {'line' if count == 1 else 'lines'} rewritten or removed")


def _change(handle: Handle, sessions: set[str], holds: Holds | None, says: Holds | None) -> Callable[[bytes], bytes | None]:
    """
    What becomes of a line: as it is, without what was erased, or gone.

    Tombstones know the sentences; a line that still says all of a text goes. One that cannot be read goes for a word of it.
    """

    def change(raw: bytes) -> bytes | None:
        item = inbox.parse(raw)
        if isinstance(item, Broken):
            return None if holds is not None and holds(raw) else raw
        if _session(item) in sessions:
            return None
        said_at = datetime.fromtimestamp(item.at_us / 1_000_000, UTC)
        left = _each(item.payload, lambda text: tombstones.without_erased(handle, text, said_at))
        if says is not None and any(map(says, _encoded(left))):
            return None
        return raw if left == item.payload else inbox.event_line(item, left)

    return change


def _session(event: Event) -> str | None:
    named = event.payload.get("session_id") if isinstance(event.payload, dict) else None
    return named if isinstance(named, str) else event.agent


def _encoded(value: Any) -> list[bytes]:
    """Every text in a payload, as the files would have it unescaped."""
    found: list[bytes] = []
    _each(value, lambda text: found.append(text.encode("utf-8", "replace")) or text)  # type: ignore[func-returns-value]
    return found


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    return {change(key): _each(item, change) for key, item in value.items()} if isinstance(value, dict) else value
