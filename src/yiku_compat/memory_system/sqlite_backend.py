"""
Memory System's database functions (add, get, update, delete, count access, resolve conflicts, clean up), on Yiku.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from yiku import Memory, Outcome
from yiku.errors import InvalidInput, NotFound
from yiku.types import Access, Refused
from yiku_compat.memory_system import views
from yiku_compat.memory_system.homes import MemoryDir, opened
from yiku_compat.memory_system.ids import find, shown
from yiku_compat.memory_system.lines import NOTED

ACCESSES: Mapping[str, Access] = {  # any other access is a use
    "retrieval": "retrieved",
    "retrieved": "retrieved",
    "user_mentioned": "mentioned",
    "mentioned": "mentioned",
}
TYPES = ("fact", "belief", "summary")


def init_sqlite_db(memory_dir: MemoryDir) -> Memory:
    """
    Make the home in a folder if there is none, with all tables and indexes, and return its memory.

    The database is `yiku.db`, in WAL mode. Raises what `Memory` raises.
    """
    memory = opened(memory_dir)
    memory.status()
    return memory


# ------------------------------------------------------------------ basic operations


def add_memory(
    memory_dir: MemoryDir,
    content: str,
    type: Literal["fact", "belief", "summary"] = "fact",
    *,
    entities: Sequence[str] = (),
    source: str | None = None,
    **details: Any,
) -> str:
    """
    Store a memory and return its id.

    source:  where it comes from, kept as it is
    details: of `Memory.remember`: importance, confidence, basis, expires_at, ttl_days, relations …

    Raises InvalidInput, also for what was erased before; KeptOut, Paused.
    """
    if type not in TYPES:
        raise InvalidInput(f"type must be one of {', '.join(TYPES)}, not {type!r}")
    noted = {NOTED: {"source": source}} if source is not None else None
    outcome = opened(memory_dir).remember(content, standing=type, entities=list(entities), metadata=noted, **details)
    return shown(_kept(outcome))


def _kept(outcome: Outcome) -> Any:
    if isinstance(outcome, Refused):
        raise InvalidInput(f"not stored: {outcome.why}")
    return outcome.memory


def get_memory(memory_dir: MemoryDir, memory_id: str) -> dict[str, Any] | None:
    """Return a memory as a dictionary with the document's columns; None where there is none."""
    memory = opened(memory_dir)
    try:
        row = find(memory, memory_id, exact=True)
    except NotFound:
        return None
    found = views.rows(memory, "select * from memory_rows where yiku_id = :id", {"id": row.id})
    return {name: value for name, value in found[0].items() if name not in ("n", "yiku_id")} if found else None


def update_memory(memory_dir: MemoryDir, memory_id: str, content: str | None = None, **details: Any) -> dict[str, Any] | None:
    """
    Change a memory and return it: a new content is a new version, with an id of its own unless it came from an old home.

    The earlier id still means it in every function but `get_memory`. details: of `Memory.update`. Raises NotFound, InvalidInput.
    """
    memory = opened(memory_dir)
    changed = memory.update(find(memory, memory_id).id, content, **details)
    return get_memory(memory, changed.id)


def delete_memory(memory_dir: MemoryDir, memory_id: str) -> None:
    """Archive a memory; `Memory.restore` brings it back, and `Memory.admin.erase` is for good. Raises NotFound."""
    memory = opened(memory_dir)
    memory.forget(find(memory, memory_id).id)


# ------------------------------------------------------------------ the functions of the document


def update_access_stats(memory_id: str, access_type: str, memory_dir: MemoryDir) -> None:
    """
    Count one access of a memory, by its key: `retrieval`, `user_mentioned`, or any other, which counts as a use.

    Raises NotFound, InvalidInput.
    """
    if not isinstance(access_type, str) or not access_type.strip():
        raise InvalidInput("access_type must say what kind of access it was, such as retrieval")
    memory = opened(memory_dir)
    memory.feedback(find(memory, memory_id).id, ACCESSES.get(access_type.strip().casefold(), "used"))


def resolve_relation_conflict(
    subject: str, relation_type: str, new_object: str, memory_id: str, memory_dir: MemoryDir
) -> Literal["new", "confirmed", "replaced", "past", "flagged", "retracted", "refused"]:
    """
    Store a relation that a memory states; return what became of it.

    It supersedes the earlier object only where a subject has one at a time (C-09): a new address replaces the old, a second
    thing that somebody likes stands beside the first. Where nobody knows, both stay and are flagged. A relation is a statement of
    its own, so the memories that stated the objects stay as they are.

    Raises NotFound, InvalidInput.
    """
    memory = opened(memory_dir)
    stated, text = find(memory, memory_id), f"{subject} {relation_type} {new_object}"
    read = memory.remember(text, subject=subject, predicate=relation_type, object=new_object, dry_run=True).memory
    outcome = memory.remember(
        text,
        subject=subject,
        predicate=f"relation {relation_type}",
        object=new_object,
        cardinality=read.cardinality or "unknown",
        relations=[(subject, relation_type, new_object)],
        metadata={NOTED: {"memory_id": shown(stated)}},
    )
    return outcome.kind


def ttl_cleanup(memory_dir: MemoryDir) -> int:
    """
    End what is past its time: after `auto_delete_at` it is junk, and removed 30 days later; after `expires_at` archived.

    Returns how many became junk. Raises Paused, StoreBusy.
    """
    return opened(memory_dir).admin.consolidate(phase=0).counts.get("junked", 0)
