"""
Write a memory as Memory System's folders, and compute their content: records, rankings, snapshot, pending entries.

    config.json                                          layer2/{pending,access_log,expired_log}.jsonl
    layer1/snapshot.md                                   layer2/entities/_index.json
    layer2/{active,archive}/{facts,beliefs,summaries}.jsonl   state/{consolidation,rankings}.json

The third layer, what was said, is the host's; in a Yiku home it is `transcripts/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from yiku import Memory, Turn
from yiku.errors import InvalidInput, NotFound
from yiku_compat.memory_system import views
from yiku_compat.memory_system.homes import MemoryDir, opened
from yiku_compat.memory_system.lines import NOTED, SESSION
from yiku_compat.memory_system.old_home import TYPES

PAGE, RANKED = 1_000, 50
EXPIRED = ("expired", "due")
DONE = "pending_done"  # the variable of the session with the position up to which a light run has seen the entries
_LEFT_OUT = frozenset("n yiku_id final_score access_boost base_score reason entities sources_of is_permanent superseded".split())


def write_memory_dir(memory_dir: MemoryDir, to: Path) -> dict[str, int]:
    """Write a new folder in the document's layout; return how many lines each file has. Raises InvalidInput, StoreBusy."""
    memory = opened(memory_dir)
    if to.exists() and any(to.iterdir()):
        raise InvalidInput(f"{to} is not empty; name a new folder")
    for name in ("layer1", "layer2/active", "layer2/archive", "layer2/entities", "state"):
        (to / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    counts = {
        f"layer2/{state}/{name}.jsonl": _lines(to / f"layer2/{state}/{name}.jsonl", records(memory, type_, number))
        for number, state in enumerate(("active", "archive"))
        for name, type_ in TYPES.items()
    }
    counts["layer2/pending.jsonl"] = _lines(to / "layer2/pending.jsonl", pending(memory))
    counts["layer2/access_log.jsonl"] = _lines(to / "layer2/access_log.jsonl", paged(memory, "access_log", "id"))
    counts["layer2/expired_log.jsonl"] = _lines(to / "layer2/expired_log.jsonl", expired(memory))
    _json(to / "layer2/entities/_index.json", _entities(memory))
    _json(to / "state/rankings.json", rankings(memory))
    last = next((row for row in memory.admin.journal(limit=1)), None)
    _json(to / "state/consolidation.json", {"last_change": last.at.isoformat() if last else None})
    _json(to / "config.json", {"memory_system": "yiku", "home": memory.settings.home, "scope": memory.scope})
    (to / "layer1/snapshot.md").write_text(snapshot(memory), encoding="utf-8")
    return counts


def snapshot(memory_dir: MemoryDir) -> str:
    """Make the snapshot of the first layer, at most 2,000 tokens, and return it; it lies in `reports/snapshot.md`."""
    memory = opened(memory_dir)
    memory.admin.consolidate(phase=7)
    try:
        return (Path(memory.settings.home) / "reports" / "snapshot.md").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise NotFound("this scope has no snapshot: only one with files of its own has") from error


def rankings(memory: Memory) -> list[dict[str, Any]]:
    """Return the best active memories."""
    sql = f"select id, type, final_score from memories where state = 0 order by final_score desc limit {RANKED}"
    return views.rows(memory, sql)


def records(memory: Memory, type_: str, state: int) -> Iterator[dict[str, Any]]:
    """Yield the memories of a type that are active (0) or archived (1), as lines of the document."""
    sql = (
        "select r.*, y.base_score, y.reason,"
        " (select json_group_array(e.entity) from yiku_memory_entities e where e.memory_n = r.n) as entities,"
        f" json_extract(y.metadata, '$.{NOTED}.source_fact_ids') as sources_of"
        " from memory_rows r join yiku_memories y on y.n = r.n"
        " where r.n > :last and r.type = :type and r.state = :state order by r.n limit :page"
    )
    last = 0
    while page := views.rows(memory, sql, {"last": last, "type": type_, "state": state, "page": PAGE}):
        for row in page:
            last = int(str(row["n"]))
            if row["reason"] not in EXPIRED or not state:
                yield _line(row)


def expired(memory: Memory) -> Iterator[dict[str, Any]]:
    """Yield the memories whose time is over, as the night put them aside."""
    sql = (
        "select r.*, y.base_score, y.reason,"
        " (select json_group_array(e.entity) from yiku_memory_entities e where e.memory_n = r.n) as entities, null as sources_of"
        " from memory_rows r join yiku_memories y on y.n = r.n where r.n > :last and y.reason in ('expired', 'due')"
        " order by r.n limit :page"
    )
    last = 0
    while page := views.rows(memory, sql, {"last": last, "page": PAGE}):
        for row in page:
            last = int(str(row["n"]))
            yield _line(row)


def pending(memory: Memory) -> Iterator[dict[str, Any]]:
    """Yield what was said and is not made a memory yet, oldest first."""
    for turn in pending_turns(memory):
        noted = turn.metadata.get(NOTED, {})
        yield {"id": turn.id, "content": turn.content, "created": turn.said_at.isoformat(), **noted}


def pending_turns(memory: Memory) -> list[Turn]:
    """Return the turns of the pending session behind those that were made memories."""
    try:
        done = memory.sessions.get(SESSION).variables.get(DONE, -1)
    except NotFound:
        return []
    found = memory.search_traces(session=SESSION, limit=10_000)
    return sorted((turn for turn in found if turn.position > done), key=lambda turn: turn.position)


def paged(memory: Memory, table: str, key: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table by a number that identifies them."""
    last = 0
    while page := views.rows(memory, f"select * from {table} where {key} > :last order by {key} limit {PAGE}", {"last": last}):
        last = int(str(page[-1][key]))
        yield from page


def _line(row: dict[str, Any]) -> dict[str, Any]:
    line = {name: value for name, value in row.items() if name not in _LEFT_OUT and value is not None}
    line |= {"score": row["base_score"], "entities": json.loads(row["entities"])}
    line |= {"is_permanent": 0} if not row["is_permanent"] else {}
    line |= {"superseded": 1} if row["superseded"] else {}
    line |= {"source_fact_ids": json.loads(row["sources_of"])} if row["sources_of"] else {}
    return line


def _entities(memory: Memory) -> dict[str, int]:
    sql = "select entity, count(*) as many from yiku_memory_entities group by entity order by many desc, entity limit 1000"
    return {str(row["entity"]): int(str(row["many"])) for row in views.rows(memory, sql)}


def _lines(path: Path, found: Iterable[dict[str, Any]]) -> int:
    with open(path, "w", encoding="utf-8") as file:
        return sum(1 for line in found if file.write(json.dumps(line, ensure_ascii=False) + "\n"))


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
