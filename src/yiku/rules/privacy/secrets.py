"""
Find machine credentials in a text and mask them.

    export GITHUB_TOKEN=<forty characters>   →   export GITHUB_TOKEN=[secret github-token 3f9a1c2e]

The eight digits are a keyed fingerprint: the same secret has the same mark, and nobody reads it back.
Only what a machine made is meant. What people say in their own words ("my locker code is 4711", 门锁密码是 4711,
"the wifi password is sunshine") is theirs to have remembered, and what merely looks random (hashes, ids, images) stays.

A secret is known in one of three ways: by its own form (forms.py), by what announces it (announced.py) if the value looks
random, or as the body of a private key. Invisible signs within one do not hide it. All of it is linear in the text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain

from yiku.rules.privacy import announced, forms
from yiku.rules.privacy.forms import Span
from yiku.rules.text import lazy

# Each is tried once for a run of characters, where it begins, so that a long run of one letter costs what it is long.
# A short text in which none of these finds anything has no secret: no long run of more than small letters, no eight
# characters with a digit or sign among them, no address, no command.
SUSPECT = (
    lazy.compile(r"(?<![a-z])(?=[A-Za-z0-9_+/=.~０-９Ａ-Ｚａ-ｚ-]{16})[a-z]*+[A-Z0-9_+/=.~０-９Ａ-Ｚａ-ｚ-]"),
    lazy.compile(
        r"""(?<![^\s"'`“」，。；、\u4e00-\u9fff])(?=[^\s"'`“」，。；、\u4e00-\u9fff]{8})"""
        r"""[^\s"'`“」，。；、\u4e00-\u9fff0-9０-９!@#$%^*+?~]*+[^\s\u4e00-\u9fff]{0,48}?[0-9０-９!@#$%^*+?~]"""
    ),
    lazy.compile(r"login\s|://|\s-[a-zA-Z]\S|\s-[upPawU] |\s--user"),
)

_PEM = lazy.compile(r"-----BEGIN ([A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?)-----")
_PEM_BODY = lazy.compile(r"(?:[A-Za-z0-9+/=:,>. -]|\s|\\[nr]){0,16384}+")
_PEM_CHARS = 60  # a body has at least so many; less is talk about keys

_WIDE = lazy.compile("[０-９Ａ-Ｚａ-ｚ]")
_NARROW = {0xFF01 + i: 0x21 + i for i in range(94)}  # full-width forms, one character for one
_INVISIBLE = lazy.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")  # what a copied text may have within a word


def mask_secrets(text: str, seal: Callable[[str], bytes], *, keep_lines: bool = False) -> tuple[str, tuple[str, ...]]:
    """
    Mask each secret; return the text and the kinds, in order.

    seal: a keyed hash; its first four bytes become the fingerprint
    keep_lines: every line break stays
    """
    plain = text
    cuts: list[int] = []
    if not text.isascii():
        if cuts := [match.start() for match in _INVISIBLE.finditer(text)]:
            plain = _INVISIBLE.sub("", text)
        if _WIDE.search(plain):
            plain = plain.translate(_NARROW)
    if not (spans := _merge_spans(_spans(plain))):
        return text, ()
    before = [cut - number for number, cut in enumerate(cuts)]  # each cut's place in the plain text
    pieces, position = [], 0
    for start, end, kind in spans:
        first, last = (place + bisect_right(before, place) for place in (start, end - 1))
        pieces += [text[position:first], f"[secret {kind} {seal(plain[start:end])[:4].hex()}]"]
        position = last + 1
        pieces += ["\n" * text.count("\n", first, position)] if keep_lines else []
    return "".join([*pieces, text[position:]]), tuple(span.kind for span in spans)


def _spans(text: str) -> Iterator[Span]:
    """Yield every secret, known forms first; spans may overlap."""
    found = chain(forms.spans(text), announced.in_commands(text), announced.spans(text))
    return chain(_private_keys(text), found) if "-----BEGIN" in text else found


def _merge_spans(found: Iterator[Span]) -> list[Span]:
    """Sort spans and merge overlapping ones; the kind found first wins."""
    kept: list[Span] = []
    for _, span in sorted(enumerate(found), key=lambda one: (one[1].start, one[0])):
        if kept and span.start < kept[-1].end:
            kept[-1] = Span(kept[-1].start, max(kept[-1].end, span.end), kept[-1].kind)
        else:
            kept.append(span)
    return kept


def _private_keys(text: str) -> Iterator[Span]:
    """Yield private keys, to their last line or the end of their body."""
    position = 0
    while begin := _PEM.search(text, position):
        body = _PEM_BODY.match(text, begin.end())
        position = body.end() if body else begin.end()
        end = f"-----END {begin[1]}-----"
        dashes = text.rfind("-----END", begin.end(), position + 8)  # the body may run into the last line's dashes
        stop = dashes if dashes >= 0 else position
        whole = stop + len(end) if text.startswith(end, stop) else stop
        if sum(map(str.isalnum, text[begin.end() : stop])) >= _PEM_CHARS and "..." not in text[begin.end() : stop]:
            yield Span(begin.start(), whole, "private-key")
            position = max(position, whole)
