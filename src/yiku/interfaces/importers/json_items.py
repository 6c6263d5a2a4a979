"""
Read the objects of a JSON file one by one: the items of a list, or objects that follow each other.

Exports of chats are one list on one line, of any size. Only the object at hand is held in memory, at most `ITEM_BYTES` of it: a
scanner follows brackets and texts and cuts the file into objects, and each is parsed on its own. So an object that is not JSON
costs itself alone, and its number in the file is known. The scanner does not recurse and is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Line
from yiku.interfaces.importers.places import Place
from yiku.types import BadRecord

ITEM_BYTES = importers.LINE_BYTES
PIECE_BYTES = 1 << 20
FIRST_KEYS = 40  # of an object that is looked at to learn its format

# Up to the next bracket; or to a quotation mark whose text does not end in this piece.
_NEXT = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{}"])', re.DOTALL)
_TEXT_END = re.compile(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)
_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|([\[\]{},])|[^\s"\[\]{},:]++', re.DOTALL)


def objects(place: Place, consumed: Consumed | None = None) -> Iterator[Line | BadRecord]:
    """Yield each object with its number in the file; what is none, or cannot be parsed, is a BadRecord."""
    number, cut_off = 0, False
    try:
        with importers.opened(place) as file:
            for raw, problem in _pieces(file, consumed):
                number += 1
                cut_off = cut_off or problem == CUT_OFF
                yield BadRecord(number, problem) if problem else importers.parsed(number, raw, cut_off=False, what="is not JSON")
    except importers.DAMAGED as error:
        yield importers.damaged(place, number + 1, error)
        return
    if not number:
        yield BadRecord(1, importers.EMPTY)


CUT_OFF = "the file is cut off here; import it again when it is whole"


def _pieces(file: IO[bytes], consumed: Consumed | None) -> Iterator[tuple[bytes, str]]:
    """Cut the file into objects; what stands between them and is none of a list's punctuation is a problem."""
    scan = _Scan()
    while piece := file.read(PIECE_BYTES):
        if consumed is not None:
            consumed(len(piece))
        yield from scan.take(piece)
    yield from scan.end()


class _Scan:
    """Where the scanner stands: how deep, whether in a text, and the object that it collects."""

    def __init__(self) -> None:
        self.depth = 0  # of brackets around this place, without a list that holds everything
        self.listed = False  # inside a list that holds everything
        self.in_text = self.escaped = False
        self.parts: list[bytes] = []  # of the object at hand
        self.size = 0
        self.between: list[bytes] = []  # what stands between objects, its beginning
        self.begun = False

    def take(self, piece: bytes) -> Iterator[tuple[bytes, str]]:
        """Go on with the next piece of the file."""
        if not self.begun:
            piece, self.begun = piece.removeprefix(importers.BOM), True
        start = position = 0
        if self.in_text:
            position = self._leave_text(piece)
        while position < len(piece) and (found := _NEXT.match(piece, position)):
            position, sign = found.end(), found[1]
            if sign == b'"':
                self.in_text = True
                position = self._leave_text(piece, position)
            elif sign in b"[{":
                if self.depth == 0:
                    self._gap(piece[start : position - 1])
                    start = position - 1
                    if sign == b"[" and not self.listed and not self._odd():
                        self.listed, start = True, position
                        continue
                    yield from self._stray()
                self.depth += 1
            elif self.depth:
                self.depth -= 1
                if self.depth == 0:
                    self._collect(piece[start:position])
                    start = position
                    yield self._object()
            else:  # the end of the list
                self._gap(piece[start : position - 1])
                start, self.listed = position, False
                yield from self._stray()
        (self._collect if self.depth else self._gap)(piece[start:])

    def end(self) -> Iterator[tuple[bytes, str]]:
        """The file ends."""
        if not self.depth:
            yield from self._stray()
        if self.depth or self.listed or self.in_text:
            yield b"", CUT_OFF

    def _leave_text(self, piece: bytes, position: int = 0) -> int:
        """Return where the text ends that was begun, or the end of the piece."""
        if self.escaped and position < len(piece):
            position, self.escaped = position + 1, False
        if found := _TEXT_END.match(piece, position):
            self.in_text = False
            return found.end()
        rest = piece[position:]
        self.escaped = (len(rest) - len(rest.rstrip(b"\\"))) % 2 == 1
        return len(piece)

    def _collect(self, part: bytes) -> None:
        self.size += len(part)
        if self.size <= ITEM_BYTES:
            self.parts.append(part)
        else:
            self.parts.clear()

    def _object(self) -> tuple[bytes, str]:
        raw, size = b"".join(self.parts), self.size
        self.parts, self.size = [], 0
        return (raw, "") if size <= ITEM_BYTES else (b"", f"has {size:,} bytes; at most {ITEM_BYTES:,}")

    def _gap(self, part: bytes) -> None:
        """Keep the beginning of what stands between objects, without a list's punctuation."""
        if part := part.strip(b" \t\r\n,\0"):
            self.between.append(part[:100])
            del self.between[2:]

    def _odd(self) -> bool:
        return bool(self.between)

    def _stray(self) -> Iterator[tuple[bytes, str]]:
        if self.between:
            shown = b" ".join(self.between)[:40].decode("utf-8", "replace")
            self.between.clear()
            yield b"", f"is not an object: {shown!r}"


def first_objects(text: str, at_most: int = 20) -> list[dict[str, str | None]]:
    """
    Return the keys of the first objects in the beginning of a file, in a list or not, with their texts where they have one.

    The text may be cut off anywhere. What an object holds in brackets is passed over; the keys of an object that is the only
    value of a list in an object are not looked at.
    """
    found: list[dict[str, str | None]] = []
    depth, key, lead = 0, None, True
    for token in _TOKEN.finditer(text.removeprefix("\ufeff")):
        quoted, colon, sign = token[1], token[2], token[3]
        if sign == "[" and depth == 0 and lead:
            lead = False
        elif sign in ("{", "["):
            if depth == 0 and sign == "{":
                if len(found) == at_most:
                    break
                found.append({})
            depth, lead = depth + 1, False
        elif sign in ("}", "]"):
            depth = max(0, depth - 1)
        elif depth == 1 and found:
            if quoted is not None and colon and len(found[-1]) < FIRST_KEYS:
                key = quoted
                found[-1][key] = None
            elif quoted is not None and key is not None:
                found[-1][key], key = quoted, None
    return found


def texts_of(value: object) -> Mapping[str, Any]:
    """Return a value as an object; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}
