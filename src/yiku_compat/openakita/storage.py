"""
MemoryStorage: open the Yiku home that a database path or folder names, and find statements by OpenAkita's ids.

An id of a statement here stands for all its versions: the id that the caller or the old home gave it, else that of the first version.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from yiku import Memory
from yiku import types as core
from yiku.errors import NotFound
from yiku_compat.openakita.types import PREFIX

PAGE = 10_000  # memories in one call of the core
STATES = ["active", "archived", "candidate", "junk"]
DATABASES = (".db", ".sqlite", ".sqlite3")


def home_of(path: str | os.PathLike[str]) -> Path:
    """Return the home that a path means: a folder, or the folder in which the documents' database would lie."""
    place = Path(path)
    return place.parent if place.suffix in DATABASES else place


class MemoryStorage:
    """A memory, opened here or given, and how statements in it are found by their ids."""

    def __init__(self, db_path: str | os.PathLike[str] | Memory, **options: Any) -> None:
        """Open a home; `options` are those of `Memory`: scope, chat, clock, settings."""
        self._own = not isinstance(db_path, Memory)
        self._clock: Callable[[], datetime] = options.pop("now", None) or options.get("clock") or (lambda: datetime.now(UTC))
        self.memory = db_path if isinstance(db_path, Memory) else Memory(home_of(db_path), **options)

    @property
    def home(self) -> Path:
        """The folder of the home."""
        return Path(self.memory.settings.home)

    def now(self) -> datetime:
        """Return the time, as the memory's clock has it where it was opened with one."""
        return self._clock()

    def find(self, memory_id: str) -> core.SemanticMemory | None:
        """Return the version that holds now, live or not; None where there is none."""
        where: dict[str, Any] = {"external_id": PREFIX + memory_id, "state": STATES}  # expired and replaced ones, too
        if found := self.memory.get_all(where=where, limit=1_000):
            return next((one for one in found if one.superseded_by is None), found[0])
        try:
            versions = self.memory.history(memory_id)
        except NotFound:
            return None
        followed = [one for one in versions if one.superseded_by is None] or versions
        return followed[-1] if followed and _is_id(memory_id, versions) else None

    def expect(self, memory_id: str) -> core.SemanticMemory:
        """Return what `find` does. Raises NotFound."""
        if (found := self.find(memory_id)) is None:
            raise NotFound(f"there is no memory {memory_id}", "search_semantic finds what there is.")
        return found

    def live(self, *, where: dict[str, Any] | None = None, order: str = "said") -> Iterator[core.SemanticMemory]:
        """Yield all live memories of this scope and those it reads."""
        for offset in range(0, 1 << 30, PAGE):
            page = self.memory.get_all(where=where, limit=PAGE, offset=offset, order="updated" if order == "updated" else "said")
            yield from page
            if len(page) < PAGE:
                return

    def close(self) -> None:
        """Close the home, if it was opened here."""
        if self._own:
            self.memory.close()


def _is_id(id: str, versions: list[core.SemanticMemory]) -> bool:
    """Tell whether an id names one of these versions: `history` takes words, too."""
    return any(one.id.endswith(id) or one.line == id for one in versions)
