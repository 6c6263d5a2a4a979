"""
Read the queue of agent hook events: claim files, parse, quarantine; keep offsets and ids shown in each session.

    inbox/events….jsonl       events that wait; hooks append to them (inbox_append.py has the format)
    inbox/taken….jsonl        one that a reader has claimed: no hook appends to it any more
    inbox/mark                how far claimed files are recorded
    inbox/shown               which memories stand in the context of running sessions: ids alone
    inbox/unreadable.jsonl    lines that are no events, and events that could not be recorded as a whole, kept for a person

Whoever reads holds locks/inbox.lock. A file is claimed by renaming it under its lock, so a hook either appends before that, or
notices and opens the new file.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from yiku.files.inbox_append import ENDING, FOLDER, name
from yiku.files.vault import Home, content_of, flush_folder, open_folder, temporary_file, write_atomically

UNREADABLE, MARK, SHOWN = f"unreadable{ENDING}", "mark", "shown"
SHOWN_SESSIONS, SHOWN_IDS = 64, 500  # that are remembered
LOCK_S, LOCK_STEP_S = 2.0, 0.001  # for the usual file: what is in one of its own may come after what is in that
LEVELS = 64  # of a line that are read; more than a turn has (rules/sessions/agent_events.py), and few enough to go into
AS_TEXT = "JSON: "  # before what is deeper: nobody takes the text for JSON, and reads it by recursion after all
LINE_BYTES = 256 << 20  # of one event; a longer line is not read
_FILE = re.compile(r"(events|taken)(-[0-9a-f]{8})?(~[0-9a-f]{16,32})?\.jsonl")
_END = re.compile(rb',"crc":"([0-9a-f]{8})"\}\n?')
_END_BYTES = 19
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[][{}]', re.DOTALL)  # of JSON: a text, or where a list or an object begins or ends
_FIELDS = {"id": str, "at": int, "hook": str, "agent": str}


class Event(NamedTuple):
    """A captured event; `end` is the offset behind its line."""

    id: str
    at_us: int
    hook: str
    agent: str
    scope: str | None
    payload: Any
    raw: bytes
    end: int


class Aside(NamedTuple):
    """How many lines were set aside: what hooks wrote, and could not be recorded, and other lines."""

    events: int
    broken: int


class Broken(NamedTuple):
    """A line that is no event: torn, changed, or not JSON; `whole` where it is as a hook wrote it."""

    raw: bytes
    end: int
    whole: bool = False


def files(home: Home, scope: str | None) -> list[Path]:
    """The files that hold events of a scope, or with None of the home's own: claimed ones first, then as they were begun."""
    part = name(scope).removeprefix("events").removesuffix(ENDING)
    found = [(path, match) for path in every_file(home) if (match := _FILE.fullmatch(path.name)) and (match[2] or "") == part]
    return [path for path, match in sorted(found, key=lambda one: (one[1][1] != "taken", _begun(one[0]), one[0].name))]


def every_file(home: Home) -> list[Path]:
    """All files of the inbox that hold lines, sorted."""
    where = home.inbox
    if where.is_symlink() or not where.is_dir():
        return []
    named = (path for path in where.iterdir() if _FILE.fullmatch(path.name) or path.name == UNREADABLE)
    return sorted(path for path in named if path.is_file() and not path.is_symlink())


def bytes_waiting(home: Home, scope: str | None) -> int:
    """The size of the files of a scope: 0 where nothing waits."""
    size = 0
    for path in files(home, scope):
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def claim_all(home: Home, scopes: Sequence[str | None]) -> list[Path]:
    """
    Claim all files of some scopes; their names now, as they were begun.

    What a session said first is never left behind: a hook that found the usual file locked made a file of its own, and that
    may be older than what the usual file has got since. So there is a second look, after the usual files were claimed.
    """
    claimed = [taken for scope in scopes for path in files(home, scope) if (taken := claim(path)) is not None]
    late = [path for scope in scopes for path in files(home, scope) if path.name.startswith("events") and "~" in path.name]
    claimed += [taken for path in late if (taken := claim(path)) is not None]
    return sorted(dict.fromkeys(claimed), key=_begun)


def claim(path: Path) -> Path | None:
    """Take a file away from the hooks; its name now. None where somebody is writing to it, or it is gone or empty."""
    if path.name.startswith("taken"):
        return path
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        _lock(descriptor, 0.0 if "~" in path.name else LOCK_S)
        if not os.fstat(descriptor).st_size:
            return None
        match = _FILE.fullmatch(path.name)
        taken = path.with_name(f"taken{(match[2] or '') if match else ''}~{secrets.token_hex(8)}{ENDING}")
        path.rename(taken)
        flush_folder(path.parent)
        return taken
    except BlockingIOError:
        return None
    finally:
        os.close(descriptor)


def _lock(descriptor: int, within_s: float) -> None:
    """Lock a file. Raises BlockingIOError where another holds it longer; a hook does for the time of a flush."""
    until = time.monotonic() + within_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        time.sleep(LOCK_STEP_S)


