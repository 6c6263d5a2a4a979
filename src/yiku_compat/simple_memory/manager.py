"""
`MemorySqlManager`: find memories by tags with SQL, and write, merge and delete them through Yiku, in every scope.

Writing goes through Yiku's own verbs, by a memory for each scope; a scope reads itself and `public`. The mirror of tags is
loaded at the start, gains what is written, by other processes, too, and is made again by `collect_garbage`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from yiku import Memory
from yiku.errors import InvalidInput, NotFound
from yiku_compat.simple_memory import merging
from yiku_compat.simple_memory.memories import KINDS, PASSIVE_STRENGTH, BaseMemory, MemoryType, memory_type
from yiku_compat.simple_memory.mirror import TagMirror
from yiku_compat.simple_memory.scopes import checked
from yiku_compat.simple_memory.views import ID, LIVE, OLD_ID, VIEWS

TABLES = VIEWS["s1"]
STRONGEST = 1_000
LOOK_EACH_S = 1.0  # for tags that other processes wrote: to look reads all names of the scope
TAGS_A_READ = 10_000
HIT = f"""
    select m.n, count(distinct t.name) as hits, (m.said_at + m.offset_min * 60000000) / 86400000000 as day, m.strength as strength
    from json_each(:tags) j cross join yiku_memory_tags t on t.name = j.value
    cross join yiku_memory_tag_rel r on r.tag_id = t.id and r.scope_id = t.scope_id cross join yiku_memories m on m.n = r.memory_n
    where {LIVE} and (:kind is null or m.kind = :kind)
    group by m.n order by hits desc, day desc, strength desc, m.n desc limit :limit
"""
WHOLE = f"""
    {ID} as id, m.kind, m.content, coalesce(m.basis, ''), m.strength, m.pinned, s.name, m.said_at / 1000000.0, m.updated_at / 1000000.0,
    {{}}, (select group_concat(g.name, char(31)) from yiku_memory_tag_rel x join yiku_memory_tags g on g.id = x.tag_id
        where x.memory_n = m.n)
"""
FOUND = f"""
    with hit as ({HIT})
    select {WHOLE.format("hit.hits")}
    from hit join yiku_memories m on m.n = hit.n join yiku_scopes s on s.id = m.scope_id
    order by hit.hits desc, hit.day desc, hit.strength desc, m.n desc
"""
BY_LINE = f"""
    select {WHOLE.format("0")}, m.line from yiku_memories m join yiku_scopes s on s.id = m.scope_id
    where m.line in (select value from json_each(:lines)) and {LIVE}
