"""
What a person fenced off with <private>…</private> or <私密>…</私密>, and the text without it.

    The plan is <private>to leave in May</private>, 别告诉他   →   The plan is [private], 别告诉他

A tag counts wherever it stands, in a code block too, in any case, with full-width or escaped brackets: what was meant
to be private must not be kept because of how it was typed. So a tag that is never closed keeps out all that follows it.
Inside, only tags of the same name count, and each opening one needs its own end. One scan, linear in the text.
"""

from __future__ import annotations

import re

MARKS = {"private": "[private]", "私密": "[私密]"}
NOTHING = frozenset(MARKS.values())  # what is left of a text that was wholly private
TAG = re.compile(r"(?:<|＜|&lt;)\s{0,4}([/／]?)\s{0,4}((?i:private)|ｐｒｉｖａｔｅ|私密)\s{0,4}(?:[>＞]|&gt;)")


def without(text: str) -> str:
    """The text with a mark in place of each private part; the mark alone when nothing else is left but space."""
    kept: list[str] = []
    position, name, depth = 0, "", 0
    for tag in TAG.finditer(text):
        found = "私密" if tag[2] == "私密" else "private"
        if depth == 0:
            if not tag[1]:  # an end without a beginning is only text
                kept += [text[position : tag.start()], MARKS[found]]
                name, depth = found, 1
        elif found == name:
            depth += -1 if tag[1] else 1
            position = tag.end()
    if not kept:
        return text
    outside = [*kept[::2], "" if depth else text[position:]]
    return kept[1] if not "".join(outside).strip() else "".join([*kept, outside[-1]])
