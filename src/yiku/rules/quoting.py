"""
A text as it may stand in a prompt: what it says, without anything that a model would obey and a person would not see.

Two things are taken out. Invisible characters, and sequences that steer a terminal. And the marks by which a prompt is cut
into roles, sections and calls of tools: they lose their brackets and stand in quotes, so what a memory says stays a
quotation wherever it is put. The text stays readable, and the words and their order are the same.

No pattern here repeats without a bound, so each reads a text in time proportional to its length.
"""

from __future__ import annotations

import re
import unicodedata

from yiku.rules.markup import DASH, GAP, GT, LT, SLASH, spelled
from yiku.types.invisible import CONTROLS, UNSEEN

_OPENERS = "<＜﹤‹«⟨〈《❮❰⦑⧼˂ᐸ≺⊲(（﹙⦅｟[［【〔〖〚⟦❲{｛﹛"
_CLOSERS = ">＞﹥›»⟩〉》❯❱⦒⧽˃ᐳ≻⊳)）﹚⦆｠]］】〕〗〛⟧❳}｝﹜"
_OPEN, _SHUT = f"[{re.escape(_OPENERS)}]", f"[{re.escape(_CLOSERS)}]"
_ANY_OPEN = rf"(?:{_OPEN}|{LT})"

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

_OURS = re.compile(
    rf"(?:{_ANY_OPEN}{GAP}){{1,8}}+(?P<end>{SLASH}|\\)?{GAP}(?P<name>{spelled('yiku')}[\s{UNSEEN}{DASH}]{{0,32}}+{spelled('memory')})"
)
_ANGLE = re.compile(
    rf"(?:{LT}{GAP}){{1,4}}+(?P<end>{SLASH})?{GAP}(?P<name>[^\s<>＜＞&/／|｜]{{1,80}}+)(?P<more>(?:(?=[\s/／])(?:(?!{GT})[^<＜]){{0,200}}+)?+){GT}(?:{GAP}{GT}){{0,3}}+"
)
_PIPES = re.compile(rf"{LT}{GAP}[|｜¦](?P<name>[^<>＜＞|｜]{{1,80}}+)[|｜¦]{GAP}{GT}")
_BRACKET = re.compile(rf"[\[［]{GAP}(?P<end>{SLASH})?{GAP}(?P<name>[^\s\[\]［］/／]{{1,40}}+){GAP}[\]］]")
_MAY_MARK = re.compile(rf"[{re.escape(_OPENERS)}]|&|\\[ux]")
_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}+[ -/]{0,16}+[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,400}+(?:\x07|\x1b\\|\x9c)"
)
_CONTROLS, _UNSEEN = re.compile(f"[{CONTROLS}]"), re.compile(f"[{UNSEEN}]")


def visible(text: str) -> str:
    """The text without what nobody sees: sequences for a terminal, controls, direction marks, tags. Line feeds and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if _CONTROLS.search(text):
        text = _CONTROLS.sub(" ", _TERMINAL.sub("", text))
    return _UNSEEN.sub("", text)


def inert(text: str) -> str:
    """
    The text as it may stand in a prompt: nothing in it is invisible, and no mark in it is one any more.

    The fence's own name behind any bracket, and the marks of roles and tools of ROLES, lose their brackets:
    `</yiku-memory>` becomes `'/yiku-memory>`, `<|im_end|>` becomes `'im_end'`.
    """
    text = visible(text)
    if not _MAY_MARK.search(text):
        return text
    text = _OURS.sub(lambda found: f"'{'/' if found['end'] else ''}{found['name']}", text)
    text = _PIPES.sub(lambda found: f"'{found['name'].strip()}'", text)
    text = _ANGLE.sub(lambda found: _quoted(found, ROLES), text)
    return _BRACKET.sub(lambda found: _quoted(found, _SQUARE), text)


def _quoted(found: re.Match[str], names: frozenset[str]) -> str:
    """A mark of one of these names as a word in quotes; any other as it stands."""
    name = unicodedata.normalize("NFKC", _UNSEEN.sub("", found["name"])).casefold()
    bare = re.sub(f"[{DASH}]", "-", name).split(":")[-1]  # <invoke> is one, too
    if bare not in names:
        return found[0]
    more = found["more"].rstrip("/／ ") if "more" in found.re.groupindex else ""
    return f"'{'/' if found['end'] else ''}{found['name']}{more}'"
