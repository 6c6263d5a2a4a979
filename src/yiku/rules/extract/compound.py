"""
Several facts in one breath, each as a statement of its own: «I live in Bergen and work at Equinor», 我妹妹叫小雨，她对花生过敏.

A statement fills one slot, and a correction retires a whole statement. So what two slots are told in one sentence is
cut where the second begins, and the subject is written out for what has none. What fills no slot stays with what it
stands beside; a sentence that tells of one slot alone stays whole, in the speaker's words.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from yiku.rules import slots
from yiku.rules.extract import chinese
from yiku.rules.extract.clauses import HAN
from yiku.rules.extract.cues import compiled
from yiku.types import Cardinality, Slot

SHORTEST = 3  # characters of a part
_NOTHING = frozenset("it that this them there 它 他 她 这个 那个".split())  # objects that stand for what was said before


class Part(NamedTuple):
    """A part of a sentence: where its words stand in it, and the statement that they make."""

    start: int
    end: int
    text: str


_VERB = r"(?:is|are|am|was|has|have|had|lives?|works?|likes?|loves?|hates?|prefers?|speaks?|uses?|drives?|owns?|stud(?:y|ies)|plays?|teach(?:es)?|runs?|can|turn(?:s|ed)|go(?:es)?)"
_CUT = r"(?i)(?:\s*[,;]\s*(?:(?:and|but)\s+)?(?:also\s+)?|\s+(?:and|but)\s+(?:also\s+)?)(?=\S)"
_SUBJECT = rf"(?i)^(?:(?:actually|also|so|and|but|well|oh),? )*(?P<s>i|we|my(?: [\w-]+){{1,3}}?|our(?: [\w-]+){{1,3}}?|(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?)(?='s\b|'m\b|'re\b|'ve\b| (?:{_VERB})\b)"
_OWN = r"(?i)^(?:i|we|my|our)\b"
_PRONOUN = r"(?i)^(?:she|he|they|it)(?P<is>'s|'re)?(?=\s)"
_BARE = rf"(?i)^(?:(?:now|also|still|currently) )?{_VERB}\b(?! (?:it|that|this)\b)"
_ZH_CUT = r"[,，;；、]\s*"
_ZH_SUBJECT = r"^(?:其实|不过|但是?|而且|所以|对了,?|更正:?)?(?P<s>(?:我|我们|咱)?[^,，的是]{0,5}?)(?=叫|是|在|住|对|有|今年|姓|喜欢|爱|讨厌|开着?|用|养|学|教|当|做|属|现在|\d+岁|[一二两三四五六七八九十]+岁)"
_ZH_OWN = r"^(?:我|咱|俺)"
_ZH_PRONOUN = r"^[她他它](?=[^们])"
_ZH_BARE = (
    r"^(?:现在|目前|今年|也|还|平时|一直|从小)*(?:叫|是|在|住|对|有|姓|喜欢|爱|讨厌|用|养|会|\d+岁|[一二两三四五六七八九十]+岁)"
)


def parts(text: str, *, speaker: str | None = None, names: Sequence[str] = ()) -> list[Part]:
    """The statements of a sentence that tells of several slots, in order; none where it tells of one at most."""
    found: list[tuple[Part, Slot | None]] = []
    for part in _standing_alone(text):
        slot = slots.read(part.text, speaker=speaker, names=names)
        slot = slot if slot and slot.key and slots.is_known(slot.predicate) and slot.object not in _NOTHING else None
        if found and (slot is None or found[-1][1] is None):  # it stays with what it stands beside
            before, known = found.pop()
            found.append((Part(before.start, part.end, before.text + text[before.end : part.end]), known or slot))
        else:
            found.append((part, slot))
    told = {
        (slot.subject, slot.predicate, slot.object if slot.cardinality is Cardinality.MULTI else "") for _, slot in found if slot
    }
    return [part for part, _ in found] if len(told) == len(found) > 1 else []


def _standing_alone(text: str) -> Iterator[Part]:
    """The parts between commas and «and», each with a subject; one that could have none belongs to the part before it."""
    in_chinese = HAN.search(text) is not None
    cut, subject, with_subject = (_ZH_CUT, _ZH_SUBJECT, _with_subject_zh) if in_chinese else (_CUT, _SUBJECT, _with_subject)
    first = compiled(subject).match(text)
    who = first["s"] if first else ""
    start = 0
    for place in compiled(cut).finditer(text):
        if place.start() - start >= SHORTEST and with_subject(text[place.end() :], who) is not None:
            mine = text[start : place.start()]
            yield Part(start, place.start(), mine if start == 0 else with_subject(mine, who) or mine)
            start = place.end()
    mine = text[start:]
    yield Part(start, len(text), mine if start == 0 else with_subject(mine, who) or mine)


def _with_subject(words: str, who: str) -> str | None:
    """Words that could be a statement, with their subject; None where they hang on what is before them."""
    if compiled(_OWN).match(words):
        return words
    if who and (match := compiled(_PRONOUN).match(words)):
        return who + {"'s": " is", "'re": " are"}.get(match["is"] or "", "") + words[match.end() :]
    return f"{who} {words}" if who and compiled(_BARE).match(words) else None


def _with_subject_zh(words: str, who: str) -> str | None:
    """The same in Chinese."""
    words = compiled(chinese.ELLIPTIC).sub("", words)
    if compiled(_ZH_OWN).match(words):
        return words
    if who and (match := compiled(_ZH_PRONOUN).match(words)):
        return who + words[match.end() :]
    return who + words if who and compiled(_ZH_BARE).match(words) else None
