"""
Which statements a new one may contradict, or says again, when no slot leads to them.

Candidates share telling words with it. One is marked as a possible conflict when enough speaks for it that both are of
one matter (rules/likeness.py): the new statement says another value of it («the recital is on the 12th», «recital on the
14th, bring the iron»), denies it, ends it («Biscuit died»), corrects it or says it again. A mark is a question to
somebody: where the likeness is only of words, none is asked. Nothing is replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from yiku.rules import analyze, clauses, likeness, matter
from yiku.rules.clauses import Clause
from yiku.rules.endings import STATES
from yiku.rules.questions import unasked
from yiku.rules.shared_words import EVERYDAY, LIGHT
from yiku.types import SemanticMemory

MOST = 2  # statements that one is marked against
TERMS = 24  # words that are looked up
ROWS = 16  # statements that one is compared with: those that share the most words with it, the rarest first
SHORT = 8  # weight of a clause
OTHER_SLOT = 2.0  # points more where each fills a slot of its own, and the new one ends or corrects nothing


def terms(new: SemanticMemory) -> list[str]:
    """The words by which a statement's neighbours are looked up, what else they are called too; none for how it was."""
    folded = analyze.fold(new.content)
    if len(new.content) > clauses.LONGEST or new.valid_to is not None:
        return []
    words = [
        word
        for word in dict.fromkeys(analyze.tokens(folded).words)
        if not analyze.FUNCTION_CHARACTERS.issuperset(word)
        and word not in LIGHT
        and word not in EVERYDAY
        and (len(word) > 1 or word.isdigit())
    ][:TERMS]
    others = (*clauses.alike(new.content), *(other for word in words for other in clauses.ABROAD.get(word, ())))
    return [*words, *dict.fromkeys(others)][: 2 * TERMS]


def enough(new: SemanticMemory) -> int:
    """How many of its words a row must have to be looked at: one is enough for what is short, or corrects, changes or denies."""
    plain = any(clause.denies or matter.weight(clause.words) <= SHORT for clause in clauses.clauses(new.content))
    return 1 if plain or any(likeness.does(new.content)) else 2


def likely(found: Mapping[str, Sequence[int]], least: int = 1) -> list[int]:
    """The rows that share the most words, a rare one counting more: at most ROWS, of which each has so many words at least."""
    score: dict[int, float] = {}
    for ns in found.values():
        for n in ns:
            score[n] = score.get(n, 0.0) + 1 / (1 + len(ns)) ** 0.5
    if least > 1:
        held = Counter(n for ns in found.values() for n in ns)
        score = {n: weight for n, weight in score.items() if held[n] >= least}
    return sorted(sorted(score, key=lambda n: (-score[n], -n))[:ROWS])


def restated(new: SemanticMemory, others: Iterable[SemanticMemory]) -> SemanticMemory | None:
    """The statement that says the same in other words, if one does."""
    alike = (other for other in others if _before(other, new) and matter.says(new.content, other.content))
    return next((other for other in alike if not _two_subjects(new, other)), None)


def contrary(new: SemanticMemory, others: Iterable[SemanticMemory]) -> SemanticMemory | None:
    """The statement that it denies, or that denies it, word for word, where neither fills a slot: the last said."""
    if new.slot or new.valid_to is not None:
        return None
    found = [
        other
        for other in others
        if not other.slot
        and other.valid_to is None
        and other.content_hash != new.content_hash
        and matter.contrary(new.content, other.content)
        and not any(likeness.OPEN.search(analyze.fold(text)) for text in (new.content, other.content))
    ]
    return max(found, key=lambda other: (other.said_at, other.n), default=None)


def rivals(new: SemanticMemory, others: Sequence[SemanticMemory]) -> list[SemanticMemory]:
    """The statements that it may contradict or say again, the likeliest and then the last said first; at most MOST."""
    told = likeness.told(new.content)
    shared = [(other, likeness.shared(told, likeness.told(other.content))) for other in others if _before(other, new)]
    near = [(other, common) for other, common in shared if common]
    held = Counter(word for _, common in near for word in common)
    needed, settled = likeness.needed(len(near)), new.slot and not any(likeness.does(new.content))
    found = []
    for other, common in near:
        rare = sum((1 + (held[word] - 1) / 2) ** -0.5 for word in common)
        enough = needed + OTHER_SLOT * bool(settled and other.slot and new.slot != other.slot)
        if (points := likeness.points(new.content, other.content, rare, enough)) >= enough:
            found.append((points, other.said_at, other))
    found.sort(key=lambda one: one[:2], reverse=True)
    return [other for points, _, other in found if points >= found[0][0] / 2][:MOST]


def _before(other: SemanticMemory, new: SemanticMemory) -> bool:
    return other.said_at <= new.said_at and other.valid_to is None and other.content_hash != new.content_hash


def _two_subjects(new: SemanticMemory, other: SemanticMemory) -> bool:
    """Whether the slots of two statements are of two people or things, of which neither is the owner of the other."""
    one, two = new.subject, other.subject
    if not (one and two and new.slot and other.slot) or one == two or "user" in (one, two):
        return False
    first, second = ({clauses.concept(word) for word in analyze.tokens(subject).words} for subject in (one, two))
    return not first & second


# ------------------------------------------------------------------ what an event ends without naming it


def ended(new: SemanticMemory) -> tuple[list[str], list[re.Pattern[str]]]:
    """Which states an event of the statement ends: the words by which they are looked up, and how they are told."""
    folded = unasked(analyze.fold(new.content))
    found = [(words, state) for event, words, state in STATES if event.search(folded)]
    if not found or new.valid_to is not None or likeness.NOT_SO.search(folded):
        return [], []
    return [word for words, _ in found for word in words], [state for _, state in found]


def over(new: SemanticMemory, others: Sequence[SemanticMemory], states: Sequence[re.Pattern[str]]) -> list[SemanticMemory]:
    """The statements that tell such a state of the same person, the last said first; at most MOST."""
    told = analyze.fold(new.content)
    whose = {_people(told)} | {_people(event.sub(" ", told)) for event, _, _ in STATES if event.search(told)}
    found = [
        other
        for other in others
        if _before(other, new)
        and _people(other.content) in whose
        and any(_tells(state, clause) for clause in clauses.clauses(other.content) for state in states)
        and not likeness.NOT_SO.search(analyze.fold(other.content))
    ]
    return sorted(found, key=lambda other: other.said_at, reverse=True)[:MOST]


def _tells(state: re.Pattern[str], clause: Clause) -> bool:
    """Whether a clause tells the state; one that denies does only where the state is that something is not."""
    told = state.search(clause.text)
    return told is not None and (not clause.denies or clauses.DENIES.search(told[0]) is not None)


def _people(text: str) -> frozenset[str]:
    """Of which relatives and friends a statement tells; of none, it tells of the speaker. «He» is who was named."""
    found = frozenset(word.concept for clause in clauses.clauses(text) for word in clause.words if word.is_person)
    return found - set("他她") or found
