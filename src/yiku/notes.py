"""
`Memory.notes`: the Markdown files of the vault. Wiring only; each flow is loaded when it is first called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yiku.flows.common.handle import Handle


class Notes:
    """Index, publish and write the Markdown files of the vault."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
