"""
Detect credentials by their own format, such as the prefix `ghp_` of a GitHub token.

The forms are the lines of credentials.py. Each pattern begins with its literal, which the engine looks for fastest,
and a pattern is tried only if its literal can be in the text at all: all are in long runs of letters and digits, and
their prefixes begin words. So a text costs one pass over its bytes, and then what is in its long runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from yiku.rules.privacy.credentials import INNER_LINES, LINES
from yiku.rules.privacy.randomness import is_placeholder, wordlike


class Span(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str


class Issuer(NamedTuple):
    """A line of credentials.py."""

    kind: str
    prefixes: tuple[str, ...]
    body: str
    example: str
    look_alike: str


class Inner(NamedTuple):
    """A line of INNER_LINES."""

    kind: str
    literal: str
    rest: str
    before: str
    example: str
    look_alike: str


class _Form(NamedTuple):
    kind: str
    literal: str
    needed: bytes  # of the literal, what must be in a long run
    signs: frozenset[int]  # the signs in that, asked for first
    rest: str
    before: str
    begins: bool  # a credential begins with the literal, and no letter or digit stands before it


_HEAD = re.compile("[A-Za-z0-9]{1,3}")
_IN_RUN = re.compile(r"[A-Za-z0-9_+/=.~-]+")
_JWT = r"(?<![._-]eyJ)[\w-]{10,}+\.[\w-]{10,}+\.[\w-]{10,}+(?:\.[\w-]++){0,2}"

_RUN = 16  # characters; no credential of a known form has fewer in a row
_WORDS_ALONE = 0.65  # share of a body's pairs of letters that words have: then it is a name, not a credential
_BEFORE = 80  # characters that are looked at before a literal
_SIGNS = b"_-+/=.~"
_RUNS = bytes(c if (chr(c).isalnum() and c < 128) or c in _SIGNS else 32 for c in range(256))
_WORDS = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))


@cache
def issuers() -> tuple[Issuer, ...]:
    """Return the credentials with a prefix of their own."""
    return tuple(Issuer(kind, tuple(prefixes.split()), *rest) for kind, prefixes, *rest in _rows(LINES))


@cache
def inner() -> tuple[Inner, ...]:
    """Return the credentials known by a literal inside or right before them."""
    return tuple(Inner(*row) for row in _rows(INNER_LINES))


def _rows(lines: str) -> list[list[str]]:
    return [[field.strip() for field in line.split(" | ")] for line in lines.splitlines() if line and not line.startswith("#")]


@cache
def _by_head() -> dict[str, list[_Form]]:
    """Group forms by the first letters and digits of their prefix, at most three."""
    found = {"eyJ": [_form("jwt", "eyJ", _JWT, begins=True)]}
    for issuer in issuers():
        end = "" if issuer.body.endswith("+") else r"(?![^\W_])"
        for prefix in issuer.prefixes:
            head = _HEAD.match(prefix)
            found.setdefault(head[0] if head else "", []).append(_form(issuer.kind, prefix, issuer.body + end, begins=True))
    return found


@cache
def _by_signs() -> dict[frozenset[int], list[_Form]]:
    """Group the other forms by the signs in their literals."""
    found: dict[frozenset[int], list[_Form]] = {}
    for line in inner():
        form = _form(*line[:4])
        found.setdefault(form.signs, []).append(form)
    return found


def _form(kind: str, literal: str, rest: str, before: str = "", *, begins: bool = False) -> _Form:
    needed = max(_IN_RUN.findall(literal), key=len).encode()
    return _Form(kind, literal, needed, frozenset(_SIGNS).intersection(needed), rest, before, begins)


@cache
def _pattern(form: _Form) -> re.Pattern[str]:
    """
    Compile the pattern of a form on demand; all of them take 60 ms.

    It begins with the literal, and looks back from behind it: no letter or digit, unless it ends an escape.
    """
    literal = re.escape(form.literal)
    at_start = rf"(?:(?<![A-Za-z0-9]{literal})|(?<=\\[nrt]{literal})|(?<=%[0-9A-Fa-f][0-9A-Fa-f]{literal}))"
    return re.compile(f"{literal}{at_start if form.begins else ''}{form.rest}", re.ASCII)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def spans(text: str) -> Iterator[Span]:
    """Yield credentials of a known form; spans may overlap."""
    runs = b" ".join(run for run in text.encode("utf-8", "replace").translate(_RUNS).split() if len(run) >= _RUN)
    if not runs:
        return
    known = _by_head()
    present = {sign for sign in _SIGNS if sign in runs}
    inner = (forms for signs, forms in _by_signs().items() if signs <= present)
    for form in chain(*inner, *(known[head] for head in _heads(text, runs).intersection(known))):
        if form.signs <= present and form.needed in runs:
            yield from _matches(text, form)


def _heads(text: str, runs: bytes) -> set[str]:
    """Return the beginnings of the words in long runs."""
    words = runs.translate(_WORDS).decode("ascii").split()
    heads = {word[:3] for word in words}
    if "\\" in text:  # the n of an escape
        heads |= {word[1:4] for word in words}
    if "%" in text:
        heads |= {word[2:5] for word in words}
    return heads | {head[:2] for head in heads}


def _matches(text: str, form: _Form) -> Iterator[Span]:
    pattern = _pattern(form)
    for match in pattern.finditer(text):
        start, end = match.span(pattern.groups)
        if form.before:
            head = _compile(rf"(?<![A-Za-z0-9]){form.before}\Z").search(text, max(0, start - _BEFORE), start)
            if not head:
                continue
            start = head.start()
        body = start if form.before or pattern.groups else start + len(form.literal)
        if not is_placeholder(text[start:end]) and wordlike(text[body:end]) < _WORDS_ALONE:
            yield Span(start, end, form.kind)