def events(path: Path, start: int = 0) -> Iterator[Event | Broken]:
    """The lines of a file, from an offset on; empty lines are none."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        end = file.seek(start)
        while raw := file.readline(LINE_BYTES):
            end += len(raw)
            if raw.strip():
                yield parse(raw, end)


def parse(raw: bytes, end: int = 0) -> Event | Broken:
    """A line as an event, where it is one as it was written."""
    found = _END.fullmatch(raw, max(0, len(raw) - _END_BYTES)) or _END.fullmatch(raw, max(0, len(raw) - _END_BYTES + 1))
    if found is None or int(found[1], 16) != zlib.crc32(raw[: found.start()]):
        return Broken(raw, end)
    try:
        stored = json.loads(shallow(raw.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return Broken(raw, end, whole=True)
    scope = stored.get("scope")
    if any(type(stored.get(field)) is not kind for field, kind in _FIELDS.items()) or not isinstance(scope, str | None):
        return Broken(raw, end, whole=True)
    return Event(stored["id"], stored["at"], stored["hook"], stored["agent"], scope, stored.get("event"), raw, end)


def shallow(text: str) -> str:
    """A text of JSON in which what is nested too deep to be read is a text: its JSON, whose texts have no escapes that hide words."""
    if text.count("[") + text.count("{") <= LEVELS:
        return text
    kept, deep, level, at = list[str](), list[str](), 0, 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "[" | "{":
                level += 1
                if level == LEVELS + 1:
                    kept.append(text[at : token.start()])
                    at = token.start()
            case "]" | "}":
                if level == LEVELS + 1:
                    kept.append(json.dumps("".join([AS_TEXT, *deep, text[at : token.end()]])))
                    deep, at = [], token.end()
                level -= 1
            case quoted if level > LEVELS:
                with suppress(ValueError):
                    deep += [text[at : token.start()], json.dumps(json.loads(quoted), ensure_ascii=False)]
                    at = token.end()
    return "".join([*kept, *deep, text[at:]])


def event_line(event: Event, payload: Any) -> bytes:
    """The line of an event with another payload."""
    stored = {"yiku": 1, "id": event.id, "at": event.at_us, "hook": event.hook, "agent": event.agent}
    stored |= {"scope": event.scope} if event.scope else {}
    body = json.dumps({**stored, "event": payload}, ensure_ascii=False, separators=(",", ":"))[:-1].encode("utf-8", "replace")
    return body + f',"crc":"{zlib.crc32(body):08x}"}}\n'.encode()


# ------------------------------------------------------------------ progress


def marks(home: Home) -> dict[str, int]:
    """Return how far claimed files are recorded: offsets by name; empty where nobody knows."""
    try:
        found = json.loads((home.inbox / MARK).read_bytes())
        return {name: offset for name, offset in found.items() if type(offset) is int and offset >= 0}
    except (OSError, ValueError, AttributeError):
        return {}


def set_marks(home: Home, offsets: Mapping[str, int]) -> None:
    """Say how far claimed files are recorded."""
    write_atomically(home.inbox / MARK, json.dumps(offsets).encode())


def set_aside(home: Home, raw: bytes) -> None:
    """Keep a line that cannot be used; it is on the disk when this returns. A line that is kept already is not kept again."""
    with open_folder(home.root, FOLDER) as where:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(UNREADABLE, flags, 0o600, dir_fd=where), "r+b") as file:
            if any(kept.rstrip(b"\n") == raw.rstrip(b"\n") for kept in file):
                return
            file.write(raw.rstrip(b"\n") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.fsync(where)


def set_aside_lines(home: Home) -> Aside:
    """Count the lines that were set aside."""
    try:
        found = [isinstance(item, Event) or item.whole for item in events(home.inbox / UNREADABLE)]
    except OSError:
        return Aside(0, 0)
    return Aside(sum(found), len(found) - sum(found))


# ------------------------------------------------------------------ what was brought into prompts


def shown(home: Home) -> dict[str, list[str]]:
    """Return the ids that stand in the context of running sessions; nothing where nobody knows. Sessions are keys without their names."""
    try:
        found = json.loads(content_of(home.inbox / SHOWN))
        return {key: ids for key, ids in found.items() if isinstance(ids, list) and all(isinstance(id, str) for id in ids)}
    except (OSError, ValueError, AttributeError):
        return {}


def set_shown(home: Home, key: str, ids: Sequence[str] | None) -> None:
    """Note the ids that stand in a session's context; None forgets the session. Not flushed: who loses it repeats a memory."""
    known = {name: kept for name, kept in shown(home).items() if name != key}
    known |= {} if ids is None else {key: [*ids][-SHOWN_IDS:]}
    kept = dict([*known.items()][-SHOWN_SESSIONS:])
    with open_folder(home.root, FOLDER) as where:
        temporary = f".{SHOWN}.{secrets.token_hex(6)}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=where)
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(kept).encode())
        os.rename(temporary, SHOWN, src_dir_fd=where, dst_dir_fd=where)


# ------------------------------------------------------------------ files


def remove(path: Path) -> None:
    """Delete a file, durably."""
    path.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        flush_folder(path.parent)


def rewrite(path: Path, change: Callable[[bytes], bytes | None]) -> int:
    """
    Replace the lines of a file that no hook appends to any more, durably; how many changed. None takes a line out.

    The file goes where no line is left.
    """
    kept, changed = list[bytes](), 0
    with open(path, "rb") as file:
        for raw in file:
            now = change(raw)
            changed += now != raw
            kept += [now] if now else []
    if not changed:
        return 0
    if not kept:
        remove(path)
        return changed
    with open_folder(path.parent) as where, temporary_file(where, path.name, b"".join(kept)) as temporary:
        os.rename(temporary, path.name, src_dir_fd=where, dst_dir_fd=where)
        os.fsync(where)
    return changed


def _begun(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
