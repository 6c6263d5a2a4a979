"""
Whether two clauses speak of one matter, where no slot says so: word beside word (rules/clauses.py).

They may contradict each other when all that tells is said by both but for one place, and that place is a value: a
number, a day, a name behind «is», «at», 是 or 用; or when one denies what the other says. «The code of the front door»
and «the code of the shed» differ before their values too, so they are two matters; «sells honey» and «sells candles»
have no such place.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from yiku.rules.clauses import CHANGE, NAMES, WORD, Clause, Word, clauses

ENOUGH = 4  # weight of what two clauses share: two words, or four Chinese characters
LONGEST_VALUE = 8  # words or Chinese characters of what differs
MOSTLY = 0.7  # of the lighter clause, which the other one says too
LARGELY = 0.5
# Words that only say which sort of value follows.
_SORTS = frozenset("time date day number amount price size length weight height width capacity duration temperatur".split())
# Behind these stands the one value of a thing, whatever else is said of it.
_NAMING = frozenset("用放叫归找由姓") | {"called", "named", CHANGE}
_BEING = frozenset("是:")
ALSO = re.compile(r"\balso\b|\btoo\b|\bas well\b|\b(?:an)?other\b|\bsecond\b|\bspare\b|也(?!许)|另|还[有在]")
_LASTING = (
    "moved|changed|switched|pushed|raised|cut|lowered|rescheduled|based|called|named|hosted|need|feed|speed|indeed|bed|shed|red"
)
# What happened once says nothing of what holds.
EVENT = re.compile(
    rf"(?<!\b(?:is|be) )(?<!\b(?:are|got) )(?<!\bbeen )(?<!'s )(?<!-)\b(?:went|came|met|ran|saw|took|did|ate|told|bought|found|wrote|flew|drove|spent|had|was|were|(?!(?:{_LASTING})\b)[a-z]{{3,}}ed)\b"
    rf"|\b(?:i|we)(?: have|'ve) (?:just |already |recently |finally )?(?:been|done|gone|seen|made|taken|written|read|met|(?!(?:{_LASTING})\b)[a-z]{{3,}}ed\b)"
    "|昨|前天|刚才|[买吃喝去看写做完学聊逛拍试][了过完]|来了|想|觉得|打算|准备|计划"
)
_OVER = re.compile(r"\bany ?more\b|\bany longer\b|\bno longer\b|\b(?:stopped|quit|gave up)\b|\bthese days\b|了")
_QUALIFIED = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|this|next|last|always|usually|often|only|just|every|all|much|many|really|yet|enough|if|when|unless)\b"
    "|今|明|昨|这|下周|上周|暂时|一定|总是|经常|常|只|全|太|如果|除非|的时候"
)
_COMPARES = re.compile(r"\bthan\b|比")


class Beside(NamedTuple):
    """Two clauses side by side: the concepts that both have, their weight, and the places where they differ, in order."""

    common: frozenset[str]
    shared: int
    gaps: tuple[tuple[Sequence[Word], Sequence[Word]], ...]  # what the one has there, what the other has


@lru_cache(64)
def beside(one: Clause, other: Clause) -> Beside:
    """The words of two clauses in the order of both. A lone Chinese character that both have is chance."""
    a, b = one.words, other.words
    matcher = SequenceMatcher(None, [word.concept for word in a], [word.concept for word in b], autojunk=False)
    gaps, common, shared, i, k = [], set(), 0, 0, 0
    for block in matcher.get_matching_blocks():
        same = a[block.a : block.a + block.size]
        if same and weight(same) < WORD:
            continue
        if a[i : block.a] or b[k : block.b]:
            gaps.append((a[i : block.a], b[k : block.b]))
        common |= {word.concept for word in same}
        shared += weight(same)
        i, k = block.a + block.size, block.b + block.size
    return Beside(frozenset(common), shared, tuple(gaps))


@lru_cache(64)
def anyhow(one: Clause, other: Clause) -> frozenset[str]:
    """The concepts that both have, words in whatever order: «the logs go to Loki», «Loki is where the logs go»."""
    theirs = {word.concept for word in other.words if word.weight >= WORD}
    return beside(one, other).common | {word.concept for word in one.words if word.concept in theirs}


def weight(words: Iterable[Word]) -> int:
    return sum(word.weight for word in words)


# ------------------------------------------------------------------ the same


def says(new: str, old: str) -> bool:
    """Whether a statement says what another one says, and nothing beside it, in other words or in the other language."""
    known, told = clauses(old), clauses(new)
    if len(known) != 1 or not _enough(known[0]) or _COMPARES.search(known[0].text):
        return False
    same = [
        clause
        for clause in told
        if clause.denies is known[0].denies and clause.mine is known[0].mine and _same_words(clause, known[0])
    ]
    said = {word.concept for word in known[0].words}
    return bool(same) and all(said.issuperset(word.concept for word in clause.words) for clause in told if clause not in same)


def _enough(clause: Clause) -> bool:
    """Whether a clause says enough to be the same as another; what the speaker is needs but the name of it: a southpaw."""
    return weight(clause.words) >= ENOUGH or (clause.mine and any(word.concept in NAMES for word in clause.words))


def _same_words(one: Clause, other: Clause) -> bool:
    """The same in any order, but names and Chinese characters as they stand: «Ann leads Bo» is not «Bo leads Ann»."""
    first, second = ([word.concept for word in clause.words if word.concept not in ("time", "date")] for clause in (one, other))
    fixed = {word.concept for word in (*one.words, *other.words) if word.name or word.weight < WORD}
    return sorted(first) == sorted(second) and [c for c in first if c in fixed] == [c for c in second if c in fixed]


# ------------------------------------------------------------------ another value


def differ(new: Clause, old: Clause) -> bool:
    """Whether two clauses may say two values of one thing."""
    if new.denies is not old.denies:
        return False
    common = anyhow(new, old)
    its, theirs = ([word for word in clause.words if word.concept not in common] for clause in (new, old))
    if not common or (not (its or theirs) and _same_words(new, old)) or any(word.is_person for word in (*its, *theirs)):
        return False
    shared = weight(word for word in new.words if word.concept in common)
    other = _other_quantity(its, theirs, shared) or _alike(its, theirs, shared) or _other_name(new, old)
    return other and not (ALSO.search(new.text) or EVENT.search(new.text) or EVENT.search(old.text))


def _other_quantity(its: list[Word], theirs: list[Word], shared: int) -> bool:
    """Whether both have a number or a day of their own, and only one of them has more to say than both do."""
    both = all(any(word.sort for word in rest) for rest in (its, theirs))
    its_more, their_more = (weight(word for word in rest if not word.sort and word.concept not in _SORTS) for rest in (its, theirs))
    if not both or min(its_more, their_more) >= WORD or shared < WORD:
        return False
    return max(its_more, their_more) <= shared * (1 if min(its_more, their_more) else 2) or shared >= ENOUGH + WORD


def _alike(its: list[Word], theirs: list[Word], shared: int) -> bool:
    """Whether one says all that the other says, and little more: the same again, or not quite."""
    more, less = sorted((weight(word for word in rest if word.concept not in _SORTS) for rest in (its, theirs)), reverse=True)
    return less < WORD and shared >= ENOUGH and 2 * more <= shared


def _other_name(new: Clause, old: Clause) -> bool:
    """Whether the words of two clauses differ in one place, where a value stands."""
    together = beside(new, old)
    swapped = [gap for gap in together.gaps if all(gap)]
    if len(swapped) != 1:
        if (turned := _turned(new, old)) is None:
            return False
        together, swapped = turned, list(turned.gaps)
    its, theirs = swapped[0]
    quantity = its[0].sort or (theirs[0].sort and its[0].mark != CHANGE)
    if together.shared < WORD or quantity or max(len(its), len(theirs)) > LONGEST_VALUE:
        return False
    added = sum(weight(one) + weight(other) for one, other in together.gaps) - weight(its) - weight(theirs)
    first = together.gaps[0] is swapped[0]
    if new.mine is not old.mine and not first and any(weight(side) >= WORD for side in together.gaps[0]):
        return False  # whose it is, is said of one alone
    if together.shared >= ENOUGH and not added and "by" in (its[0].mark, theirs[0].mark):
        return True  # who does it: «Ann handles payroll», «payroll is handled by Bo»
    named = its[0].name and theirs[0].name
    marks = (its[0].mark or named, theirs[0].mark or named)
    if (first or marks[0] == CHANGE) and marks[0] in _NAMING and (marks[0] == marks[1] or (marks[0] == CHANGE and marks[1])):
        return added <= 2 * together.shared
    if first and not added and marks[0] in _BEING and marks[1] in _BEING:
        return max(weight(its), weight(theirs)) <= ENOUGH
    return (
        together.shared >= ENOUGH - (marks[0] == marks[1] != "")
        and added <= together.shared
        and (all(marks) or (any(marks) and together.shared >= ENOUGH + WORD))
    )


def _turned(new: Clause, old: Clause) -> Beside | None:
    """The same words in another order, but for one place of each."""
    common = anyhow(new, old)
    rests = []
    for clause in (new, old):
        places = [i for i, word in enumerate(clause.words) if word.concept not in common]
        if not places or places[-1] - places[0] >= len(places):
            return None
        rests.append(clause.words[places[0] : places[-1] + 1])
    return Beside(common, weight(word for word in new.words if word.concept in common), ((rests[0], rests[1]),))


# ------------------------------------------------------------------ the contrary


def denied(new: Clause, old: Clause) -> bool:
    """Whether one clause denies what the other says."""
    if new.denies is old.denies or not (new.words and old.words) or one_has_a_person(new, old):
        return False
    core = new if new.denies else old
    common = anyhow(new, old)
    told = weight(word for word in core.words if word.concept in common)
    enough = min(weight(new.words), weight(old.words)) * (LARGELY if _OVER.search(core.text) else MOSTLY)
    sure = told > WORD or new.mine is old.mine  # one word may be chance
    return sure and told >= max(WORD, enough) and any(core.words[end].concept in common for end in (0, -1))


def contrary(new: str, old: str) -> bool:
    """Whether one statement is the plain denial of another, word for word: of today alone, or «not always», is none."""
    known = clauses(old)
    if len(known) != 1 or weight(known[0].words) < ENOUGH or _QUALIFIED.search(known[0].text):
        return False
    return any(
        clause.denies is not known[0].denies
        and clause.mine is known[0].mine
        and _same_words(clause, known[0])
        and not _QUALIFIED.search(clause.text)
        for clause in clauses(new)
    )


def one_has_a_person(one: Clause, other: Clause) -> bool:
    """Whether one tells of a relative or a friend of whom the other does not."""
    first, second = ({word.concept for word in clause.words if word.is_person} for clause in (one, other))
    return first != second
