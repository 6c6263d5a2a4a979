"""
Read and write transcripts: a checksummed JSON line for each turn, one file a session, derived from the database.

    transcripts/<scope n>/<session>-<hash8>.jsonl   one turn a line, by position; hash8 is of the session's whole name
    transcripts/<scope n>/mark                      up to which turn and change of the database they go
    transcripts/lost/<n>-….jsonl                    files that hold turns which the database does not know

A line is one JSON object that begins with `position`, `id`, `scope` and `session` and ends with `crc`: the CRC-32 of all bytes
in front of `,"crc":`, in hexadecimal. A file is only ever appended to, but for what is erased, forgotten or past its days; then it
is written anew. What a killed process left of a line is finished by the next one, so a position stands in a file at most once.
A line that somebody else wrote or changed has no sound crc: it is passed over, and kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from yiku.files.vault import Home, as_store_error, open_folder, write_atomically
from yiku.types import Origin, Turn

LOST = "lost"
TAIL_BYTES = 16 * 1024  # read first of the end of a file; eight times as much while no line of ours is in it
NAME_CHARS = 40  # of a session's name in that of its file: at most 160 bytes
_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_TEXT = rb'"(?:[^"\\]|\\.)*"'
_HEAD = re.compile(rb'\{"position":(\d{1,18}),"id":"([^"\\]{1,200})","scope":(' + _TEXT + rb'),"session":(' + _TEXT + rb"),")
_END = re.compile(rb',"crc":"([0-9a-f]{8})"\}')
_END_BYTES = 18
_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}  # that some tools take for the end of a line
_MARK = re.compile(rb"(yiku-transcripts 1 ([0-9a-f]{32}) (\d{19}) (\d{19}) (\d{7})) ([0-9a-f]{8})\n")


class Line(NamedTuple):
    """A line of ours, its crc verified; `raw` is without the end of the line."""

    position: int
    id: str
    scope: str
    session: str
    raw: bytes


Change = Callable[[Line], bytes | None]  # what comes in the place of a line; None takes it out


class Broken(NamedTuple):
    """A line that is not ours, or not as it was written; `number` counts from 1."""

    number: int
    raw: bytes
    torn: bool  # the last one of a file, without its end


@dataclass(frozen=True, slots=True)
class Mark:
    """The last turn and change of the database that are in the transcripts, and the day on which old copies were last removed."""

    turns: int = 0
    changes: int = 0
    aged: int = 0


# ------------------------------------------------------------------ lines


def line(turn: Turn) -> Line:
    """A turn as a line."""
    stored: dict[str, Any] = {"position": turn.position, "id": turn.id, "scope": turn.scope, "session": turn.session}
    stored |= {"role": turn.role, "content": turn.content, "said_at": turn.said_at.isoformat()}
    stored["recorded_at"] = turn.recorded_at.astimezone(UTC).isoformat()
    stored |= {name: value for name in _OPTIONAL if (value := getattr(turn, name)) not in (None, (), {})}
    stored["origin"] = turn.origin.value
    if turn.blob is not None:
        stored["content_hash"] = turn.content_hash.hex()
    if turn.hidden_at is not None:
        stored["hidden_at"] = turn.hidden_at.astimezone(UTC).isoformat()
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"))
    for character, escaped in _BREAKS.items():
        text = text.replace(character, escaped)
    body = text[:-1].encode()
    return Line(turn.position, turn.id, turn.scope, turn.session, body + f',"crc":"{zlib.crc32(body):08x}"}}'.encode())


_OPTIONAL = ("speaker", "tool_calls", "tool_results", "external_id", "parent", "agent", "project", "metadata", "actor", "blob")


def parse(raw: bytes) -> Line | None:
    """A line of ours; None where it is none, or is not what was written."""
    head, end = _HEAD.match(raw), _END.fullmatch(raw, max(0, len(raw) - _END_BYTES))
    if head is None or end is None or int(end[1], 16) != zlib.crc32(raw[:-_END_BYTES]):
        return None
    try:
        return Line(int(head[1]), head[2].decode(), json.loads(head[3]), json.loads(head[4]), raw)
    except ValueError:
        return None


def turn(line: Line) -> Turn:
    """The turn of a line. Raises ValueError where it is none that Yiku could have written."""
    stored = json.loads(line.raw)
    json.dumps(stored, ensure_ascii=False).encode()  # half of a character cannot be stored
    del stored["crc"]
    unfit = [name for name, value in stored.items() if name not in _FITS or not _FITS[name](value)]
    if unfit or not stored.keys() >= {"role", "content", "said_at", "recorded_at", "origin"}:
        raise ValueError(f"unfit: {', '.join(sorted(unfit)) or 'something is missing'}")
    times = {name: datetime.fromisoformat(stored[name]) for name in ("said_at", "recorded_at", "hidden_at") if name in stored}
    if any(at.tzinfo is None for at in times.values()):
        raise ValueError("a time has no offset")
    lists = {name: tuple(stored[name]) for name in ("tool_calls", "tool_results") if name in stored}
    digest = {"content_hash": bytes.fromhex(stored["content_hash"])} if "content_hash" in stored else {}
    return Turn(**(stored | times | lists | digest | {"origin": Origin(stored["origin"])}))


def recorded_at(line: Line) -> datetime:
    """When the turn of a line was recorded."""
    return datetime.fromisoformat(json.loads(line.raw)["recorded_at"])


def _text(value: object) -> bool:
    return isinstance(value, str)


def _objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


_FITS: Mapping[str, Callable[[object], bool]] = {
    **{field.name: _text for field in fields(Turn) if field.name != "n"},
    "position": lambda value: type(value) is int and value >= 0,
    "role": lambda value: value in ("user", "assistant", "system", "tool"),
    "tool_calls": _objects,
    "tool_results": _objects,
    "metadata": lambda value: isinstance(value, dict),
}


# ------------------------------------------------------------------ files


def file_name(session: str) -> str:
    """The name of a session's file: what can be read of its name, and eight digits that tell it from others."""
    plain = re.sub(r"[^\w.@+-]+", "_", unicodedata.normalize("NFC", session))[:NAME_CHARS].strip("._") or "session"
    return f"{plain}-{hashlib.blake2b(session.encode(), digest_size=4).hexdigest()}.jsonl"


