"""
Importers of conversations, memories and notes; shared here: reading broken JSON Lines, content, times, ids.

Each module here knows one kind of source, and has the same three functions:

    files(path)   the files to read: the path itself, or what fits below a folder, sorted
    size(path)    their bytes, for a progress bar
    read(path)    the records of one file, in order; `consumed` is told the bytes of each line

This file holds what they share: lines that may be broken in every way (`objects`), content that may be
a text or a list of blocks (`unpacked`), and metadata that must stay small (`bounded`). A file is never
read whole. A line that cannot be used becomes a BadRecord with its number, and reading goes on.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from yiku.errors import InvalidInput
from yiku.interfaces.importers.places import DAMAGED, Member, Place, opened, regular, size_of
from yiku.types import BadRecord

__all__ = ["DAMAGED", "Member", "Place", "opened", "regular"]  # beside what is defined here

LINE_BYTES = 72 * 1024 * 1024  # a turn's 64 MiB, and 8 MiB for what stands around it
METADATA_BYTES = 15 * 1024  # of the 16 KiB that a turn may have; the rest is for what is said about it
TEXT_CHARS = 1_000  # of one entry that an importer takes over as metadata
ID_CHARS = 200  # a longer id is kept as its hash
JSON_LEVELS = 24  # deeper values are kept as their JSON text

EMPTY = "the file is empty"
BOM = b"\xef\xbb\xbf"  # which some editors put at the start of a file

Consumed = Callable[[int], None]


# ------------------------------------------------------------------ files


def found(path: Path, suffixes: Sequence[str]) -> list[Path]:
    """Return the file, or the files below a folder with these suffixes, sorted; without links and transcripts of a home."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InvalidInput(f"{path}: no such file or folder")
    below = list[Path]()
    for folder, folders, names in os.walk(path):
        if "yiku.toml" in names and "transcripts" in folders:  # copies of what that home has
            folders.remove("transcripts")
        below += [Path(folder, name) for name in names if name.endswith(tuple(suffixes))]
    return sorted(file for file in below if file.is_file() and not file.is_symlink())


def total(files: Sequence[Place]) -> int:
    """Return the size of all files."""
    return sum(map(size_of, files))


# ------------------------------------------------------------------ lines


@dataclass(frozen=True, slots=True)
class Line:
    """A line with a JSON object: its number, hash, and count of replaced characters."""

    number: int
    record: dict[str, Any]
    digest: str
    replaced: int = 0


def objects(path: Place, consumed: Consumed | None = None) -> Iterator[Line | BadRecord]:
    """
    Yield an item for each line of a JSON Lines file that is not blank.

    A file without any is one BadRecord, so that an empty file is not mistaken for one that was taken in.
    """
    number = 0
    try:
        with opened(path) as file:
            empty = True
            while part := file.readline(LINE_BYTES + 1):
                number += 1
                bytes_read, whole = len(part), len(part) <= LINE_BYTES or part.endswith(b"\n")
                while not whole:  # the rest of a line that is too long goes by in pieces
                    part = file.readline(1 << 20)
                    bytes_read, whole = bytes_read + len(part), not part or part.endswith(b"\n")
                if consumed is not None:
                    consumed(bytes_read)
                if bytes_read > LINE_BYTES + 1:
                    item: Line | BadRecord = BadRecord(number, f"has {bytes_read:,} bytes; at most {LINE_BYTES:,}")
                elif text := part.removeprefix(BOM if number == 1 else b"").strip(b" \t\r\n\0"):
                    item = parsed(number, text, cut_off=not part.endswith(b"\n"))
                elif b"\0" in part:
                    item = BadRecord(number, "holds only NUL bytes")
                else:
                    continue
                empty = False
                yield item
            if empty:
                yield BadRecord(1, EMPTY)
    except DAMAGED as error:
        yield damaged(path, number + 1, error)


