"""
Make a text safe to quote in a prompt: remove invisible characters, disarm role and tool markers.

Two things are taken out. Invisible characters, and sequences that steer a terminal. And the marks by which a prompt is cut
into roles, sections and calls of tools: they lose their brackets and stand in quotes, so what a memory says stays a
quotation wherever it is put. The text stays readable, and the words and their order are the same.

No pattern here repeats without a bound, so each reads a text in time proportional to its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from yiku.rules.text import lazy
from yiku.rules.text.markup import DASH, GAP, GREATER, LESS, OPEN, OVER, SHUT, SLASHES, Seen, seen, spelled
from yiku.types.invisible import CONTROLS, UNSEEN

_OPENERS = f"<＜﹤‹«⟨〈《❮❰⦑⧼˂ᐸ≺⊲(（﹙⦅｟[［【〔〖〚⟦❲{{｛﹛{LESS}"

# Names between angle brackets that chat templates, agents and their hosts take for the end of one voice and the start of
# another; each with where it is found. Compared without case, width, invisible signs, and `-` for `_`.
ROLES = frozenset(
    (
        "system user assistant human tool function developer model ai bot"  # XML-like turns
        " memory memories context instructions instruction prompt rules documents document turns conversation history"  # hosts' sections
        " system-reminder system-prompt system-message user-message user-prompt user-query human-message assistant-message"
        " tool-call tool-calls tool-use tool-result tool-results tool-response tool-output function-call function-calls function-results"
        " function-result invoke parameter results result output command-name command-message command-args local-command-stdout"
        " think thinking thought reasoning scratchpad answer reflection"  # reasoning models
        " s bos eos pad unk sep cls mask sop eop gmask"  # LLaMA, Mistral, GLM, BERT
        " start-of-turn end-of-turn start-of-image end-of-image"  # Gemma
        " sys inst"  # LLaMA 2: <<SYS>>
        " reserved-106 reserved-107 beginofutterance endofutterance end-of-utterance fim-prefix fim-suffix fim-middle"
    ).split()
)
# Names between square brackets: LLaMA 2, Mistral, GLM.
_SQUARE = frozenset(
    "inst sys system-prompt available-tools tool-calls tool-results tool-content b-inst e-inst img img-break img-end gmask think".split()
)

_OURS = ("yiku", "memory")  # the words of the fence's name
_OPENED = lazy.compile(rf"(?:[{re.escape(_OPENERS)}]{GAP}){{1,8}}+([{SLASHES}\\])?{GAP}")
_BETWEEN = lazy.compile(rf"[\s{DASH}]{{0,32}}+")
_ANGLE = lazy.compile(
    rf"(?:[{OPEN}]{GAP}){{1,4}}+([{SLASHES}])?{GAP}([^\s<>＜＞&/／|｜{LESS}{GREATER}{OVER}]{{1,80}}+)((?:(?=[\s/／])[^<＜{SHUT}]{{0,200}}+)?+)[{SHUT}](?:{GAP}[{SHUT}]){{0,3}}+"
)
_PIPES = lazy.compile(rf"[{OPEN}]{GAP}[|｜¦]()([^<>＜＞|｜]{{1,80}}+)()[|｜¦]{GAP}[{SHUT}]")
_BRACKET = lazy.compile(rf"[\[［]{GAP}([{SLASHES}])?{GAP}([^\s\[\]［］/／]{{1,40}}+)(){GAP}[\]］]")
_MAY_MARK = lazy.compile(rf"[{re.escape(_OPENERS)}]|&|\\[ux]")
_TERMINAL = lazy.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}+[ -/]{0,16}+[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,400}+(?:\x07|\x1b\\|\x9c)"
)
_CONTROLS, _UNSEEN = lazy.compile(f"[{CONTROLS}]"), lazy.compile(f"[{UNSEEN}]")


def visible(text: str) -> str:
    """Remove invisible characters: terminal sequences, controls, direction marks, tags. Line feeds and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if _CONTROLS.search(text):
        text = _CONTROLS.sub(" ", _TERMINAL.sub("", text))
    return _UNSEEN.sub("", text)


def inert(text: str) -> str:
    """
    Return the text without invisible characters and with all marks disarmed.

    The fence's own name behind any bracket, and the marks of roles and tools of ROLES, lose their brackets:
    `</yiku-memory>` becomes `'/yiku-memory>`, `<|im_end|>` becomes `'im_end'`.
    """
    text = visible(text)
    if not _MAY_MARK.search(text):
        return text
    read = seen(text)
    read = _replace_spans(read, _ours(read))
    for pattern, names in ((_PIPES, None), (_ANGLE, ROLES), (_BRACKET, _SQUARE)):
        read = _replace_spans(read, _find_marks(read, pattern, names))
    return read.source


def _replace_spans(read: Seen, changes: Iterator[tuple[int, int, str]]) -> Seen:
    """Replace spans, given in order."""
    kept: list[str] = []
    position = 0
    for start, end, said in changes:
        first, last = read.span(start, end)
        kept += [read.source[position:first], said]
        position = last
    return seen("".join([*kept, read.source[position:]])) if kept else read


def _ours(read: Seen) -> Iterator[tuple[int, int, str]]:
    """Yield the brackets before the fence's name, to become a quotation mark."""
    for opened in _OPENED.finditer(read.text):
        first = spelled(read.text, opened.end(), _OURS[0])
        between = _BETWEEN.match(read.text, first) if first else None
        if between and spelled(read.text, between.end(), _OURS[1]):
            yield *opened.span(), f"'{'/' if opened[1] else ''}"


def _find_marks(read: Seen, pattern: re.Pattern[str], names: frozenset[str] | None) -> Iterator[tuple[int, int, str]]:
    """Yield the marks of these names, or of any name, to become quoted words."""
    for mark in pattern.finditer(read.text):
        if names is None or _bare(mark[2]) in names:
            name, more = read.said(*mark.span(2)).strip(), read.said(*mark.span(3)).rstrip("/／ ")
            yield *mark.span(), f"'{'/' if mark[1] else ''}{name}{more}'"


def _bare(name: str) -> str:
    """Normalize a name; the prefix of <x:invoke> is dropped."""
    return re.sub(f"[{DASH}]", "-", unicodedata.normalize("NFKC", name).casefold()).split(":")[-1]