"""
TYPES = {kind: name for name, kind in KINDS.items()}


class MemorySqlManager:
    """The memories of a home. Safe to use from several threads."""

    def __init__(self, home: str | Path | None = None, **settings: Any) -> None:
        """Open the home, creating it if it does not exist, and load the mirror. Raises what `yiku.Memory` raises."""
        self._home, self._settings = home, settings
        self._lock = threading.RLock()
        self._handles: dict[str, Memory] = {}
        self.tags = TagMirror()
        self._last_tag: dict[str, int] = {}
        self._looked: dict[str, float] = {}
        with Memory(home, **settings) as memory:
            self._home, owner = memory.settings.home, memory.scope
        self.refresh(owner)

    def handle(self, memory_scope: str) -> Memory:
        """Return the memory that writes a scope. Raises InvalidScope."""
        name = checked(memory_scope)
        with self._lock:
            if name not in self._handles:
                self._handles[name] = Memory(self._home, scope=name, **self._settings)
            return self._handles[name]

    def close(self) -> None:
        """Release the files."""
        with self._lock:
            for memory in self._handles.values():
                memory.close()
            self._handles = {}

    # -------------------------------------------------------------- tags

    def refresh(self, memory_scope: str) -> None:
        """Load the tags that came since the last time into the mirror, whoever wrote them."""
        memory, last = self.handle(memory_scope), self._last_tag.get(memory_scope, 0)
        while True:
            rows = memory.admin.sql(
                "select id, name from yiku_memory_tags where id > ? order by id", [last], limit=TAGS_A_READ, timeout_s=60
            ).rows
            with self._lock:
                for number, name in rows:
                    self.tags.add(str(name))
                    last = int(number or 0)
                self._last_tag[memory_scope], self._looked[memory_scope] = last, time.monotonic()
            if len(rows) < TAGS_A_READ:
                return

    def collect_garbage(self) -> None:
        """Tidy each open scope, which drops tags that nothing carries, and make the mirror again."""
        with self._lock:
            scopes, self.tags, self._last_tag = [*self._handles], TagMirror(), {}
        for scope in scopes:
            self.handle(scope).admin.consolidate()
        for scope in scopes:
            self.refresh(scope)

    # -------------------------------------------------------------- reading

    def find(
        self, query: str, memory_scope: str, *, limit: int, only: MemoryType | None = None
    ) -> tuple[list[BaseMemory], int, float]:
        """Return the memories that carry tags of a text, in the documented order; also the number of tags hit, and SQL milliseconds."""
        memory = self.handle(memory_scope)
        if time.monotonic() - self._looked.get(memory_scope, 0.0) > LOOK_EACH_S:
            self.refresh(memory_scope)
        tags = self.tags.found_in(query)
        if not tags:
            self.refresh(memory_scope)
            tags = self.tags.found_in(query)
        if not tags:
            return [], 0, 0.0
        values = {
            "tags": json.dumps(sorted(tags), ensure_ascii=False),
            "kind": None if only is None else KINDS[only],
            "limit": limit,
        }
        started = time.perf_counter()
        rows = memory.admin.sql(FOUND, values, limit=max(limit, 1)).rows
        return [_memory(row) for row in rows], len(tags), (time.perf_counter() - started) * 1000

    def select(
        self, sql: str, memory_scope: str, values: Sequence[Any] | Mapping[str, Any] = (), *, limit: int = 1_000
    ) -> list[tuple[Any, ...]]:
        """Run a select statement on memory_records, memory_tags and memory_tag_rel as a scope sees them."""
        return [*self.handle(memory_scope).admin.sql(sql, values, views=TABLES, limit=limit).rows]

    def read(self, lines: Sequence[str], memory_scope: str) -> list[BaseMemory]:
        """Return live memories by Yiku's ids of their lines, in this order; those of other scopes than it reads are left out."""
        rows = self.handle(memory_scope).admin.sql(BY_LINE, {"lines": json.dumps([*lines])}, limit=max(len(lines), 1)).rows
        found = {str(row[-1]): _memory(row[:-1]) for row in rows}
        return [found[line] for line in lines if line in found]

    def line(self, id: str, memory_scope: str) -> str:
        """Return Yiku's id of a memory of this very scope, by that id or an old one, also one of an earlier version. Raises NotFound."""
        memory = self.handle(memory_scope)
        sql = f"select m.line from yiku_memories m join yiku_scopes s on s.id = m.scope_id where s.name = ? and {LIVE} and m.line {{}}"
        old = "in (select x.line from yiku_memories x where x.external_id = ?)"
        for which, given in (("= ?", id), (old, f"{OLD_ID}{id}")):
            if rows := memory.admin.sql(sql.format(which), [memory_scope, given]).rows:
                return str(rows[0][0])
        raise NotFound(f"there is no memory with the id {id[:80]} in {memory_scope}")

    # -------------------------------------------------------------- writing

    def write(
        self,
        kind: str,
        judgment: str,
        reasoning: str,
        tags: Sequence[str],
        memory_scope: str,
        *,
        is_active: bool = False,
        strength: int | None = None,
    ) -> str:
        """Store a memory; return its id. Raises InvalidInput."""
        name = memory_type(kind)
        if not [tag for tag in tags if tag.strip()]:
            raise InvalidInput("a memory needs at least one tag")
        memory = self.handle(memory_scope)
        outcome = memory.remember(
            judgment,
            kind=KINDS[name],  # type: ignore[arg-type]
            tags=tags,
            basis=reasoning or judgment,
            strength=PASSIVE_STRENGTH if strength is None else strength,
            pinned=is_active,
        )
        if outcome.kind in ("refused", "retracted"):
            raise InvalidInput(f"it was not stored: {getattr(outcome, 'why', outcome.kind)}")
        known = {*outcome.memory.tags}
        if outcome.kind == "confirmed" and not {*tags} <= known:
            memory.update(outcome.memory.id, tags=[*sorted(known | {*tags})])
        with self._lock:
            for tag in tags:
                self.tags.add(tag)
        return outcome.memory.line

    def update_tags(self, id: str, tags: Sequence[str], memory_scope: str) -> None:
        """Give a memory these tags instead of those that it has."""
        self.handle(memory_scope).update(self.line(id, memory_scope), tags=tags)
        with self._lock:
            for tag in tags:
                self.tags.add(tag)

    def delete(self, id: str, memory_scope: str) -> None:
        """Take a memory out of the tables; Yiku archives it."""
        self.handle(memory_scope).forget(self.line(id, memory_scope), reason="deleted")

    def strengthen(self, id: str, memory_scope: str) -> None:
        """Count that a memory was useful: it is used, and stronger by one."""
        memory, known = self.handle(memory_scope), self.line(id, memory_scope)
        found = memory.feedback(known, "used")
        memory.update(known, strength=min(found.strength + 1, STRONGEST))

    def merge(self, ids: Sequence[str], memory_scope: str) -> str:
        """
        Keep the strongest of these memories with the tags of all, in one transaction; return its id. Raises NotFound, Stale.

        The others leave the tables and stay archived: `restore` brings them back, `undo` takes the whole merge back.
        """
        return merging.merge(self.handle(memory_scope), [self.line(id, memory_scope) for id in dict.fromkeys(ids)], STRONGEST)


def _memory(row: Sequence[Any]) -> BaseMemory:
    id, kind, judgment, reasoning, strength, pinned, scope, created, updated, hits, tags = row
    return BaseMemory(
        id=str(id),
        memory_type=TYPES.get(str(kind), MemoryType.KNOWLEDGE),
        judgment=str(judgment),
        reasoning=str(reasoning),
        tags=tuple(sorted(str(tags or "").split("\x1f"))) if tags else (),
        strength=int(strength),
        is_active=bool(pinned),
        memory_scope=str(scope),
        created_at=float(created),
        updated_at=float(updated),
        hits=int(hits),
    )