def damaged(place: Place, number: int, error: Exception) -> BadRecord:
    """Return the problem of a file that cannot be read from here on. Raises InvalidInput where it is in no archive."""
    if isinstance(error, OSError) and not isinstance(place, Member):
        raise InvalidInput(f"{place}: {error.strerror or error}") from error
    return BadRecord(number, f"the file cannot be read any further: {getattr(error, 'strerror', None) or error}")


def parsed(number: int, text: bytes, *, cut_off: bool, what: str = "is not JSON on one line") -> Line | BadRecord:
    """Parse one object, or say why it is none."""
    replaced = [0]
    try:
        value = _value(text.decode(), replaced)
    except UnicodeDecodeError as error:
        return BadRecord(number, f"is not UTF-8 at byte {error.start + 1}")
    except json.JSONDecodeError as error:
        if cut_off:
            return BadRecord(number, "is cut off; import the file again when it is whole")
        return BadRecord(number, f"{what}: {error.msg} at character {error.pos + 1}")
    except RecursionError:
        return BadRecord(number, "is nested too deeply")
    if not isinstance(value, dict):
        return BadRecord(number, f"is not an object but {_kind(value)}")
    return Line(number, value, hashlib.blake2b(text, digest_size=16).hexdigest(), replaced[0])


def embedded(text: str) -> Any:
    """Parse a JSON text inside a record; return the text itself if it is none."""
    try:
        return _value(text, [0])
    except (json.JSONDecodeError, RecursionError):
        return text


def _value(text: str, replaced: list[int]) -> Any:
    value = _DECODER.decode(text)
    return _readable(value, replaced) if _ODD.search(text) else value


def _whole(text: str) -> int | str:
    return int(text) if len(text) <= 1_000 else text  # Python refuses to read longer numbers


