"""
`Memory.notes`: the Markdown files of the vault. Wiring only; each flow is loaded when it is first called.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from yiku.types import Edited, PublishReport, SyncReport

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
        """Index a skill now, from skills/. Raises as `index_document` does."""
        from yiku.flows.notes import add

        return add.skill(self._handle, path)

    # -------------------------------------------------------------- MEMORY.md and USER.md

    def publish(self, *, keep: Literal["memory", "file"] | None = None) -> PublishReport:
        """
        Read what people changed in MEMORY.md and USER.md, and write both as memory has them now.

        keep: for a page that is held because an accident is likelier than a wish: "memory" writes again what is missing there,
              "file" forgets it

        Raises InvalidInput in a scope without files, StoreBusy, StoreError.
        """
        from yiku.flows.notes import publish

        return publish.publish(self._handle, keep=keep)

    def edited(self, id: str, *, before: str, after: str) -> Edited:
        """
        A memory whose text somebody has edited: `before` is what they were shown, `after` what they made of it.

        What was told in between stays in the text where the edit left it alone.

        Raises NotFound, InvalidInput, WasErased, Paused.
        """
        from yiku.flows.notes import edits

        return edits.edited(self._handle, id, before, after)
