"""
`Memory.notes`: the Markdown files of the vault. Wiring only; each flow is loaded when it is first called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from yiku.types import Edited, PublishReport

if TYPE_CHECKING:
    from yiku.flows.common.handle import Handle


class Notes:
    """Index, publish and write the Markdown files of the vault."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

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
