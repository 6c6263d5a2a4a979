"""
The formats that can be imported, and how each is told from the others: by what is in a file, not by its name.

A format is a module with `read(place, consumed=…)`, which yields records. `detect` looks at the beginning of a file: at the keys of its
first objects. The order of the table decides where two formats would fit.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

from yiku.errors import InvalidInput
from yiku.interfaces import importers
from yiku.interfaces.importers import Member, Place, json_items, places

HEAD_BYTES = 1 << 17  # of a file, to learn its format
_RESULTS = re.compile(r'[^\[]*?"results"\s*+:\s*+(?=\[)')  # what stands before the list
JSON = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Head:
    """The beginning of a file."""

    place: Place
    data: bytes

    @cached_property
    def text(self) -> str:
        """Its text."""
        return self.data.removeprefix(importers.BOM).decode("utf-8", "replace")

    @cached_property
    def objects(self) -> list[dict[str, str | None]]:
        """The keys of its first objects, with their texts; none where it is not JSON."""
        return json_items.first_objects(self.text) if self.text.lstrip()[:1] in ("{", "[") else []


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name on the command line, its module, its title, the endings of its files, and how it is recognised."""

    name: str
    module: str
    title: str
    endings: Sequence[str]
    detect: Callable[[Head], bool]
    agent: bool = False  # sessions of a coding agent, which hooks may have captured

    def load(self) -> ModuleType:
        """Return its module."""
        return importlib.import_module(f"yiku.interfaces.importers.{self.module}")


def _any(fits: Callable[[Mapping[str, str | None]], bool]) -> Callable[[Head], bool]:
    return lambda head: any(fits(keys) for keys in head.objects)


def _chatgpt(keys: Mapping[str, str | None]) -> bool:
    return "mapping" in keys and not keys.keys().isdisjoint(("title", "create_time", "current_node", "conversation_id"))


def _claude(keys: Mapping[str, str | None]) -> bool:
    return "chat_messages" in keys


def _claude_code(keys: Mapping[str, str | None]) -> bool:
    """A record of a session; or the title of one, which stands at the beginning of a file."""
    if "sessionId" in keys and "type" in keys and "payload" not in keys:
        return True
    return keys.get("type") in ("summary", "file-history-snapshot") and not keys.keys().isdisjoint(("leafUuid", "messageId"))


def _codex(keys: Mapping[str, str | None]) -> bool:
    return {"timestamp", "type", "payload"} <= keys.keys()


def _gemini_cli(keys: Mapping[str, str | None]) -> bool:
    return {"sessionId", "projectHash"} <= keys.keys()


def _opencode(head: Head) -> bool:
    """A database, or a session that was exported."""
    from yiku.interfaces.importers import opencode

    if head.data.startswith(opencode.DATABASE):
        return opencode.is_database(head.place)
    return any({"info", "messages"} <= keys.keys() for keys in head.objects)


def _server_memory(keys: Mapping[str, str | None]) -> bool:
    relation = keys.get("type") == "relation" and {"from", "to", "relationType"} <= keys.keys()
    return relation or (keys.get("type") == "entity" and {"name", "observations"} <= keys.keys())


def _mem0(head: Head) -> bool:
    """A list of memories, alone or under `results`; memories on lines of their own are JSON Lines."""
    text = head.text.lstrip()
    if text[:1] == "{" and (before := _RESULTS.match(text)):
        text = text[before.end() :]
    return text[:1] == "[" and any({"id", "memory"} <= keys.keys() for keys in json_items.first_objects(text))


def _yiku(keys: Mapping[str, str | None]) -> bool:
    return keys.get("type") == "yiku-export"


def _jsonl(keys: Mapping[str, str | None]) -> bool:
    """A turn, a conversation, a statement or a line of a chat, with no other names than those we take."""
    return (
        {"role", "content"} <= keys.keys()
        or "messages" in keys
        or keys.get("memory") is not None
        or ({"speaker", "text"} <= keys.keys())
    )


def _lines(fits: Callable[[Mapping[str, str | None]], bool]) -> Callable[[Head], bool]:
    """A format of JSON Lines: the file does not begin with a list."""
    return lambda head: head.text.lstrip()[:1] == "{" and _any(fits)(head)


FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format("yiku", "yiku_jsonl", "Yiku export", (".jsonl",), _lines(_yiku)),
        Format("chatgpt", "chatgpt", "ChatGPT export", (".json",), _any(_chatgpt)),
        Format("claude", "claude", "Claude export", (".json",), _any(_claude)),
        Format("claude-code", "claude_code", "Claude Code transcript", (".jsonl",), _lines(_claude_code), agent=True),
        Format("codex", "codex", "Codex session", (".jsonl",), _lines(_codex), agent=True),
        Format("gemini-cli", "gemini_cli", "Gemini CLI session", (".jsonl", ".json"), _any(_gemini_cli), agent=True),
        Format("opencode", "opencode", "OpenCode sessions", ("opencode.db", ".json"), _opencode, agent=True),
        Format("server-memory", "server_memory", "MCP server-memory graph", (".jsonl", ".json"), _lines(_server_memory)),
        Format("mem0", "mem0", "mem0 memories", (".json",), _mem0),
        Format("jsonl", "jsonl", "JSON Lines", (".jsonl", ".ndjson"), _lines(_jsonl)),
    )
}


def detect(place: Place) -> Format | None:
    """Return the format of a file; None where it is none of them."""
    head = Head(place, places.head_of(place, HEAD_BYTES))
    return next((one for one in FORMATS.values() if head.data and one.detect(head)), None)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found at a path: the files of known formats, in order, and those that are of none."""

    files: Sequence[tuple[Format, Place]]
    unknown: Sequence[Place]


def find(path: Path, name: str | None = None) -> Found:
    """
    Return the files at a path with their formats: a file, an archive, or a folder with everything below it.

    name: of the format; a file that is given itself is taken to be of it, and below a folder only its files are
    Raises InvalidInput where there are none.
    """
    if name is not None and name not in FORMATS:
        raise InvalidInput(f"{name[:40]!r} is not a known format; the formats are {', '.join(FORMATS)}")
    wanted = None if name is None else FORMATS[name]
    if wanted is not None and hasattr(module := wanted.load(), "files") and not (path.is_file() and places.is_archive(path)):
        return _some(path, Found([(wanted, file) for file in module.files(path)], ()), wanted)
    if path.name.endswith((".db", ".db-wal", ".db-shm")) and not path.name.startswith("opencode"):
        raise InvalidInput(f"{path} is a database of another program, or of Yiku: it is not opened")
    candidates, single = _candidates(path, wanted)
    if wanted is not None and single:
        return Found([(wanted, place) for place in candidates], ())
    files: list[tuple[Format, Place]] = []
    unknown: list[Place] = []
    for place in candidates:
        format = detect(place)
        if format is None:
            unknown.append(place)
        elif wanted in (None, format):
            files.append((format, place))
    return _some(path, Found(files, unknown), wanted)


def _some(path: Path, found: Found, wanted: Format | None) -> Found:
    """Return what was found. Raises InvalidInput where it is nothing."""
    if found.files:
        return found
    if wanted is not None:
        raise InvalidInput(f"{path} contains no {wanted.name} file")
    raise InvalidInput(
        f"{path} is of no known format; the formats are {', '.join(FORMATS)}: name one, as in `yiku import jsonl {path.name}`"
    )


def _candidates(path: Path, wanted: Format | None) -> tuple[Sequence[Place], bool]:
    """Return the files to look at, and whether one file was given itself."""
    endings = tuple(wanted.endings) if wanted else tuple({ending for one in FORMATS.values() for ending in one.endings})
    if path.is_file():
        if not places.is_archive(path):
            return [path], True
        return _members(path, endings), False
    below: list[Place] = []
    for file in importers.found(path, (*endings, ".zip")):
        if file.suffix != ".zip":
            below.append(file)
        elif places.is_archive(file):
            try:
                below += _members(file, endings)
            except InvalidInput:
                below.append(file)  # to be named as of no known format
    return below, False


def _members(path: Path, endings: tuple[str, ...]) -> list[Member]:
    return places.members(path, lambda name: name.endswith(endings) and not os.path.basename(name).startswith("."))
