"""
Format the report of a nightly maintenance run, and the summary of a day, as Markdown.

A report has a section for each sort of decision: what was decided about which memory, why, and by which evidence, with the number
by which it is taken back. Long sections are cut, so that a person reads it over a coffee; `yiku report --json` has every line.
A decision is kept without words: the texts are looked up when it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import get_args

from yiku.rules.lexicon.lists import label, label_or
from yiku.types import Episode, NightAction, NightItem, NightRun, SemanticMemory

ORDER: tuple[str, ...] = get_args(NightAction)
SHOWN = 8  # decisions of a sort, and entries of a section of a day
CHARS = 110  # of a text
EVIDENCE = 4  # entries of a decision's evidence


def page(run: NightRun, items: Sequence[NightItem], texts: Mapping[str, str], undone: frozenset[int], language: str) -> str:
    """
    Return the report of a run.

    texts:  what the memories say that it is about, by their ids; what was erased since is not among them
    undone: the operations that were taken back
    """

    def phrase(name: str, *values: object) -> str:
        return label(f"night.{name}", language).format(*values)

    groups: dict[str, list[NightItem]] = {}
    for item in items:
        groups.setdefault(item.action, []).append(item)
    counts = ", ".join(f"{len(groups[name]):,} {phrase(name)}" for name in ORDER if name in groups)
    lines = [f"# {phrase('title', run.at.isoformat(sep=' ')[:16])}", ""]
    lines += [phrase("summary", len(items), counts) if items else phrase("nothing")]
    lines += [] if run.finished_at or run.phase > LAST_PHASE else ["", phrase("unfinished", run.phase)]
    for name in ORDER:
        if entries := groups.get(name):
            lines += ["", f"## {phrase(name).capitalize()}: {len(entries):,}", ""]
            lines += [_decision(item, texts, undone, language) for item in entries[:SHOWN]]
            lines += [f"- {phrase('more', len(entries) - SHOWN)}"] if len(entries) > SHOWN else []
    if any(item.operation for item in items):
        lines += ["", phrase("undo", run.id[-8:])]
    return "\n".join([*lines, ""])


LAST_PHASE = 6  # before the one that writes the report


def _decision(item: NightItem, texts: Mapping[str, str], undone: frozenset[int], language: str) -> str:
    named = [f'"{_flat(texts[id])}" {_short(id)}' if id in texts else _short(id) for id in item.ids[:3]]
    more = f" +{len(item.ids) - 3}" if len(item.ids) > 3 else ""
    back = f" ({label('night.taken_back', language)})" if item.operation in undone else ""
    why = label_or(f"night_reason.{item.reason}", language, item.reason.replace("-", " "))
    known = [f"{name.replace('_', ' ')} {_value(value)}" for name, value in item.evidence.items() if value is not None][:EVIDENCE]
    evidence = f" [{', '.join(known)}]" if known else ""
    return f"- {item.item}. {' ← '.join(named)}{more}: {why}{evidence}{back}"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, int) and value > MOMENT:
        return datetime.fromtimestamp(value / 1_000_000, UTC).isoformat()[:10]
    if isinstance(value, str):
        return _short(value) if len(value) == LENGTH_OF_ID and value.count("-") == DASHES_OF_ID else value
    if isinstance(value, Sequence):
        return " ".join(_value(one) for one in value[:EVIDENCE])
    return str(value)


LENGTH_OF_ID, DASHES_OF_ID = 36, 4
MOMENT = 10**14  # microseconds since 1970; a larger number is a time


def day(at: date, turns: int, episodes: Sequence[Episode], learned: Sequence[SemanticMemory], language: str) -> str:
    """Return the summary of a day: its sessions, and what was learned. The words are those of the rows, none are added."""

    def phrase(name: str, *values: object) -> str:
        return label(f"night.{name}", language).format(*values)

    lines = [f"# {at.isoformat()}", "", phrase("day", turns, len(episodes), len(learned))]
    sections = {
        "sessions": [f"- {_flat(one.summary or one.goal)} ({one.session})" for one in episodes],
        "learned": [f"- {_flat(one.content)} {_short(one.id)}" for one in learned],
    }
    for name, entries in sections.items():
        if entries:
            lines += ["", f"## {phrase(name)}", "", *entries[:SHOWN]]
            lines += [f"- {phrase('more', len(entries) - SHOWN)}"] if len(entries) > SHOWN else []
    return "\n".join([*lines, ""])


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= CHARS else f"{flat[: CHARS - 1]}…"


def _short(id: str) -> str:
    return f"#{id[-8:]}" if len(id) == LENGTH_OF_ID else id


def names(items: Sequence[NightItem]) -> Iterator[str]:
    """Yield the ids that the decisions of a report name first, whose texts it shows."""
    seen: dict[str, int] = {}
    for item in items:
        seen[item.action] = seen.get(item.action, 0) + 1
        if seen[item.action] <= SHOWN:
            yield from item.ids[:3]
