"""
Format what programs add to a page: entries of a daily log, notes under a topic, days in a digest.

    # 2026-03-01                          ## Database

    ## 14:02:31                           - Postgres for everything but queues
    <!-- {"source": "chat"} -->

    We chose Postgres.

Nothing that stands on the page is changed, and nothing that is added swallows what comes behind it: a block of code or a
comment that was left open is closed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from yiku.rules.text.folding import folded

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.{1,500})")
_LISTED = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)、])\s")


class Added(NamedTuple):
    """A page with something added, and where it stands: the first and last line, from 1. `new` is False where it stood there."""

    text: str
    first: int
    last: int
    new: bool = True


def day_of(name: str) -> date | None:
    """The day of a daily log, by the name of its file; None for another file."""
    stem, dot, suffix = name.partition(".")
    if (dot, suffix) != (".", "md") or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", stem):
        return None
    try:
        return date.fromisoformat(stem)
    except ValueError:
        return None


def entry(text: str, at: datetime, metadata: Mapping[str, Any] | None = None) -> str:
    """An entry of a daily log: its time, what is known of it, its text."""
    lines = [f"## {at:%H:%M:%S}"]
    if metadata:  # > is escaped, or a text in it could end the comment
        lines.append(f"<!-- {json.dumps(metadata, ensure_ascii=False).replace('>', chr(92) + 'u003e')} -->")
    return "\n".join([*lines, "", close_blocks(text)]) + "\n"


def digest(day: date, points: Sequence[str]) -> str:
    """A day in the digest of its month: the points worth keeping, and where the rest is."""
    lines = [f"- {' '.join(point.split())}" for point in points]
    return "\n".join([digest_heading(day), "", *lines, "", f"[{day}.md]({day}.md)"]) + "\n"


def digest_heading(day: date) -> str:
    """The line by which the digest of a month is known to have a day."""
    return f"## {day}"


def append(page: str, block: str, title: str) -> Added:
    """What is added at the end of a page, which begins with its title. The page itself stays as it is, letter for letter."""
    start = page or f"# {title}\n"
    gap = "\n" if start.endswith("\n") else "\n\n"
    gap = "" if start.endswith("\n\n") else gap
    text = start + gap + block
    return Added(text, (start + gap).count("\n") + 1, text.count("\n"))


def note(text: str, summary: str | None = None) -> str:
    """A note as it stands under its topic: one line as a list item, more as they are; a summary in bold before them."""
    block = close_blocks(text)
    if summary:
        return f"**{' '.join(summary.split())}**\n\n{block}"
    return block if "\n" in block or _LISTED.match(block) else f"- {block}"


def under_topic(page: str, topic: str, block: str, free: Sequence[tuple[int, int]]) -> Added:
    """
    A page with a note at the end of the section of a topic; the section is made at the end of the page where there is none.

    free: the lines that may be added to, as ranges of line numbers from 1, the last one included
    """
    lines = page.split("\n")
    found = _section(lines, topic, free)
    if found is None:
        heading = f"## {' '.join(topic.split())}"
        start = page.rstrip("\n")
        text = "\n".join([*([start, ""] if start else []), heading, "", block]) + "\n"
        last = text.count("\n")
        return Added(text, last - block.count("\n"), last)
    first, stop = found
    new = block.split("\n")
    for place in range(first, stop - len(new) + 1):
        if lines[place : place + len(new)] == new:
            return Added(page, place + 1, place + len(new), new=False)
    end = stop
    while end > first and not lines[end - 1].strip():
        end -= 1
    joined = end > first and _LISTED.match(lines[end - 1]) and _LISTED.match(block)
    gap = [] if joined else [""]
    after = [""] if end < len(lines) and lines[end].strip() else []
    lines[end:end] = [*gap, *new, *after]
    if end + len(gap) + len(new) + len(after) == len(lines):
        lines.append("")  # the page ends with a line feed
    return Added("\n".join(lines), end + len(gap) + 1, end + len(gap) + len(new))


def _section(lines: Sequence[str], topic: str, free: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The lines below the heading of a topic, up to the next heading of its rank: the first, and the one behind the last."""
    wanted = folded(" ".join(topic.split()))
    ends = {place: last for first, last in free for place in range(first - 1, last)}
    begin = rank = 0
    for place, level, title in _headings(lines):
        if begin and (level <= rank or ends.get(place) != ends[begin - 1]):
            return begin, min(place, ends[begin - 1])
        if not begin and place in ends and folded(title) == wanted:
            begin, rank = place + 1, level
    return (begin, ends[begin - 1]) if begin else None


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """The headings outside of blocks of code: the place, the rank, the title."""
    fence = ""
    for place, line in enumerate(lines):
        fence, was = _fence_after(fence, line), fence
        if not fence and not was and (heading := _HEADING.fullmatch(line.rstrip())):
            yield place, len(heading[1]), heading[2].strip().rstrip("#").strip()


def close_blocks(text: str) -> str:
    """A text without blank lines around it, in which no block of code and no comment is left open."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip().split("\n")
    fence = ""
    for line in lines:
        fence = _fence_after(fence, line)
    if fence:
        return "\n".join([*lines, fence])
    block = "\n".join(lines)
    return f"{block}\n-->" if block.rfind("<!--") > block.rfind("-->") else block


def _fence_after(fence: str, line: str) -> str:
    """The fence of the block of code that is open behind a line; nothing where none is."""
    match = _FENCE.fullmatch(line)
    if match is None:
        return fence
    mark, rest = match[1], match[2]
    if not fence:
        return "" if mark[0] == "`" and "`" in rest else mark
    return "" if mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip() else fence
