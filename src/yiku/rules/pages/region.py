"""
Parse and format the generated part of a Markdown page: its marker comments, its lines, and the text around it.

    <!-- yiku:begin 5f6e7d8c-90ab12cd34ef Kept by Yiku. Edit, add or remove a line here, and … -->
    ## Rules

    - Answer in short sentences. #1234abcd
    <!-- yiku:end -->

The first digits name the version, the others are a digest of it: a region that still has its digest was not edited since Yiku
wrote it, whenever that was. Everything outside the markers belongs to the person who wrote it and is never rewritten.
Lines end with \\n here; whoever reads and writes the file keeps the line ends that it has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.sentences import WIDE_STOP

END = "<!-- yiku:end -->"
LONGEST_MARKER = 500  # characters; what is longer is somebody's text
_MARKER = re.compile(r"\s{0,8}<!--\s{0,8}yiku:(\w{3,5})\b([^\n]{0,480})\s{0,8}", re.IGNORECASE)
_NAMES = ("begin", "end")
_STAMP = re.compile(r"\s{1,4}([0-9a-f]{8})-([0-9a-f]{12})\b")
_CONFLICT = re.compile(r"(?:<{7}|>{7})(?: |$)")
_ANY_ID = r"[`(（\[]?[#＃]([0-9a-fA-F][0-9a-fA-F-]{6,34}[0-9a-fA-F])[`)）\]]?"
_ID = re.compile(rf"(?:^|(?<=\s)){_ANY_ID}$")
_ID_INSIDE = re.compile(rf"(?<=\s){_ANY_ID}(?![0-9A-Za-z_-])")
_STRUCK = re.compile(r"~~[^~]{1,4000}~~")
_BULLET = re.compile(r"(?:[-*+•·]|\d{1,9}[.)、])(?:\s+|$)")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULER = re.compile(r"\s{0,3}(?:[-*_=](?:\s{0,3}[-*_=]){2,80})\s*$")
_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})")
_OTHER = (">", "|", "<", "[^", "![")  # how a quotation, a table, HTML, a footnote and a picture begin


@dataclass(frozen=True, slots=True)
class Page:
    """
    A page with one managed region.

    before, after: what people wrote, with the line ends around the markers
    version, digest: of the begin marker; empty where it has none
    """

    before: str
    version: str
    digest: str
    body: str
    after: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A page in which the region cannot be told: by the name of the reason in `region.REASONS`."""

    why: str


class Item(NamedTuple):
    """
    Lines of a region that belong together.

    text: on one line, without bullet and id; id: the short one at its end, in lower case
    raw:  the lines as they stand; section: the heading above it; statement: else it is a heading, code, a table, a quotation …
    """

    text: str
    id: str | None
    raw: str
    section: str
    statement: bool


# ------------------------------------------------------------------ the page


def find(text: str) -> Page | Broken | None:
    """The managed region of a page; None where nobody ever wrote one into it."""
    lines = text.split("\n")
    if any(_CONFLICT.match(line) for line in lines):
        return Broken("conflict")
    marks = [(place, match) for place, line in enumerate(lines) if (match := marker(line))]
    names = [match[1].lower() for _, match in marks]
    if not marks:
        return None
    if tuple(names) != _NAMES:
        return Broken("markers")
    (begin, opening), (end, _) = marks
    stamp = _STAMP.match(opening[2])
    return Page(
        before="".join(line + "\n" for line in lines[:begin]),
        version=stamp[1] if stamp else "",
        digest=stamp[2] if stamp else "",
        body="\n".join(line.removesuffix("\r") for line in lines[begin + 1 : end]),
        after="\n".join(lines[end + 1 :]),
    )


def marker(line: str) -> re.Match[str] | None:
    """The match of a line that is one of the two markers: its name and what follows."""
    if len(line) > LONGEST_MARKER or "-->" not in line:
        return None
    match = _MARKER.fullmatch(line)
    return match if match and match[1].lower() in _NAMES else None


def format_page(page: Page, *, help: str) -> str:
    """The text of a page; the lines of the region end as most lines of the page do."""
    begin = f"<!-- yiku:begin {page.version}-{page.digest} {help} -->"
    end = line_end(page.before + page.after)
    lines = "\n".join((begin, page.body, END, "")).replace("\n", end)
    return f"{page.before}{lines}{page.after}"


