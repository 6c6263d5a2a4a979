"""
Table of calls by which scopes are tested: every verb that writes, removes or finds, on own and foreign items.

Each operation makes its calls through the world (`scopes.py`), which searches the answers, and keeps the model of its scope.
A new public verb needs an operation here or in `scope_home.py`: `test_scopes.py` says which have none.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from store.scopes import OPERATIONS, WORDS, Model, Operation, View, World, tries

from yiku.errors import IdempotencyMismatch, InvalidInput, NotFound
from yiku.types import Hit, Past, Replaced

SESSIONS, PEOPLE, TAGS = ("s1", "s2", "昨天"), ("Ann", "小明", "Zoë"), ("work", "家", "tea")
FILTERS: tuple[dict[str, Any], ...] = (
    {"OR": [{"kind": "rule"}, {"kind": "fact"}]},
    {"OR": [{"role": "tool"}, {"role": "user"}, {"kind": "fact"}]},
    {"NOT": [{"kind": "rule"}], "entities": {"in": list(PEOPLE)}},
    {"OR": [{"AND": [{"tags": "work"}, {"importance": {"gte": 0}}]}, {"content": {"icontains": "%"}}, {"content": {"ne": "_"}}]},
    {"state": {"in": ["active", "archived"]}},
    {"content": {"contains": "zq"}},
    {"session": {"nin": ["'; --"]}},
    {"metadata.mark": {"icontains": "zq"}},
)
LONG = 9_500  # repetitions of a canary that make a content too long for its row


# ------------------------------------------------------------------ what is said


@tries("record", 3)
def _record(world: World, me: View) -> None:
    """Turns under names that other scopes use, too: external ids, sessions, keys."""
    model, session, before = me.model, world.chance.choice(SESSIONS), me.model.before()
    external, key = f"x{world.chance.randrange(40)}", f"k{world.chance.randrange(40)}"
    turns = [
        {"role": "user", "content": world.text(me), "speaker": "Ann"},
        {"role": "user", "content": world.text(me), "external_id": external},
    ]
    known = external in model.externals
    if key in model.keys:
        with pytest.raises(IdempotencyMismatch):
            world.ask(me, lambda: me.memory.record(turns, session=session, idempotency_key=key))
        return
    done = world.ask(me, lambda: me.memory.record(turns, session=session, idempotency_key=key), writes=True)
    assert (2 - known, known) == (len(done.ids), done.known), "an external id of another scope was known"
    for id, turn in zip(done.ids, turns, strict=False):
        model.turns[id] = (turn["content"], session, True)
        if "external_id" in turn:
            model.externals[external] = id
    model.keys.add(key)
    model.ids += done.ids
    world.changed(me, done.operation, before)


@tries("record_turn", 3)
def _record_turn(world: World, me: View) -> None:
    """One turn; a known external id gives our own turn back."""
    model, text, session = me.model, world.text(me), world.chance.choice(SESSIONS)
    external = f"x{world.chance.randrange(40)}"
    details = {
        "session": session,
        "external_id": external,
        "metadata": {"mark": f"zq{me.mark}zq"},
        "tool_calls": [{"name": "look", "input": text}],
    }
    turn = world.ask(me, lambda: me.memory.record_turn("user", text, **details), writes=True)
    assert me.name == turn.scope
    if external in model.externals:
        assert model.externals[external] == turn.id
        return
    assert text == turn.content
    model.turns[turn.id], model.externals[external] = (text, session, True), turn.id
    model.ids.append(turn.id)
    model.last = None


@tries("admin.blob", 1)
def _long(world: World, me: View) -> None:
    """A content too long for its row comes back whole, to those who may read it."""
    if world.chance.random() < 0.7:
        return
    text = f"zq{me.mark}zq " * LONG + world.text(me)
    results = [{"content": text}] if world.chance.random() < 0.5 else []
    turn = world.ask(
        me, lambda: me.memory.record_turn("tool", "ran" if results else text, session="s1", tool_results=results), writes=True
    )
    name = turn.tool_results[0]["blob"] if results else turn.blob
    assert text == world.ask(me, lambda: me.memory.admin.blob(name))
    me.model.turns[turn.id], me.model.blobs[name], me.model.last = (turn.content, "s1", True), text, None
    me.model.ids.append(turn.id)


@tries("admin.blob", 3)
def _blob_of_another(world: World, me: View) -> None:
    """The name of another's content opens nothing, also when a turn of one's own was made to bear it."""
    blobs = [name for scope in me.hidden for name in world.views[scope].model.blobs]
    if not blobs:
        return
    name = world.chance.choice(blobs)
    result = {"content": "x", "blob": name} if world.chance.random() < 0.5 else {"content": "x", "inner": [{"blob": name}]}
    try:
        turn = world.ask(
            me, lambda: me.memory.record_turn("tool", f'"blob":"{name}"', session="s1", tool_results=[result]), writes=True
        )
        me.model.turns[turn.id], me.model.last = (turn.content, "s1", True), None
        me.model.ids.append(turn.id)
    except InvalidInput:
        pass  # that key is not the caller's
    world.alike(me, me.memory.admin.blob, name, "0" * 64)


# ------------------------------------------------------------------ what is held


@tries("remember", 4)
def _remember(world: World, me: View) -> None:
    """A statement of no slot, under a key and an external id of the pool; perhaps from a turn of ours."""
    model, text, before = me.model, world.text(me), me.model.before()
    key = f"k{world.chance.randrange(40)}" if world.chance.random() < 0.3 else None
    mark, details = f"zq{me.mark}zq", {}
    if model.turns and world.chance.random() < 0.3:
        details["source"] = world.chance.choice([*model.turns])
    details |= {
        "tags": [world.chance.choice(TAGS), mark],
        "entities": [world.chance.choice(PEOPLE), mark],
        "relations": [("Ann", "said", mark)],
    }
    details |= {
        "basis": mark,
        "metadata": {"mark": mark},
        "external_id": f"x{len(model.ids)}",  # in each scope the same ones, and each told once
        "agent": mark,
        **({"project": mark} if len(model.ids) % 3 else {"kind": "rule"}),
    }
    if key in model.keys:
        with pytest.raises(IdempotencyMismatch):
            world.ask(me, lambda: me.memory.remember(text, idempotency_key=key, **details))
        return
    done = world.ask(me, lambda: me.memory.remember(text, idempotency_key=key, **details), writes=True)
    assert type(done).__name__ in {"New", "Flagged"}  # beside what is worded like it
    assert (me.name, text) == (done.memory.scope, done.memory.content)
    model.live[done.memory.id] = text
    model.ids.append(done.memory.id)
    if "source" in details:
        model.sourced[done.memory.id] = details["source"]
    model.keys |= {key} - {None}
    world.changed(me, done.operation, before)


@tries("remember", 2)
def _replace(world: World, me: View) -> None:
    """A new value of a slot retires the one of this scope, whatever others say of the same."""
    model, who, text, before = me.model, world.chance.choice(PEOPLE), world.text(me), me.model.before()
    slot = {"subject": who, "predicate": "code word", "object": text, "cardinality": "single"}
    dry = world.ask(me, lambda: me.memory.remember(text, dry_run=True, **slot), writes=True)
    done = world.ask(me, lambda: me.memory.remember(text, **slot), writes=True)
    assert type(dry) is type(done)
    old = model.slots.get(who)
    if old is None:
        assert type(done).__name__ in {"New", "Flagged"}
    else:
        assert isinstance(done, Replaced) and old == done.replaced.id
        del model.live[old]
    model.live[done.memory.id], model.slots[who] = text, done.memory.id
    model.ids.append(done.memory.id)
    world.changed(me, done.operation, before)


@tries("remember", 1)
def _confirm(world: World, me: View) -> None:
    """The same words again are a second source of our statement, not of another's."""
    model, before = me.model, me.model.before()
    if plain := [id for id in model.live if id not in model.slots.values()]:
        id = world.chance.choice(plain)
        kind = world.ask(me, lambda: me.memory.get(id)).kind  # of another kind it is another statement
        done = world.ask(me, lambda: me.memory.remember(model.live[id], kind=kind), writes=True)
        assert ("Confirmed", id) == (type(done).__name__, done.memory.id)
        model.sourced.pop(id, None)
        world.changed(me, done.operation, before)


