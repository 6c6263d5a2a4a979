"""
What a question asks for: its search terms, the slots it may mean, and whether it wants the past.

The slots are candidates only: every subject the question names (the owner by «I» or 我, a name, what
belongs to somebody) with every predicate it hints at. The store knows which of these exist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from yiku.rules import slots
from yiku.rules.analyze import UNSPACED_RUN, fold, question
from yiku.types import Tokens

LONGEST_ASKED = 300  # characters; a longer message hardly asks for one slot
LONGEST_NAME_WORDS = 4
LONGEST_NAME_CHARACTERS = 8

_PAST = re.compile(
    r"\bused to\b|\buse to\b|\bhave i (?:ever )?(?:lived|worked)\b|\bprevious(?:ly)?\b|\bformer(?:ly)?\b|\bearlier\b|\boriginal(?:ly)?\b|\bat first\b|\bin the past\b|\bback then\b|\bhistory\b|\bonce (?:lived|worked)\b"
    r"|\b(?:did|was|were|had)\b.*\bbefore\b|\bbefore\b.*\b(?:did|was|were)\b|\bold (?:address|home|employer|job|version|deadline|phone|email|name)\b|\bfirst (?:version|deadline|employer|job|address|home)\b|\blast (?:employer|job|address|home)\b"
    r"|以前|之前|原来|原先|原本|最初|曾经|过去|一开始|从前|当初|历史|上一(?:个|家|份|版)|旧的?(?:地址|公司|版本|住址)"
)
_FIRST = re.compile(r"\b(?:i|me|my|mine|i'm|i've|we|our|us)\b|我|咱|俺")
_GAPS = re.compile(r"[\s\"“”‘’「」『』《》（）()\[\],!！。，;；:：?？、]+")


@dataclass(frozen=True, slots=True)
class Question:
    """
    A question, taken apart.

    subjects × predicates are the slots it may ask for; hinted are the predicates of the known table.
    """

    text: str
    terms: Tokens
    subjects: tuple[str, ...]
    predicates: tuple[str, ...]
    hinted: tuple[str, ...]
    wants_history: bool


def analyse(text: str, names: Sequence[str] = ()) -> Question:
    """Take a question apart; `names` are what the owner is called."""
    folded = fold(text).strip()
    terms = question(text)
    if len(folded) > LONGEST_ASKED:
        return Question(folded, terms, (), (), (), False)
    hinted = slots.asked(folded)
    phrases = _phrases(folded)
    owners = {phrase.removesuffix("'s") for phrase in phrases if phrase.endswith("'s")}
    subjects = {slots.subject_of(phrase, names=names) for phrase in phrases | owners}
    if not _FIRST.search(folded) and not any(fold(name) in folded for name in names):
        subjects.discard(slots.USER)
    predicates = slots.own_names(phrases) | set(hinted)
    return Question(folded, terms, tuple(sorted(subjects)), tuple(sorted(predicates)), hinted, bool(_PAST.search(folded)))


def _phrases(folded: str) -> set[str]:
    """Every run of up to four words, and every run of up to eight Chinese characters."""
    words = [word for piece in _GAPS.split(folded) for word in UNSPACED_RUN.split(piece) if word]
    found = {
        "".join(_glued(words[i:j])) for i in range(len(words)) for j in range(i + 1, min(i + LONGEST_NAME_WORDS, len(words)) + 1)
    }
    for run in UNSPACED_RUN.findall(folded):
        found |= {run[i:j] for i in range(len(run)) for j in range(i + 1, min(i + LONGEST_NAME_CHARACTERS, len(run)) + 1)}
    return found


def _glued(words: Sequence[str]) -> list[str]:
    """Words with a space between, but none beside Chinese."""
    glued = [words[0]]
    for before, word in pairwise(words):
        glued += [word] if UNSPACED_RUN.match(before) or UNSPACED_RUN.match(word) else [" ", word]
    return glued
