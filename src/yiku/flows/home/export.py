"""
Export a scope as JSON Lines, one operation after another, without loss.

The lines follow the journal: a line for each operation, and behind it one for each change that it made. A turn or
a memory stands where it was added, as it is today; what was different then stands beside it under `was`. An episode, a
scratchpad or an attachment stands where it was changed last. So who only wants the turns or the memories reads those lines
alone, and an import does again what was done, and has the same history. docs/export-format.md describes each line.

Nothing is read whole: the journal goes by in pages, with the rows that a page names. A file gets its name when
all is written and flushed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO, cast

from yiku.errors import Damaged, InvalidInput, NotFound
from yiku.files import blobs
from yiku.files.vault import as_store_error, flush_folder
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.types import (
    Attachment,
    ChangeRow,
    Episode,
    Exported,
    Memories,
    Record,
    Records,
    Scratchpad,
    SemanticMemory,
    Source,
    Standing,
    Turn,
    Turns,
)
from yiku.types.changes import RETRACTION
from yiku.types.invisible import UNSEEN

FORMAT, VERSION = "yiku-export", 1
PAGE = 500  # rows of the journal read at a time
_STORES_OWN = frozenset("n scope changed".split())  # numbers that another store gives anew
COUNTED = frozenset("retrieved used mentioned last_retrieved last_used last_mentioned".split())  # exported with the row alone
KINDS: Mapping[str, type[Any]] = {"episode": Episode, "scratchpad": Scratchpad, "attachment": Attachment}  # types of lines
_RECORDS = {"episodes": "episode", "scratchpad": "scratchpad", "attachments": "attachment"}  # by table
_UNSEEN = re.compile(f"[{UNSEEN}]")
_TABLES = frozenset("conversation_turns turn_state memories memory_sources".split()) | _RECORDS.keys()

Line = dict[str, Any]


@dataclass(slots=True)
class _Writer:
    """The file being written."""

    file: BinaryIO
    counts: dict[str, int] = field(default_factory=lambda: {"turn": 0, "memory": 0, "operation": 0})
    digest: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))
    size: int = 0
    missing: list[str] = field(default_factory=list)
    progress: Callable[[int], object] | None = None

    def line(self, record: Line) -> None:
        """Write one line, its crc last; invisible characters are escaped."""
        body = _UNSEEN.sub(_escape, json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)[:-1]).encode()
        text = b'%s,"crc":"%08x"}\n' % (body, zlib.crc32(body))
        if self.size:
            self.digest.update(text)
        self.file.write(text)
        self.size += len(text)
        if record["type"] in self.counts:
            self.counts[record["type"]] += 1
            if self.progress is not None and record["type"] != "operation":
                self.progress(1)


def export(
    handle: Handle,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    everything: bool = False,
    since: datetime | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Exported:
    """
    Write this scope, or everything in the home, to a new or open file.

    since: only what was done from then on, for a store that has what was before
    """
    checks.flag(everything, "everything")
    checks.optional_call(progress, "progress")
    named = isinstance(path, (str, os.PathLike))
    if not named and not callable(getattr(path, "write", None)):
        checks.refuse("path", "must be the path of a file, or a file open for writing bytes")
    target = checks.path(path, "path") if named else None
    start = checks.optional_time(since, "since", now=handle.now())
    found = [(name, label) for _, name, label in handle.store.scopes() if everything or name == handle.scope]
    if not found:
        raise NotFound(f"there is nothing in {handle.scope}")
    began = time.monotonic()
    if target is not None:
        out = _to_file(handle, target, found, start, progress)
    else:
        out = _write(handle, cast(BinaryIO, path), found, start, progress)
    return Exported(
        path="-" if target is None else str(target),
        scopes=tuple(name for name, _ in found),
        turns=out.counts["turn"],
        memories=out.counts["memory"],
        operations=out.counts["operation"],
        bytes=out.size,
        seconds=round(time.monotonic() - began, 3),
        missing=tuple(out.missing),
    )


def _to_file(handle: Handle, path: Path, scopes: list[tuple[str, str | None]], since: datetime | None, progress: Any) -> _Writer:
    if os.path.lexists(path):
        raise InvalidInput(f"{path} already exists")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                out = _write(handle, file, scopes, since, progress)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        flush_folder(path.parent)
    except OSError as error:
        raise as_store_error(error, path) from error
    return out


def _write(handle: Handle, file: BinaryIO, scopes: list[tuple[str, str | None]], since: datetime | None, progress: Any) -> _Writer:
    out = _Writer(file, progress=progress)
    head = {"type": FORMAT, "version": VERSION, "made_at": handle.now().astimezone(UTC).isoformat()}
    out.line(
        {**head, "schema": handle.store.upkeep.about()["schema"], "since": plain(since), "scopes": [name for name, _ in scopes]}
    )
    for name, label in scopes:
        if (number := handle.store.scope(name)) is None:
            continue  # erased meanwhile
        named = False
        for operation in _operations(handle, number, since):
            for line in _lines(handle, number, operation, out.missing):
                if not named:  # a scope that holds nothing is not spoken of
                    out.line({"type": "scope", "name": name, "label": label})
                    named = True
                out.line(line)
    out.missing += handle.store.unreadable(
        [number for name, _ in scopes if (number := handle.store.scope(name)) is not None]
    ).values()
    counts = {"turns": out.counts["turn"], "memories": out.counts["memory"], "operations": out.counts["operation"]}
    out.line({"type": "end", **counts, "digest": out.digest.hexdigest()})
    return out


# ------------------------------------------------------------------ operations


def _operations(handle: Handle, scope: int, since: datetime | None) -> Iterator[list[ChangeRow]]:
    """Yield the journal rows of each operation, oldest first."""
    operation: list[ChangeRow] = []
    after = 0
    while page := handle.store.journal([scope], after=after, limit=PAGE):
        after = page[-1].number
        for row in page:
            if operation and row.transaction != operation[0].transaction:
                yield operation
                operation = []
            if row.table in _TABLES and row.row and (since is None or row.at >= since):
                operation.append(row)
    if operation:
        yield operation


def _lines(handle: Handle, scope: int, operation: list[ChangeRow], missing: list[str]) -> Iterator[Line]:
    """Yield an operation, and its changes of rows that still exist."""
    first = operation[0]
    memories = _memories(handle, scope, [row.row for row in operation if row.table in ("memories", "memory_sources")])
    changes = [line for row in operation for line in _change(handle, scope, row, memories, missing)]
    if changes:
        header = {"operation": first.operation, "actor": first.actor, "run": first.run, "reason": first.reason}
        fields = {name: value for name, value in header.items() if value is not None}
        yield {"type": "operation", "at": plain(first.at), **fields, "changes": len(changes)}
        yield from changes


def _change(handle: Handle, scope: int, row: ChangeRow, memories: Mapping[int, _History], missing: list[str]) -> Iterator[Line]:
    """Yield the lines of one journal row."""
    if row.table == "conversation_turns":
        turns = _turns(handle, scope, range(row.row, row.row + row.count))
        upto, known = handle.store.learning.upto(scope), handle.store.learning.extracted(scope, [turn.n for turn in turns])
        for turn in turns:
            took_back = (
                handle.store.receipt(scope, f"{RETRACTION} {turn.id}") is not None
            )  # the key under which learning does it once
            learned = {"learned": True} if turn.n <= upto or turn.n in known or took_back else {}
            yield {"type": "turn", **_whole_turn(handle, turn, missing), **learned}
    elif row.table == "turn_state":
        for turn in _turns(handle, scope, [row.row]):
            yield {"type": "hide", "turn": turn.id, **_hidden(handle, scope, row, turn)}
    elif row.table in _RECORDS:
        for record in handle.store.records(KINDS[_RECORDS[row.table]], [scope], Records(ns=[row.row])):
            if record.changed == row.number:
                yield {"type": _RECORDS[row.table], **_whole_record(handle, record, missing)}
    elif (lived := memories.get(row.row)) is None:
        return
    elif row.table == "memories" and row.action == "insert":
        yield {"type": "memory", **lived.line(), **_made_of(handle, scope, lived.today)}
    elif row.table == "memories":
        before = {name: value for name, value in (row.before or {}).items() if name not in COUNTED}
        yield {"type": "update", "memory": lived.today.id, "before": plain(before), "after": plain(lived.after(row, before))}
    elif row.action == "insert":
        if (source := lived.added.get(row.number)) is not None:
            yield {"type": "source", "memory": lived.today.id, "source": _shown(source)}
    else:
        gone = [_shown(source) for source in (row.before or {}).get("sources", ())]
        yield {"type": "unsource", "memory": lived.today.id, "sources": gone}


# ------------------------------------------------------------------ turns


def _turns(handle: Handle, scope: int, ns: Sequence[int] | range) -> list[Turn]:
    return handle.store.turns([scope], Turns(ns=list(ns), hidden=True))


def _hidden(handle: Handle, scope: int, row: ChangeRow, turn: Turn) -> Line:
    """Return when a turn was hidden, before and after this change."""
    later = [
        change for change in handle.store.journal([scope], table="turn_state", row_ns=[turn.n], after=row.number) if change.before
    ]
    after = (later[0].before or {})["hidden_at"] if later else turn.hidden_at
    return {"before": plain((row.before or {}).get("hidden_at")), "after": plain(after)}


def _whole_turn(handle: Handle, turn: Turn, missing: list[str]) -> Line:
    """Return a turn with its long contents inline."""
    line = {name: value for name, value in _shown(turn).items() if name not in ("blob", "content_hash")}
    if turn.blob is not None:
        line |= _blob(handle, turn.blob, turn.content, missing)
    line["tool_results"] = [_whole_result(handle, result, missing) for result in turn.tool_results]
    return {name: value for name, value in line.items() if value not in (None, [], {})}


def _whole_result(handle: Handle, result: Mapping[str, Any], missing: list[str]) -> Line:
    name, content = result.get("blob"), result.get("content")
    if not isinstance(name, str) or not isinstance(content, str):
        return dict(result)
    return {**{key: value for key, value in result.items() if key != "blob"}, **_blob(handle, name, content, missing)}


def _blob(handle: Handle, name: str, excerpt: str, missing: list[str]) -> Line:
    """Return a long content; if the blob is unreadable, its excerpt and name."""
    try:
        text = blobs.get(handle.blobs, name)
    except (NotFound, Damaged):
        missing.append(name)
        return {"content": excerpt, "blob": name}
    return {"content": text} if blobs.excerpt(text) == excerpt else {"content": excerpt, "blob": name}


# ------------------------------------------------------------------ memories


@dataclass(slots=True)
class _History:
    """A memory as it is now, with the later values of each change and its sources at first."""

    today: SemanticMemory
    changes: list[ChangeRow]  # oldest first
    added: dict[int, Source] = field(default_factory=dict)
    first_sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        sources = {source.seq: source for source in self.today.sources}
        for change in reversed(self.changes):
            if change.table != "memory_sources" or change.before is None:
                continue
            if change.action == "insert":
                if (source := sources.pop(change.before["seq"], None)) is not None:
                    self.added[change.number] = source
            else:
                sources |= {source.seq: source for source in change.before["sources"]}
        self.first_sources = tuple(sources[seq] for seq in sorted(sources))

    def line(self) -> Line:
        """Return it as it is now and, where different, as it was when added."""
        was: dict[str, Any] = {}
        for change in reversed(self.changes):
            if change.table == "memories" and change.before:
                was |= change.before
        was = {name: value for name, value in was.items() if value != getattr(self.today, name)}
        if self.first_sources != self.today.sources:
            was["sources"] = [_shown(source) for source in self.first_sources]
        line = _shown(self.today)
        return {**line, "was": plain({name: self._placed(value) for name, value in was.items()})} if was else line

    def after(self, row: ChangeRow, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a change's columns after it."""
        after = {name: getattr(self.today, name) for name in before}
        for change in reversed(self.changes):
            if change.number > row.number and change.table == "memories" and change.before:
                after |= {name: value for name, value in change.before.items() if name in before}
        return after

    def _placed(self, value: Any) -> Any:
        """A time in the speaker's offset: the journal has it in UTC."""
        return value.astimezone(self.today.said_at.tzinfo) if isinstance(value, datetime) else value


