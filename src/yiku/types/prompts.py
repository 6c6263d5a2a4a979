"""
Types of prompts: a built prompt with its sections, and reports of compiling identity files.
"""

from __future__ import annotations

from typing import Literal

from yiku.types.hits import Hit
from yiku.types.value import value

SectionName = Literal[
    "guide", "identity", "persona", "session_rules", "catalogs", "user", "rules", "core", "scratchpad", "runtime", "recalled"
]


@value(frozen=True, slots=True)
class PromptSection:
    """
    One section of a prompt, as it stands there.

    tokens:   estimated, with its heading and fence; budget: how many it may take
    left_out: lines that it has no room for
    """

    name: SectionName
    text: str
    tokens: int
    budget: int
    left_out: int = 0


@value(frozen=True, slots=True)
class Prompt:
    """
    A system prompt and what it is made of.

    text:        all sections, in the order in which they stand
    tokens:      estimated; budget: of all sections but the catalogs, which have one of their own
    stable:      how many characters at its beginning stay the same from one message to the next, for prompt caches
    sections:    those that have a text, or left something out
    task:        what the message asks for, in short; empty where it asks for nothing new
    language:    of what is written around memories, en or zh
    hits:        what was recalled for the message and stands in it
    diagnostics: what was missing when it was built, a line each
    """

    text: str
    tokens: int
    budget: int
    stable: int = 0
    sections: tuple[PromptSection, ...] = ()
    task: str = ""
    language: str = "en"
    hits: tuple[Hit, ...] = ()
    diagnostics: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def section(self, name: SectionName) -> str:
        """The text of a section; empty where the prompt has none."""
        return next((one.text for one in self.sections if one.name == name), "")

    @property
    def prefix(self) -> str:
        """The beginning that stays the same from one message to the next."""
        return self.text[: self.stable]

    @property
    def rest(self) -> str:
        """What follows the prefix: the current work, the environment, what was recalled."""
        return self.text[self.stable :]


@value(frozen=True, slots=True)
class CompiledSummary:
    """
    What became of one compiled summary.

    path:   in the folder of the scope; action: written, unchanged, removed (its source is gone), missing (there is no source), or
            held (`why` says what to do)
    by:     who made it; why: where a model was asked, why it is not the model's
    """

    path: str
    action: Literal["written", "unchanged", "removed", "missing", "held"]
    by: Literal["model", "rules"] | None = None
    tokens: int = 0
    why: str | None = None


@value(frozen=True, slots=True)
class Compiled:
    """What `prompts.compile` did, summary by summary."""

    summaries: tuple[CompiledSummary, ...]