@tries("remember", 1)
def _past(world: World, me: View) -> None:
    """What was said before the live value of our slot is its history."""
    model, text, before = me.model, world.text(me), me.model.before()
    if model.slots:
        who = world.chance.choice([*model.slots])
        slot = {"subject": who, "predicate": "code word", "object": text, "cardinality": "single"}
        said_at = world.now - timedelta(days=1)
        done = world.ask(me, lambda: me.memory.remember(text, said_at=said_at, **slot), writes=True)
        assert isinstance(done, Past) and model.slots[who] == done.current.id
        model.ids.append(done.memory.id)
        world.changed(me, done.operation, before)


@tries("update", 2)
def _update(world: World, me: View) -> None:
    """A new version of what is ours."""
    model = me.model
    if not model.live:
        return
    id, text = world.chance.choice([*model.live]), world.text(me)
    new = world.ask(me, lambda: me.memory.update(id, text), writes=True)
    assert (me.name, text) == (new.scope, new.content)
    del model.live[id]
    model.sourced.pop(id, None)
    model.live[new.id] = text
    model.ids.append(new.id)
    model.slots = {who: new.id if holder == id else holder for who, holder in model.slots.items()}
    model.last = None


@tries("update", 1)
def _update_in_place(world: World, me: View) -> None:
    if me.model.live:
        id = world.chance.choice([*me.model.live])
        assert (
            id == world.ask(me, lambda: me.memory.update(id, tags=["tea", f"zq{me.mark}zq"], importance=world.chance.random())).id
        )
        me.model.last = None