def _memories(handle: Handle, scope: int, ns: Sequence[int]) -> dict[int, _History]:
    """Return the memories that an operation touched, with their history."""
    if not ns:
        return {}
    found = handle.store.with_details(handle.store.memories([scope], Memories(ns=sorted(set(ns)))))
    changes: dict[int, list[ChangeRow]] = {}
    for table in ("memories", "memory_sources"):
        for change in handle.store.journal([scope], table=table, row_ns=[memory.n for memory in found], after=0):
            changes.setdefault(change.row, []).append(change)
    return {memory.n: _History(memory, sorted(changes.get(memory.n, []), key=lambda c: c.number)) for memory in found}


def _made_of(handle: Handle, scope: int, memory: SemanticMemory) -> Line:
    """Name the statements that a summary was made from; nothing for others."""
    if memory.standing is not Standing.SUMMARY:
        return {}
    ns = handle.store.nights.summarized(scope, [memory.n]).get(memory.n)
    return {"made_of": [row.id for row in handle.store.memories([scope], Memories(ns=ns))]} if ns else {}


# ------------------------------------------------------------------ what grew out of sessions


def _whole_record(handle: Handle, record: Record, missing: list[str]) -> Line:
    """Return a record with the content of an attachment inline, in base64."""
    line = _shown(record)
    if isinstance(record, Scratchpad) and record.user_id == record.scope:
        del line["user_id"]  # whoever owns the scope that it comes into
    if isinstance(record, Attachment) and record.blob is not None:
        try:
            content = blobs.get_bytes(handle.blobs, record.blob)
        except (NotFound, Damaged):
            missing.append(record.blob)
        else:
            del line["blob"]
            line["content_base64"] = base64.b64encode(content).decode("ascii")
    return line


# ------------------------------------------------------------------ values


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def _shown(value: Any) -> Line:
    """Return a value as an object, without empty fields and those the store assigns."""
    entries = ((entry.name, getattr(value, entry.name)) for entry in fields(value) if entry.name not in _STORES_OWN)
    return {name: shown for name, entry in entries if (shown := plain(entry)) not in (None, [], {})}


def plain(value: Any) -> Any:
    """Convert a value to JSON types."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if is_dataclass(value) and not isinstance(value, type):
        return _shown(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    return value
