"""
Random histories of a home with nights, and the expected state after undoing the last of them.

A person says things that change, repeat and end, updates, forgets, confirms and asks; days pass, and each ends in a night. Then
the last night is undone: every exported field of every version is as it was before that night. Or somebody changes some
memories first: then those are as they left them, and every other one is as before the night, or is named. What was purged after
its grace is gone for good.
"""

import random
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from yiku import Memory
from yiku.errors import CannotUndo, NotFound
from yiku.types import Kind, Memories

NOT_EXPORTED = {"n", "changed", "updated_at", "said_later"}
CITIES = ("Oslo", "Bergen", "Turku", "杭州", "昆明")
SAID = (
    "I live in {}.",
    "我住在{}。",
    "Ann lives in {}.",
    "The pump {} hums.",
    "{} 号水泵很响。",
    "The pump  {} hums!",
    "Room {} has a projector.",
    "I like the tea of {}.",
    "Never mention {}.",
)
KINDS = (None, None, None, Kind.RULE, Kind.TASK, Kind.ERROR, Kind.PREFERENCE, Kind.PERSONA_TRAIT)


def everything(memory: Memory) -> dict[str, dict[str, Any]]:
    """Each exported field of each version, by its id."""
    handle = memory._handle
    rows = handle.store.with_details(handle.store.memories(handle.own(), Memories()))
    return {row.id: {one.name: getattr(row, one.name) for one in fields(row) if one.name not in NOT_EXPORTED} for row in rows}


def check(home: Path, seed: int, *, days: int = 8) -> int:
    """Live a history, undo its last night, and compare; return how many decisions were taken back."""
    chance, now = random.Random(seed), [datetime.fromisoformat("2026-03-01T09:00:00+01:00")]
    with Memory(home, owner="user:mei", names=["Mei"], clock=lambda: now[0], durability="fast") as memory:
        for _ in range(days):
            for _ in range(chance.randrange(1, 8)):
                now[0] += timedelta(minutes=chance.randrange(1, 50))
                _do(memory, chance, now[0])
            now[0] += timedelta(hours=20) * chance.choice((1, 1, 1, 30))
            before = everything(memory)
            run = memory.admin.consolidate().run
        after = everything(memory)
        touched = _changed(memory, chance, now) if chance.random() < 0.5 else set[str]()
        meanwhile = everything(memory)
        planned = memory.admin.undo_run(run, dry_run=True) if _did(memory, run) else None
        done = memory.admin.undo_run(run) if planned else None
        back = everything(memory)
        if planned and done:
            assert (planned.items, planned.skipped) == (done.items, done.skipped)
        left = {id for one in (done.skipped if done else ()) for id in _of(memory, run, one.operation)}
        purged = {id for id in before if id not in after}  # junk whose grace was over, with its versions: nothing brings it back
        assert {before[id]["line"] for id in purged} == {before[id]["line"] for id in purged if before[id]["state"] == "junk"}
        assert all(row["line"] not in {before[id]["line"] for id in purged} for row in after.values())
        for id, then in before.items():
            if id in purged:
                continue
            if id not in touched and id not in left:
                assert then == back[id], f"seed {seed}: {id} is not as before the night"
            elif id in left and id not in touched:
                assert back[id] in (meanwhile[id], then), f"seed {seed}: {id} is neither"
        added = {id for id in after if id not in before}
        assert all(back[id]["state"] != "active" for id in added - touched - left), f"seed {seed}: what the night added is there"
        if done and done.operation:
            memory.admin.undo(done.operation)
            assert meanwhile == everything(memory), f"seed {seed}: the undo cannot be undone"
        return len(done.items) if done else 0


def _did(memory: Memory, run: str) -> bool:
    return bool(memory._handle.store.journal(memory._handle.own(), run=run))


def _of(memory: Memory, run: str, operation: int) -> set[str]:
    """The ids of the memories that an operation of a run changed."""
    handle = memory._handle
    ns = [row.row for row in handle.store.journal(handle.own(), run=run) if row.transaction == operation]
    return {row.id for row in handle.store.memories(handle.own(), Memories(ns=ns))}


def _do(memory: Memory, chance: random.Random, now: datetime) -> None:
    """One thing that a person does."""
    text = chance.choice(SAID).format(chance.choice(CITIES) if chance.random() < 0.5 else chance.randrange(9))
    rows = memory.get_all(limit=50)
    one = chance.choice(rows) if rows else None
    what = chance.choice(("remember",) * 6 + ("turn", "turn", "ends", "ttl", "update", "forget", "used", "context", "importance"))
    if what == "turn":
        memory.record_turn("user", text, session=f"s{chance.randrange(3)}")
    elif what == "ends":
        memory.remember(text, expires_at=now + timedelta(hours=chance.randrange(1, 90)))
    elif what == "ttl":
        memory.remember(text, ttl_days=chance.randrange(1, 4))
    elif what == "context":
        memory.context("Where do I live? 我住在哪里？")
    elif one is not None and what == "update":
        memory.update(one.id, f"{one.content} {chance.randrange(99)}")
    elif one is not None and what == "importance":
        memory.update(one.id, importance=chance.random())
    elif one is not None and what == "forget":
        memory.forget(one.id)
    elif one is not None and what == "used":
        memory.feedback(one.id, chance.choice(("used", "mentioned", "retrieved")))
    else:
        kind = chance.choice(KINDS)
        memory.remember(text, importance=chance.random(), **({"kind": kind} if kind else {}))


def _changed(memory: Memory, chance: random.Random, now: list[datetime]) -> set[str]:
    """What somebody does after the night; the ids that it changed, or made."""
    before = everything(memory)
    for _ in range(chance.randrange(1, 6)):
        now[0] += timedelta(minutes=5)
        try:
            _do(memory, chance, now[0])
        except (CannotUndo, NotFound):
            continue
    return {id for id, row in everything(memory).items() if before.get(id) != row}
