"""
Maintain summaries of entities: archive those with changed sources, and have a model write those that are due.

A summary is a statement of standing `summary`, of a model's words and trust, and cites the statements it was made from
(`summary_sources`). When one of these is replaced, forgotten or archived, the summary is put aside the same night. Without a
model none is written: `Memory.about` lists what is known of an entity, and a summary waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from yiku.errors import ModelError
from yiku.flows.common import intake, prompt_files, tombstones
from yiku.flows.learn import by_model
from yiku.flows.night import near
from yiku.flows.night.run import Night
from yiku.rules.deciding.conflict import text_hash
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.night import summaries as rules
from yiku.rules.text.analyze import language_of
from yiku.types import (
    AddMemory,
    Change,
    CiteSources,
    Expect,
    Memories,
    NightItem,
    Origin,
    SemanticMemory,
    Source,
    Standing,
    State,
    UpdateMemory,
)

STALE = "source-changed"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["sentences"],
    "properties": {
        "sentences": {
            "type": "array",
            "maxItems": rules.MOST_SENTENCES,
            "items": {
                "type": "object",
                "required": ["text", "from"],
                "properties": {
                    "text": {"type": "string", "maxLength": 300},
                    "from": {"type": "array", "maxItems": rules.MOST_SOURCES, "items": {"type": "integer", "minimum": 1}},
                },
            },
        }
    },
}


def steps(night: Night) -> Iterator[NightItem]:
    """Put stale summaries aside, then write those that are due."""
    yield from _stale(night)
    if night.model is None:
        return
    done = set[str]()
    for row in near.stops(night, near.changed(night)):
        if not rules.is_source(row):
            continue
        for entity in night.handle.store.with_details([row])[0].entities:
            if entity not in done and rules.is_summarized(entity):
                done.add(entity)
                if (item := _renew(night, entity)) is not None:
                    yield item


def _stale(night: Night) -> Iterator[NightItem]:
    """Archive the live summaries of which a source is not live any more."""
    ns = night.handle.store.nights.stale(night.scope)
    for row in near.stops(night, iter(night.handle.store.memories([night.scope], Memories(ns=ns)) if ns else [])):
        item = night.decide(
            "stale",
            [UpdateMemory(row.n, {"state": State.ARCHIVED, "reason": STALE}, index_tokens(row))],
            ids=[row.id],
            reason=STALE,
            expect=Expect(rows={row.n: row.changed}),
        )
        if item is not None:
            yield item


# ------------------------------------------------------------------ writing one


def _renew(night: Night, entity: str) -> NightItem | None:
    """Have a summary of an entity written if it is due, in the place of the one that there is."""
    about = night.handle.store.memories([night.scope], Memories(entities=[entity], states=(State.ACTIVE,), current=True))
    facts = rules.sources(row for row in about if not row.expired(night.now))
    old = next((row for row in about if row.standing is Standing.SUMMARY and row.method == rules.METHOD), None)
    known = night.handle.store.nights.summarized(night.scope, [old.n]).get(old.n, []) if old is not None else None
    if not rules.is_due(known, facts):
        return None
    if old is not None and not near.untouched(night, [old]):
        return None
    text, cited = _written(night, entity, facts)
    if not text:
        return None
    new = _summary(night, entity, text, cited, old)
    same = Memories(hash=new.content_hash, states=(State.ACTIVE,), current=True, limit=1)
    if tombstones.erased_since(night.handle, new) or night.handle.store.memories([night.scope], same):
        return None
    changes: list[Change] = [AddMemory(new, index_tokens(new)), CiteSources(new.id, [row.n for row in cited])]
    if old is not None:
        ended = {"superseded_by": new.id, "valid_to": new.valid_from, "reason": f"said later: {new.id}"}
        changes.insert(0, UpdateMemory(old.n, ended, index_tokens(old)))
    return night.decide(
        "added",
        changes,
        ids=[new.id, *(row.id for row in cited)],
        reason="summary",
        evidence={"sources": len(cited)},
        expect=Expect(
            rows={row.n: row.changed for row in (*cited, *([old] if old else []))}, erasure=night.handle.store.erasures.last()
        ),
    )


def _written(night: Night, entity: str, facts: Sequence[SemanticMemory]) -> tuple[str, list[SemanticMemory]]:
    """Return the sentences of a model that its sources support, and these; nothing where it cannot be asked."""
    assert night.model is not None
    lines = "\n".join(f"  {place}. {' '.join(row.content.split())}" for place, row in enumerate(facts, 1))
    language = language_of(" ".join(row.content for row in facts))
    messages = [
        {"role": "system", "content": prompt_files.text("summary", language)},
        {"role": "user", "content": f"<about>{entity}</about>\n<statements>\n{lines}\n</statements>"},
    ]
    try:
        reply = by_model.timed(night.handle, night.model, messages, SCHEMA, purpose="summary")
    except ModelError:
        night.notes.append("summaries: the model could not be asked, or its reply could not be used")
        return "", []
    kept, cited, room = list[str](), dict[int, SemanticMemory](), rules.CHARS
    for sentence in _sentences(reply.value):
        said = [facts[place - 1] for place in dict.fromkeys(sentence["from"]) if place <= len(facts)]
        text = intake.clean(night.handle, " ".join(sentence["text"].split()))
        if len(text) <= room and rules.sound(text, said, entity):
            kept.append(text)
            cited |= {row.n: row for row in said}
            room -= len(text) + 1
    return " ".join(kept), [cited[n] for n in sorted(cited)]


def _sentences(value: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    sentences: Sequence[Mapping[str, Any]] = value["sentences"]
    return sentences


def _summary(night: Night, entity: str, text: str, cited: Sequence[SemanticMemory], old: SemanticMemory | None) -> SemanticMemory:
    assert night.model is not None
    at, id = night.now, night.handle.new_id()
    return SemanticMemory(
        id=id,
        line=old.line if old is not None else id,
        standing=Standing.SUMMARY,
        content=text,
        content_hash=text_hash(text, None),
        importance=max(row.importance for row in cited),
        confidence=min(row.confidence for row in cited),
        said_at=at,
        confirmed_at=at,
        valid_from=at,
        origin=Origin.ASSISTANT,
        trust=min(rules.TRUST, *(row.trust for row in cited)),
        method=rules.METHOD,
        entities=(entity,),
        created_at=night.handle.now(),
        updated_at=night.handle.now(),
        sources=(Source(origin=Origin.ASSISTANT, said_at=at, recorded_at=night.handle.now(), actor=night.model.name[:80]),),
    )
