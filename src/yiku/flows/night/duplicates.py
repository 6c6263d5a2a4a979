"""
Merge duplicate statements of one kind and scope: the best stays, with the sources and counters of the others.

Each statement that changed is compared with the few that share most of its words. What certainly says the same
(rules/night/duplicates.py) is one; what is only near is shown to the model, if there is one, a cluster in one question, and
its word counts as far as rules find nothing that a merge would lose. The others become history of the line of the one that
stays: they are found by `history`, and undoing the decision brings them back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from yiku.errors import ModelError, ModelUnavailable
from yiku.flows.common import prompt_files
from yiku.flows.learn import by_model
from yiku.flows.night import near
from yiku.flows.night.run import Night
from yiku.rules.deciding import conflict
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.night import duplicates as rules
from yiku.rules.text.analyze import language_of
from yiku.types import AddSource, Change, Expect, Memories, NightItem, SemanticMemory, Source, UpdateMemory

BEGINNING = ("said_at", "place", "valid_from")
MOST_SHOWN = 5  # statements of a cluster that a model is shown
CLUSTERS: dict[str, Any] = {
    "type": "object",
    "required": ["same"],
    "properties": {
        "same": {
            "type": "array",
            "maxItems": MOST_SHOWN,
            "items": {"type": "array", "maxItems": MOST_SHOWN, "items": {"type": "integer", "minimum": 1, "maximum": MOST_SHOWN}},
        }
    },
}


def steps(night: Night) -> Iterator[NightItem]:
    """Merge what says the same as a statement that changed."""
    gone, shown = set[int](), set[int]()
    for row in near.stops(night, near.changed(night)):
        if row.n in gone:
            continue
        near_it = [other for other in near.neighbours(night, row) if other.n not in gone]
        same = _same_form(row, near_it)
        if same:
            yield from _merge(night, [row, *same], "same-words", gone)
        elif night.model is not None and row.n not in shown:
            yield from _by_model(night, row, near_it, gone, shown)


def _same_form(row: SemanticMemory, near_it: Sequence[SemanticMemory]) -> list[SemanticMemory]:
    """Return the rows that may be one with a row by their words; what needs their sources is asked later."""
    if not near_it or (own := rules.form(row.content, row.said_at)) is None:
        return []
    return [other for other in near_it if other.kind is row.kind and rules.form(other.content, other.said_at) == own]


def _merge(night: Night, cluster: Sequence[SemanticMemory], why: str, gone: set[int]) -> Iterator[NightItem]:
    """Merge all of a cluster that certainly says the same as the best of it."""
    rows = night.handle.store.with_details(cluster)
    keep = rules.best(rows)
    for drop in rows:
        if drop.n != keep.n and (why != "same-words" or rules.same(keep, drop)):
            item = merge(night, keep, drop, why)
            if item is not None:
                gone.add(drop.n)
                yield item
                if not night.dry_run:
                    keep = night.handle.store.version(night.scope, keep.id)


def merge(night: Night, keep: SemanticMemory, drop: SemanticMemory, why: str) -> NightItem | None:
    """Make one row history of another's line, with its sources and counters added there; None where that would lose anything."""
    if rules.loses(keep, drop) or not near.untouched(night, [drop]) or _has_versions(night, drop):
        return None
    changes: list[Change] = [
        UpdateMemory(
            drop.n, {"superseded_by": keep.id, "line": keep.line, "reason": f"{conflict.MERGED}: {keep.id}"}, index_tokens(drop)
        ),
        *(AddSource(keep.n, source) for source in _new_sources(keep, drop)),
        *night.unflagged(drop),
    ]
    columns = rules.merged(keep, drop)
    if keep.standing is not drop.standing:  # a fact holds since it was said, not since somebody supposed it
        columns = {name: value for name, value in columns.items() if name not in (*BEGINNING, "confidence")}
    elif _said_between(night, drop, keep):  # else it would come before versions that it took the place of
        columns = {name: value for name, value in columns.items() if name not in BEGINNING}
    if columns:
        changes.insert(1, UpdateMemory(keep.n, columns, index_tokens(keep)))
    return night.decide(
        "merged",
        changes,
        ids=[keep.id, drop.id],
        reason=why,
        evidence={"keep": [0, len(keep.content)], "drop": [0, len(drop.content)]},
        expect=Expect(rows={keep.n: keep.changed, drop.n: drop.changed}),
    )


