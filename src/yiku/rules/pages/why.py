"""
Format the provenance of a statement (the answer of `why`) as one page of Markdown.

What is believed and since when comes first, then the words that it rests on, what it replaced, who changed it, and where it
was shown. A long list is cut in the middle: its oldest and its newest lines say most. Times are in the offset in which the
statement was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo

from yiku.rules.deciding.history import end_of
from yiku.rules.lexicon.lists import label
from yiku.types import ChangeRow, SemanticMemory, State, Why, Words

SHOWN = 8  # lines of a section
CHARS = 160  # of a text in a line


def page(why: Why, language: str) -> str:
    """Return the page."""

    def phrase(name: str, *values: object) -> str:
        return label(f"why.{name}", language).format(*values)

    one, versions = why.memory, [*why.replaced, *why.others, why.memory, *([why.current] if why.current else [])]
    lines = [f"# {_flat(one.content)}", "", *(f"- {line}" for line in _belief(why, language))]
    sections: list[tuple[str, list[str]]] = [
        ("words", [_words(entry, language) for entry in why.words] or [phrase("no_words")]),
        ("replaced", [_version(version, versions, language) for version in why.replaced]),
        ("others", [_version(other, versions, language) for other in why.others]),
        ("changes", [*_changes(why.changes, one.said_at.tzinfo, language)]),
        ("shown", [*_format_shown(why, language)]),
    ]
    for name, entries in sections:
        if entries:
            lines += ["", f"## {phrase(name)}", "", *(f"- {entry}" for entry in _few(entries, language))]
    return "\n".join([*lines, ""])


def _belief(why: Why, language: str) -> Iterator[str]:
    one = why.memory

    def phrase(name: str, *values: object) -> str:
        return label(f"why.{name}", language).format(*values)

    if why.current is not None:
        yield phrase("until", _flat(why.current.content), _short(why.current.id))
    elif one.state is not State.ACTIVE:
        yield phrase("not_used", phrase(f"state_{one.state.value}"), one.reason or "-")
    elif one.superseded_by:
        yield phrase("until", "-", _short(one.superseded_by))
    else:
        yield phrase("current")
    ended = end_of(one, [why.current] if why.current else ())
    yield phrase("since", _day(one.valid_from), _day(ended) if ended else phrase("now"))
    yield phrase("stored", _minute(one.said_at), _minute(one.created_at.astimezone(one.said_at.tzinfo)))
    yield phrase("sure", phrase(f"standing_{one.standing.value}"), f"{one.confidence:.2f}", f"{one.trust:.2f}")
    if one.predicate:
        yield phrase("slot", one.subject, one.predicate, one.object or "-")
    yield phrase("id", one.id, one.kind.value)


def _words(entry: Words, language: str) -> str:
    source = entry.source
    who = source.actor or entry.role or source.origin.value
    place = [who, *([source.session] if source.session else []), *([f"#{source.turn[-8:]}"] if source.turn else [])]
    text = label("why.gone", language) if entry.text is None else label("why.quote", language).format(_flat(entry.text))
    return f"{_minute(source.said_at)}, {', '.join(place)}: {text}"


def _version(version: SemanticMemory, versions: Sequence[SemanticMemory], language: str) -> str:
    ended = end_of(version, versions)
    until = _day(ended) if ended else label("why.now", language)
    return f"{label('why.span', language).format(_day(version.valid_from), until)}: {_flat(version.content)} {_short(version.id)}"


def _changes(changes: Sequence[ChangeRow], zone: tzinfo | None, language: str) -> Iterator[str]:
    """Yield a line for each operation."""
    seen: set[int] = set()
    for change in changes:
        if change.transaction in seen:
            continue
        seen.add(change.transaction)
        by = [change.actor or change.run, change.reason]
        more = f": {', '.join(filter(None, by))}" if any(by) else ""
        yield label("why.change", language).format(_minute(change.at.astimezone(zone)), change.operation, change.transaction) + more


def _format_shown(why: Why, language: str) -> Iterator[str]:
    one = why.memory
    counts = {"retrieved": one.last_retrieved, "used": one.last_used, "mentioned": one.last_mentioned}
    for name, last in counts.items():
        if count := getattr(one, name):
            yield label(f"why.{name}", language).format(count, _day(last.astimezone(one.said_at.tzinfo)) if last else "-")
    if why.pages:
        yield label("why.pages", language).format(", ".join(why.pages))
    if not why.pages and not one.access_count:
        yield label("why.never", language)


def _few(entries: Sequence[str], language: str) -> Iterable[str]:
    if len(entries) <= SHOWN:
        return entries
    left = label("why.left", language).format(len(entries) - SHOWN)
    return [*entries[: SHOWN // 2], left, *entries[-SHOWN // 2 :]]


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= CHARS else f"{flat[: CHARS - 1]}…"


def _short(id: str) -> str:
    return f"#{id[-8:]}"


def _day(at: datetime) -> str:
    return at.isoformat()[:10]


def _minute(at: datetime) -> str:
    return at.isoformat(sep=" ")[:16]
