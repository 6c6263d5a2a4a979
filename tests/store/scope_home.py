"""
Table of calls on the shared home by which scopes are tested: maintenance, import, export, opening.

Importing this module puts the operations of `scope_calls.py`, `scope_sessions.py`, `scope_agent.py` and its own on the list, so a world that
is made here tries every verb.
"""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from store import scope_agent, scope_calls, scope_sessions
from store.scopes import REFUSED, View, World, tries

from yiku import Memory
from yiku.errors import InvalidInput, InvalidScope, Paused
from yiku.flows.keep.record import unique_message_id
from yiku.store import scope_names
from yiku.types import BadRecord, MemoryRecord, SkippedRecord, TurnRecord

__all__ = ["World", "scope_agent", "scope_calls", "scope_sessions"]


@tries("status", 1)
def _status(world: World, me: View) -> None:
    assert me.reads == {*world.ask(me, me.memory.status).reads}
    assert me.name == me.memory.scope and me.name[:20] in repr(me.memory)


@tries("admin.check", 1)
def _check(world: World, me: View) -> None:
    """Whether the home is sound, without a word of what lies in it."""
    if world.chance.random() < 0.1:
        world.ask(me, me.memory.admin.check)


@tries("admin.stats", 1)
def _stats(world: World, me: View) -> None:
    """Counts of what is in sight, and of nothing else."""
    seen = [world.views[name].model for name in me.reads]
    found = world.ask(me, me.memory.admin.stats)
    assert sum(len(model.turns) for model in seen) == found.turns
    assert sum(len({where for _, where, _ in model.turns.values()}) for model in seen) == found.sessions
    assert sum(len(model.live) for model in seen) == found.memories.get("active", 0)
    among = f"from {{}} where scope_id in (select id from scopes where name in ({', '.join('?' * len(me.reads))}))"
    for table, counted in (("changes", found.changes), ("memory_tags", found.tags), ("memory_relations", found.relations)):
        holds = " and superseded = 0" if table == "memory_relations" else ""
        assert [(counted,)] == world.watcher.execute(
            f"select count(*) {among.format(table)}{holds}", [*map(scope_names.encode, me.reads)]
        ).fetchall()


@tries("admin.captured", 1)
def _captured(world: World, me: View) -> None:
    """Hooks captured nothing here, whatever others said in a session of the same name."""
    assert world.ask(me, lambda: me.memory.admin.captured(world.chance.choice(scope_calls.SESSIONS))) is None


@tries("admin.embed", 2)
def _embed(world: World, me: View) -> None:
    """What waits in this scope, and nothing of another."""
    found = world.ask(me, me.memory.admin.embed)
    again = world.ask(me, me.memory.admin.embed)
    assert (0, 0, 0) == (found.waiting, again.done, again.waiting)


@tries("admin.journal", 2)
def _journal(world: World, me: View) -> None:
    """Only our own scope's, though we may read others."""
    rows = world.ask(me, lambda: me.memory.admin.journal(limit=4), writes=True)  # it names records that were made on the way
    assert {f"zq{me.mark}zq"} == {row.actor for row in rows}


@tries("admin.import_", 1)
def _import(world: World, me: View) -> None:
    """Records with external ids of the pool; a source that is another's is a problem like one that is not there."""
    model, external, text = me.model, f"x{world.chance.randrange(40)}", world.text(me)
    line_id, fact = external, world.text(me)
    if external in model.externals and model.turns[model.externals[external]][1] != "s1":
        line_id = unique_message_id(external, "s1")  # the id counts within its session
    known = line_id in model.externals
    foreign = world.foreign(me.hidden)
    absent = world.absent(foreign)
    records = [
        TurnRecord(1, {"role": "user", "content": text, "session": "s1", "external_id": external}),
        MemoryRecord(2, fact, {}),
        MemoryRecord(3, "from another 别人", {"source": foreign}),
        MemoryRecord(4, "from nobody 无人", {"source": absent}),
        SkippedRecord(5, "nothing"),
        BadRecord(6, "broken"),
    ]
    done = world.ask(me, lambda: me.memory.admin.import_(records, source="file"), foreign, absent)
    assert (1 - known, 1) == (done.turns, done.memories)
    (_, first), (_, second) = (problem for problem in done.problems if problem[0] in (3, 4))
    assert second.replace(absent, "…") == first.replace(foreign, "…")
    (row,) = (row for row in me.memory.get_all(where={"content": fact}))
    model.live[row.id], world.owner[row.id] = fact, me.mark
    model.ids.append(row.id)
    if not known:
        turn = me.memory.record_turn("user", text, session="s1", external_id=line_id)
        model.turns[turn.id], model.externals[line_id], world.owner[turn.id] = (text, "s1", True), turn.id, me.mark
        model.ids.append(turn.id)
    model.last = None


@tries("close", 1)
def _reopen(world: World, me: View) -> None:
    """The same scope again, which may read others now."""
    if world.chance.random() < 0.2:
        world.ask(me, me.memory.close)
        world.views[me.name] = world.opened(me.name, me.model)


@tries("admin.backup", 1)
@tries("admin.backups", 1)
@tries("admin.restore_backup", 1)
def _backup(world: World, me: View) -> None:
    """A backup is the home's: what is told of it has sizes and counts, and no words."""
    if world.chance.random() < 0.1 and len(me.memory.admin.backups()) < 3:
        world.ask(me, me.memory.admin.backup)
    for found in world.ask(me, me.memory.admin.backups):
        world.ask(me, lambda found=found: me.memory.admin.restore_backup(found.name, dry_run=True))


@tries("admin.pause", 1)
@tries("admin.resume", 1)
def _pause(world: World, me: View) -> None:
    """A pause is the home's: it holds for every scope, and does not say whose it was."""
    if world.chance.random() < 0.8:
        return
    other = world.views[world.chance.choice(me.hidden)]
    world.ask(me, me.memory.admin.pause)
    with pytest.raises(Paused) as refused:
        world.ask(other, lambda: other.memory.record_turn("user", "x"))
    world.inspect(other, str(refused.value))
    assert world.ask(other, other.memory.admin.resume)


@tries("Memory", 3)
def _no_such_scope(world: World, me: View) -> None:
    """A name that is no scope opens nothing, alone or among the scopes to read."""
    name = world.chance.choice(REFUSED)
    world.calls += 2
    with pytest.raises(InvalidScope) as refused:
        Memory(world.home, scope=name)
    world.inspect(me, str(refused.value))
    with pytest.raises(InvalidInput):
        Memory(world.home, scope=me.name, reads=[name])


@tries("admin.export", 1)
def _export(world: World, me: View) -> None:
    """What is written out is our own scope's, though we may read others."""
    if world.chance.random() < 0.2:
        file = BytesIO()
        world.ask(me, lambda: me.memory.admin.export(file))
        own = replace(me, may_see=frozenset({me.mark}))
        world.inspect(own, file.getvalue().decode(), writes=True)


@tries("admin.export_markdown", 1)
def _export_markdown(world: World, me: View) -> None:
    """Nor do the pages for a person tell of another scope."""
    if world.chance.random() < 0.2:
        folder = Path(world.home).parent / "pages"
        world.ask(me, lambda: me.memory.admin.export_markdown(folder, replace=True))
        own = replace(me, may_see=frozenset({me.mark}))
        for page in folder.rglob("*.md"):
            world.inspect(own, page.read_text("utf-8"), writes=True)
