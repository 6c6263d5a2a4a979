"""
Importer of Yiku exports (docs/export-format.md), verified line by line.

Each line carries a crc of itself, and the last line says how many there were and hashes them all. So what was cut off
or altered is named by its line; what is whole comes in all the same, and importing the whole file later brings the rest.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Place
from yiku.types import BadRecord, ImportRecord, OperationRecord

FORMAT, VERSION = "yiku-export", 1
LINE_BYTES = 6 * importers.LINE_BYTES  # JSON writes some characters with six
_CRC = re.compile(rb',"crc":"([0-9a-f]{8})"\}\s*$')


def files(path: Path) -> list[Path]:
    """Return one file, or those below a folder."""
    return importers.found(path, [".jsonl"])


def size(path: Path) -> int:
    """Return the bytes of all files."""
    return importers.total(files(path))


def read(path: Place, *, consumed: Consumed | None = None, scope: str | None = None) -> Iterator[ImportRecord]:
    """
    Yield the operations of one file, in order.

    scope: takes the place of the file's only scope
    """
    file = _File(scope)
    try:
        with importers.opened(path) as lines:
            while text := lines.readline(LINE_BYTES):
                if consumed is not None:
                    consumed(len(text))
                yield from file.line(text)
                if file.refused:
                    return
    except importers.DAMAGED as error:
        problem = importers.damaged(path, file.last + 1, error)
        yield from file.operation()
        yield problem
        return
    yield from file.end()


def _record(number: int, text: bytes) -> dict[str, Any] | BadRecord:
    """Parse and verify a line."""
    crc = _CRC.search(text)
    if crc is None:
        cut_off = not text.endswith(b"\n")
        return BadRecord(number, "is cut off; import the file again when it is whole" if cut_off else "is no line of an export")
    if int(crc[1], 16) != zlib.crc32(text[: crc.start()]):
        return BadRecord(number, "is not what was written: its crc differs")
    try:
        record = json.loads(text[: crc.start()] + b"}")
    except (ValueError, RecursionError) as error:
        return BadRecord(number, f"is not JSON: {error}")
    return record if isinstance(record, dict) else BadRecord(number, "is no object")


class _File:
    """State of reading one file: scope, and the operation being collected."""

    def __init__(self, scope: str | None) -> None:
        self.renamed = scope
        self.scope, self.label = "", None
        self.header: tuple[int, Mapping[str, Any]] | None = None
        self.changes: list[tuple[int, Mapping[str, Any]]] = []
        self.digest = hashlib.blake2b(digest_size=16)
        self.last = 0
        self.headed = self.refused = self.ended = False

    def line(self, text: bytes) -> Iterator[ImportRecord]:
        """Read one line; yield an operation when the next begins."""
        self.last = number = self.last + 1
        text = text.removeprefix(importers.BOM) if number == 1 else text
        if not text.strip():  # an editor's last line
            return
        if isinstance(record := _record(number, text), BadRecord):
            yield from self.operation()
            yield record
            self.refused = not self.headed
            return
        if not self.headed or record.get("type") == FORMAT:
            yield from self._head(number, record)
            return
        if record.get("type") == "end":
            yield from self.operation()
            self.ended = True
            if record.get("digest") != self.digest.hexdigest():
                yield BadRecord(number, "lines are missing, or were altered: the digest of the file differs")
            return
        self.digest.update(text)
        match record.get("type"):
            case "scope":
                yield from self.operation()
                self.scope, self.label = self.renamed or str(record.get("name")), record.get("label")
            case "operation":
                yield from self.operation()
                self.header = (number, record)
            case _:
                self.changes.append((number, record))

    def operation(self) -> Iterator[ImportRecord]:
        """Return the completed operation."""
        if self.changes:
            line, header = self.header or (self.changes[0][0], {})
            yield OperationRecord(line, self.scope, self.label, header, tuple(self.changes))
        self.header, self.changes = None, []

    def end(self) -> Iterator[ImportRecord]:
        """Return problems at the end of the file."""
        yield from self.operation()
        if not self.headed and not self.refused:
            yield BadRecord(1, importers.EMPTY)
        elif not self.ended and not self.refused:
            yield BadRecord(self.last, "the file ends here, without its last line; import it again when it is whole")

    def _head(self, number: int, record: Mapping[str, Any]) -> Iterator[ImportRecord]:
        known = record.get("type") == FORMAT and record.get("version") == VERSION
        scopes = record.get("scopes")
        if not known:
            what = "no export of Yiku" if record.get("type") != FORMAT else f"an export of version {record.get('version')}"
            yield BadRecord(number, f"is {what}; this Yiku reads version {VERSION}")
        elif self.renamed is not None and (not isinstance(scopes, list) or len(scopes) != 1):
            yield BadRecord(number, "has several scopes, which cannot be taken in as one")
        else:
            self.headed = True
            return
        self.refused = True
