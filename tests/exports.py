"""Make homes for tests of export and import, and forge export files with valid checksums."""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from yiku import Memory
from yiku.interfaces.importers import yiku_jsonl
from yiku.types import ImportReport

Line = dict[str, Any]

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def opened(home: Path, scope: str = "user:mei") -> Memory:
    """A home whose clock goes on by an hour at each look."""
    ticks = iter(range(10**9))
    return Memory(home, owner="user:mei", scope=scope, clock=lambda: START + timedelta(hours=next(ticks)))


def taken(home: Path, file: Path, **details: Any) -> ImportReport:
    """Import a file as the owner's own, unless `trust` says otherwise."""
    scope = details.pop("scope", None)
    with opened(home) as memory:
        records = yiku_jsonl.read(file, scope=scope)
        return memory.admin.import_(records, source="yiku", **{"everything": True, "trust": True, **details})


def lines(file: Path) -> list[Line]:
    """What an export says, without its checksums."""
    lines_given = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in line.items() if name not in ("crc", "digest")} for line in lines_given]


def written(file: Path, lines_given: Iterable[Mapping[str, Any]]) -> Path:
    """A file of these lines, with the crc of each and the digest of all."""
    digest, head = hashlib.blake2b(digest_size=16), True
    with file.open("wb") as out:
        for line in lines_given:
            last = {"digest": digest.hexdigest()} if line.get("type") == "end" else {}
            body = json.dumps({**line, **last}, ensure_ascii=True, separators=(",", ":"))[:-1].encode()
            text = b'%s,"crc":"%08x"}\n' % (body, zlib.crc32(body))
            if not head:
                digest.update(text)
            head = False
            out.write(text)
    return file


def changed(lines_given: Iterable[Line], type_: str, **fields: Any) -> list[Line]:
    """The same lines, with other fields in the first of a type."""
    found = [dict(line) for line in lines_given]
    next(line for line in found if line["type"] == type_).update(fields)
    return found
