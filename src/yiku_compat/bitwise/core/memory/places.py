"""Map a caller's paths to paths in the workspace, and read and write files there."""

from __future__ import annotations

import os
import secrets
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from yiku.errors import InvalidInput

LONG_TERM = "MEMORY.md"
OWN = ("memory", "documents", "skills")  # folders of the workspace that are indexed
WRITABLE = ("documents", "skills")
ENDINGS = (".md", ".markdown", ".txt")
PATH_CHARS = 1_000


class Written(NamedTuple):
    """The lines of a file as they were written, and what tells whether somebody wrote it since."""

    lines: list[str]
    size: int
    mtime_ns: int


def place(home: Path, path: str | os.PathLike[str], source: str = "document") -> str:
    """
    Return where a file lies in the workspace, or would: `notes/a.md` of a caller is `documents/notes/a.md`.

    Raises InvalidInput for what leaves the workspace or is no path.
    """
    text = os.fspath(path)
    if not isinstance(text, str) or not text.strip() or "\0" in text or "\n" in text or len(text) > PATH_CHARS:
        raise InvalidInput("the path of a file must be a text of one line")
    given = Path(text).expanduser()
    if given.is_absolute():
        for root in (home, home.resolve()):
            if given.is_relative_to(root):
                given = given.relative_to(root)
                break
    parts = [part for part in PurePosixPath(given.as_posix()).parts if part not in ("/", ".")]
    if not parts or ".." in parts:
        raise InvalidInput(f"{text[:200]!r} is no file of the workspace")
    if parts == [LONG_TERM] or (not given.is_absolute() and parts[0] in OWN and len(parts) > 1):
        return "/".join(parts)
    parts = [f"_{part[1:]}" if part.startswith(".") else part for part in parts]
    if not parts[-1].lower().endswith(ENDINGS):
        parts[-1] += ".md"
    return "/".join(["skills" if source == "skill" else "documents", *parts])


def write(home: Path, path: str, content: str) -> bool:
    """
    Write a document or skill of the workspace, flushed and in one step; return whether its content is another now.

    Any other note is only written where there is none. Raises InvalidInput.
    """
    target = home / path
    if not target.resolve().is_relative_to(home.resolve()):
        raise InvalidInput(f"{path} leads out of the workspace")
    before = read(target)
    if before == content:
        return False
    if before is not None and path.split("/", maxsplit=1)[0] not in WRITABLE:
        raise InvalidInput(f"{path} holds another text, and is its writer's: change the file itself")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    return True


def put_lines(home: Path, path: str, first: int, lines: list[str], known: Written | None) -> Written:
    """
    Put lines at their place into a document, after empty ones where it is shorter; lines behind its end are appended.

    known: what the last call returned. Raises InvalidInput for a note that is no document or skill and has other lines there.
    """
    target = home / path
    state = _state(target)
    if known is not None and state == (known.size, known.mtime_ns):
        there = known.lines
    else:
        text = read(target)
        there = text.split("\n") if text else []
    same = first <= len(there) and there[first : first + len(lines)] == lines[: len(there) - first]
    if same and (more := lines[len(there) - first :]) and there and path.split("/", maxsplit=1)[0] in WRITABLE:
        with open(target, "ab") as file:
            file.write("\n".join(["", *more]).encode())
            file.flush()
            os.fsync(file.fileno())
        there += more
    elif not same or not there:
        there += [""] * (first - len(there))
        there[first : first + len(lines)] = lines
        write(home, path, "\n".join(there))
    return Written(there, *(_state(target) or (0, 0)))


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def read(path: Path) -> str | None:
    """Return what a file holds; None where it is not there. Raises InvalidInput where it is no text."""
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path.name} cannot be read as text: {error}") from error
