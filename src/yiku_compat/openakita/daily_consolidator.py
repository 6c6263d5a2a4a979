"""DailyConsolidator: an older name of LifecycleManager, with the folder of daily summaries."""

from __future__ import annotations

from pathlib import Path

from yiku_compat.openakita.lifecycle import LifecycleManager


class DailyConsolidator(LifecycleManager):
    """The daily consolidation of a store."""

    @property
    def daily_summaries(self) -> Path:
        """The folder with a page for each of the last days."""
        return self.store.db.home / "reports" / "days"