def line_end(text: str) -> str:
    """How most lines of a text end."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def below(after: str, own: Sequence[str]) -> str:
    """What stands behind a region, with pieces of text in front of it that were taken out of the region."""
    if not own:
        return after
    end = line_end(after)
    moved = "".join(f"{end}{piece.replace(chr(10), end)}{end}" for piece in own)
    return moved + (after if not after.strip() or after.startswith(("\n", "\r\n")) else end + after)


def without(text: str, is_gone: Callable[[Item], bool]) -> tuple[str, list[int]]:
    """A page without some statements of its region, and the lines in which they stood, from 1. What people wrote stays."""
    lines = text.split("\n")
    marks = [place for place, line in enumerate(lines) if marker(line)]
    if len(marks) != len(_NAMES):
        return text, []
    gone: list[int] = []
    first = marks[0] + 1
    for place, item in _with_places(lines[first : marks[1]]):
        if item.statement and is_gone(item):
            gone += range(first + place, first + place + item.raw.count("\n") + 1)
    left = {*gone}
    return "\n".join(line for place, line in enumerate(lines) if place not in left), [place + 1 for place in gone]


def clear(text: str, is_ours: Callable[[Item], bool]) -> str:
    """
    A page without markers and without the lines that were written here, where nobody can tell any more what the region was.

    A heading goes with the last of its lines.
    """
    lines = text.split("\n")
    gone = {place for place, line in enumerate(lines) if marker(line)}
    heading: int | None = None  # where the last one stands, if it is ours
    went = stays = False  # lines below it
    for place, item in [*_with_places(lines), (len(lines), Item("", None, "#", "", False))]:
        if not item.statement and _HEADING.match(item.raw):
            if heading is not None and went and not stays:
                gone.add(heading)
            heading, went, stays = place if is_ours(item) else None, False, False
        elif item.statement and is_ours(item):
            gone |= {*range(place, place + item.raw.count("\n") + 1)}
            went = True
        else:
            stays = stays or place not in gone
    return "\n".join(line for place, line in enumerate(lines) if place not in gone)


def _with_places(lines: Sequence[str]) -> Iterator[tuple[int, Item]]:
    """What stands in these lines, each with the place of its first."""
    place = 0
    for item in items("\n".join(lines)):
        raw = item.raw.split("\n")
        while lines[place : place + len(raw)] != raw:
            place += 1
        yield place, item
        place += len(raw)


def without_id(item: Item) -> str:
    """The lines of an item as they stand, without its id."""
    return re.sub(rf"\s{{0,8}}[`(（\[]?[#＃]{item.id}[`)）\]]?", "", item.raw, flags=re.IGNORECASE) if item.id else item.raw


def without_blank_lines(version: str, body: str) -> str:
    """What the digest of a version is made of: blank lines and space at line ends make no difference."""
    lines = (line.rstrip() for line in body.split("\n"))
    return "\n".join((version, *filter(None, lines)))


def outside(text: str) -> list[tuple[int, int]]:
    """The lines that people wrote, as ranges of line numbers from 1, the last one included; all of them where the region is broken."""
    lines = text.split("\n")
    if not isinstance(find(text), Page):
        return [(1, len(lines))]
    begin, end = (place for place, line in enumerate(lines, 1) if marker(line))
    return [(first, last) for first, last in ((1, begin - 1), (end + 1, len(lines))) if first <= last]


# ------------------------------------------------------------------ items


def items(body: str) -> list[Item]:
    """What stands in a region, in order. A list item or a paragraph may be wrapped over several lines."""
    found: list[Item] = []
    open_: list[str] = []  # lines of the statement that goes on
    unclosed = set[str]()
    section = ""

    def closed() -> None:
        if open_:
            found.append(_statement(open_, section))
            open_.clear()

    lines = body.split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        stop = _block(lines, place, unclosed)
        if stop > place:
            closed()
            if _HEADING.match(line):
                section = line.strip().strip("#").strip()
            found.append(Item("", None, "\n".join(lines[place:stop]), section, False))
            place = stop
            continue
        if not line.strip() or _BULLET.match(line.strip()) or (open_ and _ID.search(open_[-1].rstrip())):
            closed()
        if line.strip():
            open_.append(line)
        place += 1
    closed()
    return found


def _block(lines: Sequence[str], place: int, unclosed: set[str]) -> int:
    """
    Behind the lines of what is no statement; the place itself where one begins, or nothing.

    unclosed: how the blocks begin that nothing closes, as far as is known; nobody looks for the end of another one
    """
    line = lines[place]
    if fence := _FENCE.match(line):
        return _block_end(lines, place, fence[1][0], unclosed, lambda after: after.strip().startswith(fence[1]))
    if line.lstrip().startswith("<!--"):
        return place + 1 if "-->" in line else _block_end(lines, place, "<", unclosed, lambda after: "-->" in after)
    if _HEADING.match(line) or _RULER.match(line):
        return place + 1
    stop = place
    while stop < len(lines) and (start := lines[stop].lstrip()).startswith(_OTHER) and not start.startswith("<!--"):
        stop += 1
    return stop


def _block_end(lines: Sequence[str], place: int, kind: str, unclosed: set[str], closes: Callable[[str], bool]) -> int:
    """Behind a fence or a comment. One that nothing closes ends before the next line with an id, whose memory would be lost in it."""
    after = range(place + 1, len(lines))
    if kind not in unclosed and (end := next((number for number in after if closes(lines[number])), None)) is not None:
        return end + 1
    unclosed.add(kind)
    return next((number for number in after if _ID.search(lines[number].rstrip())), len(lines))


def _statement(lines: Sequence[str], section: str) -> Item:
    parts = [" ".join(line.split()) for line in lines]
    parts[0] = _BULLET.sub("", parts[0], count=1)
    text = parts[0]
    for line in parts[1:]:
        text += line if UNSPACED_RUN.match(text[-1:]) and UNSPACED_RUN.match(line[:1]) else f" {line}"
    match = _ID.search(text)
    return Item(
        text=(text[: match.start()] if match else text).strip(),
        id=match[1].lower() if match else None,
        raw="\n".join(lines),
        section=section,
        statement=True,
    )


def with_id_inside(item: Item) -> Item | None:
    """An item without an id at its end, with the one that stands inside its text taken out; None where not exactly one does."""
    found = [*_ID_INSIDE.finditer(item.text)] if item.id is None else []
    if len(found) != 1:
        return None
    before, after = item.text[: found[0].start()].rstrip(), item.text[found[0].end() :]
    if after and unicodedata.category(after[0]) == "Po":  # a full stop before the id gives way to a mark behind it
        before = before.rstrip(f".{WIDE_STOP}")
    return item._replace(text=(before + after).strip(), id=found[0][1].lower())


def is_struck(item: Item) -> bool:
    """Whether the whole text of an item is struck out."""
    return _STRUCK.fullmatch(item.text) is not None


def line(content: str, id: str) -> str | None:
    """The line of a statement; None for one that would not be read back as it is, or would hide what follows."""
    text = " ".join(content.split())
    formatted = f"- {text} #{id}"
    back = items(formatted)
    if "<!--" in text or "-->" in text or len(back) != 1 or (back[0].text, back[0].id) != (text, id):
        return None
    return formatted


# ------------------------------------------------------------------ what is written into it


class Shown(NamedTuple):
    """A statement that a page shows: its content, and its whole id."""

    content: str
    id: str


def body(
    sections: Sequence[tuple[str, Sequence[Shown]]],
    *,
    at_most: int,
    short: Callable[[str], str],
    omitted: str,
    further: int = 0,
) -> tuple[str, tuple[Shown, ...]]:
    """
    A region of at most so many characters, and what it shows: sections in order, whole lines, one that has no room is passed over.

    short:   the short form of an id
    omitted: the last line, with {} for how many are left out; further: of these, beside those given
    """
    total = further + sum(len(rows) for _, rows in sections)
    room = at_most - len(omitted) - len(str(total)) - 2
    result: list[str] = []
    kept: list[Shown] = []
    for title, rows in sections:
        first = True
        for row in rows:
            text = line(row.content, short(row.id))
            if text is None:
                continue
            lines = [*([""] if result and first else []), *([f"## {title}", ""] if first else []), text]
            cost = sum(map(len, lines)) + len(lines)
            if cost <= room:
                result += lines
                room -= cost
                kept.append(row)
                first = False
    if left := total - len(kept):
        result += [*([""] if result else []), omitted.format(left)]
    return "\n".join(result), tuple(kept)
