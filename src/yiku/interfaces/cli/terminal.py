"""
Terminal output: cell widths, colour, wrapping, tables, escaping of control characters, formats of times and hits.

A Chinese character takes two cells, so lines are measured in cells, never in characters. What was
remembered is printed without its control characters: a stored text must not steer the terminal.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from json import dumps as _dumps

from yiku.types import Attachment, Episode, Hit, Note, SemanticMemory, Turn
from yiku.types.invisible import JOINERS, UNSEEN

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
WIDEST = 100  # cells; longer lines are hard to read
SHOWN_LINES = 6  # of one hit; `yiku get` shows it whole
TEXT_CELLS, TEXT_LINES = 40, 3  # the room that a text in a list needs beside other columns, and how many lines it may take there

_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
_CLOSING = "，。！？；：、）】》」』…"
_WHOLE = r"`[^`\n]{1,60}`|'?\{[^{}\n]{1,60}\}'?"  # a command and JSON, which would be copied with the line feed
_UNIT = re.compile(rf"\s+|(?:{_WHOLE})[^\s{_WIDE}]*|[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+[{_CLOSING}]*")
_UNSEEN, _JOINERS = re.compile(f"[{UNSEEN}]"), re.compile(f"[{JOINERS}]")
_COMMANDS = set[str]()  # to paste: a line is longer than the terminal rather than broken inside one
_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b")
_PAINTED = re.compile(rf"(\x1b\[(?:{'|'.join(['0', *STYLES.values()])})m)")  # what `paint` puts there


# ------------------------------------------------------------------ widths and colour


def width() -> int | None:
    """Return the width of the terminal in cells; None for a pipe."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(40, min(shutil.get_terminal_size().columns, WIDEST))
    return None


def told_width() -> int | None:
    """Return the width of stderr, where hints and errors go."""
    if sys.stderr.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(40, min(shutil.get_terminal_size().columns, WIDEST))
    return None


def cells(text: str) -> int:
    """Return the width of a text in cells."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def paint(text: str, style: str) -> str:
    """Style a text if stdout is a terminal and NO_COLOR is not set."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if _has_colour() else text


