"""
File operations of erasure: list copies of the database, replace and delete files, search all other files.
"""

from __future__ import annotations

import os
import re
import shutil
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from yiku.files import notes
from yiku.files.vault import Home, flush_folder

CHUNK_BYTES = 1 << 22
LEFT_BEHIND_S = 60.0  # after which a temporary file belongs to nobody
LIVE = frozenset("yiku.db yiku.db-wal yiku.db-shm yiku.db-journal".split())
NUMBERS = "vectors/vectors.db"  # holds no texts, and is a live database, too
BESIDE = ("-wal", "-shm", "-journal")  # of a database
OURS = frozenset("yiku.toml .gitignore key store.id erased reserve".split())  # never hold a word of what is remembered
MIRROR = "erasures/"  # nor do these
INBOX = "inbox/"  # what is left there was looked through sentence by sentence
LINES = "transcripts/"
COPIES = "copies/"  # what was made of this home for other programs, or copied when it was brought in
_VAULT = re.compile(r"scopes/\d+/")  # of another scope than the owner's; it has the same folders
TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}(-wal|-shm|-journal)?")  # as vault.write_atomically and store.copy name them

Search = Callable[[Iterable[bytes]], tuple[int, set[bytes]]]  # bytes read, and what is in them that should not be


# ------------------------------------------------------------------ copies


def copies(home: Home) -> list[Path]:
    """Return the copies of the database in this home, oldest first, without following links."""
    if home.backups.is_symlink():
        return []
    return sorted(path for path in home.backups.glob("*.db") if path.is_file() and not path.is_symlink())


def delete_leftovers(home: Home) -> None:
    """Delete leftovers of processes that died while making a copy. The backup lock must be held."""
    for path in home.backups.glob(".*") if home.backups.is_dir() and not home.backups.is_symlink() else ():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def copy_database(path: Path, to: Path) -> None:
    """Copy a closed database with its side files."""
    for end in ("", "-wal"):
        side_file = Path(f"{path}{end}")
        if side_file.is_file():
            shutil.copyfile(side_file, f"{to}{end}")
            Path(f"{to}{end}").chmod(0o600)


def put_in_place(new: Path, old: Path) -> None:
    """Rename a database over another, durably, without leaving anything of the other."""
    descriptor = os.open(new, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.rename(old)
    for end in BESIDE:
        Path(f"{old}{end}").unlink(missing_ok=True)
    flush_folder(old.parent)


def delete_file(path: Path) -> None:
    """Delete a file, durably."""
    path.unlink(missing_ok=True)
    flush_folder(path.parent)


def blob_names(home: Home) -> list[str]:
    """Return the names of the blobs in this home."""
    return sorted(path.stem for path in home.blobs.glob("*/*.z"))


# ------------------------------------------------------------------ everything else


class Searches(NamedTuple):
    """
    What files are searched with.

    own:   Yiku's own small files, which hold no words of others: for texts
    notes: notes, and what hooks captured, whose other sentences are a person's own: for texts
    lines: transcripts, for texts and words
    other: everything else, for texts and words
    """

    own: Search
    notes: Search
    lines: Search
    other: Search

    def of(self, name: str) -> Search:
        """The one for a file, by its name from the home."""
        if name in OURS or name.startswith(MIRROR):
            return self.own
        own = _VAULT.sub("", name, count=1)
        if name.startswith(INBOX) or notes.source_of(own) or notes.is_identity(own):
            return self.notes
        return self.lines if name.startswith(LINES) else self.other


def search_files(home: Home, searches: Searches, seen: Iterable[Path]) -> Iterator[tuple[str, str, int, set[bytes]]]:
    """
    Search every other file; yield name, action, bytes and findings, clean files last as one.

    seen: files that have been dealt with
    """
    clean_bytes = clean_files = 0
    done = set(seen)
    for path in _files(home.root):
        name = str(path.relative_to(home.root))
        if name in LIVE or name.startswith(NUMBERS) or path in done:
            continue
        temporary = TEMPORARY.fullmatch(path.name) is not None
        try:
            size, found = searches.of(name)(_content(path, name))
            left_behind = temporary and path.stat().st_mtime < time.time() - LEFT_BEHIND_S
        except FileNotFoundError:  # a temporary file of somebody at work
            continue
        derived = name.startswith(("damaged/", COPIES)) or notes.is_compiled(_VAULT.sub("", name, count=1))
        if left_behind or (found and (temporary or derived)):
            delete_file(path)
            yield name, "removed: it held what was erased" if found else "removed: left behind by a process that died", size, set()
        elif found:
            yield name, "looked through", size, found
        else:
            clean_files, clean_bytes = clean_files + 1, clean_bytes + size
    yield f"{clean_files} other files", "looked through", clean_bytes, set()


def links(home: Home) -> list[str]:
    """Return the links in a home; their targets are not searched."""
    found = []
    for folder, folders, names in os.walk(home.root, followlinks=False):
        found += [path for name in (*folders, *names) if (path := Path(folder) / name).is_symlink()]
    return sorted(str(path.relative_to(home.root)) for path in found)


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root, followlinks=False):
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path


def content(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in chunks."""
    return _content(path, path.name)


def _content(path: Path, name: str) -> Iterator[bytes]:
    """Yield a file's name and content, decompressed if compressed."""
    yield name.encode(errors="surrogateescape") + b"\0"
    unpack = zlib.decompressobj() if ".z" in path.suffixes else None
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
            try:
                while unpack is not None and chunk:
                    yield unpack.decompress(chunk, CHUNK_BYTES)
                    chunk = unpack.unconsumed_tail
            except zlib.error:
                unpack = None
        if unpack is not None:
            yield unpack.flush()
