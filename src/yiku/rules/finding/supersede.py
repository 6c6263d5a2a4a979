"""
Score whether one of two clauses that may answer a question supersedes the other.

The score is the logarithm of the odds, from a logistic regression over how the two clauses and the question relate: shared
words, subjects, slots, values, cues, tense, mood and time. `scripts/fit_supersede.py` fits the weights to cases whose
outcome is known and to unrelated clauses of real talk, and writes them to `supersede_weights.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from yiku.rules.finding.supersede_weights import WEIGHTS
from yiku.rules.statements.clause import AGENT, USER, Asked, Clause, Slot, Tense
from yiku.rules.statements.subjects import is_person, of_speaker
from yiku.rules.text.analyze import tokens
from yiku.rules.text.once import once
from yiku.rules.values import canonical

_MANNER = ("hedged", "denied", "also", "many", "habit", "event", "possible", "bare", "slip", "jest", "rule", "alone")
_REASONS = 3  # features that `why` names
OF_CHANGE = frozenset({"changes", "corrects", "ends"})  # cues that tell that something changed
_OVER = "over: "  # begins the features of a clause about the past
SURE = 10.0  # the score of two values of one slot; far above what features add up to
LEAST = -0.5  # of what each clause gives alone: with less, no pair is compared further
_HOURS = (0.2, 1, 12, 24 * 7, 24 * 60)


@dataclass(frozen=True, slots=True)
class Statement:
    """A hit as this rule sees it: its id, its words, when it was said (then its place), who said it, and in which scope."""

    id: str
    text: str
    said_at: datetime
    place: int
    speaker: str
    scope: str = ""


@dataclass(frozen=True, eq=False)
class Answer:
    """
    A clause that may answer the question.

    slots:   those of its slots that the question asks for
    told:    its values of the sort asked for, or what it says beside the question
    exact:   these values as they were written
    held:    the content words of the question that it holds
    rank:    the place of its statement among the hits
    """

    statement: Statement
    clause: Clause
    slots: tuple[Slot, ...]
    told: frozenset[str]
    exact: tuple[str, ...]
    held: frozenset[str]
    rank: int

    @once
    def when(self) -> tuple[datetime, int]:
        """When its statement was said, then its place."""
        return self.statement.said_at, self.statement.place

    @property
    def key(self) -> tuple[datetime, int, int]:
        """Sort by when it was said, then by where it stands."""
        return *self.when, self.clause.start

    @property
    def covered(self) -> int:
        """How many content words of the question it holds."""
        return len(self.held)

    @property
    def holds(self) -> bool:
        """Whether something of the question stands in it."""
        return bool(self.slots or self.held)

    @once
    def numbers(self) -> tuple[str, ...]:
        """Its amounts and times, as they were written."""
        return tuple(self.statement.text[v.start : v.end] for v in self.clause.values if v.sort in ("amount", "time"))

    @once
    def stems(self) -> frozenset[str]:
        """The index terms of its words."""
        return frozenset(tokens(self.statement.text[self.clause.start : self.clause.end]).words)

    @once
    def sorts(self) -> frozenset[str]:
        """The sorts of its values."""
        return frozenset(value.sort for value in self.clause.values)


def may_supersede(new: Answer, old: Answer) -> bool:
    """
    Whether two clauses are compared: the new one was said later, or the old one tells of the past and the new one does not.

    What says nothing beside the question supersedes nothing, unless it tells a change or only one of them denies.
    "I" and "my sister" of another scope are somebody else.
    """
    if new.statement.id == old.statement.id or not old.holds:
        return False
    if new.statement.scope != old.statement.scope and (of_speaker(new.clause.subject) or of_speaker(old.clause.subject)):
        return False
    if not new.told and new.clause.cue not in OF_CHANGE and new.clause.denied is old.clause.denied:
        return False
    if said_later(new, old):
        return True
    return old.clause.tense is Tense.PAST and new.clause.plain and new.holds and said_later(old, new)


def said_later(new: Answer, old: Answer) -> bool:
    """Whether one answer was said after the other, in another statement."""
    return new.when > old.when


def tells_a_change(old: Answer, new: Answer) -> bool:
    """Whether a clause tells a change of what another says, or denies it: both hold of now, and hold a word of the question."""
    both = old.clause.plain and new.clause.plain and bool(old.held & new.held)
    return both and (new.clause.cue in OF_CHANGE or new.clause.denied is not old.clause.denied)


def fill_one_slot(old: Answer, new: Answer) -> bool:
    """Whether the later of two plain clauses gives another value to a slot that is asked for and has one value, of one subject."""
    if not (old.slots and new.slots and old.clause.plain and new.clause.plain and said_later(new, old)):
        return False
    one, other = old.clause, new.clause
    if "?" in (one.subject, other.subject) or not one.who & other.who or one.denied or other.denied or other.also or other.upcoming:
        return False
    pairs = [(a, b) for a in old.slots for b in new.slots if a.predicate == b.predicate and a.one and not a.denial | b.denial]
    return any(a.noun == b.noun and a.holder == b.holder for a, b in pairs) and not _same_value(old, new)


def best(asked: Asked, answers: Sequence[Answer]) -> Iterator[tuple[float, Answer, Answer]]:
    """For each answer that something may supersede the most likely one: the score, the old and the new."""

    @cache
    def alone(answer: Answer, name: str, over: str) -> float:
        return sum(WEIGHTS.get(over + one, 0.0) for one in _of_one(asked, answer, name))

    for old in (each for each in answers if each.holds):
        found: list[tuple[float, Answer]] = []
        for new in answers:
            if may_supersede(new, old):
                over = "" if said_later(new, old) else _OVER
                known = alone(old, "old", over) + alone(new, "new", over)
                if fill_one_slot(old, new):
                    found.append((SURE, new))
                elif known >= LEAST:
                    found.append((known + sum(WEIGHTS.get(one, 0.0) for one in _of_both(asked, old, new)), new))
        if found:
            score, new = max(found, key=lambda pair: (pair[0], pair[1].key))
            yield score, old, new


def why(asked: Asked, old: Answer, new: Answer) -> str:
    """The features that counted most for it."""
    found = sorted(features(asked, old, new), key=lambda feature: -WEIGHTS.get(feature, 0.0))
    return ", ".join(feature.removeprefix(_OVER) for feature in found[:_REASONS])


def features(asked: Asked, old: Answer, new: Answer) -> list[str]:
    """How two clauses and the question relate; a clause about the past has weights of its own."""
    over = "" if said_later(new, old) else _OVER
    alone = [*_of_one(asked, old, "old"), *_of_one(asked, new, "new")]
    return [*(over + feature for feature in alone), *_of_both(asked, old, new)]


def _of_both(asked: Asked, old: Answer, new: Answer) -> list[str]:
    """The features that neither clause has alone."""
    found = [*_of_question(asked, old, new), *_of_words(asked, old, new), *_of_values(old, new), *_of_manner(old, new)]
    if said_later(new, old):
        hours = (new.statement.said_at - old.statement.said_at).total_seconds() / 3600
        return [*found, f"hours {_step(hours, *_HOURS)}"]
    return [_OVER + feature for feature in found]


def _of_question(asked: Asked, old: Answer, new: Answer) -> Iterator[str]:
    """How much of the question each holds, and of whom they speak."""
    yield "bias"
    one, other = old.clause, new.clause
    yield f"asked {asked.sort}"
    yield f"words held {min(old.covered, 3)} {min(new.covered, 3)}"
    yield "new holds as much" if new.covered >= old.covered else "new holds less"
    if asked.several:
        yield "several asked"
    yield f"subjects {_subjects(one, other)}"
    if not _same_subject(one, other):
        yield "another subject"
    yield "new ranks first" if new.rank < old.rank else "old ranks first"


def _of_words(asked: Asked, old: Answer, new: Answer) -> Iterator[str]:
    """Which words they share, and which only one of them has."""
    one, other = old.clause, new.clause
    shared = one.content & other.content
    yield f"shared {_step(len(shared), 0, 1, 2, 3)}"
    yield f"shared beside the question {_step(len(shared - asked.content), 0, 1, 2)}"
    yield f"share of words {_step(len(shared) / max(1, min(len(one.content), len(other.content))), 0, 0.25, 0.5, 0.75, 0.99)}"
    yield f"share of stems {_step(len(old.stems & new.stems) / max(1, min(len(old.stems), len(new.stems))), 0, 0.2, 0.4, 0.6, 0.8)}"
    yield f"new adds {_step(len(other.beside - one.content - asked.content), 0, 1, 2, 4)}"
    yield f"old alone has {_step(len(one.beside - other.content - asked.content), 0, 1, 2, 4)}"
    left, right = one.about - other.about, other.about - one.about
    if left and right:
        yield "topics differ"
        if (left | right) & (asked.content | asked.around):
            yield "topics differ in the question"
    elif one.about and not left and not right:
        yield "one topic"
    if right & asked.content:
        yield "new topic asked for"
    if left & asked.content:
        yield "old topic asked for"
    if right - asked.content:
        yield "new topic is more"


def _of_values(old: Answer, new: Answer) -> Iterator[str]:
    """Which slots and values they have, and whether these are the same."""
    one, other = old.clause, new.clause
    yield f"values asked for {bool(old.exact)} {bool(new.exact)}"
    if _same_value(old, new):
        yield "same value"
    elif old.exact and new.exact:
        yield "other value"
    if told := old.told & other.content:
        yield f"old value named {_step(len(told) / len(old.told), 0.34, 0.67)}"
        if other.denied or other.cue:
            yield "old value named with a cue"
    if old.told and new.told and not new.told & one.content:
        yield "new value"
    yield from (f"both have {sort}" for sort in sorted(old.sorts & new.sorts))
    if old.sorts - new.sorts:
        yield "new lacks a sort"
    if not new.sorts:
        yield "new has no value"
    if old.numbers and new.numbers:
        yield f"numbers {_alike(old, new)}"
    pairs = [(a, b) for a in one.slots for b in other.slots if a.predicate == b.predicate]
    if pairs:
        yield "same slot"
        yield "same slot of one value" if any(a.one for a, _ in pairs) else "same slot of many values"
    elif one.slots and other.slots:
        yield "other slots"
    if old.slots or new.slots:
        yield f"slot asked for {bool(old.slots)} {bool(new.slots)}"


def _of_manner(old: Answer, new: Answer) -> Iterator[str]:
    """In what they differ: denial, and who said it."""
    if old.clause.denied is not new.clause.denied:
        yield "one denies"
    if old.statement.speaker != new.statement.speaker:
        yield "another speaker"


def _of_one(asked: Asked, answer: Answer, name: str) -> Iterator[str]:
    """How one of them is said, of whom, how much of the question it contains, and its rank."""
    clause = answer.clause
    yield f"{name} {clause.tense}"
    yield f"{name} {clause.mood}"
    yield f"{name} cue {clause.cue}"
    yield from (f"{name} {manner}" for manner in _MANNER if getattr(clause, manner))
    yield f"{name} holds {_step(answer.covered / max(1, len(asked.content)), 0, 0.34, 0.67, 0.99)}"
    yield f"rank of {name} {_step(answer.rank, 0, 1, 2, 4)}"
    if not is_about(asked, clause):
        yield f"{name} of somebody else"
    elif asked.subjects:
        yield f"{name} {'of whom is asked' if clause.who & asked.subjects else 'of ' + _sort_of(clause.subject)}"
    if name == "new":
        yield "new names its subject" if clause.explicit else "new names no subject"
        if clause.start > 1:
            yield "new stands within"


def _step(value: float, *edges: float) -> int:
    return sum(value > edge for edge in edges)


def _alike(old: Answer, new: Answer) -> str:
    """Whether the amounts and times of two clauses are the same, however they are written."""
    at, new_at = old.statement.said_at, new.statement.said_at
    left = [one for one in old.numbers if not any(canonical.same(one, at, other, new_at) for other in new.numbers)]
    right = [one for one in new.numbers if not any(canonical.same(other, at, one, new_at) for other in old.numbers)]
    return "all the same" if not left and not right else "some the same" if len(left) < len(old.numbers) else "differ"


def _same_value(old: Answer, new: Answer) -> bool:
    """Whether a value of one is a value of the other, written otherwise: three and 3, 30 s and 30000 ms."""
    at, new_at = old.statement.said_at, new.statement.said_at
    if not old.exact and not new.exact:
        return bool(old.told & new.told)
    first, second = ([*(each.exact or each.numbers)] for each in (old, new))
    left = [one for one in first if not any(canonical.same(one, at, other, new_at) for other in second)]
    right = [one for one in second if not any(canonical.same(one, new_at, other, at) for other in first)]
    return bool(first and second) and not (left and right)


def _sort_of(subject: str) -> str:
    if subject in ("", "?", AGENT, USER):
        return {"": "nobody", "?": "somebody unsure"}.get(subject, subject)
    return "a person" if is_person(subject) else "a thing"


def _subjects(one: Clause, other: Clause) -> str:
    """Of which sorts two subjects are."""
    if one.who & other.who:
        return f"same {_sort_of(one.subject)}"
    return ", ".join(sorted((_sort_of(one.subject), _sort_of(other.subject))))


def _same_subject(one: Clause, other: Clause) -> bool:
    """Whether two clauses may speak of one subject: the same person, or neither of another person."""
    if "?" in (one.subject, other.subject):
        return False
    if one.who & other.who:
        return True
    if "'s " in one.subject or "'s " in other.subject:
        return False
    named = {each for each in (one.subject, other.subject) if each.startswith("@")}
    if named:
        return any(stems_of(name) & one.content & other.content for name in named)
    return AGENT not in (one.subject, other.subject) or one.subject == other.subject


def is_about(asked: Asked, clause: Clause) -> bool:
    """Whether a clause speaks of whom the question names, if it names somebody; of a thing it may always."""
    if not is_person(clause.subject):
        return not any(map(is_person, asked.subjects)) or not clause.subject or clause.subject not in (USER, AGENT)
    if asked.sort == "person" and clause.subject.startswith("@"):
        return True  # who it is may be the subject: Ann chairs it
    return not asked.subjects or bool(clause.who & asked.subjects) or any(stems_of(one) & clause.about for one in asked.subjects)


def stems_of(subject: str) -> frozenset[str]:
    """The stems of a name; none of somebody who is not named."""
    return frozenset(tokens(subject[1:]).words) if subject.startswith("@") else frozenset()
