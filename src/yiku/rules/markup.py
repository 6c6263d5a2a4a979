"""
Tags in a text as a language model reads them, however they were typed.

    <private>   < PRIVATE >   ＜ｐｒｉｖａｔｅ＞   &lt;private&gt;   &#60;private&#62;   <pri\u200bvate>   <private reason="…">

All of these are one tag, and `tag` builds its pattern. No part of it repeats without a bound, so it reads a text in time
proportional to its length.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from yiku.types.invisible import UNSEEN

INVISIBLE = rf"[{UNSEEN}]{{0,32}}+"
GAP = rf"[\s{UNSEEN}]{{0,32}}+"  # what may stand between the parts of a mark
_AMP = r"&(?:amp;){0,4}+"  # escaped, perhaps several times
LT = rf"(?:[<＜﹤]|(?i:{_AMP}(?:lt;?|#0{{0,6}}60;?|#x0{{0,6}}3c;?)|\\{{1,4}}(?:u003c|x3c)))"
GT = rf"(?:[>＞﹥]|(?i:{_AMP}(?:gt;?|#0{{0,6}}62;?|#x0{{0,6}}3e;?)|\\{{1,4}}(?:u003e|x3e)))"
SLASH = rf"(?:[/／⁄∕]|(?i:{_AMP}(?:sol;?|#0{{0,6}}47;?|#x0{{0,6}}2f;?)))"
BRACKET = re.compile(r"[<＜﹤\\]|&(?:[Aa#LlGg])")  # a text without any of these has no tag in it
DASH = "‐‑‒–—―−﹣－_＿-"  # inside a class, at its end

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def may_hold(text: str, word: str) -> bool:
    """Whether a tag may stand in a text whose name has this word, in small letters: what can be told at once."""
    if not BRACKET.search(text):
        return False
    return not text.isascii() or _CONTROL.search(text) is not None or word in text.lower()


@cache
def _variants() -> dict[str, str]:
    """For each small Latin letter how else it is written: capital, full-width, mathematical, circled."""
    found = {chr(n): "" for n in range(ord("a"), ord("z") + 1)}
    for start, end in ((0xFF21, 0xFF5B), (0x24B6, 0x24EA), (0x1D400, 0x1D6A4), (0x2100, 0x2150)):
        for n in range(start, end):
            letter = unicodedata.normalize("NFKC", chr(n)).lower()
            if letter in found:
                found[letter] += chr(n)
    return found


def spelled(name: str) -> str:
    """A pattern for a name in any case and width, with invisible signs between its letters; for use without flags."""
    parts = []
    for letter in name:
        if letter == "-":
            parts.append(rf"[\s{DASH}]?")
        else:
            parts.append(rf"[{letter}{letter.upper()}{_variants().get(letter, '')}]")
    return INVISIBLE.join(parts)


def tag(*names: str) -> re.Pattern[str]:
    """
    A pattern for an opening or closing tag of one of these names, however it was typed.

    Groups: end, set for a closing tag; n0, n1, … for the names in their order; more, what stands behind the name.
    """
    told = "|".join(f"(?P<n{place}>{spelled(name)})" for place, name in enumerate(names))
    more = rf"(?:(?=[\s/／{UNSEEN}])(?:(?!{GT})[^<＜﹤]){{0,300}}+)?+"
    return re.compile(rf"{LT}{GAP}(?P<end>{SLASH})?{GAP}(?:{told})(?P<more>{more}){GT}")