def _gone(model: Model, ids: Iterable[str]) -> None:
    for id in ids:
        slot = next((who for who, holder in model.slots.items() if holder == id), None)
        model.forgotten[id] = (model.live.pop(id), slot)
        if slot is not None:
            del model.slots[slot]


@tries("forget", 2)
def _forget(world: World, me: View) -> None:
    """A statement, with its line, leaves this scope."""
    model, before = me.model, me.model.before()
    if model.live:
        id = world.chance.choice([*model.live])
        done = world.ask(me, lambda: me.memory.forget(id, reason=f"zq{me.mark}zq"))
        assert id in [memory.id for memory in done.memories]
        _gone(model, [id])
        world.changed(me, done.operation, before)


@tries("forget", 1)
def _forget_session(world: World, me: View) -> None:
    """A session goes that others have, too: our turns alone, and what came from them alone."""
    model, before, session = me.model, me.model.before(), world.chance.choice(SESSIONS)
    turns = {id for id, (_, where, shows) in model.turns.items() if where == session and shows}
    if not turns:
        world.alike(me, lambda name: me.memory.forget(session=name), session, "nobody's")
        return
    listed = world.ask(me, lambda: me.memory.forget(session=session, dry_run=True))
    done = world.ask(me, lambda: me.memory.forget(session=session))
    assert turns == {turn.id for turn in done.turns} == {turn.id for turn in listed.turns}
    _gone(model, [id for id, turn in model.sourced.items() if turn in turns and id in model.live])
    model.turns |= {id: (*model.turns[id][:2], False) for id in turns}
    world.changed(me, done.operation, before)


@tries("forget", 1)
def _forget_all_time(world: World, me: View) -> None:
    """The whole of time is that of one's own scope."""
    if me.model.shown():
        listed = world.ask(me, lambda: me.memory.forget(since="2020-01-01", dry_run=True))
        assert sorted(me.model.shown()) == sorted(turn.content for turn in listed.turns)


@tries("admin.erase", 1)
def _erase(world: World, me: View) -> None:
    """What is ours goes for good, from every file; everybody else's stays, as `_everything` sees."""
    if world.chance.random() < 0.4:
        kept = world.ask(me, lambda: me.memory.remember(world.text(me)), writes=True).memory
        done = world.ask(me, lambda: me.memory.admin.erase(kept.id, keep_turns=True))
        assert [kept.id] == [memory.id for memory in done.memories]
        me.model.last = None


@tries("restore", 1)
def _restore(world: World, me: View) -> None:
    """What was forgotten comes back, unless its slot was given anew."""
    model, before = me.model, me.model.before()
    if not model.forgotten:
        return
    id = world.chance.choice([*model.forgotten])
    text, slot = model.forgotten.pop(id)
    if slot in model.slots:
        return
    done = world.ask(me, lambda: me.memory.restore(id))
    model.live[id] = text
    model.slots |= {} if slot is None else {slot: id}
    world.changed(me, done.operation, before)


@tries("admin.undo", 1)
def _undo(world: World, me: View) -> None:
    """Our last operation is taken back; those of others since do not stand in the way."""
    model = me.model
    if model.last is None:
        return
    operation, before = model.last
    done = world.ask(me, lambda: me.memory.admin.undo(operation))
    model.turns = {
        id: (text, where, before.turns[id][2] if id in before.turns else False) for id, (text, where, _) in model.turns.items()
    }
    model.live, model.slots, model.sourced, model.forgotten, model.last = before.live, before.slots, before.sourced, {}, None
    model.operations.append(done.operation)