def _has_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def harmless(text: str) -> str:
    """Make invisible characters visible: controls, direction marks, tags; keep line feeds, tabs, joiners."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_escape, _JOINERS.sub("", text.replace("\r\n", "\n")))


def printable(line: str) -> str:
    """Escape terminal control sequences other than our own colours."""
    if not _has_colour():
        return harmless(line)
    return "".join(part if _PAINTED.fullmatch(part) else harmless(part) for part in _PAINTED.split(line))


def escape_json(json: str) -> str:
    """Escape invisible characters in JSON; parsers restore them."""
    return _UNSEEN.sub(lambda match: _dumps(match[0])[1:-1], json)


def _escape(match: re.Match[str]) -> str:
    n = ord(match[0])
    return "\\r" if n == 0x0D else f"\\x{n:02x}" if n < 0x100 else f"\\u{n:04x}" if n < 0x10000 else f"\\U{n:08x}"


def flat(text: str) -> str:
    """Join a text into one line."""
    return harmless(" ".join(text.split()))


def cut(text: str, at_most: int | None) -> str:
    """Truncate a text to so many cells, with … at the end."""
    if at_most is None or cells(text) <= at_most:
        return text
    kept, spent = [], 1
    for character in text:
        spent += cells(character)
        if spent > at_most:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def pad(text: str, to: int) -> str:
    """Pad a text with spaces to so many cells."""
    return text + " " * (to - cells(text))


def keep_whole(command: str) -> str:
    """Return a command that is printed to be pasted; from now on no line is broken inside it."""
    _COMMANDS.add(harmless(command))
    return command


def wrap(text: str, at_most: int | None, *, lines: int | None = None) -> Iterator[str]:
    """Wrap a text at spaces and between Chinese characters."""
    done = [line for part in harmless(text).strip("\n").split("\n") for line in _break(part, at_most)]
    if lines is not None and len(done) > lines:
        done[lines - 1 :] = [cut(done[lines - 1] + " …", at_most) if at_most else done[lines - 1] + " …"]
    yield from done


def _break(line: str, at_most: int | None) -> Iterator[str]:
    if at_most is None or cells(line) <= at_most:
        yield line
        return
    row, spent = "", 0
    for whole in _units(line.expandtabs(4)):
        unit, size = whole, cells(whole)
        while spent + size > at_most and not unit.isspace():
            if row.strip() and (size <= at_most or spent > at_most // 2 or _holds_command(unit)):
                yield row.rstrip()
                row, spent = "", 0
            elif _holds_command(unit):
                break
            else:  # one word that is longer than the line
                head = cut(unit, at_most - spent + 1).removesuffix("…")
                yield row + head
                unit, row, spent = unit[len(head) :], "", 0
                size = cells(unit)
        if row or not unit.isspace() or size < at_most:
            row, spent = row + unit, spent + size
    if row.strip():
        yield row.rstrip()


def _holds_command(unit: str) -> bool:
    return any(command in unit for command in _COMMANDS)


def _units(line: str) -> list[str]:
    """Return the parts of a line between which it may be broken."""
    if not _holds_command(line):
        return _UNIT.findall(line)
    commands = "|".join(map(re.escape, sorted(_COMMANDS, key=len, reverse=True)))
    return re.findall(rf"(?:`(?:{commands})[^`\n]*`|[`(]?(?:{commands}))[^\s{_WIDE}]*[{_CLOSING}]*|{_UNIT.pattern}", line)


def table(
    rows: Sequence[Sequence[str]], *, dim: Iterable[int] = (), right: Iterable[int] = (), lines: int | None = None
) -> Iterator[str]:
    """
    Align columns; the last one wraps.

    dim, right:  columns by number
    lines:       how many the last column may take
    """
    if not rows:
        return
    rows = [[part.replace("\n", " ").replace("\t", " ") for part in row] for row in rows]  # a cell is one line, whatever is in it
    sizes = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    used, limit = sum(sizes) + 2 * len(sizes), width()
    rest = None if limit is None else max(16, limit - used)
    for row in rows:
        parts = [pad(part, size) for part, size in zip(row, sizes, strict=False)]
        for column in right:
            parts[column] = parts[column][len(row[column]) :] + row[column] if column < len(parts) else parts[column]
        first, *more = [*wrap(row[-1], rest, lines=lines)] or [""]
        parts.append(first)
        yield "  ".join(paint(part, "dim") if column in dim else part for column, part in enumerate(parts)).rstrip()
        yield from (" " * used + (paint(part, "dim") if len(sizes) in dim else part) for part in more)


def list_table(
    rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), dim: Iterable[int] = (), right: Iterable[int] = ()
) -> Iterator[str]:
    """
    Format a table ending in a text; on a narrow terminal the other columns follow below the text.

    head: the names of the columns, shown where there are columns
    """
    dim, right, limit = [*dim], [*right], width()
    whole = [head, *rows] if head and rows else rows
    used = sum(max(cells(row[column]) for row in whole) + 2 for column in range(len(whole[0]) - 1)) if whole else 0
    longest = max((cells(row[-1]) for row in rows), default=0)
    if limit is None or used + min(longest, TEXT_CELLS) <= limit:
        yield from table(whole, dim=dim, right=right, lines=TEXT_LINES)
        return
    for *others, text in rows:
        yield from stack(text, others)


def stack(text: str, below: Iterable[str]) -> Iterator[str]:
    """Return a text with its details indented below."""
    limit = width()
    yield from wrap(flat(text) or "-", limit, lines=TEXT_LINES)
    details = " · ".join(filter(None, (part.strip() for part in below)))
    yield from (paint(f"  {part}", "dim") for part in wrap(details, limit and limit - 2))


def markdown(text: str) -> Iterator[str]:
    """Yield a page of Markdown for a terminal: headings bold, tables aligned, list items wrapped below themselves."""
    limit, rows = width(), list[list[str]]()
    for line in [*text.rstrip("\n").split("\n"), ""]:
        if line.startswith("|"):
            rows += [] if line.startswith("|--") else [[cell.strip() for cell in line.strip("|").split("|")]]
            continue
        yield from table(rows, right=range(1, len(rows[0]) - 1) if rows else ())
        rows = []
        if line.startswith("#"):
            yield from (paint(part, "bold") for part in wrap(line.lstrip("# "), limit))
        elif line.startswith("- "):
            parts = wrap(line[2:], limit and limit - 2)
            yield from (f"{'  ' if place else '- '}{part}" for place, part in enumerate(parts))
        else:
            yield from wrap(line, limit)


# ------------------------------------------------------------------ our own words


def short(id: str) -> str:
    """Return an id as shown to people: its last 8 characters."""
    return f"#{id[-8:]}"


def shorten_ids(text: str) -> str:
    """Shorten the ids in a message of ours."""
    return _ID.sub(lambda match: short(match[0]), text)


def when(at: datetime) -> str:
    """Format a time in its own offset."""
    return at.isoformat(sep=" ")[:16]


def day(at: datetime) -> str:
    """Format the day of a time in its own offset."""
    return at.isoformat()[:10]


def exactly(at: datetime) -> str:
    """Format a time with its offset."""
    text = at.isoformat(sep=" ", timespec="minutes")
    return f"{text[:16]} {text[16:]}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def bytes_(count: int) -> str:
    """Format a size with a fitting unit."""
    size, unit = float(count), "bytes"
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def source(item: SemanticMemory | Turn | Episode | Attachment | Note) -> str:
    """Format a source on one line: what, who, when, which session."""
    if isinstance(item, Turn):
        parts = ["turn", short(item.id), " ".join(filter(None, [item.role, item.speaker])), when(item.said_at), item.session]
    elif isinstance(item, Episode):
        parts = ["episode", short(item.id), item.outcome, when(item.ended_at), item.session]
    elif isinstance(item, Note):
        parts = [
            "note",
            short(item.id),
            f"{item.path}:{lines(item)}",
            *([item.heading] if item.heading else []),
            when(item.said_at),
        ]
    elif isinstance(item, Attachment):
        parts = ["attachment", short(item.id), item.direction, when(item.said_at), item.session]
    else:
        parts = ["memory", short(item.id), item.kind.value, when(item.said_at)]
        origin = item.sources[-1] if item.sources else None
        if origin is not None:
            parts += [name for name in (origin.actor, origin.session) if name]
            parts += [f"from {short(origin.turn)}"] if origin.turn else []
    return harmless(" · ".join(parts))


def lines(note: Note) -> str:
    """The lines of a note in its file: 12-18."""
    return str(note.start_line) if note.start_line == note.end_line else f"{note.start_line}-{note.end_line}"


def marks(memory: SemanticMemory) -> str:
    """Return what is unusual about a memory, in brackets."""
    found = [
        *(["pinned"] if memory.pinned else []),
        *([memory.standing.value] if memory.standing.value != "fact" else []),
        *([memory.state.value] if memory.state.value != "active" else []),
        *([f"said later: {short(memory.said_later)}"] if memory.said_later else []),
        *([f"contradicts {', '.join(map(short, memory.flagged_with))}"] if memory.flagged_with and not memory.said_later else []),
    ]
    return f" ({'; '.join(found)})" if found else ""


def describe(memory: SemanticMemory) -> str:
    """Return a memory's text with its marks, truncating the text on a terminal."""
    tail = marks(memory)
    return cut(flat(memory.content), 2 * TEXT_CELLS if tail and width() is not None else None) + tail


def hits(found: Iterable[Hit]) -> Iterator[str]:
    """Yield numbered hits with their sources."""
    limit = width()
    for number, hit in enumerate(found, 1):
        body = wrap(hit.text or "(tool call)", limit and limit - 4, lines=SHOWN_LINES)
        for index, line in enumerate(body):
            yield f"{number:>2}  {line}" if index == 0 else f"    {line}"
        tail = " · taken back" if hit.taken_back else ""
        if hit.superseded_by:
            tail = f" · no longer so, see {short(hit.superseded_by)}"
        elif hit.said_later:
            tail = f" · said later: {short(hit.said_later)}"
        elif isinstance(hit.item, SemanticMemory) and hit.item.flagged_with:
            tail = f" · contradicts {', '.join(map(short, hit.item.flagged_with))}"
        yield from (f"    {paint(line, 'dim')}" for line in wrap(source(hit.item) + tail, limit and limit - 4))
