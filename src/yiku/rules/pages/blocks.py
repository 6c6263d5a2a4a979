"""
Parse a Markdown file into blocks: front matter, headings, fenced code, list items, paragraphs and tables.

Only what decides where a file may be cut is read, line by line and in one pass, in time linear in its length: inside a fence
or front matter nothing is a heading. Blocks follow each other in order; blank lines between them belong to none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_BREAK = re.compile(r"\n|$")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FRONT_MATTER = ("---", "+++")
_OPENING = frozenset("#`~-*+=0123456789")  # the first characters of lines that are looked at more closely


class Block(NamedTuple):
    """
    A run of lines that belong together, as text[start:end] without the last line break.

    level: of a heading, 1 to 6; else 0
    """

    start: int
    end: int
    level: int = 0


class Line(NamedTuple):
    """A line as text[start:end], without its line break."""

    start: int
    end: int
    text: str


def lines(text: str) -> Iterator[Line]:
    """The lines of a text; the one behind the last line break only where it holds something."""
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        if end < len(text) or line:
            yield Line(start, end, line)
        start = end + 1


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a file, in order."""
    start = end = -1  # of the block that is open
    count, closes = 0, _front_matter(text)  # its lines; what closes a fence, or front matter
    for line in lines(text):
        if closes:
            if start < 0:
                start, count = line.start, 0
            end, count = line.end, count + 1
            if count > 1 and _closes(line.text, closes):
                yield Block(start, end)
                start, closes = -1, ""
            continue
        first = line.text[:1]
        if not first or first.isspace():
            first = line.text.lstrip()[:1]
        if not first:
            if start >= 0:
                yield Block(start, end)
            start = -1
            continue
        if first in _OPENING:
            if count == 1 and start >= 0 and (under := _UNDERLINE.match(line.text)):
                yield Block(start, line.end, 1 if "=" in under[1] else 2)
                start = -1
                continue
            heading = _HEADING.match(line.text) if first == "#" else None
            fence = _FENCE.match(line.text) if first in "`~" else None
            if heading or fence or _ITEM.match(line.text):
                if start >= 0:
                    yield Block(start, end)
                start = -1
            if heading:
                yield Block(line.start, line.end, len(heading[1]))
                continue
            closes = fence[1] if fence else ""
        if start < 0:
            start, count = line.start, 0
        end, count = line.end, count + 1
    if start >= 0:
        yield Block(start, end)


def _front_matter(text: str) -> str:
    """The mark that closes the front matter of a file; empty where there is none."""
    first = text[: text.find("\n")].rstrip() if "\n" in text[:8] else ""
    return first if first in _FRONT_MATTER and f"\n{first}" in text[3:] else ""


def _closes(line: str, mark: str) -> bool:
    """Whether a line closes a fence, which is as long as its opening at least, or front matter."""
    found = line.strip()
    if mark in _FRONT_MATTER:
        return line.rstrip() in (mark, "...")
    return len(found) >= len(mark) and not found.strip(mark[0])


def title(heading: str) -> str:
    """The words of a heading's lines, without its marks."""
    words = heading.strip().split("\n")[0].strip()
    if words.startswith("#"):
        words = words.lstrip("#").strip()
        bare = words.rstrip("#")
        words = bare.rstrip() if bare.endswith((" ", "\t")) or not bare else words
    return " ".join(words.split())
