"""
`Memory.notes`: the Markdown files of the vault. Wiring only; each flow is loaded when it is first called.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from yiku.types import SyncReport

if TYPE_CHECKING:
    from yiku.flows.common.handle import Handle


class Notes:
    """Index, publish and write the Markdown files of the vault."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    # -------------------------------------------------------------- the index

    def sync(self, *, force: bool = False, progress: Callable[[int, int], object] | None = None) -> SyncReport:
        """
        Index what changed in the files of the vault since the last sync.

        force:    read every file again, and accept that files that are gone are gone, however many
        progress: called with how many files are done, and of how many

        Raises InvalidInput for a scope without a vault, Paused, StoreBusy while another process indexes.
        """
        from yiku.flows.notes import sync

        return sync.sync(self._handle, force=force, progress=progress)

    def index_document(self, path: str | os.PathLike[str]) -> SyncReport:
        """
        Index a file or folder now. What lies outside the vault is copied to its documents/ first.

        Raises InvalidInput where there is no such file, where it is not Markdown or text, or where documents/ has another file of
        that name; Paused, StoreBusy.
        """
        from yiku.flows.notes import add

        return add.document(self._handle, path)

    def index_skill(self, path: str | os.PathLike[str]) -> SyncReport:
        """Index a skill now, as `index_document` does; its place is skills/."""
        from yiku.flows.notes import add

        return add.skill(self._handle, path)