def _fraction(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


_DECODER = json.JSONDecoder(strict=False, parse_int=_whole, parse_float=_fraction, parse_constant=str)
_ODD = re.compile(r"\0|\\u(?:0000|[dD][89a-fA-F])")  # may stand for a character that cannot be stored
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def readable(value: Any) -> Any:
    """Return a value without characters that cannot be stored."""
    return _readable(value, [0])


def _readable(value: Any, replaced: list[int]) -> Any:
    """Replace NUL and lone surrogates by U+FFFD, counting them."""
    if isinstance(value, str):
        text, count = _UNSTORABLE.subn("\ufffd", value)
        replaced[0] += count
        return text
    if isinstance(value, list):
        return [_readable(item, replaced) for item in value]
    if isinstance(value, dict):
        return {_readable(key, replaced): _readable(item, replaced) for key, item in value.items()}
    return value


def _kind(value: object) -> str:
    return {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list"}.get(type(value), "null")


# ------------------------------------------------------------------ content


@dataclass(slots=True)
class Content:
    """The content of a message: texts, tool calls, tool results, and names of skipped parts."""

    texts: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All texts, joined."""
        return "\n".join(text for text in self.texts if text)


_TEXTS = frozenset("text input_text output_text summary_text".split())
_THINKING = frozenset("thinking redacted_thinking reasoning".split())
_CALLS = frozenset("tool_use server_tool_use mcp_tool_use".split())
_FILES = {"image_url": "image", "input_image": "image", "input_file": "file", "input_audio": "audio"}


def unpacked(content: object, *, inside: bool = False) -> Content:
    """Parse the content of a message: a text, a block, or a list of both."""
    out = Content()
    if isinstance(content, Mapping) and isinstance(content.get("parts"), list):
        content = content["parts"]
    for block in content if isinstance(content, list) else [] if content is None else [content]:
        if not isinstance(block, Mapping):
            out.texts.append(block if isinstance(block, str) else f"[{_kind(block)}]")
            continue
        type_ = str(block.get("type") or block.get("content_type") or ("text" if "text" in block else "block"))[:40]
        if type_ in _THINKING:
            out.left_out.append("thinking")
        elif type_ in _CALLS and not inside:
            out.calls.append({"name": str(block.get("name") or "?"), "input": shallow(block.get("input")), "id": block.get("id")})
        elif type_.endswith("tool_result") and not inside:
            out.results.append(result(block.get("tool_use_id"), block.get("content"), bool(block.get("is_error"))))
        elif isinstance(text := block.get("text" if type_ in _TEXTS else type_, block.get("text")), str):
            out.texts.append(text)
        else:
            out.texts.append(f"[{' '.join([_FILES.get(type_, type_), *_label(block)])}]")
    return out


def result(tool_use_id: object, content: object, is_error: bool = False) -> dict[str, Any]:
    """Return a tool result as one text."""
    given = {"tool_use_id": tool_use_id} if isinstance(tool_use_id, str) else {}
    return {**given, "content": unpacked(content, inside=True).text, "is_error": is_error}


def _label(block: Mapping[str, Any]) -> list[str]:
    """Describe a picture or file: type or address, and name."""
    source: Mapping[str, Any] = next(
        (block[key] for key in ("source", "image_url", "file", "input_audio") if isinstance(block.get(key), Mapping)), {}
    )
    link = next((link for link in (source.get("url"), block.get("image_url")) if isinstance(link, str)), "")
    if link.startswith("data:"):
        link = link[5:60].partition(";")[0]
    names = (source.get("media_type"), source.get("format"), link, block.get("title"), source.get("filename"))
    return [name[:TEXT_CHARS] for name in names if isinstance(name, str) and name]


def shallow(value: Any) -> Any:
    """Return the value, or its JSON text if nested too deeply for a turn."""
    layer = [value]
    for _ in range(JSON_LEVELS):
        layer = [
            item
            for outer in layer
            if isinstance(outer, (list, dict))
            for item in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "[nested too deeply]"


# ------------------------------------------------------------------ details


def time(value: object) -> datetime | None:
    """Parse a time: ISO 8601, or seconds or milliseconds since 1970; UTC without an offset."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
        if not isinstance(value, datetime):
            return None
        value = value if value.tzinfo else value.replace(tzinfo=UTC)
        offset = value.utcoffset()
        value.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return value if offset is not None and not offset.seconds % 60 and not offset.microseconds else None


def one_line(value: object, at_most: int = ID_CHARS) -> str | None:
    """Return an id or name fit for storage: itself, its hash if too long, or None."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value).strip()
    if len(text) > at_most or any(ord(c) < 32 or ord(c) == 127 for c in text):
        return f"#{fingerprint(text)}"
    return text or None


def fingerprint(*parts: object) -> str:
    """Return a short stable hash."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def bounded(metadata: Mapping[str, Any], left_out: Sequence[str] = (), replaced: int = 0) -> dict[str, Any]:
    """Drop oversized metadata entries, listing them under `left_out`."""
    kept: dict[str, Any] = {}
    names, bytes_left = list(dict.fromkeys(left_out)), METADATA_BYTES
    for key, value in metadata.items():
        entry = {key: shallow(value)}
        size = len(json.dumps(entry, ensure_ascii=False).encode())
        if size <= bytes_left:
            kept.update(entry)
            bytes_left -= size
        else:
            names.append(key[:40])
    if names:
        kept["left_out"] = names[:20]
    if replaced:
        kept["replaced_characters"] = replaced
    return kept


class Ids:
    """External ids within one file: records with the same id and other content get an id of their own."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def given(self, id: str, said: str) -> str:
        """Return the id for a record that has one."""
        return id if self._first.setdefault(id, said) == said else f"{id}#{said}"

    def made(self, name: str, digest: str) -> str:
        """Make an id for a record from its place, content and number of repetitions."""
        nth = int(self._first.get(digest, "0")) + 1
        self._first[digest] = str(nth)
        return f"{one_line(name, 100)}#{fingerprint(digest, nth)}"
