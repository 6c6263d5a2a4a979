"""
Criteria of an audit of stored memories (duplicate, unused, stale, over budget), and its report as Markdown.

A duplicate is a statement whose words, or whose slot and value, another live statement of its kind has too: spelling, spaces and
punctuation do not count. Stale is what nobody said, saw or used for a long time. The page begins with what is over its budget,
then has a table of all checks and a few examples of each that found something; a person reads it in two minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from yiku.rules.lexicon.lists import label
from yiku.rules.text.analyze import fold
from yiku.types import Audit, Check, Finding, Kind, SemanticMemory

CHECKS: tuple[Check, ...] = (
    "duplicates",
    "contradictions",
    "unsupported",
    "secrets",
    "never_recalled",
    "stale",
    "orphans",
)
BUDGETS: Mapping[Check, float] = {  # shares; a check without one is only shown
    "duplicates": 0.05,
    "contradictions": 0.05,
    "unsupported": 0.0,
    "secrets": 0.0,
    "orphans": 0.0,
}
UNUSED_DAYS, STALE_DAYS = 30, 180
EXAMPLES = 3  # of a check
CHARS = 100  # of a text in an example


def same_words(row: SemanticMemory) -> tuple[str, ...]:
    """Return what two statements with the same words have in common."""
    return "words", row.kind.value, _plain(row.content)


def same_value(row: SemanticMemory) -> tuple[str, ...] | None:
    """Return what two statements with the same value of a slot have in common; None for one without a value."""
    if not row.subject or not row.predicate or not row.object:
        return None
    return "value", row.kind.value, row.subject, row.predicate, _plain(row.object)


def _plain(text: str) -> str:
    return "".join(character for character in fold(text) if character.isalnum())


def may_be_unused(row: SemanticMemory, now: datetime) -> bool:
    """Tell whether a statement is old enough for somebody to have asked for it."""
    return row.created_at <= now - timedelta(days=UNUSED_DAYS)


def stale(row: SemanticMemory, now: datetime) -> bool:
    """Tell whether nobody said, saw or used a statement for long. Rules and pinned ones stay what they are."""
    last = max(filter(None, (row.confirmed_at, row.created_at, row.last_accessed_at)))
    return row.kind is not Kind.RULE and not row.pinned and last <= now - timedelta(days=STALE_DAYS)


def finding(check: Check, count: int, of: int, examples: Sequence[Sequence[str]], budgets: Mapping[Check, float]) -> Finding:
    """Return a finding, judged by its budget."""
    budget = budgets.get(check)
    over = budget is not None and count > 0 and (count / of if of else 1.0) > budget
    return Finding(check, count, of, tuple(tuple(ids) for ids in examples[:EXAMPLES]), budget, over)


def page(audit: Audit, texts: Mapping[str, str], now: datetime, language: str) -> str:
    """Return the page. texts: the contents of those that are named in examples, by id."""

    def phrase(name: str, *values: object) -> str:
        return label(f"audit.{name}", language).format(*values)

    lines = [f"# {phrase('title', f'{audit.memories:,}', now.isoformat()[:10])}", ""]
    lines += [phrase("over", len(audit.over), len(audit.findings)) if audit.over else phrase("none"), ""]
    heads = [phrase(name) for name in ("row_check", "row_found", "row_share", "row_budget", "row_state")]
    lines += [f"| {' | '.join(heads)} |", "|---|---:|---:|---:|---|"]
    for one in audit.findings:
        budget = phrase("no_budget") if one.budget is None else f"{one.budget:.0%}"
        state = phrase("no_budget") if one.budget is None else phrase("too_many" if one.over else "ok")
        lines.append(f"| {phrase(one.check)} | {one.count:,} | {one.share:.1%} | {budget} | {state} |")
    found = [one for one in audit.findings if one.count]
    for one in sorted(found, key=lambda one: not one.over):
        days = {"never_recalled": UNUSED_DAYS, "stale": STALE_DAYS}.get(one.check, 0)
        lines += ["", f"## {phrase(one.check)}: {one.count:,}", "", phrase(f"about_{one.check}", days), ""]
        lines += [
            f"- {phrase(f'orphan_{name}')}: {count:,}" for name, count in audit.details.items() if one.check == "orphans" and count
        ]
        lines += [f"- {line}" for line in _examples(one, texts)]
    if any(one.examples for one in found):
        lines += ["", phrase("example")]
    return "\n".join([*lines, ""])


def _examples(one: Finding, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each group. What may be a secret is named, not shown."""
    for ids in one.examples:
        shown = [f"{_flat(texts.get(id, ''))} #{id[-8:]}".strip() if one.check != "secrets" else f"#{id[-8:]}" for id in ids]
        yield " = ".join(shown) if one.check == "duplicates" else " / ".join(shown)


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= CHARS else f"{flat[: CHARS - 1]}…"
