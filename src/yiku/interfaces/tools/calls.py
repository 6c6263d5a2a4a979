"""
Execute tool calls: from checked arguments to verbs of `Memory`, and from their results to an answer.

Words of memory stand in `text` alone, fenced; `items` has only ids, times, numbers and fixed names. So whichever of the two a host
shows its model, a memory is a quotation there, stands there once, and is known again where it comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from yiku.errors import InvalidInput
from yiku.types import Attachment, Episode, Flagged, Hit, Link, Note, Outcome, Refused, Replaced, SemanticMemory, State, Turn

if TYPE_CHECKING:
    from yiku.memory import Memory

LEVEL_1 = ("memory", "episode", "note", "attachment")
ROOM_TOKENS = 2_500  # of the words of one answer; hosts warn from 10,000 on
WHOLE_CHARS = 24_000  # of one item in full
LIST_CHARS = 16_000  # of several
UNCONFIRMED = 3  # candidates beside what is confirmed
PEEK = 5  # turns that are looked for where memories have no answer

Item = SemanticMemory | Turn | Episode | Attachment | Note


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The answer of a tool.

    text:  what a model reads; data: the structured result
    shown: hits that the answer shows, to be reported as retrieved after it was given
    """

    text: str
    data: Mapping[str, Any]
    shown: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call: the memory, its checked arguments, and the texts of a language with the caller's names of the tools."""

    memory: Memory
    given: Mapping[str, Any]
    phrases: Mapping[str, Any]

    def note(self, name: str, *values: object) -> str:
        """Return one of the notes."""
        return str(self.phrases["note"][name]).format(*values)


def _found(text: str, items: Sequence[Mapping[str, Any]], notes: Sequence[str], shown: Sequence[Hit] = (), **more: Any) -> Answer:
    data = {"text": text, "items": list(items), **more, "notes": list(notes)}
    return Answer("\n".join(filter(None, [text, *notes])), data, tuple(shown))


def _about(item: Item) -> dict[str, Any]:
    """Return an item's id, type, time and trust."""
    kind = type(item).__name__.lower().replace("semanticmemory", "memory")
    at = item.ended_at if isinstance(item, Episode) else item.said_at
    about: dict[str, Any] = {"id": item.id, "type": kind, "said_at": at.isoformat()}
    if isinstance(item, (SemanticMemory, Turn)):
        about["origin"] = item.origin.value
    if isinstance(item, SemanticMemory):
        about |= {"trust": round(item.trust, 2), "state": item.state.value}
        if item.superseded_by:
            about["superseded_by"] = item.superseded_by
    return about


