"""
Read the files of identity/ that a person keeps, and condense them for a prompt.

    identity/SOUL.md  identity/AGENT.md      who the agent is, and how it works: yours, never changed
    identity/personas/NAME.md                a voice that can be chosen; user_custom.md is what memory learned of the user's wishes
    identity/prompts/policies.md             rules of the sessions of this home
    USER.md                                  beside the folder: the profile of the user

A file that cannot be read is left out, and a line says why.
"""

from __future__ import annotations

import re
from pathlib import Path

from yiku.errors import InvalidInput
from yiku.files import pages
from yiku.flows.common.handle import Handle
from yiku.rules.prompts.condense import PERSONA, TARGETS, condense
from yiku.rules.prompts.persona import NAME_CHARS, is_weighted

FOLDER = "identity"
POLICIES = "prompts/policies.md"
_NAME = re.compile(r"\w[\w.-]*")


class Identity:
    """The identity files of a scope, as they lie there now. `troubles` has a line for each that cannot be read."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.troubles: list[str] = []

    def summary(self, name: str, most: int | None = None) -> str:
        """Return the summary of a target of TARGETS, of at most so many tokens; empty where nothing is known."""
        target = TARGETS[name]
        return condense(self.source(target.source), target, most)

    def persona(self, name: str | None, most: int) -> str:
        """Return a persona within so many tokens. Raises InvalidInput where there is none of this name."""
        if name is None:
            return ""
        if len(name) > NAME_CHARS or not _NAME.fullmatch(name):
            raise InvalidInput(f"persona must be the name of a file in {FOLDER}/personas, without .md")
        text = self.source(f"personas/{name}.md")
        if not text and not is_weighted(name):
            raise InvalidInput(f"there is no persona {name}: write it to {FOLDER}/personas/{name}.md")
        return condense(text, PERSONA, most)

    def source(self, name: str) -> str:
        """Return what a file holds; empty where there is none."""
        root = self._handle.vault
        if root is None:
            return ""
        path = self.path(root, name)
        try:
            seen = pages.read(path, below=Path(self._handle.home))
        except InvalidInput as error:
            trouble = f"{path.relative_to(root)} is left out: {error.detail}"
            self.troubles += [trouble] if trouble not in self.troubles else []
            return ""
        return seen.text.replace("\r\n", "\n") if seen else ""

    @staticmethod
    def path(root: Path, name: str) -> Path:
        """Return the path of a source."""
        return root / name if name == "USER.md" else root / FOLDER / name