@tries("admin.undo", 2)
def _undo_of_another(world: World, me: View) -> None:
    operations = world.views[world.chance.choice(me.others)].model.operations
    world.alike(me, me.memory.admin.undo, world.chance.choice(operations), 2**61)


@tries("feedback", 2)
def _feedback(world: World, me: View) -> None:
    if me.model.live:
        id = world.chance.choice([*me.model.live])
        assert id == world.ask(me, lambda: me.memory.feedback(id, world.chance.choice(("retrieved", "used", "mentioned")))).id


# ------------------------------------------------------------------ ids of others


def _probe(
    verb: str, call: Callable[[View, str], Any], *, weight: int = 3, reads: bool = False, error: type | None = NotFound
) -> None:
    """A verb is given an id, or its end, of a scope whose rows it may not change, or (`reads`) may not even see."""

    def probe(world: World, me: View) -> None:
        id = world.foreign(me.hidden if reads else me.others)
        absent = world.absent(id)
        if error is not None and world.chance.random() < 0.3:
            id, absent = id[-12:], absent[-12:]
        world.alike(me, lambda given: call(me, given), id, absent, error)

    probe.__name__ = f"foreign id to {verb}"
    OPERATIONS.append(Operation(verb, weight, probe))


_probe("get", lambda me, id: me.memory.get(id), weight=8, reads=True)
_probe("get", lambda me, id: me.memory.get(id, as_of="2026-03-02T00:00:01+00:00"), reads=True)
_probe("history", lambda me, id: me.memory.history(id), weight=6, reads=True)
_probe("timeline", lambda me, id: me.memory.timeline(around=id), reads=True)
_probe("remember", lambda me, id: me.memory.remember("Said elsewhere 别处说的", source=id), reads=True)
_probe("update", lambda me, id: me.memory.update(id, "told anew by another 别人改的"), weight=8)
_probe("update", lambda me, id: me.memory.update(id, pinned=True, tags=["mine"]), weight=4)
_probe("forget", lambda me, id: me.memory.forget(id), weight=8)
_probe("forget", lambda me, id: me.memory.forget(id, dry_run=True))
_probe("forget", lambda me, id: me.memory.forget(id, hard=True))
_probe("admin.erase", lambda me, id: me.memory.admin.erase(id))
_probe("admin.erase", lambda me, id: me.memory.admin.erase(id, dry_run=True))
_probe("restore", lambda me, id: me.memory.restore(id), weight=6)
_probe("feedback", lambda me, id: me.memory.feedback(id, "used"), weight=8)
# A filter that names it leaves it out, like what is not there.
_probe("get_all", lambda me, id: me.memory.get_all(where={"OR": [{"content": id}, {"id": id}]}), reads=True, error=None)
_probe("timeline", lambda me, id: me.memory.timeline(where={"OR": [{"content": id}, {"id": id}]}), reads=True, error=None)
_probe("recall", lambda me, id: me.memory.recall("Oslo", where={"OR": [{"content": id}, {"id": id}]}).hits, reads=True, error=None)


@tries("retrieved", 2)
def _retrieved(world: World, me: View) -> None:
    """Hits of another's recall, or forged ones, count nothing."""
    other = world.views[world.chance.choice(me.hidden)]
    if not other.model.live:
        return
    id = world.chance.choice([*other.model.live])
    item, before = other.memory.get(id), world.committed()
    forged = item if world.chance.random() < 0.5 else replace(item, scope=me.name)
    hit = Hit(item=forged, relevance=1.0, score=1.0, routes={}, sources=())
    world.ask(me, lambda: me.memory.retrieved([hit]))
    assert item == other.memory.get(id)
    assert before == world.committed()


# ------------------------------------------------------------------ looking and finding


@tries("get", 6)
def _get(world: World, me: View) -> None:
    """What is ours is what we said."""
    kept = me.model.live if world.chance.random() < 0.5 else {id: text for id, (text, _, _) in me.model.turns.items()}
    if kept:
        id = world.chance.choice([*kept])
        item = world.ask(me, lambda: me.memory.get(id))
        assert (me.name, kept[id]) == (item.scope, item.content)


@tries("get_all", 1)
def _everything(world: World, me: View) -> None:
    """All statements and turns in sight, exactly: those of this scope and of the scopes that it reads."""
    if world.chance.random() < 0.8:
        return
    seen = [world.views[name].model for name in me.reads]
    rows = world.ask(me, lambda: me.memory.get_all(limit=10_000))
    assert sorted(text for model in seen for text in model.live.values()) == sorted(row.content for row in rows)
    turns = world.ask(me, lambda: me.memory.search_traces(limit=10_000))
    assert sorted(text for model in seen for text in model.shown()) == sorted(turn.content for turn in turns)


