"""
What a person fenced off with <private>…</private> or <私密>…</私密>, and the text without it.

    The plan is <private>to leave in May</private>, 别告诉他   →   The plan is [private], 别告诉他

A tag counts wherever it stands, in a code block too, in any case, with attributes, with full-width or escaped brackets:
what was meant to be private must not be kept because of how it was typed. So a tag that is never closed keeps out all
that follows it, and <private/>, which opens like <private>, all that stands before it where nothing follows.
Inside, only tags of the same name count, and each opening one needs its own end. One scan, linear in the text.
"""

from __future__ import annotations

import re
from functools import cache

from yiku.rules import markup

MARKS = {"private": "[private]", "私密": "[私密]"}
NOTHING = frozenset(MARKS.values())  # what is left of a text that was wholly private
SUSPECT = markup.BRACKET  # a text in which this finds nothing has no private part
_NAMES = tuple(MARKS)
_CLOSES_ITSELF = re.compile(r"[/／]\s*$")


@cache
def _tag() -> re.Pattern[str]:
    """The pattern, compiled for the first text that needs it: it takes some 5 ms."""
    return markup.tag(*MARKS)


def without(text: str) -> str:
    """The text with a mark in place of each private part; the mark alone when nothing else is left but space."""
    if not markup.may_hold(text, _NAMES[0]):
        return text
    kept: list[str] = []
    position, name, depth = 0, "", 0
    for tag in _tag().finditer(text):
        found = _NAMES[0] if tag["n0"] else _NAMES[1]
        if depth == 0:
            if not tag["end"]:  # an end without a beginning is only text
                if _CLOSES_ITSELF.search(tag["more"]) and not text[tag.end() :].strip():
                    return MARKS[found]  # it is about what stands before it
                kept += [text[position : tag.start()], MARKS[found]]
                name, depth = found, 1
        elif found == name:
            depth += -1 if tag["end"] else 1
            position = tag.end()
    if not kept:
        return text
    outside = [*kept[::2], "" if depth else text[position:]]
    return kept[1] if not "".join(outside).strip() else "".join([*kept, outside[-1]])
