"""
Decide when an entity needs a summary and from which statements; reject unsupported sentences of a model's summary.

A summary is made from at least LEAST live facts about an entity, and made anew when GROWTH more are known. A sentence stays if
the statements that it cites hold its names, its numbers and dates and most of its words, and deny what it denies. Without a
model no summary is written; one whose source has changed is put aside in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from yiku.rules.learning import entities
from yiku.rules.lexicon import built_in
from yiku.rules.statements import keys
from yiku.rules.statements.read import read
from yiku.rules.text.analyze import fold
from yiku.rules.text.folding import folded
from yiku.rules.text.words import content, words
from yiku.rules.values import canonical
from yiku.types import Kind, SemanticMemory, Standing

LEAST, GROWTH = 3, 3  # facts
MOST_SOURCES, MOST_SENTENCES = 12, 5
CHARS = 600
COVERED = 0.75  # of a sentence's words that its sources hold
TRUST = 0.5  # at most: the words are a model's
METHOD = "summary"
_LEFT_OUT = frozenset({Kind.RULE, Kind.TASK, Kind.PERSONA_TRAIT})


def is_source(row: SemanticMemory) -> bool:
    """Whether a statement may be a source of a summary."""
    return row.live and row.standing is Standing.FACT and row.flag is None and row.valid_to is None and row.kind not in _LEFT_OUT


def is_summarized(entity: str) -> bool:
    """Whether an entity may have a summary: a name; that of the user is USER.md."""
    return entity != keys.USER and not entity.replace(".", "").isdigit()


def sources(rows: Iterable[SemanticMemory]) -> list[SemanticMemory]:
    """Return the statements that a summary is made from: the weightiest and newest, in the order in which they were said."""
    found = sorted((row for row in rows if is_source(row)), key=lambda row: (-row.importance, -row.said_at.timestamp(), row.id))
    return sorted(found[:MOST_SOURCES], key=lambda row: (row.said_at, row.place, row.n))


def is_due(known: Sequence[int] | None, rows: Sequence[SemanticMemory]) -> bool:
    """
    Whether a summary is to be made.

    known: the numbers of the sources of the one that there is; None where there is none
    """
    if known is None:
        return len(rows) >= LEAST
    return sum(row.n not in known for row in rows) >= GROWTH


def sound(sentence: str, cited: Sequence[SemanticMemory], entity: str) -> bool:
    """Whether all that a sentence could have invented stands in the statements that it cites."""
    if not cited or not sentence.strip():
        return False
    cited_forms = frozenset(form for row in cited for form in canonical.form(row.content[: canonical.LONGEST], row.said_at).split())
    numbers = [form for form in canonical.form(sentence, cited[-1].said_at).split() if any(map(str.isdigit, form))]
    if any(form not in cited_forms for form in numbers):
        return False
    text = fold(" ".join((entity, *(f"{row.content} {row.subject or ''}" for row in cited))))
    if any(fold(name) not in text for name in entities.extract(sentence)):
        return False
    held = frozenset[str]().union(*(_content(row.content) for row in cited), _content(entity))
    own = _content(sentence)
    if not own or len(own & held) < COVERED * len(own):
        return False
    return all(_is_denied_as_said(clause.content, clause.denied, cited) for clause in read(sentence) if clause.content)


def _content(text: str) -> frozenset[str]:
    small = folded(text)
    return content(words(small, 0, len(small), built_in()))


def _is_denied_as_said(own: frozenset[str], denied: bool, cited: Sequence[SemanticMemory]) -> bool:
    """Whether the clause that shares most words with one denies if that one does."""
    clauses = [clause for row in cited for clause in read(row.content)]
    most = max((len(own & clause.content) for clause in clauses), default=0)
    return any(clause.denied is denied for clause in clauses if len(own & clause.content) == most)
