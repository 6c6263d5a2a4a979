"""
Read an old workspace: its Markdown files, the texts that only its database has, and its configuration.

The old database has no transactions around a file, so a file may have no chunks, some of them, or chunks without a row of its
own. Its line numbers are one too high from the second chunk on. So a text is put together by what chunks repeat of each other,
in the order of their numbers, and its hash says whether it is as it was.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from yiku.errors import InvalidInput, NotFound
from yiku_compat.bitwise.config import NAME, PLACEHOLDER
from yiku_compat.migration import copied

FOLDERS = ("memory", "documents", "skills")
PAGES = ("MEMORY.md", "USER.md")
ENDINGS = (".md", ".markdown", ".txt")
DATABASE = "memory.db"
REPEATED_LINES = 400  # that two chunks may share at most: 320 characters


@dataclass(frozen=True, slots=True)
class OldFile:
    """
    A text of the old workspace.

    path:  as it was called there, relative to the workspace if it lay in it
    found: "file" for one that lies there, "chunks" for one put together, exactly as it was, "parts" where its hash is another
    """

    path: str
    source: str
    content: bytes
    found: str


@dataclass(frozen=True, slots=True)
class OldHome:
    """Where the parts of an old workspace lie; each may be missing."""

    folder: Path
    database: Path | None
    config: Path | None


def find(old: Path) -> OldHome:
    """Return the parts of an old workspace, by its folder or any of its files. Raises NotFound."""
    place = old.expanduser().absolute()
    if not place.exists():
        raise NotFound(f"{old} is not there", "Name the folder of the old workspace.")
    folder = place if place.is_dir() else place.parent
    config = folder / NAME if (folder / NAME).is_file() else None
    named = place if place.is_file() and place.suffix == ".db" else folder / DATABASE
    if not named.is_file() and config is not None and (text := _database_of(config)):
        named = Path(text).expanduser() if Path(text).expanduser().is_file() else named
    home = OldHome(folder, named if named.is_file() else None, config)
    if home.database is None and not any(_markdown(folder)):
        raise NotFound(f"{folder} has neither {DATABASE} nor notes", "Name the folder of the old workspace.")
    return home


def sources(home: OldHome) -> list[Path]:
    """Return every file that is read."""
    return [*_markdown(home.folder), *(path for path in (home.database, home.config) if path is not None)]


def texts(home: OldHome) -> Iterator[OldFile | tuple[str, str]]:
    """Yield each text, files first; of what has none its path and why."""
    there = set()
    for path in _markdown(home.folder):
        name = path.relative_to(home.folder).as_posix()
        there.add(name)
        yield OldFile(name, "skill" if name.startswith("skills/") else "memory", path.read_bytes(), "file")
    if home.database is not None:
        yield from _from_database(home, there)


def configuration(home: OldHome) -> tuple[dict[str, Any], list[str]]:
    """Return config.json as it can be used here, and the names of what it has besides."""
    if home.config is None:
        return {}, []
    given = _json(home.config)
    known = {
        "llm": ("model", "api_key", "base_url"),
        "embedding": ("model", "api_key", "base_url"),
        "memory": ("enabled", "vector_enabled", "hybrid_search", "sync", "short_term"),
    }
    moved = ("workspace_dir", "db_path", "chunking")
    kept: dict[str, Any] = {}
    left = [name for name in given if name not in known]
    for part, names in known.items():
        values = given.get(part)
        if isinstance(values, dict):
            kept[part] = {name: value for name, value in values.items() if name in names and value != PLACEHOLDER}
            left += [f"{part}.{name}" for name in values if name not in names and name not in moved]
    return kept, left


def _database_of(config: Path) -> str:
    memory = _json(config).get("memory")
    found = memory.get("db_path") if isinstance(memory, dict) else None
    return found if isinstance(found, str) else ""


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{path} must hold an object")
    return found


def _markdown(folder: Path) -> Iterator[Path]:
    """The notes of a workspace, in order; links and hidden files are passed over."""
    yield from (folder / name for name in PAGES if (folder / name).is_file() and not (folder / name).is_symlink())
    for name in FOLDERS:
        for path in sorted((folder / name).rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if path.suffix.lower() in ENDINGS and path.is_file() and not path.is_symlink() and not hidden:
                yield path


# ------------------------------------------------------------------ the database


def _from_database(home: OldHome, there: set[str]) -> Iterator[OldFile | tuple[str, str]]:
    """Texts of the database whose files are gone."""
    assert home.database is not None
    with copied(home.database) as copy, closing(sqlite3.connect(copy)) as database:
        database.text_factory = lambda value: value.decode(errors="replace")
        try:
            tables = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
            if "chunks" not in tables:
                raise InvalidInput(f"{home.database} has no table of chunks: it is no database of this system")
            rows = "select path, source, hash from files" if "files" in tables else "select null, null, null where 0"
            files = {str(path): (str(source), str(hash)) for path, source, hash in database.execute(rows)}
            ordered = "select path, source, id, start_line, text from chunks order by path, start_line, rowid"
            chunks: dict[str, list[tuple[int, str]]] = defaultdict(list)
            for path, source, id, start_line, text in database.execute(ordered):
                files.setdefault(str(path), (str(source), ""))
                chunks[str(path)].append((_number(str(id), int(start_line or 0)), str(text)))
        except sqlite3.DatabaseError as error:
            raise InvalidInput(f"{home.database} cannot be read: {error}") from error
    for path, (source, hash) in files.items():
        name = _relative(home.folder, path)
        if name in there:
            continue
        parts = [text for _, text in sorted(chunks.get(path, []), key=lambda one: one[0])]
        if not any(part.strip() for part in parts):
            yield name, "its text is neither in a file nor in the database"
            continue
        text, exact = _joined(parts, hash)
        yield OldFile(name, source, text.encode(), "chunks" if exact else "parts")


def _number(id: str, start_line: int) -> int:
    """The place of a chunk in its file, from an id such as `memory:a.md:3:0f3a…`; else its line."""
    parts = id.rsplit(":", 2)
    return int(parts[1]) if len(parts) == 3 and parts[1].isdecimal() else start_line


def _relative(folder: Path, path: str) -> str:
    """A path in the workspace, if it lies in it."""
    for root in (folder, folder.resolve()):
        if path.startswith(f"{root}/"):
            return path[len(f"{root}/") :]
    return path


def _joined(parts: Sequence[str], hash: str) -> tuple[str, bool]:
    """A text from its chunks, without what they repeat; and whether it has this hash, with or without a line feed at its end."""
    for longest in (True, False):
        lines = parts[0].split("\n")
        for part in parts[1:]:
            more = part.split("\n")
            lines += more[_repeated(lines, more, longest=longest) :]
        text = "\n".join(lines)
        for found in (text, text + "\n", text.rstrip("\n") + "\n"):
            if hash and sha256(found.encode()).hexdigest() == hash:
                return found, True
        if longest:
            first = text
    return first, False


def _repeated(lines: Sequence[str], more: Sequence[str], *, longest: bool) -> int:
    """How many lines at the end of a text a chunk begins with."""
    most = min(len(lines), len(more), REPEATED_LINES)
    found = [count for count in range(1, most + 1) if lines[-count] == more[0] and lines[len(lines) - count :] == more[:count]]
    return (found[-1] if longest else found[0]) if found else 0
