"""
Edit configuration files of other programs (JSON, TOML): add or remove our entries and keep everything else.

JSON is read and written again, in the order and with the indentation it had. TOML is changed as text: our table is appended
between two marks, so that comments and layout stay. What a change leaves is read and compared with what it should say. A file
that cannot be read, or that would say anything else afterwards, is never written. Before the first change a copy is kept beside
it, `NAME.before-yiku`, which an uninstallation puts back where nothing else has changed since.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yiku.errors import UnreadableConfig
from yiku.files.vault import SMALL_BYTES, as_store_error, flush_folder, open_folder, temporary_file

BACKUP = ".before-yiku"
BEGIN, END = "# >>> yiku: added by `yiku install`", "# <<< yiku"
MOST_BYTES = 64 * SMALL_BYTES  # Claude Code keeps its history in the same file
SERVERS, SERVER = "mcp_servers", "yiku"  # the table of Codex, and our name in it
STATEMENT_LINES = 1_000  # of one value that is looked at
_BEGIN = re.compile(rf"(?:(?<=\n)\r?\n)?^{re.escape(BEGIN)}\r?$\n?", re.MULTILINE)
_END = re.compile(rf"^{re.escape(END)}\r?$\n?", re.MULTILINE)
_KEY = re.compile(r"""[ \t]*(["']?)([\w-]+)\1[ \t]*=""")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after a change; None where it is not there."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after


def read(path: Path) -> bytes | None:
    """The content of a file, also through a link; None where it is not there. Raises UnreadableConfig."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnreadableConfig(f"{path} is not a file")
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableConfig(f"{path}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise UnreadableConfig(f"{path} has over {MOST_BYTES:,} bytes")
    return content


def parse_json(path: Path, content: bytes | None) -> dict[str, Any]:
    """The object in a JSON file; empty for a missing or an empty file. Raises UnreadableConfig."""
    if content is None or not content.strip():
        return {}
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableConfig(f"{path} is not plain JSON: {error}") from error
    if not isinstance(found, dict):
        raise UnreadableConfig(f"{path} is not a JSON object")
    return found


def write_json(value: Mapping[str, Any], like: bytes | None) -> bytes:
    """An object as JSON, indented like the file that it replaces."""
    text = (like or b"").decode("utf-8-sig", "replace")
    found = re.search(r"^\{\s*?\n([ \t]+)", text)
    indent = found[1] if found else "  "
    end = "\n" if not text or text.endswith("\n") else ""
    return (json.dumps(value, indent=indent, ensure_ascii=False) + end).encode(
        "utf-8", "backslashreplace"
    )  # half an emoji is written as JSON does


def parse_toml(path: Path, content: bytes | None) -> dict[str, Any]:
    """The tables of a TOML file. Raises UnreadableConfig."""
    try:
        return tomllib.loads((content or b"").decode("utf-8-sig"), parse_float=_number)
    except (ValueError, RecursionError) as error:
        raise UnreadableConfig(f"{path} is not TOML: {error}") from error


def _number(text: str) -> float:
    """A number of TOML; each `nan` is the same one, so that what holds it equals itself."""
    return math.nan if "nan" in text else float(text)


def server(said: Mapping[str, Any]) -> Any:
    """The entry under our name in what a TOML file says; None where there is none."""
    servers = said.get(SERVERS)
    return servers.get(SERVER) if isinstance(servers, dict) else None


def without_table(path: Path, content: bytes) -> bytes:
    """A TOML text without our table, whoever has written it anew since. Raises UnreadableConfig where it cannot be cut out."""
    text = content.decode("utf-8")
    head, tail = (text[: begin.start()], text[begin.end() :]) if (begin := _BEGIN.search(text)) else ("", text)
    for start, end in reversed([*_tables(tail)]):
        tail = tail[:start] + tail[end:]
    left = head + _END.sub("", tail)
    return _checked(path, left, _with_server(parse_toml(path, content), None))


def with_table(path: Path, content: bytes, values: Mapping[str, str | list[str]]) -> bytes:
    """
    A TOML text with these values in our table: at its end, or in their lines where it is there already.

    Raises UnreadableConfig where that would change anything else.
    """
    text, said = content.decode("utf-8"), parse_toml(path, content)
    there = server(said)
    wanted = _with_server(said, {**(there or {}), **values})
    if wanted == said:
        return content
    lines = {key: f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()}
    ending, begin = "\r\n" if "\r\n" in text else "\n", max(0, text.find(BEGIN))
    tables = [] if there is None else sorted(_tables(text), key=lambda table: table[0] < begin)
    for start, end in tables:  # what stands before our mark may be the text of somebody else
        with contextlib.suppress(UnreadableConfig):
            return _checked(path, text[:start] + _with_lines(text[start:end], lines, ending) + text[end:], wanted)
    gap = "" if not text else ending if text.endswith("\n") else 2 * ending
    block = [BEGIN, f"[{SERVERS}.{SERVER}]", *lines.values(), END]
    return _checked(path, text + gap + "".join(line + ending for line in block), wanted)


def _with_lines(table: str, lines: Mapping[str, str], ending: str) -> str:
    """A table with these lines in place of the values of their keys; behind its header where it has none."""
    rows = [row for row in re.split(r"(?<=\n)", table) if row]
    header = next(place for place, row in enumerate(rows) if row.strip())
    left, changed, at = dict(lines), list[str](), header + 1
    while at < len(rows):
        key = _KEY.match(rows[at])
        if (line := left.pop(key[2], None) if key else None) is None:
            changed.append(rows[at])
            at += 1
        else:
            changed.append(line + ending)
            at = _end_of(rows, at)
    return "".join([*rows[:header], rows[header].rstrip("\r\n") + ending, *(line + ending for line in left.values()), *changed])


def _end_of(rows: list[str], at: int) -> int:
    """Where a statement ends that begins in a row: it may have several."""
    for end in range(at + 1, min(len(rows), at + STATEMENT_LINES) + 1):
        with contextlib.suppress(tomllib.TOMLDecodeError):
            tomllib.loads("".join(rows[at:end]))
            return end
    return at + 1


def _tables(text: str) -> Iterator[tuple[int, int]]:
    """Yield where our tables stand, with an empty line before them; comments behind the last key belong to what follows."""
    found: tuple[int, int] | None = None
    at, before = 0, 0
    for line in text.split("\n"):
        after = at + len(line) + 1
        if (header := _header(line)) is not None:
            if found:
                yield found
            found = (before, after) if server(header) is not None else None
        elif found and line.strip() and not line.lstrip().startswith("#"):
            found = found[0], after
        at, before = after, at if line in ("", "\r") and at else after
    if found:
        yield found


def _header(line: str) -> dict[str, Any] | None:
    """What the header of a table alone says; None for any other line."""
    if not line.lstrip(" \t").startswith("["):
        return None
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        return tomllib.loads(f"{line}\n")  # a line may end in \r
    return None


def _with_server(said: Mapping[str, Any], entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a configuration says with another entry under our name, or with none; without a table of servers where it is empty."""
    servers = said.get(SERVERS)
    kept = {key: one for key, one in servers.items() if key != SERVER} if isinstance(servers, dict) else {}
    kept |= {} if entry is None else {SERVER: entry}
    return {**{key: one for key, one in said.items() if key != SERVERS}, **({SERVERS: kept} if kept else {})}


def _checked(path: Path, text: str, wanted: Mapping[str, Any]) -> bytes:
    """Return a TOML text that says what it should. Raises UnreadableConfig."""
    content = text.encode()
    with contextlib.suppress(UnreadableConfig):
        said = parse_toml(path, content)
        if _with_server(said, server(said)) == wanted:
            return content
    raise UnreadableConfig(f"{path}: {SERVERS} is written in a way in which one server cannot be changed by itself")


# ------------------------------------------------------------------ on the disk


def apply(change: FileChange, *, keep_backup: bool) -> Path | None:
    """Make a change, durably; the copy that was kept of the file before. Raises StoreError, UnreadableConfig."""
    path = change.path.resolve()  # many keep their settings elsewhere, and link to them
    if read(path) != change.before:
        raise UnreadableConfig(f"{path} was changed by another program meanwhile")
    backup = path.with_name(path.name + BACKUP)
    try:
        if change.after is None:
            path.unlink()
            flush_folder(path.parent)
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = keep_backup and change.before is not None and not backup.exists()
        mode = stat.S_IMODE(path.stat().st_mode) if change.before is not None else 0o600
        if kept and change.before is not None:
            _write(backup, change.before, mode)
        _write(path, change.after, mode)
    except OSError as error:
        raise as_store_error(error, path) from error
    return backup if kept else None


def _write(path: Path, content: bytes, mode: int) -> None:
    with open_folder(path.parent) as folder, temporary_file(folder, path.name, content, mode) as temporary:
        os.rename(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def backup_of(path: Path) -> bytes | None:
    """The copy that was kept of a file."""
    found = path.resolve()
    return read(found.with_name(found.name + BACKUP))


def drop_backup(path: Path) -> None:
    """Remove the copy that was kept of a file."""
    found = path.resolve()
    with contextlib.suppress(OSError):
        found.with_name(found.name + BACKUP).unlink()
