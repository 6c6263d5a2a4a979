"""
Replace text between <private>…</private> or <私密>…</私密> with a mark.

    The plan is <private>to leave in May</private>, 别告诉他   →   The plan is [private], 别告诉他

A tag counts wherever it stands, in a code block too, in any case, with attributes, with full-width or escaped brackets:
what was meant to be private must not be kept because of how it was typed. So a tag that is never closed keeps out all
that follows it, and <private/>, which opens like <private>, all that stands before it where nothing follows.
Inside, only tags of the same name count, and each opening one needs its own end. One scan, linear in the text.
"""

from __future__ import annotations

import re

from yiku.rules.lexicon.lists import words
from yiku.rules.text import markup

SUSPECT = markup.BRACKET  # a text in which this finds nothing has no private part
_CLOSES_ITSELF = re.compile(r"[/／]\s*$")


def is_nothing(text: str) -> bool:
    """Whether a text is the mark of a wholly private one."""
    return text in map(_mark, words("records.private"))


def without(text: str, *, keep_lines: bool = False) -> str:
    """
    Replace each private part by a mark; return the mark alone if only space is left.

    keep_lines: every line break stays, so that what follows stands in the line in which it stood
    """
    if not SUSPECT.search(text) or not any(markup.may_hold(text, name) for name in words("records.private")):
        return text
    kept: list[str] = []
    position, name, depth, begin = 0, "", 0, 0
    for tag in markup.tags(text, *words("records.private")):
        if depth == 0:
            if not tag.closes:  # an end without a beginning is only text
                if _CLOSES_ITSELF.search(tag.more) and not text[tag.end :].strip():
                    return _mark(tag.name) + _breaks(text, 0, tag.end, keep_lines)  # it is about what stands before it
                kept += [text[position : tag.start], _mark(tag.name)]
                name, depth, begin = tag.name, 1, tag.start
        elif tag.name == name:
            depth += -1 if tag.closes else 1
            position = tag.end
            kept[-1] += _breaks(text, begin, position, keep_lines) if not depth else ""
    if not kept:
        return text
    outside = [*kept[::2], _breaks(text, begin, len(text), keep_lines) if depth else text[position:]]
    only_mark = not keep_lines and not "".join(outside).strip()
    return kept[1] if only_mark else "".join([*kept, outside[-1]])


def _breaks(text: str, start: int, end: int, keep: bool) -> str:
    """The line breaks of a part that is taken out, where they are kept."""
    return "\n" * text.count("\n", start, end) if keep else ""


def _mark(name: str) -> str:
    return f"[{name}]"
