"""
Answer a client's `initialize` on stdin before the SDK is loaded, so that the server starts in a third of the time.

A client of a version with a handshake waits for this answer, and for no other. It says what the SDK would say
(tests/interfaces/test_mcp.py holds both in step); the SDK is handed the same line later, and its own answer is left out.
Whatever else comes first, and every other line, is left to the SDK unread.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
from dataclasses import dataclass
from typing import Any

from yiku import __version__
from yiku.interfaces.tools import Tools
from yiku.interfaces.tools.schemas import without_halves

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # with a handshake; for another one the last is proposed
LINE_BYTES = 65_536  # of a first line that is looked at
_LISTS = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}


@dataclass
class Input:
    """
    The lines of a client, with those that were read already.

    answered: the id of the request that has its answer; None where none has
    """

    lines: io.TextIOWrapper
    answered: str | int | None = None


def answer_first(tools: Tools, stdin: int = 0, stdout: int = 1) -> Input:
    """Read the first line, answer it if it is a handshake, and return the input with that line before the rest."""
    client = fcntl.fcntl(stdin, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, stdin)  # what else reads from stdin, reads nothing
    os.close(nothing)
    begun = _first(client)
    lines = io.TextIOWrapper(io.BufferedReader(_Replayed(begun, client)), encoding="utf-8", errors="replace")
    request = _request(begun)
    if request is None:
        return Input(lines)
    text = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result(tools, request["params"])}, ensure_ascii=False)
    _write(stdout, f"{text}\n".encode())
    return Input(lines, request["id"])


def result(tools: Tools, params: dict[str, Any]) -> dict[str, Any]:
    """Return what the server says of itself."""
    asked = params.get("protocolVersion")
    return {
        "capabilities": _LISTS,
        "instructions": tools.instructions,
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
        "serverInfo": {"name": "yiku", "title": "Yiku memory", "version": __version__},
    }


def _first(client: int) -> bytes:
    """Read to the end of the first line, or of what is looked at; perhaps some of what follows."""
    begun = b""
    while b"\n" not in begun and len(begun) < LINE_BYTES and (more := os.read(client, LINE_BYTES)):
        begun += more
    return begun


def _request(begun: bytes) -> dict[str, Any] | None:
    """Return a handshake that is surely one; what is unusual is the SDK's to judge."""
    line, end, _ = begun.partition(b"\n")
    try:
        request = json.loads(line) if end else None
    except (ValueError, RecursionError):
        return None
    match request:
        case {"jsonrpc": "2.0", "id": str() | int() as id, "method": "initialize", "params": dict() as params}:
            known = {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}
            named = isinstance(params.get("clientInfo"), dict) and {"name", "version"} <= {*params["clientInfo"]}
            whole = named and all(isinstance(params.get(name), sort) for name, sort in known.items())
            return request if whole and is_id(id) and "_meta" not in params else None
    return None


def is_id(value: object) -> bool:
    """Tell whether an answer can repeat this as the id of its request: a whole number, or a text without half of a character."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, str) and without_halves(value) == value)


def _write(stdout: int, text: bytes) -> None:
    while text:
        text = text[os.write(stdout, text) :]


class _Replayed(io.RawIOBase):
    """A file that begins with what was read of it."""

    def __init__(self, begun: bytes, file: int) -> None:
        self._begun, self._file = begun, file

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what was read before, then the rest."""
        found = self._begun[: len(buffer)] or os.read(self._file, len(buffer))
        self._begun = self._begun[len(found) :]
        buffer[: len(found)] = found
        return len(found)
