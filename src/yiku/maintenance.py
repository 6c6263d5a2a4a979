"""
Restore from a backup, check or repair a data folder whose database may not open; list its scopes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

from yiku import settings as _settings
from yiku.errors import Damaged, ForeignStore, StoreMismatch
from yiku.memory import Memory
from yiku.types import Checked, Repaired, Restored


def scope_names(memory: Memory) -> list[str]:
    """Return the scopes of a memory's home, also those it does not read, for shell completion."""
    return [name for _, name, _ in memory._handle.store.scopes()]


def restore_backup(home: str | os.PathLike[str] | None, name: str, *, scope: str | None = None, dry_run: bool = False) -> Restored:
    """
    Restore a backup as `admin.restore_backup` does, also for a home that does not open.

    Raises NotFound without such a backup, Damaged when it is not sound itself; then nothing has changed.
    """
    try:
        with Memory(home, scope=scope, create=False) as memory:
            return memory.admin.restore_backup(name, dry_run=dry_run)
    except (Damaged, ForeignStore, StoreMismatch):
        from yiku.flows.home import backup

        place = _settings.home(home)
        settings = _settings.load(place, {"scope": scope})
        return backup.restore_damaged(settings, _settings.scope(settings), place.key(), name, dry_run=dry_run)


def check(
    home: str | os.PathLike[str] | None = None,
    depth: Literal["quick", "full", "deep"] = "full",
    *,
    progress: Callable[[str], None] | None = None,
) -> Checked:
    """Check a home as `Memory.admin.check` does, also one that does not open. Writes nothing."""
    from yiku.flows.home import doctor

    return doctor.check(_settings.home(home), depth, progress)


def repair(
    home: str | os.PathLike[str] | None = None,
    *,
    dry_run: bool = False,
    accept: bool = False,
    rebuild: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Repaired:
    """
    Repair a damaged home from its readable rows and backups; the damaged file is kept in damaged/.

    Close every memory of this home first. accept: take the database that is there for this home's own, though
    `store.id` means another. rebuild: also bring turns back from transcripts and learn from them again, where the whole
    database is lost, too; `lost` says what could not come back.
    """
    from yiku.flows.common import checks
    from yiku.flows.home import doctor

    place = _settings.home(home)
    settings = _settings.load(place, {}) if checks.flag(rebuild, "rebuild") else None
    return doctor.repair(place, dry_run=dry_run, accept=accept, rebuild=settings, progress=progress)