def files(home: Home) -> list[Path]:
    """Every transcript of a home, those of lost turns too; none where a link stands in the way."""
    folders = [] if home.transcripts.is_symlink() else sorted(home.transcripts.glob("*"))
    found = [path for folder in folders if not folder.is_symlink() for path in sorted(folder.glob("*.jsonl"))]
    return [path for path in found if path.is_file() and not path.is_symlink()]


def lost(home: Home) -> list[Path]:
    """Those that hold turns which the database does not know."""
    return [path for path in files(home) if path.parent.name == LOST] if (home.transcripts / LOST).is_dir() else []


def lines(path: Path) -> Iterator[Line | Broken]:
    """Every line of a file, in order; a line without a session that the file is named after is not ours."""
    with os.fdopen(os.open(path, os.O_RDONLY | _OPEN), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return
        for number, raw in enumerate(file, 1):
            whole = raw.removesuffix(b"\n")
            found = parse(whole)
            if found is not None and path.name.endswith(file_name(found.session).rpartition("-")[2]):
                yield found
            else:
                yield Broken(number, whole, torn=whole == raw)


class Folder:
    """The transcripts of one scope. Whoever writes holds `locks/transcripts.lock`."""

    def __init__(self, home: Home, scope: int) -> None:
        self._home = home
        self._scope = str(scope)
        self.path = home.transcripts / self._scope

    def mark(self, store_id: str) -> Mark | None:
        """How far they go; None where nothing says so, or it says so of another store."""
        try:
            with os.fdopen(os.open(self.path / "mark", os.O_RDONLY | _OPEN), "rb") as file:
                found = _MARK.fullmatch(file.read(200))
        except OSError:
            return None
        if found is None or found[2].decode() != store_id or int(found[6], 16) != zlib.crc32(found[1]):
            return None
        return Mark(int(found[3]), int(found[4]), int(found[5]))

    def set_mark(self, store_id: str, mark: Mark) -> None:
        """Say how far they go. What it says is on the disk already; the mark itself may lag."""
        body = f"yiku-transcripts 1 {store_id} {mark.turns:019d} {mark.changes:019d} {mark.aged:07d}".encode()
        with self._open("mark", os.O_WRONLY | os.O_CREAT) as descriptor:
            os.pwrite(descriptor, body + f" {zlib.crc32(body):08x}\n".encode(), 0)

    def append(self, session: str, due: Sequence[Line], *, after: Line | None = None) -> Line | None:
        """
        Append the lines after the last one of a session's file, and flush.

        Where that last line is further than these begin and is none of them, nothing is written, and it is returned:
        `after` says that it belongs there.
        """
        with self._open(file_name(session), os.O_RDWR | os.O_CREAT | os.O_APPEND) as descriptor:
            size = os.fstat(descriptor).st_size
            last, torn = _tail(descriptor, size, session)
            if last is not None:
                among = last.position < due[0].position or (last.position, last.id) in {(one.position, one.id) for one in due}
                if not among and (after is None or after.id != last.id):
                    return last
                due = [one for one in due if one.position > last.position]
            if due:
                content = b"".join(one.raw + b"\n" for one in due)
                if torn:
                    content = content[len(torn) :] if content.startswith(torn) else b"\n" + content
                _write(descriptor, content)
                os.fsync(descriptor)
        return None

    def put_aside(self, path: Path, at: datetime) -> None:
        """A file that holds turns which the database does not know goes to transcripts/lost/."""
        name = f"{self._scope}-{at.astimezone(UTC):%Y%m%dT%H%M%S%fZ}-{path.name}"
        with open_folder(self._home.root, "transcripts", LOST) as folder:
            os.rename(path, name, dst_dir_fd=folder)
            os.fsync(folder)

    def files(self) -> list[Path]:
        """Those of its sessions."""
        if self._home.transcripts.is_symlink() or self.path.is_symlink():
            return []
        return sorted(path for path in self.path.glob("*.jsonl") if path.is_file() and not path.is_symlink())

    def reset(self) -> None:
        """Nothing says any more how far they go."""
        (self.path / "mark").unlink(missing_ok=True)

    def _open(self, name: str, flags: int) -> _Descriptor:
        return _Descriptor(self._home, self._scope, name, flags)


class _Descriptor:
    """A file of a scope's folder; both are made where they are missing, and no link is followed."""

    def __init__(self, home: Home, scope: str, name: str, flags: int) -> None:
        self._path = home.transcripts / scope / name
        try:
            with open_folder(home.root, "transcripts", scope) as folder:
                try:
                    self._descriptor = os.open(name, (flags & ~os.O_CREAT) | _OPEN, dir_fd=folder)
                except FileNotFoundError:
                    self._descriptor = os.open(name, flags | _OPEN, 0o600, dir_fd=folder)
                    os.fsync(folder)
        except OSError as error:
            raise as_store_error(error, self._path) from error

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        os.close(self._descriptor)
        if isinstance(error, OSError):
            raise as_store_error(error, self._path) from error


def _tail(descriptor: int, size: int, session: str) -> tuple[Line | None, bytes]:
    """Return the last line of a session that is ours, and the unterminated rest of the file."""
    block = TAIL_BYTES
    while True:
        start = max(0, size - block)
        *whole, torn = os.pread(descriptor, size - start, start).split(b"\n")
        for raw in reversed(whole if start == 0 else whole[1:]):  # the first may be cut
            if (found := parse(raw)) is not None and found.session == session:
                return found, torn
        if start == 0:
            return None, torn
        block *= 8


def _write(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def rewrite(home: Home, path: Path, change: Change, keep: Callable[[Broken], bool]) -> int:
    """
    Write a file anew, whole or not at all, where something of it changes; how many lines did. An empty file goes.

    change: what comes in the place of a line of ours; None takes it out
    keep:   whether a line that is not ours stays
    """
    kept, count = list[bytes](), 0
    for one in lines(path):
        raw = (one.raw if keep(one) else None) if isinstance(one, Broken) else change(one)
        count += raw != one.raw
        if raw is not None:
            kept.append(raw)
    if not count:
        return 0
    try:
        if kept:
            write_atomically(path, b"\n".join(kept) + b"\n", below=home.root)
        else:
            path.unlink()
            with open_folder(home.root, *path.parent.relative_to(home.root).parts) as folder:
                os.fsync(folder)
    except OSError as error:
        raise as_store_error(error, path) from error
    return count
