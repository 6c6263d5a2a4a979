"""
How much speaks for it that two statements are of one matter, where no slot says so: points, for and against.

For it speak the telling words that both have (a word that many statements have counts less), the same value, another
value in the same place, a denial, and words of correction, change or ending in the new one. Against it: much that only
one of them says, another thing named before what both name, «also», and that one of the two is planned, asked, felt or
happened once. The weights are those of a logistic regression over pairs of the conflict cases and of ordinary talk,
each author left out in turn, doubled and rounded: at none it is as likely as not, which is enough
where nothing else was told; among many statements some share words by chance, so that more is needed there.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import log2
from typing import NamedTuple

from yiku.rules import analyze, cues, matter
from yiku.rules.clauses import Clause, clauses
from yiku.rules.endings import ENDS
from yiku.rules.shared_words import CHANGED_TO, EVERYDAY

# It says outright that something before it was wrong.
_CORRECTS = re.compile(
    r"\bcorrection\b|\bi (?:meant|mean)\b|\b(?:take|took) (?:(?:that|it|this) )?back\b|\bdisregard\b|\bmake that\b|\bscratch\b|\bstrike\b|\bmixed up\b|\bmis(?:spoke|read|remembered)\b"
    r"|\b(?:was|told you|got (?:it|that|this)|the) wrong\b|\bmistaken?\b|\bchanged my mind\b|\bi keep saying\b"
    r"|\bturns out\b|\bupdate:|^\W*(?:sorry|oops)\b|\bafter all\b|\binstead of\b|\bwait, no\b"
    r"|更正|纠正|作废|收回|撤回|(?:说|记|搞|弄|写|打|看|听|抄|讲)(?:错|岔|反|得不对)|错了|不对|不是.{1,12}[,，].{0,4}是|是.{1,12}[,，]不是|改主意|那条要改|改口|以这[条个]为准",
    re.ASCII,
)
_CHANGES = re.compile(
    rf"{cues.CHANGES}|{cues.CORRECTS}|{CHANGED_TO}"
    r"|\bfrom (?:now|here|today) on\b|\bas of\b|\bsince (?:the|last|this)\b|\bamend(?:ed)?\b|\bshift(?:ed|s)\b|\bbump(?:ed|s)\b|\bre(?:booked|tuned|set|done|assigned|located|arranged|painted|wired)\b"
    r"|\b(?:extend|shorten|tighten|relax|resiz)(?:ed|s)?\b|\b(?:in|de)creas(?:ed?|es)\b|\b(?:up|down|back) (?:to|from)\b|\b(?:went|gone|going|goes) (?:up|down)\b|\bbec[ao]me\b|\bturn(?:ed|s) \d|\bhanded\b|\bday one\b|\bfirst (?:day|week|shift)\b|\bno more\b"
    r"|改[名叫为用回]|从.{1,6}起|放宽|缩短|缩减|提高|降低|增加|减少|加到|减到|延长|延到|挪|调整|变成|变更|更名|转[来到学给]|重新|领了?证|满[\d一二三四五六七八九十]|拉去|送去|收[起进]|拆掉|到期",
    re.ASCII,
)
# A clause that asks something of the listener, or tells him what he thinks of it.
_ASKS = re.compile(
    r"\byou(?:r|'re|'ve|'ll)?\b|\bthank|\b(?:sounds?|looks?) (?:good|great|like)\b|\blet(?:'s| me)\b|\b(?:show|tell|help|send|get|bring|find|give) (?:me|us)\b"
    r"|\bi(?:'d| would) (?:like|love)\b|\bi (?:need|want)\b|你|谢|感觉|思路|听起来|清晰|帮我|告诉我|给我|想要|希望",
    re.ASCII,
)
# One that says what somebody thinks or intends, and not how something is.
_FEELS = re.compile(
    r"\bi(?: am|'m) (?:planning|thinking|looking|trying|considering|interested|hoping|wondering|excited)\b|\b(?:i|we)(?:'ll| will)\b|\bgoing to\b"
    r"|\bi (?:think|feel|love|like|know|understand)\b|打算|我会|我想|有点|觉得|决定|担心",
    re.ASCII,
)
NOT_SO = re.compile(f"{cues.NOT_STATED}|{cues.OPEN}|{cues.NOT_PLAIN}")
_NOT_STATED = re.compile(cues.NOT_STATED)
_NOT_SO_MUCH = re.compile(r"not (?!more|less|until|before)\S+$|不是(?!因为)")
_NUMBER = re.compile(r"#\d+(?:\.\d+)?")
OPEN = re.compile(f"{cues.NOT_STATED}|{cues.OPEN}")

NEEDED = 0.0  # points: as likely as not
CROWD = 0.8  # points more for each doubling of the statements that share a word with it
_WORDS = 4  # shared words that count
_MOST_COMPARED = 2.8 + 3.5  # points that comparing clauses word for word may add
_PAIR = 0.6  # of a word: a pair of Chinese characters


class Told(NamedTuple):
    """A statement as its clauses, what it tells of, in how many words, and its values."""

    clauses: tuple[Clause, ...]
    telling: frozenset[str]
    size: float
    values: frozenset[str]


class Does(NamedTuple):
    """What a statement does to an older one, by its words alone."""

    corrects: bool
    changes: bool
    ends: bool


@lru_cache(512)
def told(text: str) -> Told:
    """A statement as it is compared."""
    every = clauses(text)
    telling = frozenset(one for clause in every for one in clause.telling)
    whole = {word.concept for clause in every for word in clause.words}  # without what phrases are made of
    size = sum(_PAIR if _is_pair(one) else 1 for one in telling if one in whole or _is_pair(one))
    return Told(every, telling, size, frozenset(value for clause in every for value in clause.values))


@lru_cache(64)
def does(text: str) -> Does:
    """What a statement says of what was told before."""
    folded = analyze.fold(text)
    return Does(*(pattern.search(folded) is not None for pattern in (_CORRECTS, _CHANGES, ENDS)))


@lru_cache(512)
def is_stated(clause: Clause) -> bool:
    """Whether it is neither planned nor heard; a denial is stated however it is put: «I stopped», «I won't»."""
    return not (OPEN if clause.denies else NOT_SO).search(clause.text)


