"""
A correction that names the new value alone: «sorry, typo: it's 99 88 77 65», 不对，是3月14日.

The value takes the place of the one in what the same person had said just before, where both are of one sort, a date for a
date, and only one thing there can be meant. Words have no sort, so «no, Ann» corrects nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from yiku.rules import slots, values
from yiku.rules.analyze import normal
from yiku.types import Cardinality, SemanticMemory
from yiku.types.learning import Draft

REACHES = timedelta(hours=1)
LONGEST = 80  # characters of such a turn
# «No, 5» may answer a question; «typo: 5» does not.
_OWN = (
    r"\b(?:typo|correction|i meant?|make that|i misspoke|my (?:bad|mistake)|oops)\b"
    r"|说错了?|写错了?|打错了?|记错了?|搞错了?|口误|手滑|更正一?下?"
)
_ANY = rf"{_OWN}|\b(?:(?:no|oh),? wait|wait,? no|no|nope|sorry|actually)\b|不对|不好意思|抱歉"
_FILLING = r"\b(?:it'?s|it is|that'?s|should be|it should be)\b|应该|是"
_SIGNS = r"[\s,.:;!~，。：；！、—–-]*"
_AMENDS = re.compile(
    rf"{_SIGNS}(?>(?:(?:{_ANY}){_SIGNS})+)(?:(?:{_FILLING}){_SIGNS})*(?P<value>[^\s,，。][^?？吗]*?)[\s.!。！了啊哦]*",
    re.IGNORECASE,
)
_SURE = re.compile(_OWN, re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def value(text: str, *, answers: bool) -> str | None:
    """
    The value that a turn puts in the place of another, and nothing else.

    answers: whether a question stands before it, which «no, …» may answer
    """
    told = normal(text).strip()
    if len(told) > LONGEST or (answers and not _SURE.search(told)):
        return None
    match = _AMENDS.fullmatch(told)
    return match["value"] if match and _sort(match["value"]) else None


def draft(text: str, new: str, told: Sequence[SemanticMemory]) -> Draft | None:
    """What was told just before, with the new value; None unless one thing alone can be meant."""
    meant = [
        (one, old)
        for one in told
        if one.live
        and one.cardinality is Cardinality.SINGLE
        and _sort(old := _bare(one.object or "")) == _sort(new)
        and one.content.count(old) == 1
    ]
    if len(meant) != 1:
        return None
    known, old = meant[0]
    return Draft(
        text=known.content.replace(old, new),
        quote=text,
        rule="amended",
        kind=known.kind,
        slot=slots.stated(known.subject or "", known.predicate or "", new, known.cardinality),
        importance=known.importance,
        updates=True,
    )


def _bare(object_: str) -> str:
    """A value without the word that leads to it: «on 4 March»."""
    return re.sub(r"^(?:on|at|by|in) ", "", object_)


def _sort(text: str) -> str:
    return "mail" if _MAIL.fullmatch(text.strip()) else values.sort_of(text)
