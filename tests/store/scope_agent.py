"""
What the agents of scopes do through `Memory.agent`: state, amend, learn from what was said, and read.

As `scope_calls.py`: what an agent states bears the canary of its scope, and waits there alone.
"""

import pytest
from store.scope_calls import SESSIONS, _gone, _probe
from store.scopes import View, World, tries

from yiku.errors import NotFound


@tries("agent.propose", 2)
@tries("agent.unconfirmed", 1)
def _propose(world: World, me: View) -> None:
    """What nobody said waits in its own scope, and is found there as unconfirmed."""
    done = world.ask(me, lambda: me.memory.agent.propose(f"The ledger of {world.text(me)} is blue"), writes=True)
    assert (me.name, "candidate") == (done.memory.scope, done.memory.state.value)
    world.ask(me, lambda: me.memory.agent.unconfirmed(world.question(), limit=50))
    world.ask(me, lambda: me.memory.forget(done.memory.id))
    me.model.last = None


@tries("agent.amend", 1)
def _amend(world: World, me: View) -> None:
    """What an agent says otherwise of our statement waits beside it."""
    if me.model.live:
        id = world.chance.choice([*me.model.live])
        done = world.ask(me, lambda: me.memory.agent.amend(id, f"The ledger of {world.text(me)} is red"), writes=True)
        assert (me.name, "candidate") == (done.memory.scope, done.memory.state.value)
        world.ask(me, lambda: me.memory.forget(done.memory.id))
        me.model.last = None


@tries("agent.forget", 1)
def _forget(world: World, me: View) -> None:
    """What an agent forgets is gone here alone."""
    if me.model.live:
        id, before = world.chance.choice([*me.model.live]), me.model.before()
        done = world.ask(me, lambda: me.memory.agent.forget(id))
        assert id in [memory.id for memory in done.memories]
        _gone(me.model, [id])
        world.changed(me, done.operation, before)


@tries("agent.current", 1)
def _current(world: World, me: View) -> None:
    """All current statements in sight, exactly."""
    seen = [world.views[name].model for name in me.reads]
    rows = world.ask(me, lambda: me.memory.agent.current(state="active", limit=10_000))
    assert sorted(text for model in seen for text in model.live.values()) == sorted(row.content for row in rows)


@tries("agent.token", 1)
def _token(world: World, me: View) -> None:
    """Each scope has a token of its own."""
    tokens = [world.ask(view, view.memory.agent.token) for view in world.views.values()]
    assert len(tokens) == len(set(tokens))


@tries("agent.excerpt", 1)
@tries("agent.learned", 1)
def _learned(world: World, me: View) -> None:
    """Here nothing is learned, so nothing is handed out; a piece of another's is told like nobody's."""
    assert world.ask(me, me.memory.agent.excerpt) is None
    jobs = [job for name in me.others for job in world.views[name].memory.admin.queue()]
    foreign = f"{jobs[0].n}-{jobs[0].fence}" if jobs else "999998-1"
    world.alike(me, lambda id: me.memory.agent.learned(id, []), foreign, "999999-1")


@tries("agent.quote", 1)
@tries("agent.quote_whole", 1)
@tries("agent.get", 1)
@tries("agent.note", 1)
def _read(world: World, me: View) -> None:
    """What is shown of hits and items is in sight; a note that this scope has not is not there."""
    hits = world.ask(me, lambda: me.memory.recall(world.question(), limit=5))
    world.ask(me, lambda: me.memory.agent.quote(hits.hits, world.question()))
    items = [world.ask(me, lambda id=id: me.memory.agent.get(id)) for id in [*me.model.live][:3]]
    world.ask(me, lambda: me.memory.agent.quote_whole(items))
    with pytest.raises(NotFound):
        world.ask(me, lambda: me.memory.agent.note(f"{SESSIONS[0]}/none.md"))


_probe("agent.get", lambda me, id: me.memory.agent.get(id), reads=True)
_probe("agent.forget", lambda me, id: me.memory.agent.forget(id), weight=4)
_probe("agent.amend", lambda me, id: me.memory.agent.amend(id, "told anew by an agent 智能体改的"), weight=4)
_probe("agent.amend", lambda me, id: me.memory.agent.amend(id, tags=["mine"]), weight=2)
