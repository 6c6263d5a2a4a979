"""
Full texts of a turn, also from blobs: read them, make search tokens, locate a quote, rewrite them for redaction.

A long content lies in a blob; here it is read whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from yiku.errors import Damaged, NotFound
from yiku.files import blobs
from yiku.flows.common.handle import Handle, content_hash
from yiku.rules.privacy import erasure, redaction
from yiku.rules.text import analyze
from yiku.rules.text.safe_ends import STOPS
from yiku.types import Tokens, Turn

# ------------------------------------------------------------------ what it is found by


def tokens(turn: Turn) -> Tokens:
    """Return a turn's search tokens: its speaker's name and content."""
    return analyze.tokens(with_speaker(turn))


def with_speaker(turn: Turn) -> str:
    """Return the content, preceded by the speaker's name."""
    return f"{turn.speaker}: {turn.content}" if turn.speaker else turn.content


def text_of(turn: Turn) -> str:
    """Return the text of a turn; empty for a redacted one."""
    content = turn.content.strip()
    return "" if content in redaction.marks() else content


def tool_tokens(turn: Turn) -> Tokens | None:
    """Return the search tokens of tool calls: names, inputs and results."""
    if not turn.tool_calls and not turn.tool_results:
        return None
    called = (f"{call.get('name', '')} {json.dumps(call.get('input'), ensure_ascii=False)}" for call in turn.tool_calls)
    return analyze.tokens(" ".join([*called, *(str(result.get("content", "")) for result in turn.tool_results)]))


# ------------------------------------------------------------------ all that it says


def content(handle: Handle, turn: Turn) -> str:
    """Return the full content of a turn."""
    return turn.content if turn.blob is None else blob(handle, turn.blob, turn.content)


def blob(handle: Handle, name: str, otherwise: str = "") -> str:
    """Return a long content as text; in a copy of the store the blob may be missing."""
    try:
        return blobs.get_bytes(handle.blobs, name).decode(errors="replace")
    except (NotFound, Damaged):
        return otherwise


def with_results(handle: Handle, turn: Turn) -> Turn:
    """Return a turn with the results of its tools in full."""
    return replace(
        turn,
        tool_results=tuple(
            {**result, "content": blob(handle, name, result.get("content", ""))}
            if isinstance(name := result.get("blob"), str)
            else result
            for result in turn.tool_results
        ),
    )


def texts(handle: Handle, turn: Turn) -> list[str]:
    """Return every text of a turn and its tools, long contents in full."""
    attached = erasure.strings([turn.tool_calls, turn.tool_results, turn.metadata])
    long = [blob(handle, name) for name in blob_names(turn) if name != turn.blob]
    return [content(handle, turn), *attached, *long]


def blob_names(turn: Turn) -> list[str]:
    """Return the blobs that a turn refers to."""
    named = (turn.blob, *(result.get("blob") for result in turn.tool_results))
    return [name for name in named if isinstance(name, str)]


def span(handle: Handle, turn: Turn, words: str) -> tuple[int, int] | None:
    """Return the first place where words occur verbatim in the full content of a turn, in characters, or None."""
    words = words.strip()
    if (at := turn.content.find(words)) < 0:
        words = words.rstrip(STOPS)
        at = turn.content.find(words) if words else -1
    if turn.blob is not None and words and not 0 <= at <= blobs.HEAD_CHARS - len(words):  # behind the head all stands elsewhere
        at = content(handle, turn).find(words)
    return (at, at + len(words)) if at >= 0 and words else None


# ------------------------------------------------------------------ what is left of it


def rewrite(
    handle: Handle, turn: Turn, left: Callable[[str], str], *, of_content: Callable[[str], str] | None = None, keep: bool = True
) -> Turn:
    """
    Return the turn with a function applied to each of its texts; unchanged if nothing changes.

    of_content: another function for what was said
    keep:       its blobs are on the disk
    """
    after = replace(
        turn,
        tool_calls=redaction.rewrite_texts(turn.tool_calls, left),
        tool_results=tuple(_result(handle, result, left, keep) for result in turn.tool_results),
        metadata=redaction.rewrite_texts(turn.metadata, left),
    )
    whole = content(handle, turn)
    if (rest := (of_content or left)(whole)) == whole:
        return after
    digest, name = content_hash(rest), None
    if blobs.is_long(rest):
        name, rest = blobs.put(handle.blobs, rest) if keep else None, blobs.excerpt(rest)
    return replace(after, content=rest, content_hash=digest, blob=name)


def _result(handle: Handle, result: Mapping[str, Any], left: Callable[[str], str], keep: bool) -> Mapping[str, Any]:
    """Apply a function to a tool's result; a long one is in a blob."""
    rest = {key: value if key == "blob" else redaction.rewrite_texts(value, left) for key, value in result.items()}
    if not isinstance(name := result.get("blob"), str):
        return rest
    whole = blob(handle, name)
    if (text := left(whole)) == whole:
        return rest
    del rest["blob"]
    if blobs.is_long(text) and keep:
        return {**rest, "content": blobs.excerpt(text), "blob": blobs.put(handle.blobs, text)}
    return {**rest, "content": text}