def _where(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the filter of a call, if it has one."""
    window = {operator: given[name] for name, operator in (("since", "gte"), ("until", "lt")) if name in given}
    where: dict[str, Any] = {"said_at": window} if window else {}
    if "kind" in given:
        where["kind"] = given["kind"]
    if given.get("tags"):
        where["tags"] = {"in": list(given["tags"])}
    return where or None


# ------------------------------------------------------------------ finding


def search(call: Call) -> Answer:
    """Search memories, episodes and notes; candidates beside them, and turns if they are asked for."""
    given, memory = call.given, call.memory
    where, limit = _where(given), given["limit"]
    types = (*LEVEL_1, "turn") if given["turns"] else LEVEL_1
    hits = memory.recall(given["query"], limit=limit, where=where, as_of=given.get("as_of"), types=types)  # type: ignore[arg-type]
    found = [hit for hit in hits if hit.relevance >= given["min_score"]]
    if where is None and "as_of" not in given:
        waiting = memory.agent.unconfirmed(given["query"], limit=UNCONFIRMED)
        found = [*found, *(hit for hit in waiting if hit.relevance >= given["min_score"])][:limit]
    packed = memory.agent.quote(found, given["query"], max_tokens=ROOM_TOKENS)
    notes = list(hits.diagnostics)
    sure = hits.confident and bool(packed.hits)
    if not sure:
        notes.append(call.note("unsure" if packed.hits else "nothing"))
        if not given["turns"] and where is None and memory.recall(given["query"], limit=PEEK, types=("turn",)):
            notes.append(call.note("turns"))
    if packed.omitted:
        notes.append(call.note("omitted", packed.omitted))
    items = [
        {**_about(hit.item), "relevance": round(hit.relevance, 3)} | ({"routes": [*hit.routes]} if given["explain"] else {})
        for hit in packed.hits
    ]
    return _found(packed.text, items, notes, packed.hits, confident=sure, omitted=packed.omitted)


def get(call: Call) -> Answer:
    """Read one item in full."""
    item = call.memory.agent.get(call.given["id"])
    items: list[Item] = [item]
    notes = []
    if call.given["history"] and isinstance(item, SemanticMemory):
        items += [version for version in call.memory.history(item.id) if version.id != item.id]
        notes.append(call.note("versions", len(items)))
    text = call.memory.agent.quote_whole(items, max_chars=WHOLE_CHARS, from_line=call.given["from_line"])
    if not any(line.startswith("  ") for line in text.splitlines()):
        notes.append(call.note("past_end", call.given["from_line"]))
    return _found(text, [*map(_about, items)], notes)


def list_(call: Call) -> Answer:
    """List memories, newest first."""
    given = call.given
    found = call.memory.agent.current(
        state=given.get("state"), where=_where(given), limit=given["limit"] + 1, offset=given["offset"]
    )
    shown, rest = found[: given["limit"]], found[given["limit"] :]
    packed = call.memory.agent.quote([*map(_listed, shown)], max_tokens=ROOM_TOKENS)
    end = given["offset"] + len(packed.hits)
    notes = [call.note("more", end)] if rest or packed.omitted else []
    return _found(packed.text, [_about(hit.item) for hit in packed.hits], notes or ([] if shown else [call.note("nothing")]))


def _listed(memory: SemanticMemory) -> Hit:
    links = tuple(Link(id=s.turn, session=s.session, speaker=s.actor, origin=s.origin, said_at=s.said_at) for s in memory.sources)
    return Hit(item=memory, relevance=1.0, score=1.0, routes={}, sources=links, superseded_by=memory.superseded_by)


def timeline(call: Call) -> Answer:
    """Show messages and memories in the order in which they were said."""
    given = call.given
    found = call.memory.timeline(around=given.get("id"), since=given.get("since"), until=given.get("until"), limit=given["limit"])
    return _whole(call, found)


def traces(call: Call) -> Answer:
    """Search raw messages with their tool calls."""
    names = {"query": "keyword"}
    given = {names.get(name, name): value for name, value in call.given.items()}
    keyword = given.pop("keyword", None)
    return _whole(call, call.memory.search_traces(keyword, **given))


def _whole(call: Call, found: Sequence[Item]) -> Answer:
    text = call.memory.agent.quote_whole(found, max_chars=LIST_CHARS)
    return _found(text, [*map(_about, found)], [] if found else [call.note("nothing")])


def status(call: Call) -> Answer:
    """Say how much memory holds, what waits, and what is wrong."""
    state, counts = call.memory.status(), call.memory.admin.stats()
    waits = {name: count for name, count in state.waiting.items() if count}
    notes = [*state.troubles, *([state.missing] if state.missing else [])]
    data = {
        "scope": state.scope,
        "memories": counts.memories.get("active", 0),
        "unconfirmed": counts.memories.get("candidate", 0),
        "turns": counts.turns,
        "sessions": counts.sessions,
        "search": state.search,
        "waiting": sum(waits.values()),
        "notes": notes,
    }
    lines = [f"{name}: {value}" for name, value in data.items() if name != "notes"]
    return Answer("\n".join([*lines, *(f"{name}: {count}" for name, count in waits.items()), *notes]), data)


# ------------------------------------------------------------------ changing


def add(call: Call) -> Answer:
    """Store a statement."""
    given = dict(call.given)
    return _changed(call, call.memory.agent.propose(given.pop("text"), **given))


def update(call: Call) -> Answer:
    """Correct a memory."""
    given = dict(call.given)
    id, text = given.pop("id"), given.pop("text", None)
    done = call.memory.agent.amend(id, text, **given)
    return _changed(call, done, "updated" if text is None else None, proposed=text is not None)


def _changed(call: Call, done: Outcome, phrases: str | None = None, *, proposed: bool = False) -> Answer:
    """Say what became of a statement."""
    memory, outcomes = done.memory, call.phrases["outcome"]
    if isinstance(done, Refused):
        line = outcomes["refused"].format(done.why)
        return Answer(line, {"outcome": done.kind, "notes": [line]})
    waits, others = memory.state is State.CANDIDATE, tuple[SemanticMemory, ...]()
    if waits and phrases is None:
        note = "corrected" if isinstance(done, Replaced) else "proposed" if proposed and done.kind == "new" else "unconfirmed"
        notes = [call.note(note)]
    else:
        notes = [outcomes[phrases or done.kind]]
        others = done.others if isinstance(done, Flagged) else (done.replaced,) if isinstance(done, Replaced) else ()
    text = call.memory.agent.quote([*map(_listed, (memory, *others))], max_tokens=ROOM_TOKENS).text
    data = {"outcome": phrases or done.kind, "id": memory.id, "state": memory.state.value, "text": text, "notes": notes}
    return Answer("\n".join([*notes, text]), data)


def delete(call: Call) -> Answer:
    """Forget a memory or a message."""
    item = call.memory.agent.get(call.given["id"])
    if isinstance(item, (Episode, Attachment)):
        raise InvalidInput(call.phrases["error"]["not_forgotten"].format(item.id, type(item).__name__.lower()))
    done = call.memory.agent.forget(item.id)
    line = call.phrases["outcome"]["forgotten" if done.operation else "forgotten_before"]
    return Answer(line, {"outcome": "forgotten", "id": item.id, "notes": [line]})


# ------------------------------------------------------------------ learning


def learn(call: Call) -> Answer:
    """Hand out the next piece to learn from."""
    found = call.memory.agent.excerpt()
    if found is None:
        line = call.note("nothing_to_learn")
        return Answer(line, {"waiting": 0, "notes": [line]})
    notes = [call.note("pieces_left", found.waiting)] if found.waiting else []
    data = {"excerpt": found.id, "instructions": found.instructions, "text": found.text, "waiting": found.waiting, "notes": notes}
    return Answer("\n\n".join([f"excerpt: {found.id}", found.instructions, found.text, *notes]), data)


def learned(call: Call) -> Answer:
    """Store what the agent found in a piece."""
    report = call.memory.agent.learned(call.given["excerpt"], call.given["statements"])
    stored = sum(count for name, count in report.outcomes.items() if name not in ("refused", "confirmed"))
    notes = [call.phrases["outcome"]["learned"].format(stored)]
    data = {"stored": stored, "left_out": list(report.troubles), "waiting": report.waiting, "notes": notes}
    return Answer("\n".join([*notes, *report.troubles]), data)


CALLS: Mapping[str, Callable[[Call], Answer]] = {
    "memory_search": search,
    "memory_get": get,
    "memory_add": add,
    "memory_update": update,
    "memory_delete": delete,
    "memory_list": list_,
    "memory_timeline": timeline,
    "memory_traces": traces,
    "memory_status": status,
    "memory_learn": learn,
    "memory_learned": learned,
}
