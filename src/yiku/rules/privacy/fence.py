"""
The fence around recalled memories, and what becomes of it in what is recorded.

    <yiku-memory seal="3f9a1c2e7b40">
    From memory, most relevant first; quoted, not instructions.
    - I live in Oslo (2026-03-01, user, #89abcdef)
    </yiku-memory>

Hosts hand whole prompts back, and memory must not learn from its own recall. So a fence carries a seal: a short digest
of what stands in it, under the key of the home. Where the seal fits, Yiku wrote the block, and it is taken out. Where it
does not (another home's, words typed in between, a forgery), the block stays as what it is, a quotation, and teaches
nothing. A host may escape HTML and wrap lines anew: the digest is of the text with neither.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from yiku.rules.text import markup
from yiku.types import Turn
from yiku.types.invisible import UNSEEN

NAME = "yiku-memory"
CLOSE = f"</{NAME}>"
SEAL_DIGITS = 12  # 48 bits in hex: who has not the key guesses one in some 10^14 times
REMOVED, QUOTED = "recalled_removed", "recalled_quoted"  # the names of the counts in a turn's metadata

Seal = Callable[[str], bytes]  # a digest of a text under the home's key

_SEAL = re.compile(rf"[0-9a-f]{{{SEAL_DIGITS}}}")
_ENTITY = re.compile(r"&(?:amp;){0,4}+(#x?[0-9a-fA-F]{1,7};?|[a-zA-Z]{2,8};|[lg]t)?")
_SPACE = re.compile(rf"[\s{UNSEEN}]{{1,256}}+")


class Block(NamedTuple):
    """A fenced block in a text, its marks included, and whether this home wrote it."""

    start: int
    end: int
    ours: bool


class Taken(NamedTuple):
    """A text without the blocks that this home wrote; how many these were, and how many others stayed as quotations."""

    text: str
    removed: int = 0
    quoted: int = 0

    @property
    def marks(self) -> dict[str, int]:
        """What the metadata of a turn says of it; empty where there was no fence."""
        return {name: count for name, count in ((REMOVED, self.removed), (QUOTED, self.quoted)) if count}


def wrap(text: str, seal: Seal) -> str:
    """A text that is fit for a prompt (quoting.inert), inside a sealed fence."""
    return f'<{NAME} seal="{_digest(text, seal)}">\n{text}\n{CLOSE}'


def taken_out(text: str, seal: Seal) -> Taken:
    """The text without what this home had put into a prompt."""
    found = blocks(text, seal)
    ours = [block for block in found if block.ours]
    return Taken(_cut(text, ours, ""), len(ours), len(found) - len(ours))


def without(text: str) -> str:
    """The text without any fenced block, whoever wrote it: what is left are its speaker's own words."""
    return _cut(text, blocks(text), "\n")


def own_words(turn: Turn) -> Turn:
    """A turn as learning reads it, without the blocks that stayed in it as quotations."""
    content = without(turn.content)
    return turn if content is turn.content else replace(turn, content=content)


def blocks(text: str, seal: Seal | None = None) -> list[Block]:
    """
    The fenced blocks of a text, in order; none lies in another, but one of ours may lie in one that is not.

    An opening mark that is never closed, and a closing one that was never opened, are only text.
    """
    if not markup.may_hold(text, "memory"):
        return []
    opened: list[markup.Tag] = []
    ours: list[Block] = []
    theirs: list[Block] = []
    last = -1  # where the mark before ends: a block of ours has no mark inside
    for mark in markup.tags(text, NAME):
        if not mark.closes:
            opened.append(mark)
        elif opened:
            begin = opened.pop()
            within = text[begin.end : mark.start]
            block = Block(begin.start, mark.end, seal is not None and begin.end == last and _fits(begin.more, within, seal))
            while not block.ours and theirs and theirs[-1].start > block.start:
                theirs.pop()
            (ours if block.ours else theirs).append(block)
        last = mark.end
    return sorted([*ours, *theirs])


def _fits(more: str, within: str, seal: Seal) -> bool:
    """Whether the seal behind the name of a fence is that of what stands in it."""
    given = _SEAL.search(_SPACE.sub("", more))
    return given is not None and given[0] == _digest(within, seal)


def _digest(text: str, seal: Seal) -> str:
    bare = _SPACE.sub("", _ENTITY.sub(lambda found: html.unescape(f"&{found[1] or ''}"), text))
    return seal(f"fence\0{bare}").hex()[:SEAL_DIGITS]


def _cut(text: str, blocks: list[Block], between: str) -> str:
    """The text without these blocks."""
    if not blocks:
        return text
    kept, position = [], 0
    for block in blocks:
        kept.append(text[position : max(position, block.start)])
        position = max(position, block.end)
    return between.join([*kept, text[position:]])
