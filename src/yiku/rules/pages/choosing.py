"""
Choose and order the statements that MEMORY.md and USER.md show.

MEMORY.md has a section for each kind of memory, of at most LINES lines. USER.md has what is known of its user: who they are,
what they work with, their surroundings, what they prefer, what they are at. Neither shows what expired, was replaced, is not
confirmed, holds only for one task or project, or is hedged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from yiku.rules.deciding.history import holds, recallable
from yiku.rules.lexicon.lists import label, languages, words
from yiku.rules.pages.region import Shown
from yiku.rules.statements import keys
from yiku.rules.text.folding import folded
from yiku.types import Kind, Origin, SemanticMemory, Standing, State

LINES = 5  # of a section (C-17)
CHARS = 1_500  # of a region
HALF_LIFE_DAYS = 87.0
DAY_S = 86_400

MEMORY, USER = "MEMORY.md", "USER.md"
KINDS = (
    Kind.RULE,
    Kind.PREFERENCE,
    Kind.FACT,
    Kind.TASK,
    Kind.EVENT,
    Kind.SKILL,
    Kind.ERROR,
    Kind.EXPERIENCE,
    Kind.PERSONA_TRAIT,
    Kind.EMOTION,
)
ABOUT_USER = ("basic", "tech", "environment", "preferences", "projects")

Sections = Sequence[tuple[str, Sequence[Shown]]]


def sections(page: str, memories: Iterable[SemanticMemory], now: datetime, language: str) -> tuple[Sections, int]:
    """The sections of a page, each with its best lines, and how many statements more it would have shown."""
    named = _by_kind if page == MEMORY else _about_user
    groups = {name: rows for name, rows in named(memories, now, language).items() if rows}
    ranked = {name: sorted(rows, key=lambda row: _rank(row, now), reverse=True) for name, rows in groups.items()}
    further = sum(max(0, len(rows) - LINES) for rows in ranked.values())
    return [(name, [Shown(row.content, row.id) for row in rows[:LINES]]) for name, rows in ranked.items()], further


def _rank(row: SemanticMemory, now: datetime) -> tuple[float, float, str]:
    """Importance times recency: the order of two statements is the same on every day."""
    age_days = max(0.0, (now - row.confirmed_at).total_seconds() / DAY_S)
    return (2.0 if row.pinned else row.importance) * 2 ** (-age_days / HALF_LIFE_DAYS), row.confirmed_at.timestamp(), row.id


def shown(row: SemanticMemory, now: datetime) -> bool:
    """Whether a statement may stand on a page."""
    return (
        row.state is State.ACTIVE
        and row.standing is Standing.FACT
        and recallable(row, now)
        and holds(row, now)
        and row.said_later is None
        and row.project is None
        and "until_session" not in row.metadata
    )


def _by_kind(memories: Iterable[SemanticMemory], now: datetime, language: str) -> Mapping[str, list[SemanticMemory]]:
    found: dict[str, list[SemanticMemory]] = {title(kind, language): [] for kind in KINDS}
    for row in memories:
        if shown(row, now):
            found[title(row.kind, language)].append(row)
    return found


def title(kind: Kind, language: str) -> str:
    """The heading of a kind."""
    return label(f"page.{kind.value}", language)


def kind_of(section: str) -> Kind | None:
    """The kind that a heading stands for, in either language; items below it are of that kind."""
    named = {folded(title(kind, language)): kind for kind in KINDS for language in languages()}
    return named.get(folded(section))


def _about_user(memories: Iterable[SemanticMemory], now: datetime, language: str) -> Mapping[str, list[SemanticMemory]]:
    found: dict[str, list[SemanticMemory]] = {label(f"page.{name}", language): [] for name in ABOUT_USER}
    for row in memories:
        if shown(row, now) and (section := about_user(row)) is not None:
            found[label(f"page.{section}", language)].append(row)
    return found


def about_user(row: SemanticMemory) -> str | None:
    """The section of USER.md that a statement belongs to; None where it says nothing of the user."""
    if row.kind is Kind.RULE:
        return None
    if row.kind is Kind.TASK and row.origin is Origin.USER:
        return "projects"
    if row.kind is Kind.PREFERENCE and row.subject in (None, keys.USER):
        return "preferences"
    if row.subject != keys.USER or not row.predicate:
        return None
    return next((name for name in ABOUT_USER if row.predicate in words(f"slots.page_{name}")), "basic")
