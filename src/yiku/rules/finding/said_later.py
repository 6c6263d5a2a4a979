"""
Which of the best hits answer the same question about the same subject, and which of them was said last.

A question names the topic, so this is when statements are compared. Two clauses answer the same question if both are
plain, both speak of the same somebody or something, both give a value of the sort that is asked for and the values
differ, and either they fill the same slot, or the later holds as many of the question's content words as the earlier,
or the later corrects or changes something and holds at least one of them. What cannot be read moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, pairwise
from typing import NamedTuple

from yiku.rules.lexicon import built_in
from yiku.rules.lexicon.flags import CHANGE, CORRECT, JOKE, NOW, RETRACT
from yiku.rules.statements.clause import AGENT, USER, Asked, Clause, Mood, Slot, Tense, Value
from yiku.rules.statements.read import read
from yiku.rules.statements.subjects import is_person
from yiku.rules.text.analyze import tokens
from yiku.rules.text.folding import folded
from yiku.rules.text.sentences import sentences
from yiku.rules.text.words import flags_of, words
from yiku.rules.values import canonical

ENOUGH = 2  # words of the question that both hold before the earlier is marked
POOL = 10  # of the fused order, whatever the limit
SHORT = 160  # characters of a hit that is read whole; of a longer one the sentence that holds most words of the question
NEXT = 3  # hits behind the first of which one may tell a change since
AS_WELL = 0.8  # of the relevance of the first, that such a hit has at least
PASSAGES = 8  # of the pool that are read
LONGEST_READ = 4_000  # characters of a hit in which its sentence is looked for
_TAKES_BACK = RETRACT | JOKE | CORRECT | CHANGE | NOW  # what a turn may begin with that takes back or corrects the one before
_TELLS_A_CHANGE = frozenset({"changes", "corrects", "ends"})
_SORTS = {"place": ("place", "name"), "person": ("name", "person"), "amount": ("amount", "time"), "time": ("time", "amount")}


@dataclass(frozen=True, slots=True)
class Statement:
    """A hit as this rule sees it: its id, its words, when it was said (then its place), and who said it."""

    id: str
    text: str
    said_at: datetime
    place: int
    speaker: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """A clause of a statement about which something else was said later, where it stands, and what decided."""

    id: str
    start: int
    end: int
    later: str
    why: str


@dataclass(frozen=True, slots=True)
class Order:
    """
    What comparing the best hits gave.

    outdated:    clauses with what was said later
    taken_back:  ids of statements that what followed took back
    before:    pairs of ids: the first answers, the second only seems to (a plan, the past, somebody else) and stands behind it
    """

    outdated: tuple[Outdated, ...] = ()
    taken_back: frozenset[str] = frozenset()
    before: tuple[tuple[str, str], ...] = ()


class _Passage(NamedTuple):
    """Some of a statement that is read, and how many words of the question stand in it."""

    statement: Statement
    start: int
    end: int
    holds: int


@dataclass(frozen=True, slots=True)
class _Answer:
    """A clause that may answer the question."""

    statement: Statement
    clause: Clause
    slots: tuple[Slot, ...]
    told: frozenset[str]  # its values of the sort that is asked for, or what it says beside the question
    exact: tuple[str, ...]  # these values as they were written
    covered: int

    @property
    def key(self) -> tuple[datetime, int, int]:
        return self.statement.said_at, self.statement.place, self.clause.start


def compared(asked: Asked, terms: Sequence[str], pool: Sequence[Statement], following: Mapping[str, Statement]) -> Order:
    """
    What of these statements something said later replaces as an answer, and what does not answer at all.

    terms:     the index terms of the question: what is read is chosen by them
    following: by the id of a turn, what its speaker said next in the session, which may take it back or correct it
    """
    said = [(passage.statement, _read(passage)) for passage in _chosen(pool, terms)]
    next_said = {one.id: first for one, _ in said if one.id in following and (first := _opening(following[one.id]))}
    taken_back = frozenset(id for id, first in next_said.items() if first.cue == "retracts" or first.mood is Mood.JOKED)
    names = _names(said)
    found = [
        answer
        for statement, clauses in said
        if statement.id not in taken_back
        for answer in _candidates(asked, statement, clauses, names)
    ]
    found += [
        fuller
        for answer in found
        if (first := next_said.get(answer.statement.id)) and (fuller := _corrected(answer, following[answer.statement.id], first))
    ]
    answers = sorted(
        (each for each in found if _is_plain(each.clause) and _is_about(asked, each.clause)), key=lambda each: each.key
    )
    outdated = []
    behind: list[tuple[str, str]] = []
    gone: set[int] = set()
    for place, earlier in enumerate(answers):
        for later in reversed(answers[place + 1 :]):
            if later.statement.id != earlier.statement.id and (why := _replaces(asked, earlier, later)):
                clause = earlier.clause
                if _is_sure(earlier, later):
                    outdated.append(Outdated(earlier.statement.id, clause.start, clause.end, later.statement.id, why))
                else:
                    behind.append((later.statement.id, earlier.statement.id))
                gone.add(place)
                break
    current = [each for place, each in enumerate(answers) if place not in gone and each.told]
    return Order(tuple(outdated), taken_back, (*behind, *_only_seeming(asked, found, current)))


def tells_a_change(asked: Asked, statement: Statement) -> bool:
    """
    Whether a statement plainly tells that something changed: of anything, of the speaker, or of whom the question names.

    Found about as well as what was said before it, it is likelier to answer, even where the words do not say of what it tells.
    """
    return any(
        clause.cue in _TELLS_A_CHANGE and _is_plain(clause) and clause.subject != AGENT
        for clause in read(statement.text[:LONGEST_READ])
        if not is_person(clause.subject) or clause.who & asked.subjects
    )


def _only_seeming(asked: Asked, found: Sequence[_Answer], current: Sequence[_Answer]) -> Iterator[tuple[str, str]]:
    """Pairs of an answer and a hit of which no clause that covers the question is plain and about whom it names."""
    if not current or asked.several:
        return
    best = max(current, key=lambda each: (bool(each.slots), each.covered, each.key))
    good = {each.statement.id for each in current}
    for each in found:
        other = each.statement.id
        wrong = not _is_plain(each.clause) or (is_person(each.clause.subject) and not _is_about(asked, each.clause))
        if other not in good and wrong and _answers_better(best, each):
            yield best.statement.id, other


def _answers_better(best: _Answer, seeming: _Answer) -> bool:
    """Whether an answer is one for sure, so that what only seems to be one may stand behind it."""
    if best.slots:
        return True
    return best.covered >= seeming.covered and (bool(best.exact) or best.covered >= ENOUGH)


def _candidates(
    asked: Asked, statement: Statement, clauses: Iterable[Clause], names: Mapping[str, frozenset[str]]
) -> Iterator[_Answer]:
    """The clauses of a statement that hold something of the question."""
    corrected = frozenset[str]()  # what a clause before said is to be corrected
    for said in clauses:
        clause = replace(said, called=said.called | names[said.subject]) if said.subject in names else said
        filled = tuple(slot for slot in clause.slots if slot.predicate in asked.wanted or slot.predicate in asked.content)
        holds = clause.content | clause.about | corrected
        corrected = holds if clause.cue == "corrects" else frozenset()
        covered = len(asked.content & holds)
        if filled or covered:
            given: Sequence[Value] = [slot.value for slot in filled]
            for sort in _SORTS.get(asked.sort, ()):
                given = given or [value for value in clause.values if value.sort == sort]
            given = [value for value in given if not {*value.text.split()} <= asked.content]
            exact = tuple(statement.text[value.start : value.end] for value in given)
            told = frozenset(value.text for value in given) or clause.content - asked.content - clause.about
            yield _Answer(statement, clause, filled, told, exact, covered)


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

    def behind(value: Value) -> Value:
        return replace(value, start=value.start + by, end=value.end + by)

    slots = tuple(replace(slot, value=behind(slot.value)) for slot in clause.slots)
    return replace(clause, start=clause.start + by, end=clause.end + by, values=tuple(map(behind, clause.values)), slots=slots)


def _opening(turn: Statement) -> Clause | None:
    """The first clause of a turn, if a word in its first sentence may take back or correct what was said before it."""
    first = next(iter(sentences(turn.text[:SHORT], built_in())), None)
    if first is None or not flags_of(words(folded(turn.text[: first.stop]), 0, first.stop, built_in())) & _TAKES_BACK:
        return None
    return next(iter(read(turn.text[: first.stop])), None)


def _corrected(answer: _Answer, after: Statement, clause: Clause) -> _Answer | None:
    """The answer with the value that its speaker gave instead right after it: `no, 14 March`."""
    if clause.mood is not Mood.ASSERTED or len(answer.exact) != 1:
        return None
    if clause.cue != "corrects" and (clause.cue != "changes" or clause.explicit):
        return None
    sorts = {value.sort for value in answer.clause.values if answer.statement.text[value.start : value.end] == answer.exact[0]}
    given = [value for value in clause.values if value.sort in sorts]
    if len(given) != 1 or clause.content & answer.clause.content - {*given[0].text.split()}:
        return None
    exact = (after.text[given[0].start : given[0].end],)
    clause = replace(clause, subject=answer.clause.subject, called=answer.clause.called, denied=False)
    return _Answer(after, clause, answer.slots, frozenset([given[0].text]), exact, answer.covered)


def _is_plain(clause: Clause) -> bool:
    return clause.mood is Mood.ASSERTED and clause.tense is Tense.NOW and not clause.hedged


def _is_about(asked: Asked, clause: Clause) -> bool:
    """Whether a clause speaks of whom the question names, if it names somebody; of a thing it may always."""
    if not is_person(clause.subject):
        return not any(map(is_person, asked.subjects)) or not clause.subject or clause.subject not in (USER, AGENT)
    if asked.sort == "person" and clause.subject.startswith("@"):
        return True  # who it is may be the subject: Ann chairs it
    return not asked.subjects or bool(clause.who & asked.subjects) or any(content_of(one) & clause.about for one in asked.subjects)


def _replaces(asked: Asked, earlier: _Answer, later: _Answer) -> str:
    """Why the later of two answers takes the place of the earlier; empty where it does not."""
    one, other = earlier.clause, later.clause
    if (
        not (_same_subject(one, other) or _both_answer_who(asked, earlier, later))
        or earlier.statement.speaker != later.statement.speaker
    ):
        return ""
    left, right = one.about - other.about, other.about - one.about
    corrected = other.cue in ("corrects", "ends")
    if left and right and (right if corrected else left | right) & (asked.content | asked.around):
        return ""  # the port of the docs server is asked for, and one of them is of the dev server
    if (
        not left
        and (right - asked.content) & built_in().attributes.keys()
        and other.explicit
        and not corrected
        and not (earlier.slots and later.slots)
    ):
        return ""  # the gateway listens on 8081, and its metrics port is another
    if (
        other.denied is not one.denied
        and later.covered >= min(ENOUGH, earlier.covered)
        and (asked.sort == "yes" or earlier.told <= other.content)
    ):
        return "the later denies it" if other.denied else "the earlier denies it"
    ends = (other.denied and bool(earlier.told & other.content)) or other.cue == "ends"
    pairs = [(a, b) for a in earlier.slots for b in later.slots if a.predicate == b.predicate]
    many = asked.several or other.also or any(not a.one for a, _ in pairs)
    if many and not (ends and earlier.told & other.content):
        return ""
    if not earlier.told or not (later.told or ends):
        return ""
    corrects = other.cue == "corrects"
    if not ends and not corrects and (bool(earlier.exact) != bool(later.exact) or other.denied):
        return ""
    if not ends and _same_value(earlier, later):
        return ""
    nouns = [{slot.predicate for slot in each.slots if slot.predicate != "scheduled"} for each in (one, other)]
    if all(nouns) and nouns[0].isdisjoint(nouns[1]):
        return ""  # its weight is not its capacity
    if not pairs and not later.exact and other.many and other.cue not in ("corrects", "changes", "ends") and not ends:
        return ""
    if pairs and (later.covered >= earlier.covered or corrects):
        return f"both fill {pairs[0][0].predicate}"
    if earlier.covered and later.covered >= earlier.covered:
        return "the later covers the question as well"
    told_of_it = other.content - other.about  # nothing, where only a name stands: my brother Tom
    if told_of_it and other.about & asked.content and not right and not other.beside - one.content:
        return "the later says it in fewer words"
    return f"the later {other.cue}" if later.covered and other.cue in ("corrects", "changes", "ends") else ""


def _is_sure(earlier: _Answer, later: _Answer) -> bool:
    """Whether the earlier is marked, and not only put behind: both fill one slot, the later says it changes, or both hold enough."""
    pairs = any(a.predicate == b.predicate for a in earlier.slots for b in later.slots)
    return pairs or later.clause.cue in ("corrects", "changes", "ends") or min(earlier.covered, later.covered) >= ENOUGH


def _same_value(earlier: _Answer, later: _Answer) -> bool:
    """Whether a value of one is a value of the other, written otherwise: three and 3, 30 s and 30000 ms."""
    at, later_at = earlier.statement.said_at, later.statement.said_at
    if not earlier.exact and not later.exact:
        numbers, others = ({each for each in answer.told if each[0].isdigit()} for answer in (earlier, later))
        if numbers and others:
            return numbers == others
        changed = later.clause.cue in ("corrects", "changes") and earlier.told - later.told and later.told - earlier.told
        return bool(earlier.told & later.told) and not changed
    first, second = ([*(each.exact or _numbers(each))] for each in (earlier, later))
    left = [one for one in first if not any(canonical.same(one, at, other, later_at) for other in second)]
    right = [one for one in second if not any(canonical.same(one, later_at, other, at) for other in first)]
    return bool(first and second) and not (left and right)


def _numbers(answer: _Answer) -> tuple[str, ...]:
    """The amounts and times of a clause, as they were written."""
    return tuple(answer.statement.text[v.start : v.end] for v in answer.clause.values if v.sort in ("amount", "time"))


def _same_subject(earlier: Clause, later: Clause) -> bool:
    """Whether two clauses speak of one: the same person, or neither of another person."""
    if "?" in (earlier.subject, later.subject):
        return False
    if earlier.who & later.who:
        return True
    if "'s " in earlier.subject or "'s " in later.subject:
        return False
    named = {each for each in (earlier.subject, later.subject) if each.startswith("@")}
    if named:
        return any(content_of(name) & earlier.content & later.content for name in named)
    return AGENT not in (earlier.subject, later.subject) or earlier.subject == later.subject


def _both_answer_who(asked: Asked, earlier: _Answer, later: _Answer) -> bool:
    """Whether the subject of each is a name that the question asks for: Ann chairs it."""
    subjects = (earlier.clause.subject, later.clause.subject)
    return asked.sort == "person" and bool(earlier.exact and later.exact) and any(one.startswith("@") for one in subjects)


def content_of(subject: str) -> set[str]:
    """The stems of a name; none of somebody who is not named."""
    return {*tokens(subject[1:]).words} if subject.startswith("@") else set()
