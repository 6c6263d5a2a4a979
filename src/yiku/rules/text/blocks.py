"""
Classify the lines of a text as prose, quotation, code, log or table, in one pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from yiku.rules.lexicon.lists import words
from yiku.rules.text import lazy
from yiku.rules.text.folding import folded


class Kind(StrEnum):
    """What a block is."""

    PROSE = "prose"
    QUOTATION = "quotation"
    CODE = "code"
    LOG = "log"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of one kind; blocks tile their text."""

    start: int
    end: int
    kind: Kind


OURS = "yiku-memory"  # text after the mark of a fence is not prose, closed or not
FEW = 3  # lines that stand alike before it says something
LONGEST_LINE = 2_000  # characters; a longer one was pasted
MOST_CHARS = 400  # of a line that are looked at
SPREAD = 6  # if one of so many lines was pasted, the lines between were, too
_LINE = lazy.compile(r"[^\n]*\n?")
_FENCE = lazy.compile(r"(?:```|~~~)")
_OPENS = lazy.compile(r"<([a-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?>")
_SPEAKS = lazy.compile(r"(?:\*\*)?[A-Z\u3400-\u9fff][\w .\u3400-\u9fff]{0,24}(?:\*\*)?[:：]\s?\S")
_ROLE = lazy.compile(r"(\w{1,12})\s?[:：]")
_HEAD = lazy.compile(r"\**([\w -]{1,20})\**\s?[:：]")
_QUOTED = lazy.compile(r">")
_TABLE = lazy.compile(r"\|")
_LOG = (
    lazy.compile(r"(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|Traceback|File \")"),
    lazy.compile(r"(?:at \S{1,80}[(:]\S{0,80}:?\d|\w{0,40}(?:Error|Exception):|\[?(?:INFO|WARN|ERROR|DEBUG)\b)"),
)
_CODE = (
    lazy.compile(r"(?:\$ |#!|@@|[+-]{3} |(?:import|from) \w[\w.]{0,80}(?:$| import))"),
    lazy.compile(r"(?:def|class|function|const|let|var|public|private|return|SELECT|INSERT|#include)\b.{0,200}[;{}:()][ \t]*$"),
    lazy.compile(r"[{}\])]+[;,]?[ \t]*$|.{0,200}[{};][ \t]*$|</?\w[^>]{0,80}>[ \t]*$|.{0,200}-->"),
)


def blocks(text: str) -> list[Block]:
    """Return the blocks of a text, in order."""
    lines = [*_lines(text)]
    pasted = [place for place, (_, _, kind) in enumerate(lines) if kind is not Kind.PROSE]
    if len(pasted) >= FEW and len(pasted) * SPREAD >= len(lines):
        for place in range(pasted[0], pasted[-1]):
            start, end, kind = lines[place]
            lines[place] = start, end, kind if kind is not Kind.PROSE else lines[pasted[0]][2]
    found: list[Block] = []
    for start, end, kind in lines:
        if found and found[-1].kind is kind:
            found[-1] = Block(found[-1].start, end, kind)
        else:
            found.append(Block(start, end, kind))
    return found


def _lines(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield each line with its kind."""
    lines = [match for match in _LINE.finditer(text) if match[0]]
    filled = [match for match in lines if match[0].strip()]
    spoken = len(filled) >= FEW and 2 * sum(_SPEAKS.match(match[0][:MOST_CHARS].strip()) is not None for match in filled) >= len(
        filled
    )
    roles = [match.start() for match in filled if _is_role(match[0][:MOST_CHARS].strip())]
    # where the transcript of a chat or a mail begins, which goes to the end
    pasted = min([*(roles if len(roles) > 1 else []), *_mail_heads(filled)], default=len(text))
    closes = ""  # of the block that a line is in
    for match in lines:
        line = match[0][:MOST_CHARS].strip()
        if match.start() >= pasted:
            kind = Kind.QUOTATION
        elif closes:
            kind = Kind.CODE
            closes = "" if _ends(line, closes) else closes
        elif _FENCE.match(line):
            kind, closes = Kind.CODE, "```"
        elif (tag := _OPENS.match(line)) and (tag[1] == OURS or f"</{tag[1]}>" in text[match.start() :]):
            kind, closes = Kind.QUOTATION, "" if f"</{tag[1]}>" in line else f"</{tag[1]}>"
        elif len(match[0]) > LONGEST_LINE:
            kind = Kind.LOG
        else:
            kind = Kind.QUOTATION if spoken and _SPEAKS.match(line) else _kind(line)
        yield match.start(), match.end(), kind


def _is_role(line: str) -> bool:
    """Whether a line names a role in the transcript of a chat."""
    role = _ROLE.match(line)
    return role is not None and folded(role[1]) in words("records.roles")


def _mail_heads(filled: Sequence[re.Match[str]]) -> list[int]:
    """Return where the heads of mails begin: two lines, one behind the other, that name a sender, a subject …"""
    named = [_names(match[0], "records.mail_heads") for match in filled]
    return [filled[place].start() for place, (one, two) in enumerate(pairwise(named)) if one and two]


def _names(line: str, names: str) -> bool:
    """Whether a line begins with one of some names, and a colon."""
    head = _HEAD.match(line[:MOST_CHARS].strip())
    return head is not None and folded(head[1]).strip() in words(names)


def _ends(line: str, closes: str) -> bool:
    return _FENCE.match(line) is not None if closes == "```" else closes in line


def _kind(line: str) -> Kind:
    for kind, patterns in ((Kind.QUOTATION, (_QUOTED,)), (Kind.TABLE, (_TABLE,)), (Kind.LOG, _LOG), (Kind.CODE, _CODE)):
        if any(pattern.match(line) for pattern in patterns):
            return kind
    return Kind.PROSE