def shared(one: Told, older: Told) -> frozenset[str]:
    """The telling words that both have, and the value that a statement takes back: «it's 54 an hour, not 45»."""
    not_so = (clause.values for clause in one.clauses if _NOT_SO_MUCH.match(clause.text))
    return one.telling & older.telling | _bare(frozenset().union(*not_so)) & _bare(older.values)


def needed(among: int) -> float:
    """The points that are enough, where so many statements share a word with the new one."""
    return NEEDED + CROWD * log2(max(among, 1))


def points(new: str, old: str, rare: float, enough: float = NEEDED) -> float:
    """
    How likely a statement says of an older one's matter another value, the same again, or its end.

    rare:   how many telling words both have, one that others have too counting less
    enough: the points that matter; where they are out of reach, the rest is not looked at
    """
    its_own, older, does_it = told(new), told(old), does(new)
    common, values = shared(its_own, older), its_own.values & older.values
    corrects = does_it.corrects or any(clause.text.startswith("not ") and _shares(clause, older) for clause in its_own.clauses)
    found = (
        2.4 * min(rare, _WORDS)
        + 3.7 * bool(values)
        + 2.8 * corrects
        + 2.0 * does_it.ends
        + 2.7 * (corrects or does_it.changes or does_it.ends)
        - 0.9 * min(older.size, 6)
        - 0.2 * min(max(its_own.size, older.size), 20)
    )
    if found + _MOST_COMPARED < enough:
        return found
    its, theirs = (
        [clause for clause in each.clauses if (clause.telling | _bare(clause.values)) & common or clause.values & values]
        for each in (its_own, older)
    )
    found -= (
        5.5 * (not any(is_stated(clause) or (corrects and not _NOT_STATED.search(clause.text)) for clause in its))
        + 4.5 * (not any(map(is_stated, theirs)))
        + 3.0 * (_each(_FEELS, its) or _each(_FEELS, theirs))
        + 2.5 * _each(matter.EVENT, theirs)
        + 2.6 * any(matter.ALSO.search(clause.text) for clause in its)
        + 1.0 * (_each(_ASKS, its) + _each(_ASKS, theirs))
    )
    if found + _MOST_COMPARED < enough:
        return found
    pairs = [(one, other) for one in its for other in theirs]
    elsewhere = not does_it.ends and _starts_elsewhere(its, common) and _starts_elsewhere(theirs, common)
    return (
        found
        + 2.8 * any(matter.differ(*pair) for pair in pairs)
        + 3.5 * any(matter.denied(*pair) for pair in pairs)
        - 1.8 * elsewhere
    )


def _bare(said: frozenset[str]) -> frozenset[str]:
    """Values without their units: «not 45» may correct 45 euros."""
    return frozenset(number[0] for value in said if (number := _NUMBER.match(value)))


def _is_pair(one: str) -> bool:
    return len(one) == 2 and not one.isascii()


def _shares(clause: Clause, older: Told) -> bool:
    return not (clause.telling.isdisjoint(older.telling) and clause.values.isdisjoint(older.values))


def _each(pattern: re.Pattern[str], among: Sequence[Clause]) -> bool:
    return all(pattern.search(clause.text) for clause in among)


def _starts_elsewhere(among: Sequence[Clause], common: frozenset[str]) -> bool:
    """Whether another thing is named before what both name: «the docs server listens», «the dev server listens»."""
    pairs = "".join(filter(_is_pair, common))
    heads = (
        next((word.concept for word in clause.words if not word.sort and word.concept not in EVERYDAY), "") for clause in among
    )
    return all(head not in common and head not in pairs for head in heads)
