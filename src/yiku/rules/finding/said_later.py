"""
Find hits that a later statement supersedes or retracts, and hits that only seem to answer the question.

A question names the topic, so this is when statements are compared: each clause that holds something of the question
with what else was said among the hits. Whether one supersedes the other is a score with fitted weights (supersede.py).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from yiku.rules.finding import supersede
from yiku.rules.finding.rerank import SORTS
from yiku.rules.finding.supersede import Answer, Statement
from yiku.rules.finding.supersede_weights import FIRST, MARKED
from yiku.rules.lexicon import built_in
from yiku.rules.lexicon.flags import CHANGE, CORRECT, JOKE, NOW, RETRACT
from yiku.rules.statements.clause import Asked, Clause, Mood, Value
from yiku.rules.statements.read import read
from yiku.rules.statements.subjects import is_person
from yiku.rules.text.analyze import tokens
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import sentences
from yiku.rules.text.words import flags_of, words

ENOUGH = 2  # words of the question that an answer holds before what only seems to be one stands behind it
POOL = 10  # of the fused order, whatever the limit
SHORT = 160  # characters of a hit that is read whole; of a longer one the sentence that holds most words of the question
READ_FIRST = 0.5  # how likely the later of a pair that the local model read supersedes the earlier, to stand first
READ_MARKED = 0.9  # and for the earlier to be marked: of 410 statements that hold, 5 are (bench/corrections/talk-5.jsonl)
PASSAGES = 8  # of the pool that are read
LONGEST_READ = 4_000  # characters of a hit in which its sentence is looked for
_TAKES_BACK = RETRACT | JOKE | CORRECT | CHANGE | NOW  # what a turn may begin with that takes back or corrects the one before


@dataclass(frozen=True, slots=True)
class Outdated:
    """
    A clause of a statement that no longer holds, where it stands, and what decided.

    later: the statement that supersedes it, by its id
    over:  it tells of the past itself, and what supersedes it was said before
    """

    id: str
    start: int
    end: int
    later: str
    why: str
    over: bool


@dataclass(frozen=True, slots=True)
class Order:
    """
    What comparing the best hits gave.

    outdated:    clauses with what was said later
    taken_back:  ids of statements that what followed took back
    before:      pairs of ids: the first answers, the second only seems to (a plan, the past, somebody else) and stands behind it
    """

    outdated: tuple[Outdated, ...] = ()
    taken_back: frozenset[str] = frozenset()
    before: tuple[tuple[str, str], ...] = ()

    def as_of(self, since: Container[str]) -> Order:
        """The order as it was before these statements were said, of what was said before them."""
        outdated = tuple(one for one in self.outdated if one.later not in since or one.id in since)
        return Order(outdated, self.taken_back, tuple(one for one in self.before if one[0] not in since or one[1] in since))


class _Passage(NamedTuple):
    """Some of a statement that is read, and how many words of the question stand in it."""

    statement: Statement
    start: int
    end: int
    holds: int


def compare_hits(asked: Asked, terms: Sequence[str], pool: Sequence[Statement], following: Mapping[str, Statement]) -> Order:
    """
    What of these statements something said later replaces as an answer, and what does not answer at all.

    terms:     the index terms of the question: what is read is chosen by them
    following: by the id of a turn, what its speaker said next in the session, which may take it back or correct it
    """
    found, taken_back = answers(asked, terms, pool, following)
    outdated: list[Outdated] = []
    demoted: list[tuple[str, str]] = []
    gone = set[Answer]()
    held = _held_by_statement(found)
    for score, old, new in supersede.best(asked, found):
        if score >= MARKED:
            over, why = not supersede.said_later(new, old), supersede.why(asked, old, new)
            outdated.append(Outdated(old.statement.id, old.clause.start, old.clause.end, new.statement.id, why, over))
        as_much = len(held[new.statement.id]) >= len(held[old.statement.id])
        if score >= MARKED or (score >= FIRST and (as_much or supersede.tells_a_change(old, new))):
            demoted.append((new.statement.id, old.statement.id))
            gone.add(old)
    current = [each for each in found if each not in gone and each.holds and each.told and _answers(asked, each)]
    return Order(tuple(outdated), taken_back, (*demoted, *_only_seeming(asked, [one for one in found if one.holds], current)))


def together(orders: Iterable[Order]) -> Order:
    """What comparing several pools gave; of a clause that is outdated by several the first."""
    every = [*orders]
    outdated = {(one.id, one.start, one.end): one for order in reversed(every) for one in order.outdated}
    before = dict.fromkeys(pair for order in every for pair in order.before)
    return Order(tuple(outdated.values()), frozenset().union(*(order.taken_back for order in every)), tuple(before))


def _held_by_statement(found: Iterable[Answer]) -> Mapping[str, frozenset[str]]:
    """The content words of the question that each statement holds, in all of its clauses."""
    held: dict[str, frozenset[str]] = {}
    for each in found:
        held[each.statement.id] = held.get(each.statement.id, frozenset()) | each.held
    return held


def answers(
    asked: Asked, terms: Sequence[str], pool: Sequence[Statement], following: Mapping[str, Statement]
) -> tuple[Sequence[Answer], frozenset[str]]:
    """The clauses of these statements, in the order in which they were said, and the ids of what was taken back."""
    said = [(passage.statement, _read(passage)) for passage in _chosen(pool, terms)]
    ranks = {statement.id: rank for rank, statement in enumerate(pool)}
    next_said = {one.id: first for one, _ in said if one.id in following and (first := _opening(following[one.id]))}
    taken_back = frozenset(id for id, first in next_said.items() if first.cue == "retracts" or first.mood is Mood.JOKED)
    names = _names(said)
    found = [
        answer
        for statement, clauses in said
        if statement.id not in taken_back
        for answer in _read_for(asked, statement, clauses, names, ranks[statement.id])
    ]
    found += [
        fuller
        for answer in found
        if answer.holds and (first := next_said.get(answer.statement.id))
        if (fuller := _corrected(answer, following[answer.statement.id], first))
    ]
    return sorted(found, key=lambda each: each.key), taken_back


def _only_seeming(asked: Asked, found: Sequence[Answer], current: Sequence[Answer]) -> Iterator[tuple[str, str]]:
    """Pairs of an answer and a hit of which no clause that covers the question is plain and about whom it names."""
    if not current or asked.several:
        return
    best = max(current, key=lambda each: (bool(each.slots), each.covered, each.key))
    good = {each.statement.id for each in current}
    for each in found:
        other = each.statement.id
        about = not is_person(each.clause.subject) or supersede.is_about(asked, each.clause)
        wrong = not (each.clause.plain and about)
        if other not in good and wrong and _answers_better(best, each):
            yield best.statement.id, other


def _answers_better(best: Answer, seeming: Answer) -> bool:
    """Whether an answer is one for sure, so that what only seems to be one may stand behind it."""
    if best.slots:
        return True
    return best.covered >= seeming.covered and (bool(best.exact) or best.covered >= ENOUGH)


def _read_for(
    asked: Asked, statement: Statement, clauses: Iterable[Clause], names: Mapping[str, frozenset[str]], rank: int
) -> Iterator[Answer]:
    """The clauses of a statement, with what each of them holds of the question."""
    corrected = frozenset[str]()  # what a clause before said is to be corrected
    for said in clauses:
        clause = replace(said, called=said.called | names[said.subject]) if said.subject in names else said
        filled = tuple(slot for slot in clause.slots if slot.predicate in asked.wanted or slot.predicate in asked.content)
        holds = clause.content | clause.about | corrected
        corrected = holds if clause.cue == "corrects" else frozenset()
        given: Sequence[Value] = [slot.value for slot in filled]
        for sort in SORTS.get(asked.sort, ()):
            given = given or [value for value in clause.values if value.sort == sort]
        given = [value for value in given if not {*value.text.split()} <= asked.content]
        exact = tuple(statement.text[value.start : value.end] for value in given)
        told = frozenset(value.text for value in given) or clause.content - asked.content - clause.about
        yield Answer(statement, clause, filled, told, exact, asked.content & holds, rank)


def _names(said: Iterable[tuple[Statement, Sequence[Clause]]]) -> dict[str, frozenset[str]]:
    """The other names of whoever is called something in one of the statements: my brother is @tom, and @tom my brother."""
    names: dict[str, set[str]] = {}
    for slot in (slot for _, clauses in said for clause in clauses for slot in clause.slots if slot.predicate == "name"):
        first = next(iter(tokens(slot.value.text).words), "") if slot.value.text.isascii() else slot.value.text
        called = f"@{first or slot.value.text}"
        names.setdefault(slot.subject, set()).add(called)
        names.setdefault(called, set()).add(slot.subject)
    return {one: frozenset(others) for one, others in names.items()}


def _chosen(pool: Sequence[Statement], terms: Sequence[str]) -> list[_Passage]:
    """What is read: of each statement its best passage, of all those that hold most words of the question."""
    best = [passage for statement in pool if (passage := _best_passage(statement, terms)) is not None]
    return sorted(best, key=lambda one: -one.holds)[:PASSAGES]


def _best_passage(statement: Statement, terms: Sequence[str]) -> _Passage | None:
    """The whole of a short statement; of a long one the sentence with most words of the question, if one has any."""
    small = folded(statement.text[:LONGEST_READ])
    if len(statement.text) <= SHORT:
        return _Passage(statement, 0, len(small), _held(small, terms))
    line = _fullest(small, accumulate(map(len, small.splitlines(keepends=True)), initial=0), terms)
    start, end, holds = line
    if not holds:
        return None
    told = sentences(statement.text[start:end], built_in())
    return _Passage(statement, *_fullest(small, (start, *(start + one.end for one in told)), terms))


def _fullest(small: str, ends: Iterable[int], terms: Sequence[str]) -> tuple[int, int, int]:
    """The part of a text, between two of these places, that holds most words of the question, and how many; the first of several."""
    parts = ((start, end, _held(small[start:end], terms)) for start, end in pairwise(ends))
    return max(parts, key=lambda part: part[2])


def _held(small: str, terms: Sequence[str]) -> int:
    return sum(term in small for term in terms)


def _read(passage: _Passage) -> Sequence[Clause]:
    """The clauses of a passage, with their places in the statement."""
    clauses = read(passage.statement.text[passage.start : passage.end])
    return [_moved(clause, passage.start) for clause in clauses] if passage.start else clauses


def _moved(clause: Clause, by: int) -> Clause:
    """A clause of a sentence with its places in the text that the sentence stands in."""

    def shifted(value: Value) -> Value:
        return replace(value, start=value.start + by, end=value.end + by)

    slots = tuple(replace(slot, value=shifted(slot.value)) for slot in clause.slots)
    return replace(clause, start=clause.start + by, end=clause.end + by, values=tuple(map(shifted, clause.values)), slots=slots)


def _opening(turn: Statement) -> Clause | None:
    """The first clause of a turn, if a word in its first sentence may take back or correct what was said before it."""
    first = next(iter(sentences(turn.text[:SHORT], built_in())), None)
    if first is None or not flags_of(words(folded(turn.text[: first.stop]), 0, first.stop, built_in())) & _TAKES_BACK:
        return None
    return next(iter(read(turn.text[: first.stop])), None)


def _corrected(answer: Answer, after: Statement, clause: Clause) -> Answer | None:
    """The answer with the value that its speaker gave instead right after it: `no, 14 March`."""
    if clause.mood is not Mood.ASSERTED or len({*answer.exact}) != 1:
        return None
    if clause.cue != "corrects" and (clause.cue != "changes" or clause.explicit):
        return None
    sorts = {value.sort for value in answer.clause.values if answer.statement.text[value.start : value.end] == answer.exact[0]}
    sorts |= {"name"} if sorts & {"place", "person"} else set()  # what stands alone does not say which of them it is
    given = [value for value in clause.values if value.sort in sorts]
    if len(given) != 1 or clause.beside & answer.clause.content:
        return None
    exact = (after.text[given[0].start : given[0].end],)
    clause = replace(clause, subject=answer.clause.subject, called=answer.clause.called, denied=False)
    return Answer(after, clause, answer.slots, frozenset([given[0].text]), exact, answer.held, answer.rank)


def _answers(asked: Asked, answer: Answer) -> bool:
    """Whether a clause is plain, and about whom the question names."""
    return answer.clause.plain and supersede.is_about(asked, answer.clause)