@tries("get_all", 4)
def _get_all(world: World, me: View) -> None:
    chosen: dict[str, Any] = {"limit": 2, "offset": world.chance.randrange(4), "where": world.chance.choice((None, *FILTERS))}
    chosen |= world.chance.choice(({}, {"order": "updated"}, {"as_of": world.now}, {"valid_at": world.now}))
    world.ask(me, lambda: me.memory.get_all(**chosen))


@tries("about", 3)
def _about(world: World, me: View) -> None:
    who = world.chance.choice(PEOPLE)
    world.ask(me, lambda: me.memory.about(who, limit=3))


@tries("related", 2)
def _related(world: World, me: View) -> None:
    who = world.chance.choice((None, *PEOPLE))
    world.ask(me, lambda: me.memory.related(subject=who, limit=3))


@tries("history", 2)
def _history(world: World, me: View) -> None:
    """A line of ours, by its id or by what it is about."""
    if me.model.slots:
        id = world.chance.choice([*me.model.slots.values()])
        assert id in [version.id for version in world.ask(me, lambda: me.memory.history(id))]
    if world.chance.random() < 0.2:
        world.outcome_of(me, me.memory.history, f"{world.chance.choice(PEOPLE)}'s code word")


def _asked(world: World, me: View) -> dict[str, Any]:
    some = ({}, {}, {"where": world.chance.choice(FILTERS)}, {"as_of": world.now}, {"valid_at": world.now}, {"types": ["turn"]})
    return {"limit": 2} | world.chance.choice(some)


@tries("recall", 2)
def _recall(world: World, me: View) -> None:
    """Words that all scopes use, and our canary, which finds what is ours."""
    question, how = world.question(), _asked(world, me)
    world.ask(me, lambda: me.memory.recall(question, **how))
    if me.model.live:
        assert world.ask(me, lambda: me.memory.recall(f"zq{me.mark}zq", limit=1, types=("memory",)))


@tries("explain", 1)
def _explain(world: World, me: View) -> None:
    world.ask(me, lambda: me.memory.explain(world.question(), limit=2, where=world.chance.choice((None, *FILTERS))))


@tries("context", 1)
def _context(world: World, me: View) -> None:
    question, how = world.question(), _asked(world, me)
    del how["limit"]
    how.pop("types", None)
    packed = world.ask(me, lambda: me.memory.context(question, max_tokens=400, **how))
    assert {rule.scope for rule in packed.rules} <= {me.name}, "a rule of another scope stands here"


@tries("prompts.build", 2)
def _prompt(world: World, me: View) -> None:
    """What is known and the rules are our own scope's; only what is recalled may come from one that we read."""
    how = {"auto_recall": world.chance.choice(("off", "gated", "always")), "session": world.chance.choice((None, *SESSIONS))}
    built = world.ask(me, lambda: me.memory.prompts.build(world.question(), max_tokens=900, **how))
    assert built.tokens <= 900


@tries("prompts.inject", 1)
@tries("prompts.compressed", 1)
def _inject(world: World, me: View) -> None:
    """What a hook brings in is in sight; sessions of one name in two scopes know nothing of each other."""
    session = world.chance.choice(SESSIONS)
    world.ask(me, lambda: me.memory.prompts.inject(session, world.question()))
    world.ask(me, lambda: me.memory.prompts.compressed(session))


@tries("search_traces", 3)
def _search_traces(world: World, me: View) -> None:
    some = (
        {},
        {"keyword": world.chance.choice(WORDS)},
        {"session": world.chance.choice(SESSIONS)},
        {"role": "user"},
        {"tool": "look"},
    )
    chosen = world.chance.choice(some) | world.chance.choice(some)
    world.ask(me, lambda: me.memory.search_traces(**chosen, limit=2))


@tries("timeline", 3)
def _timeline(world: World, me: View) -> None:
    chosen: dict[str, Any] = {"limit": 3, "where": world.chance.choice((None, *FILTERS))}
    if me.model.ids and world.chance.random() < 0.3:
        chosen["around"] = world.chance.choice(me.model.ids)
    elif world.chance.random() < 0.5:
        chosen["since"] = world.now - timedelta(seconds=world.chance.randrange(10))
    world.ask(me, lambda: me.memory.timeline(**chosen))