def _said_between(night: Night, drop: SemanticMemory, keep: SemanticMemory) -> bool:
    """Whether the line of a statement has a version that was said before it and after another."""
    line = night.handle.store.memories([night.scope], Memories(line=keep.line))
    said = [(row.said_at, row.place) for row in (drop, keep)]
    return any(said[0] < (row.said_at, row.place) < said[1] for row in line)


def _has_versions(night: Night, row: SemanticMemory) -> bool:
    """Whether a statement has a history of its own; then it stays."""
    return night.handle.store.count([night.scope], Memories(line=row.line)) > 1


def _new_sources(keep: SemanticMemory, drop: SemanticMemory) -> Iterator[Source]:
    """The sources of the dropped row that the kept one lacks, with the words that were said."""
    known = {(source.turn, source.start, source.said_at) for source in keep.sources}
    for source in drop.sources:
        if (source.turn, source.start, source.said_at) not in known:
            yield replace(source, text=source.text or drop.content, seq=0)


# ------------------------------------------------------------------ near duplicates, by a model


def _by_model(
    night: Night, row: SemanticMemory, near_it: Sequence[SemanticMemory], gone: set[int], shown: set[int]
) -> Iterator[NightItem]:
    """Ask a model which of a cluster say the same, and merge those of which rules find nothing that would be lost."""
    close = [other for other in near_it if other.kind is row.kind and other.n not in shown]
    close = [other for other in close if rules.distance(row.content, other.content) <= rules.DISTANCE][: MOST_SHOWN - 1]
    cluster = night.handle.store.with_details([row, *close])
    if not close or not any(rules.may_merge(cluster[0], other) is None for other in cluster[1:]):
        return
    shown.update(other.n for other in cluster)
    for group in _asked(night, cluster):
        keep = rules.best(group)
        for drop in group:
            if drop.n == keep.n or drop.n in gone:
                continue
            lost = rules.may_merge(keep, drop)
            swapped = lost is not None and rules.may_merge(drop, keep) is None  # the other one holds all that this one says
            kept, dropped = (drop, keep) if swapped else (keep, drop)
            if lost is not None and not swapped:
                yield _refused(night, keep, drop, lost)
            elif (item := merge(night, kept, dropped, "model")) is not None:
                keep = kept
                gone.add(dropped.n)
                yield item
                keep = keep if night.dry_run else night.handle.store.version(night.scope, keep.id)


def _asked(night: Night, cluster: Sequence[SemanticMemory]) -> list[list[SemanticMemory]]:
    """Return the groups that a model finds to say the same; none where it cannot be asked."""
    assert night.model is not None
    lines = "\n".join(f"  {place}. {' '.join(row.content.split())}" for place, row in enumerate(cluster, 1))
    language = language_of(" ".join(row.content for row in cluster))
    messages = [
        {"role": "system", "content": prompt_files.text("duplicates", language)},
        {"role": "user", "content": f"<statements>\n{lines}\n</statements>"},
    ]
    try:
        reply = by_model.timed(night.handle, night.model, messages, CLUSTERS, purpose="duplicates")
    except ModelError as error:
        night.notes.append(
            "duplicates: " + ("the model is not there" if isinstance(error, ModelUnavailable) else "a reply could not be used")
        )
        return []
    return list(_groups(reply.value, cluster))


def _groups(value: Mapping[str, Any], cluster: Sequence[SemanticMemory]) -> Iterator[list[SemanticMemory]]:
    taken = set[int]()
    for group in value["same"]:
        places = [place for place in dict.fromkeys(group) if place <= len(cluster) and place not in taken]
        taken.update(places)
        if len(places) > 1:
            yield [cluster[place - 1] for place in places]


def _refused(night: Night, keep: SemanticMemory, drop: SemanticMemory, lost: str) -> NightItem:
    item = night.decide("refused", ids=[keep.id, drop.id], reason="would-lose", evidence={"lost": lost.replace(" ", "-")})
    assert item is not None  # it rests on nothing
    return item
