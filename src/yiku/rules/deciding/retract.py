"""
Recognize retractions (jokes, slips, requests to disregard) and find the statement they retract.

A marker is a clause of its own ("just kidding", 上一条作废), or stands before one that goes on ("haha no, I still live in
Ghent"). What it takes back is the last thing told in its session, or what its own words name: "just kidding about the
job". A slip ("I got that wrong about Dan") takes back only what it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import cache
from typing import Literal

from yiku.rules.lexicon import built_in, lists
from yiku.rules.statements.clause import Clause, Mood
from yiku.rules.statements.question import question
from yiku.rules.statements.read import read
from yiku.rules.text.analyze import tokens
from yiku.rules.text.folding import folded
from yiku.rules.values import canonical, when
from yiku.types import SemanticMemory

Marker = Literal["joke", "void", "slip"]
JOKE_REACHES = timedelta(days=3)  # outside of its session, and only to what it names
SLIP_REACHES = timedelta(days=31)
NAMES_IT = 3  # content words with which a clause that takes something back names what it means
ENOUGH = 2  # content words of a clause that tells something beside taking back
LONGEST = 300  # characters; a longer text is a story, which takes nothing back
LOOKED_AT = 2_000  # characters of a statement that may be taken back


def takes_back(text: str, clause: Clause) -> bool:
    """Whether a clause retracts what was said before and says nothing else beyond naming it."""
    if clause.mood is Mood.ASKED or clause.slots:
        return False
    if clause.slip:
        return clause.bare and not clause.values
    if not (clause.jest or clause.cue == "retracts") or len(clause.beside) > NAMES_IT:
        return False
    nothing_else = len(clause.beside) <= 1 and not clause.values
    return nothing_else or lists.has(folded(text[clause.start : clause.end]), "slots.said")  # what I told you about the shed


def marker(text: str) -> Marker | None:
    """Return which kind of retraction a text is, None for any other text."""
    if len(text) > LONGEST:
        return None
    clauses = read(text)
    if any(clause.mood is Mood.ASKED for clause in clauses):
        return None
    back = [clause for clause in clauses if takes_back(text, clause)]
    if any(clause.jest for clause in back):
        return "joke"
    if any(clause.cue == "retracts" for clause in back):
        return "void"
    return "slip" if any(clause.slip and clause.mood is Mood.ASSERTED and not clause.denied for clause in clauses) else None


def rest(text: str) -> str:
    """Return the part of a text that is not the retraction, from its first such clause to its last."""
    others = [
        clause for clause in read(text) if not (takes_back(text, clause) or clause.bare or (clause.slip and not clause.slots))
    ]
    return text[others[0].start : others[-1].end] if others else ""


def states(text: str) -> bool:
    """Whether the words after a retraction state something of their own."""
    return any(clause.plain and (clause.slots or clause.values) for clause in read(text))


def says_more(text: str) -> bool:
    """Whether a text says more than the retraction and a word or two of why."""
    remaining = rest(text)
    return states(remaining) or any(len(clause.beside) >= ENOUGH and clause.plain for clause in read(remaining))


def target(
    new: SemanticMemory, earlier: Sequence[SemanticMemory], sort: Marker, recent: Sequence[SemanticMemory] | None = None
) -> SemanticMemory | None:
    """
    Return the retracted statement: in the session the one that is named, else the last; elsewhere only a named one.

    recent: of those told the ones that may be meant without a name, where not all may: "just kidding" is about what was said just before it
    """
    session, actor = new.sources[0].session, new.sources[0].actor
    clauses = read(new.content)
    words, wanted = _content(clauses), question(new.content, built_in()).wanted

    def named(memory: SemanticMemory) -> int:
        return len(words & _content(read(memory.content[:LOOKED_AT]))) + (memory.predicate in wanted)

    def best(among: Iterable[SemanticMemory], least: int) -> SemanticMemory | None:
        found = [(named(memory) + 2 * _one_slot(new, memory), place, memory) for place, memory in enumerate(among)]
        most = max(found, key=lambda one: one[:2], default=None)
        return most[2] if most is not None and most[0] >= least else None

    by_same = [memory for memory in earlier if any(source.actor == actor for source in memory.sources)]
    if sort == "slip":
        near = [memory for memory in by_same if new.said_at - memory.said_at <= SLIP_REACHES and not _same(new, memory)]
        return best(near, 2)
    here = [memory for memory in by_same if any(source.session == session for source in memory.sources)]
    if (target := best(here, 1)) is not None:
        return target
    for window in when.windows(new.content, new.said_at):  # what I said yesterday
        if then := [memory for memory in by_same if window.since <= memory.said_at < min(window.until, new.said_at)]:
            return best(then, 0)
    names_it = any(clause.values or clause.beside - _saying() for clause in clauses if takes_back(new.content, clause))
    latest = [memory for memory in here if recent is None or memory in recent]
    if latest and not names_it:
        return latest[-1]
    return best([memory for memory in by_same if new.said_at - memory.said_at <= JOKE_REACHES and not _same(new, memory)], 1)


@cache
def _saying() -> frozenset[str]:
    """Content words for `what I said`, which name nothing."""
    said = " ".join(lists.words("slots.said"))
    return frozenset(word for clause in read(said) for word in clause.content) | frozenset(tokens(said).words)


def _content(clauses: Iterable[Clause]) -> frozenset[str]:
    """Return the content words and values of clauses."""
    return frozenset(word for clause in clauses for word in (*clause.content, *(value.text for value in clause.values)))


def _one_slot(new: SemanticMemory, memory: SemanticMemory) -> bool:
    return new.predicate is not None and (new.subject, new.predicate) == (memory.subject, memory.predicate)


def _same(new: SemanticMemory, memory: SemanticMemory) -> bool:
    """Whether a statement says the same as the new one."""
    same_slot = new.object and memory.object and _one_slot(new, memory)
    return bool(same_slot) and canonical.same(new.object or "", new.said_at, memory.object or "", memory.said_at)
