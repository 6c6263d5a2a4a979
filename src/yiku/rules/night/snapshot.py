"""
Format the snapshot: the most important memories on one Markdown page within a token budget.

The critical and the high memories come first, then those that are fading, struck through with their score then and now, a table
of the best, the entities, and a few counts. What is fading is for a person to see: a prompt is never made of this page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from yiku.rules.finding.pack import estimate
from yiku.rules.finding.score import boost, decay
from yiku.rules.lexicon.lists import label
from yiku.rules.pages.choosing import shown
from yiku.types import SemanticMemory

TOKENS = 2_000
CRITICAL, HIGH = 0.9, 0.7  # importance
OF_EACH, TABLE, ENTITIES = 5, 15, 10
FADED = 0.7  # of its score, below which a memory is fading
CHARS = 120  # of a text


def score(row: SemanticMemory, now: datetime) -> float:
    """Return what a memory is worth now: its importance, faded by time and raised by use."""
    return min(1.0, row.importance * decay(row, now) + boost(row, now))


def page(rows: Iterable[SemanticMemory], counts: Mapping[str, int], now: datetime, language: str, *, tokens: int = TOKENS) -> str:
    """
    Return the page; sections that have no room are shortened from their end, the first ones last.

    rows:   with their entities
    counts: of what the memory holds, by the names of labels
    """
    kept = [row for row in rows if shown(row, now)]
    scores = {row.id: score(row, now) for row in kept}
    kept.sort(key=lambda row: (scores[row.id], row.said_at.timestamp(), row.id), reverse=True)
    fading = [row for row in kept if scores[row.id] < FADED * row.importance]
    fading.sort(key=lambda row: scores[row.id] - row.importance)
    entities = Counter(entity for row in kept for entity in row.entities)
    head = ["#", "kind", "id"]
    sections: list[tuple[str, Sequence[str]]] = [
        ("critical", [_line(row) for row in kept if row.importance >= CRITICAL][:OF_EACH]),
        ("high", [_line(row) for row in kept if HIGH <= row.importance < CRITICAL][:OF_EACH]),
        ("fading", [_format_faded(row, scores[row.id], language) for row in fading[:OF_EACH]]),
        ("best", [f"| {' | '.join(head)} | |", "|---|---|---|---|", *(_row(row, scores[row.id]) for row in kept[:TABLE])]),
        ("entities", [f"- {name} ({count})" for name, count in entities.most_common(ENTITIES)]),
        ("counts", [f"- {label(f'snapshot.{name}', language)}: {count:,}" for name, count in counts.items()]),
    ]
    lines = [f"# {label('snapshot.title', language).format(now.isoformat()[:10])}"]
    left = tokens - estimate(lines[0])
    for name, entries in sections:
        if not entries or (name == "best" and not kept):
            continue
        heading = ["", f"## {label(f'snapshot.{name}', language)}", ""]
        left -= estimate("\n".join(heading)) + len(heading)
        for entry in entries:
            left -= estimate(entry) + 1
            if left < 0:
                return "\n".join([*lines, ""])
            lines += [*heading, entry]
            heading = []
    return "\n".join([*lines, ""])


def _line(row: SemanticMemory) -> str:
    return f"- {_flat(row.content)} #{row.id[-8:]}"


def _format_faded(row: SemanticMemory, now_worth: float, language: str) -> str:
    change = label("snapshot.faded", language).format(f"{row.importance:.2f}", f"{now_worth:.2f}")
    return f"- ~~{_flat(row.content)}~~ ({change}) #{row.id[-8:]}"


def _row(row: SemanticMemory, worth: float) -> str:
    return f"| {worth:.2f} | {row.kind.value} | #{row.id[-8:]} | {_flat(row.content).replace('|', '/')} |"


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= CHARS else f"{flat[: CHARS - 1]}…"
