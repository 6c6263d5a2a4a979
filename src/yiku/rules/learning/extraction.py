"""
Extract statements with a model: format turns as its input, JSON schemas of replies, validation to drafts.

It is shown turns as data between marks, with the calls of tools and what came of them in short. Of its reply only that
counts whose evidence stands in the turns, word for word but for width, case and spaces, and which stands in that evidence
itself (grounding.py); the rest is left out, so what it invents is never kept. What rests on the user's own words counts as
theirs; what rests on anything else stays a candidate.

It is shown the memories nearest to what was said, each with its number, and may name the one that a statement updates.
That replaces only if both are of one subject and predicate, their values differ, and the quoted clause is plain and the
user's own; else the statement is new.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from yiku.rules.deciding import slots
from yiku.rules.learning import grounding
from yiku.rules.learning.drafts import drafts as read
from yiku.rules.privacy import quoting
from yiku.rules.sessions import tasks
from yiku.rules.statements.read import read as clauses
from yiku.rules.text.analyze import language_of
from yiku.rules.values import canonical
from yiku.types import Cardinality, Draft, Kind, Priority, SemanticMemory, Slot, Standing, Turn

MOST = 5  # things of one piece
NEAREST = 5  # memories that are shown beside it
SHOWN_CHARS = 6_000  # of a turn
SHORT_CHARS = 300  # of a memory, of what a tool was given, and of what it gave
_HEAD = re.compile(r"[\[\],]")  # what parts the head of a turn
HEDGED = 0.6  # the confidence of what was hedged

ITEMS: Mapping[str, Any] = {
    "type": "array",
    "maxItems": 20,
    "items": {
        "type": "object",
        "required": ["type", "content", "evidence"],
        "properties": {
            "type": {"type": "string", "enum": [kind.value for kind in Kind]},
            "subject": {"type": "string", "maxLength": 120},
            "predicate": {"type": "string", "maxLength": 80},
            "object": {"type": "string", "maxLength": 300},
            "content": {"type": "string", "minLength": 2, "maxLength": 600},
            "importance": {"type": "number", "minimum": 0, "maximum": 1},
            "duration": {"type": "string", "maxLength": 20},
            "is_update": {"type": "boolean"},
            "update_hint": {"type": "string", "maxLength": 300},
            "updates": {"type": ["integer", "null"]},
            "hedged": {"type": "boolean"},
            "evidence": {"type": "string", "minLength": 1, "maxLength": 600},
        },
    },
}
_FEW = {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 300}}
EPISODE: Mapping[str, Any] = {
    "type": "object",
    "required": ["summary", "outcome"],
    "properties": {
        "summary": {"type": "string", "minLength": 2, "maxLength": 2_000},
        "goal": {"type": "string", "maxLength": 300},
        "outcome": {"type": "string", "enum": ["success", "partial", "failed", "ongoing", "completed"]},
        "entities": _FEW,
        "decisions": _FEW,
        "open_questions": _FEW,
        "next_steps": _FEW,
    },
}
DURATIONS: Mapping[str, Priority] = {
    "permanent": "permanent",
    "30d": "long_term",
    "7d": "short_term",
    "24h": "transient",
    "session": "transient",
}


class Found(NamedTuple):
    """
    A draft from a model, whether it rests on the user's own words, and the turn that holds its evidence.

    replaces: the number of the memory that it updates, if it does
    """

    draft: Draft
    own_words: bool
    turn: Turn
    replaces: int | None = None


def shown(turns: Sequence[Turn]) -> str:
    """Format turns as data for a model: speakers, words, and short forms of tool calls and results."""
    return "\n".join(["<turns>", *map(_shown, turns), "</turns>"])


def _shown(turn: Turn) -> str:
    """One turn: its words stand indented, so that nothing in it is the end of the data, or the head of another turn."""
    speaker = f" {' '.join(quoting.inert(_HEAD.sub(' ', turn.speaker)).split())}" if turn.speaker else ""
    head = f"[{turn.role}{speaker}, {turn.said_at:%Y-%m-%d %H:%M %a}]"
    calls = [f"(calls {call.get('name', '?')} with {_short(call.get('input'))})" for call in turn.tool_calls]
    results = [
        f"({'failed' if result.get('is_error') else 'result'}: {_short(result.get('content'))})" for result in turn.tool_results
    ]
    text = (
        turn.content
        if len(turn.content) <= SHOWN_CHARS
        else turn.content[: SHOWN_CHARS // 2] + " … " + turn.content[-SHOWN_CHARS // 2 :]
    )
    lines = [line for part in (text, *calls, *results) for line in quoting.inert(part).splitlines() if line.strip()]
    return "\n".join([head, *(f"  {line}" for line in lines)])


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    flat = " ".join(text.split())
    return flat if len(flat) <= SHORT_CHARS else f"{flat[:SHORT_CHARS]}…"


def known(memories: Sequence[SemanticMemory]) -> str:
    """Format memories as data for a model, a numbered line each; empty without memories."""
    return "\n".join(["<memories>", *map(_known, memories), "</memories>", ""]) if memories else ""


def _known(memory: SemanticMemory) -> str:
    slot = f" [{_short(quoting.inert(f'{memory.subject} | {memory.predicate}'))}]" if memory.subject and memory.predicate else ""
    return f"  {memory.n}: {_short(quoting.inert(memory.content))}{slot} ({memory.said_at:%Y-%m-%d})"


def drafts(
    items: Sequence[Mapping[str, Any]],
    turns: Sequence[Turn],
    *,
    names: Sequence[str] = (),
    nearest: Sequence[SemanticMemory] = (),
) -> tuple[list[Found], list[str]]:
    """
    Return the valid drafts of a reply, and a reason for each rejected item.

    items:   as ITEMS has them
    nearest: the memories that were shown
    """
    found: list[Found] = []
    refused: list[str] = []
    for item in items:
        turn = _said_in(item["evidence"], turns)
        if turn is None:
            refused.append(f"{item['content'][:60]}: its evidence is not in the turns")
            continue
        judgement = grounding.judge(item, item["evidence"], turn, turns, names=names)
        if judgement.standing == "missing":
            refused.append(f"{item['content'][:60]}: {judgement.why}")
            continue
        draft, own_words = _draft(item, judgement, turn, names), judgement.standing == "stands" and judgement.own_words
        named = next((memory for memory in nearest if memory.n == item.get("updates")), None)
        updates = named is not None and own_words and judgement.plain and _updates(draft, turn, named)
        found.append(Found(draft, own_words, turn, named.n if named and updates else None))
    return found[:MOST], refused


def _updates(draft: Draft, turn: Turn, known: SemanticMemory) -> bool:
    """Whether a draft gives the slot of an earlier memory a different value."""
    slot = draft.slot
    if slot is None or (slot.key != known.slot and (slot.subject, slot.predicate) != (known.subject, known.predicate)):
        return False
    return known.confirmed_at <= turn.said_at and not canonical.same(slot.object, turn.said_at, known.object or "", known.said_at)


def _said_in(evidence: str, turns: Sequence[Turn]) -> Turn | None:
    """Return the turn that contains the evidence, preferably a user's."""
    wanted = grounding.bare(evidence)
    saying = [turn for turn in turns if wanted and any(wanted in grounding.bare(text) for text in grounding.texts(turn))]
    return min(saying, key=lambda turn: turn.role != "user", default=None)


