"""
Migrate an old workspace into a Yiku home: notes as files, documents that only its database has, the configuration.

Each text goes to its own place, or below documents/ where another text lies there already. A list of digests in the home,
`migrated-s4`, tells what has been brought in, so that a run that was cut off goes on, and what somebody edited or removed since
is left alone. Vectors are not taken over: passages are cut otherwise here, and are embedded anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from yiku import Memory
from yiku.errors import InvalidInput
from yiku_compat.bitwise import old_home
from yiku_compat.bitwise.config import NAME as CONFIG
from yiku_compat.bitwise.config import parse
from yiku_compat.bitwise.core.memory import places
from yiku_compat.bitwise.old_home import OldFile, OldHome
from yiku_compat.migration import Migrated, NotVerified, fingerprint

STAMPS = "migrated-s4"
ELSEWHERE = "documents/bitwise"  # for what has another text at its own place


@dataclass(frozen=True, slots=True)
class MigratedHome(Migrated):
    """
    Report of a migration, with where texts went.

    rebuilt: texts that were put together from chunks, by their old paths; the value says whether their hash is the old one
    moved:   new paths, of texts for which there was no room at their own place
    """

    rebuilt: dict[str, bool]
    moved: dict[str, str]


@dataclass(slots=True)
class _Run:
    """A migration: what it did so far."""

    home: Path
    old: OldHome
    read: int = 0
    imported: int = 0
    known: int = 0


def migrate(
    old: str | os.PathLike[str],
    home: str | os.PathLike[str],
    *,
    scope: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> MigratedHome:
    """
    Bring an old workspace (its folder, or any file in it) into a home, which is made where it is not there.

    progress: called with the number of texts so far
    Raises NotFound, InvalidInput for what is no old workspace, NotVerified.
    """
    found = old_home.find(Path(old))
    read = old_home.sources(found)
    before = _digest(read)
    skipped: list[tuple[str, str]] = []
    with Memory(home, scope=scope) as memory:
        if memory.scope != memory.settings.owner:
            raise InvalidInput("notes belong to the owner of the home: migrate without a scope")
        run = _Run(Path(memory.settings.home), found)
        rebuilt, moved, expected = dict[str, bool](), dict[str, str](), dict[str, bytes]()
        with _Stamps(run.home / STAMPS) as stamps:
            for each in old_home.texts(found):
                run.read += 1
                if progress is not None:
                    progress(run.read)
                if not isinstance(each, OldFile):
                    skipped.append(each)
                    continue
                if each.found != "file":
                    rebuilt[each.path] = each.found == "chunks"
                try:
                    path = _bring(run, stamps, each)
                except InvalidInput as error:
                    skipped.append((each.path, error.detail))
                    continue
                if path is not None:
                    expected[path] = each.content
                    if path != _place(run, each):
                        moved[each.path] = path
            skipped += [(f"{CONFIG}: {name}", "no setting of this system") for name in _bring_config(run, stamps)]
        report = memory.notes.sync()
        skipped += _verify(run, expected, report.failed or {})
    if _digest(read) != before:
        raise NotVerified("the old workspace has changed during the migration")
    return MigratedHome(run.read, run.imported, run.known, 0, tuple(skipped), before, rebuilt, moved)


class _Stamps:
    """Digests of what was brought in, one a line: of names, so that nothing of a text is kept here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = set(path.read_text().split()) if path.exists() else set()

    def __enter__(self) -> _Stamps:
        self._file = open(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "a")
        if self._path.stat().st_size and not self._path.read_bytes().endswith(b"\n"):
            self._file.write("\n")  # a line that was cut off by a kill counts as none
        return self

    def __exit__(self, *_: object) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return sha256(name.encode(errors="replace")).hexdigest() in self._known

    def add(self, name: str) -> None:
        digest = sha256(name.encode(errors="replace")).hexdigest()
        if digest not in self._known:
            self._known.add(digest)
            self._file.write(f"{digest}\n")
            self._file.flush()


def _bring(run: _Run, stamps: _Stamps, text: OldFile) -> str | None:
    """Put a text into its place; where that is now, or None for one that an earlier run brought in and somebody changed."""
    own = _place(run, text)
    for path in (own, f"{ELSEWHERE}/{own}"):
        there = _content(run.home / path)
        if there is not None and text.content.strip() in there:
            run.known += 1
            stamps.add(text.path)
            return path
        if text.path in stamps:
            continue
        if there is None:
            _write(run.home, path, text.content)
            run.imported += 1
            stamps.add(text.path)
            return path
    if text.path not in stamps:
        raise InvalidInput(f"{own} and {ELSEWHERE}/{own} hold other texts")
    run.known += 1
    return None


def _place(run: _Run, text: OldFile) -> str:
    return text.path if text.path in old_home.PAGES else places.place(run.home, text.path, text.source)


def _bring_config(run: _Run, stamps: _Stamps) -> list[str]:
    """Write config.json for the new home, unless one is there; return the names of what it cannot hold."""
    given, left = old_home.configuration(run.old)
    target = run.home / CONFIG
    if run.old.config is not None and not target.exists() and CONFIG not in stamps:
        memory = {**given.get("memory", {}), "workspace_dir": str(run.home), "db_path": str(run.home / "memory.db")}
        whole = {**given, "memory": memory}
        try:
            parse(whole)
        except InvalidInput as error:
            return [*left, error.detail]
        _write(run.home, CONFIG, json.dumps(whole, ensure_ascii=False, indent=2).encode())
        stamps.add(CONFIG)
    return left


def _write(home: Path, path: str, content: bytes) -> None:
    """Write a file that is not there, whole or not at all."""
    target = home / path
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.migrating")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, target)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _verify(run: _Run, expected: dict[str, bytes], failed: object) -> Iterator[tuple[str, str]]:
    """Compare each text with what lies in the home; yield those that cannot be searched, and why. Raises NotVerified."""
    reasons = failed if isinstance(failed, dict) else {}
    for path, content in expected.items():
        there = _content(run.home / path)
        if there is None or content.strip() not in there:
            raise NotVerified(f"{path} is not as it was")
        if path in reasons:
            yield path, f"it is there, but not searched: {reasons[path]}"


def _digest(paths: Sequence[Path]) -> str:
    """Return one fingerprint of everything that is read."""
    whole = sha256()
    for path in paths:
        whole.update(f"{path.name}\0{fingerprint(path)}\0".encode(errors="replace"))
    return whole.hexdigest()
