"""
Store each erasure's ids and hashes as a file outside the database, so that it survives restoring a backup.

    erasures/<first 8 characters of the store's id>-<id of the erasure>.json

Each holds one erasure as `Store.erasures` has it: ids of rows and keyed hashes, and not a word. A file is never changed but for
hashes that are allowed again, and none is deleted; the older copy does not have it, so laying that copy over the home leaves it
there. Opening reads the names alone. `erased`, one file with a line for each, is what earlier versions wrote: it is read as long
as it lies there, and goes once its lines have files of their own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from yiku.files.vault import Home, content_of, flush_folder, write_atomically

OF_STORE = 8  # characters of the store's id in a name
LONGEST_BYTES = 1 << 30  # of a file of the mirror


def names(home: Home, store_id: str) -> list[str]:
    """Return the ids of a store's erasures that have a file."""
    prefix = f"{store_id[:OF_STORE]}-"
    try:
        found = os.listdir(home.erasures)
    except OSError:  # nothing was erased, or nobody may look
        return []
    return [name.removeprefix(prefix).removesuffix(".json") for name in found if name.startswith(prefix) and name.endswith(".json")]


def lines(home: Home) -> list[dict[str, Any]]:
    """Return the entries of the single file of an earlier version; they have no id."""
    if not os.path.lexists(home.erased):
        return []
    content = content_of(home.erased, at_most=LONGEST_BYTES).decode("ascii")
    return [json.loads(line) for line in content.splitlines() if line]


def entries(home: Home, store_id: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the erasures in these files."""
    paths = (home.erasures / f"{store_id[:OF_STORE]}-{id}.json" for id in ids)
    return [json.loads(content_of(path, at_most=LONGEST_BYTES)) for path in paths]


def read_all(home: Home) -> list[dict[str, Any]]:
    """Return all erasures with a file, of any store."""
    paths = sorted(home.erasures.glob("[!.]*-*.json"))
    return [json.loads(content_of(path, at_most=LONGEST_BYTES)) for path in paths]


def write(home: Home, store_id: str, known: Iterable[Mapping[str, Any]]) -> None:
    """Write a file for each erasure that has none, replacing an earlier version's single file."""
    there = set(names(home, store_id))
    for entry in known:
        if entry["id"] not in there:
            _write(home, store_id, entry)
    if os.path.lexists(home.erased):
        home.erased.unlink()
        flush_folder(home.root)


def allow(home: Home, store_id: str, seals: Collection[bytes]) -> None:
    """Remove these seals from all entries: their texts may be stored again."""
    allowed = {seal.hex() for seal in seals}
    for entry in entries(home, store_id, names(home, store_id)):
        if not allowed.isdisjoint(entry["seals"]):
            _write(home, store_id, {**entry, "seals": [seal for seal in entry["seals"] if seal not in allowed]})


def _write(home: Home, store_id: str, entry: Mapping[str, Any]) -> None:
    fields = {name: value for name, value in entry.items() if name != "done"}
    path = home.erasures / f"{store_id[:OF_STORE]}-{entry['id']}.json"
    write_atomically(path, json.dumps(fields, separators=(",", ":")).encode("ascii"), below=home.root)