def language(turns: Sequence[Turn]) -> str:
    """Return the language to ask in: that of most user turns, on a tie that of the last."""
    said = [tasks.typed(turn.content) for turn in turns if turn.role == "user"] or [turn.content for turn in turns]
    told = [language_of(text) for text in said if any(map(str.isalpha, text))]
    return "zh" if told and told.count("zh") + (0.5 if told[-1] == "zh" else 0) > len(told) / 2 else "en"


def _draft(item: Mapping[str, Any], judgement: grounding.Judgement, turn: Turn, names: Sequence[str]) -> Draft:
    kind, duration = Kind(item["type"]), item.get("duration", "permanent").strip().casefold()
    slot = _slot(item, turn, names) if kind is not Kind.RULE else None  # what is always to be done is nobody's attribute
    overstates = kind is not Kind.RULE and not judgement.plain and all(one.plain for one in clauses(item["content"]))
    unsure = bool(item.get("hedged")) or (overstates and (slot is None or slot.cardinality is Cardinality.SINGLE))
    return Draft(
        text=item["content"].strip(),
        quote=item["evidence"],
        rule="model",
        kind=kind,
        standing=Standing.BELIEF if unsure else Standing.FACT,
        slot=slot,
        importance=max(0.3, float(item.get("importance", 0.5))),
        confidence=HEDGED if unsure else 0.9,
        priority=DURATIONS.get(duration, "long_term" if duration.endswith("d") else "permanent"),
        session=duration == "session",
        updates=bool(item.get("is_update")),
        basis=item.get("update_hint") or None,
    )


def _slot(item: Mapping[str, Any], turn: Turn, names: Sequence[str]) -> Slot | None:
    """Return the slot that the rules read, else the one the model names; an unknown predicate is multi-valued."""
    if (filled := filled_by(item["content"], turn, names)) or item.get("hedged"):
        return filled[0] if filled else None
    predicate, told = item.get("predicate", "").strip(), item.get("object", "").strip()
    if not predicate or not told:
        return None
    subject = item.get("subject") or "user"
    slot = slots.stated(subject, predicate, told, None, names=names)
    if slot.cardinality is Cardinality.UNKNOWN:
        slot = slots.stated(subject, predicate, told, Cardinality.MULTI, names=names)
    return slot


def filled_by(text: str, turn: Turn, names: Sequence[str]) -> list[Slot]:
    """Return the slots that a text fills, as said at the time of a turn."""
    return [draft.slot for draft in read(text, said_at=turn.said_at, names=names) if draft.slot is not None]
