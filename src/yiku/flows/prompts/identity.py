"""
Read the agent's identity files (`identity/`, USER.md), and return each whole or as its summary for a prompt.

    identity/SOUL.md  identity/AGENT.md      who the agent is, and how it works: yours, never changed
    identity/personas/NAME.md                a voice that can be chosen; user_custom.md is what memory learned of the user's wishes
    identity/prompts/policies.md             rules of the sessions of this home
    identity/compiled/                       their summaries, made by compile.py; derived
    USER.md                                  beside the folder: the profile of the user

USER.md and user_custom.md show what memory held when they were published; a summary leaves out what it does not hold any more.
A file that cannot be read is left out, and a line says why.
"""

from __future__ import annotations

import re
from pathlib import Path

from yiku.errors import InvalidInput
from yiku.files import pages
from yiku.files.notes import COMPILED, IDENTITY
from yiku.flows.common.handle import Handle
from yiku.flows.find.said_later import mark
from yiku.rules.deciding.history import holds, recallable
from yiku.rules.pages import region
from yiku.rules.prompts import stamp
from yiku.rules.prompts.condense import PERSONA, TARGETS, VERSION, Target, condense, first
from yiku.rules.prompts.persona import NAME_CHARS, is_weighted
from yiku.rules.prompts.stamp import Made
from yiku.types import Memories

POLICIES = "prompts/policies.md"
_NAME = re.compile(r"\w[\w.-]*")


class Identity:
    """
    The identity files of a scope, as they lie there now; each is read once.

    troubles: a line for each that cannot be read
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._read: dict[str, str] = {}
        self._held: dict[str, str] = {}
        self.troubles: list[str] = []

    def summary(self, name: str, most: int | None = None) -> str:
        """
        Return the summary of a target of TARGETS, of at most so many tokens; empty where nothing is known.

        The compiled one, if it is of the file as it is, and all of that holds; else the rules condense what holds of the file.
        """
        target = TARGETS[name]
        source, room = self.source(target.source), target.most if most is None else most
        held = self._that_holds(target.source) if target.personal else source
        made = self.all_made().get(target.file)
        if source and held == source and made and (made.by == "model" or room >= target.most) and self.is_current(target, made):
            return first(self.compiled(target), room)
        return condense(held, target, room)

    def persona(self, name: str | None, most: int) -> str:
        """Return a persona within so many tokens. Raises InvalidInput where there is none of this name."""
        if name is None:
            return ""
        if len(name) > NAME_CHARS or not _NAME.fullmatch(name):
            raise InvalidInput(f"persona must be the name of a file in {IDENTITY}/personas, without .md")
        text = self.source(f"personas/{name}.md")
        if not text and not is_weighted(name):
            raise InvalidInput(f"there is no persona {name}: write it to {IDENTITY}/personas/{name}.md")
        return condense(text, PERSONA, most)

    def source(self, name: str) -> str:
        """Return what a source holds, named below identity/, or USER.md; empty where there is none."""
        return self._at(name if name == "USER.md" else f"{IDENTITY}/{name}")

    def compiled(self, target: Target) -> str:
        """Return a compiled summary as it lies there."""
        return self._at(f"{COMPILED}/{target.file}")

    def all_made(self) -> dict[str, Made]:
        """Return what the compiled summaries were made of, by their file names."""
        return stamp.parse(self._at(f"{COMPILED}/{stamp.NAME}"))

    def is_current(self, target: Target, made: Made) -> bool:
        """Whether a summary was made of the source as it is now, and nobody touched it since."""
        return (self.digest(target, self.source(target.source)), self.digest(target, self.compiled(target))) == made[:2]

    def digest(self, target: Target, text: str) -> str:
        """Return the keyed digest of a source or a summary."""
        return self._handle.seal(f"compile\0{VERSION}\0{target.name}\0{text}").hex()

    def _that_holds(self, name: str) -> str:
        """Return a page without the lines that say what memory said when it was published, and does not say now."""
        if name not in self._held:
            text, own = self.source(name), self._handle.own()
            found = region.find(text) if own else None
            lines = region.items(found.body) if isinstance(found, region.Page) else []
            ids = {item.id for item in lines if item.id}
            rows = [row for id in ids for row in self._handle.store.memories(own, Memories(suffix=id))]
            now, said, held = self._handle.now(), set[str](), set[str]()
            for row in mark(self._handle, rows):
                words = " ".join(row.content.split())
                said.add(words)
                if recallable(row, now) and holds(row, now) and row.said_later is None:
                    held.add(words)
            gone = said - held
            self._held[name] = region.without(text, lambda item: item.id is not None and item.text in gone)[0] if gone else text
        return self._held[name]

    def _at(self, path: str) -> str:
        if path not in self._read:
            self._read[path] = self._content(path)
        return self._read[path]

    def _content(self, path: str) -> str:
        root = self._handle.vault
        try:
            seen = pages.read(root / path, below=Path(self._handle.home)) if root is not None else None
        except InvalidInput as error:
            self.troubles.append(f"{path} is left out: {error.detail}")
            return ""
        return seen.text.replace("\r\n", "\n") if seen else ""
