"""
Format whole items for a prompt: every line of a text, with tool calls and their results.

    [turn, 2026-03-01 09:00, user, session s1, #89abcdef]
      I moved to Oslo.
      (calls weather with {"city": "Oslo"})
      (result: 4 degrees)

The words stand indented and inert, so nothing in them is the head of another item, or the end of the quotation. One item is read
from a line on; several share the room, and say how much of each is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from yiku.rules.finding.pack import Item, trust_marks
from yiku.rules.lexicon.lists import label
from yiku.rules.privacy import fence, quoting
from yiku.types import Attachment, Episode, Note, SemanticMemory, Turn

NAME_CHARS = 80  # of a speaker, session or path in the head of an item
LINE_CHARS = 4_000  # of one line; a longer one is several, so that all of a log without line breaks can be read


def quote(
    items: Sequence[Item],
    language: str,
    *,
    seal: fence.Seal,
    max_chars: int,
    now: datetime,
    texts: Mapping[str, str] | None = None,
    from_line: int = 1,
) -> str:
    """
    Return items as one fenced text, in the order given.

    max_chars: of all their words together; an item has an equal share of what those before it left
    texts:     by id, the whole words of an item whose own text is only its beginning
    from_line: the first line of each text that is shown
    """
    blocks: list[str] = []
    room = max_chars
    for place, item in enumerate(items):
        lines = _lines(item, (texts or {}).get(item.id))
        shown, left_out = _fitting(lines[from_line - 1 :], room // (len(items) - place))
        room -= sum(map(len, shown))
        start = from_line + len(shown)
        if not shown:  # the text ends before that line
            left_out, start = len(lines), 1
        more = [label("context.lines_left_out", language).format(left_out, start)] if left_out else []
        blocks.append("\n".join([_head(item, language, now), *(f"  {line}" for line in shown), *more]))
    return fence.wrap("\n".join([label("context.quoted", language), *blocks]), seal) if blocks else ""


def _fitting(lines: Sequence[str], room: int) -> tuple[list[str], int]:
    """Return the first lines that fit, at least one, and how many are left out."""
    shown: list[str] = []
    for line in lines:
        if shown and room < len(line):
            break
        shown.append(line)
        room -= len(line)
    return shown, len(lines) - len(shown)


def _head(item: Item, language: str, now: datetime) -> str:
    """One line that says what the item is, when it was said and by whom, and its id."""
    match item:
        case Note():
            parts = ["note", f"{item.said_at:%Y-%m-%d}", f"{_name(item.path)}:{item.start_line}-{item.end_line}"]
        case Episode():
            parts = ["episode", f"{item.started_at:%Y-%m-%d %H:%M}", f"session {_name(item.session)}"]
        case Attachment():
            parts = ["attachment", f"{item.said_at:%Y-%m-%d %H:%M}", f"session {_name(item.session)}"]
        case Turn():
            who = _name(item.speaker) if item.speaker else item.role
            marks = [item.role, *trust_marks(item, item.role, language)] if item.speaker else trust_marks(item, who, language)
            marks += [label("context.forgotten", language)] if item.hidden_at is not None else []
            parts = ["turn", f"{item.said_at:%Y-%m-%d %H:%M}", who, *marks, f"session {_name(item.session)}"]
        case SemanticMemory():
            state = [] if item.live else [label("context.replaced", language)] if item.superseded_by else [item.state.value]
            state = [] if item.state.value == "candidate" else state
            if item.expired(now) and not state:
                state = [label("context.expired", language)]
            parts = [
                item.kind.value,
                f"{item.said_at:%Y-%m-%d}",
                item.origin.value,
                *trust_marks(item, item.origin.value, language),
                *state,
            ]
    return f"[{', '.join([*parts, f'#{item.id[-8:]}'])}]"


def _name(text: str) -> str:
    """Return a name without what parts the head of an item."""
    plain = "".join(" " if sign in "[],#\n" else sign for sign in quoting.inert(text))
    return " ".join(plain.split())[:NAME_CHARS] or "?"


def _lines(item: Item, text: str | None) -> list[str]:
    """Return the inert lines of an item: its words, then its details."""
    return [line for part in _parts(item, text) for long in quoting.inert(part).splitlines() for line in _wrapped(long)]


def _wrapped(line: str) -> Iterator[str]:
    """Yield a line in pieces that are not too long, cut at spaces where there are any; nothing for an empty one."""
    start = 0
    while start < len(line):
        end = start + LINE_CHARS
        if end < len(line):
            end = line.rfind(" ", end - LINE_CHARS // 2, end) + 1 or end
        if piece := line[start:end].rstrip():
            yield piece
        start = end


def _parts(item: Item, text: str | None) -> Iterator[str]:
    match item:
        case Turn():
            yield item.content if text is None else text
            yield from (f"(calls {call.get('name', '?')} with {_json(call.get('input'))})" for call in item.tool_calls)
            for result in item.tool_results:
                yield f"({'failed' if result.get('is_error') else 'result'}: {_json(result.get('content'))})"
        case Episode():
            yield item.summary or item.goal
            yield from (
                f"{name}: {'; '.join(values)}"
                for name, values in (("decisions", item.decisions), ("tools", item.tools_used))
                if values
            )
            for node in item.action_nodes:
                yield f"(called {node.tool_name} with {_json(node.key_params)}: {node.result_summary or node.error_message or ''})"
        case Attachment():
            yield item.filename
            yield from filter(None, (item.local_path, item.url, item.description, item.transcription, item.extracted_text))
        case Note():
            yield from filter(None, (item.heading, item.text))
        case SemanticMemory():
            yield item.content
            if item.tags:
                yield f"tags: {', '.join(item.tags)}"
            if item.metadata:
                yield f"metadata: {_json(dict(item.metadata))}"
            for source in item.sources:
                said = f': "{source.text}"' if source.text else ""
                turn = f", turn #{source.turn[-8:]}" if source.turn else ""
                yield f"source: {source.origin.value}, {source.said_at:%Y-%m-%d %H:%M}{turn}{said}"


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
