"""
Search memories by an entity that a question clearly names, else by Yiku's `recall`; extract entities; cached.

The entity alone answers only if it is rare enough to mean something (confidence at least 0.85 of 1) and no other entity of the
question, that the best memory does not have, comes within 0.15 of it. What is found is remembered for half an hour, or until
anything is written to the home.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import OrderedDict
from typing import Any

from yiku import Memory
from yiku_compat.memory_system import views
from yiku_compat.memory_system.homes import MemoryDir, opened

CONFIDENT, MARGIN = 0.85, 0.15
FEWEST = 50  # memories that the rarity of an entity is judged by
LONGEST_QUESTION = 400  # characters in which entities are looked for
LONGEST_NAME = 8  # words, or Chinese characters
CACHED, CACHED_S = 256, 1_800.0
RACY_NS = 50_000_000  # a file that was written so shortly ago may be written again with the same time

_UNIT = re.compile("[A-Za-z0-9_][A-Za-z0-9_.@/+#-]*|[\u3400-\u9fff]")
_QUOTED = re.compile('「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|‘([^‘’]+)’|《([^《》]+)》|"([^"]+)"')

Rows = list[dict[str, Any]]
_cache: OrderedDict[tuple[str, str, str, int], tuple[tuple[int, ...], float, Rows]] = OrderedDict()
_totals: dict[tuple[str, str], tuple[tuple[int, ...], int]] = {}  # how many memories a scope had at a mark
_lock = threading.Lock()


def router_search_sqlite(query: str, memory_dir: MemoryDir, top_k: int = 10) -> Rows:
    """
    Return the best memories as dictionaries with the document's columns and `matched_entities`.

    Raises InvalidInput, ModelError where the setting `search` names a model that does not answer.
    """
    memory = opened(memory_dir)
    key, mark, now = (memory.settings.home, memory.scope, query, top_k), _mark(memory), time.monotonic()
    with _lock:
        known = _cache.get(key)
        if known is not None and known[0] == mark and now - known[1] < CACHED_S:
            _cache.move_to_end(key)
            return [dict(row) for row in known[2]]
    found = _search(memory, query, top_k)
    if mark:
        with _lock:
            _cache[key] = (mark, now, [dict(row) for row in found])
            while len(_cache) > CACHED:
                _cache.popitem(last=False)
    return found


def extract_entities(query: str, memory_dir: MemoryDir) -> list[str]:
    """Return the entities of memories that a question names, the longest at each place, in any of their usual spellings."""
    return list(_known(opened(memory_dir), query))


def _search(memory: Memory, query: str, top_k: int) -> Rows:
    known = _known(memory, query)
    by_entity = _about(memory, list(known), top_k) if known else []
    if by_entity and _sure(known, by_entity[0]["matched_entities"]):
        return [_without_key(row) for row in by_entity]
    hits = memory.recall(query, limit=2 * top_k, types=("memory",))  # relations are among them
    ids = [hit.id for hit in hits]
    read = {row["yiku_id"]: row for row in by_entity}
    sql = "select r.* from memory_rows r where r.yiku_id in (select value from json_each(:ids)) and r.state = 0"
    for row in views.rows(memory, sql, {"ids": json.dumps(ids)}, limit=max(len(ids), 1)):
        read.setdefault(str(row["yiku_id"]), {**row, "matched_entities": None})
    order = dict.fromkeys([*ids, *read])
    return [_without_key(read[id]) for id in order if id in read][:top_k]


def _sure(known: dict[str, float], matched: str) -> bool:
    """Whether the entities of the best memory are what the question means (C-22)."""
    of_best = set(matched.split(","))
    best = max((known[name] for name in of_best & known.keys()), default=0.0)
    second = max((confidence for name, confidence in known.items() if name not in of_best), default=0.0)
    return best >= CONFIDENT and best - second >= MARGIN


def _about(memory: Memory, names: list[str], top_k: int) -> Rows:
    """Return the active memories that have one of these entities, the highest final_score first."""
    sql = (
        "with hit as (select e.memory_n as n, group_concat(e.entity) as matched from json_each(:names) j"
        " cross join yiku_memory_entities e where e.entity = j.value group by e.memory_n)"
        " select r.*, hit.matched as matched_entities from hit cross join memory_rows r"
        " where r.n = hit.n and r.state = 0 order by r.final_score desc, r.n desc limit :top_k"
    )
    return views.rows(memory, sql, {"names": json.dumps(names, ensure_ascii=False), "top_k": top_k}, limit=max(top_k, 1))


def _known(memory: Memory, query: str) -> dict[str, float]:
    """Return the entities of a question that memories have, each with its confidence: the share of memories without it."""
    names = _names(query[:LONGEST_QUESTION])
    sql = (
        "select e.entity as entity, count(*) as often from json_each(:names) j cross join yiku_memory_entities e"
        " where e.entity = j.value group by e.entity"
    )
    found = views.rows(memory, sql, {"names": json.dumps(names, ensure_ascii=False)}) if names else []
    often = {str(row["entity"]): int(str(row["often"])) for row in found}
    total = _total(memory) if found else 0
    rare = {name: 1 - many / max(total, FEWEST) for name, many in often.items()}
    folded = [name.casefold() for name in rare]
    return {name: rate for name, rate in rare.items() if not any(name.casefold() in one != name.casefold() for one in folded)}


def _total(memory: Memory) -> int:
    """Return how many memories there are; counted again when something was written to the home."""
    key, mark = (memory.settings.home, memory.scope), _mark(memory)
    with _lock:
        known = _totals.get(key)
    if known is not None and mark and known[0] == mark:
        return known[1]
    total = int(str(views.rows(memory, "select count(*) as many from yiku_memories")[0]["many"]))
    with _lock:
        _totals[key] = (mark, total)
    return total


def _names(query: str) -> list[str]:
    """Return what in a question may be a name: quoted text, and runs of words and Chinese characters."""
    units = list(_UNIT.finditer(query))
    found = [next(filter(None, groups)).strip() for groups in _QUOTED.findall(query)]
    for at, first in enumerate(units):
        end = first.start()
        for unit in units[at : at + LONGEST_NAME]:
            if query[end : unit.start()].strip():
                break
            end = unit.end()
            found.append(query[first.start() : end])
    spelt = [form for name in found for form in (name, name.casefold(), name.title(), name.upper(), name.rstrip("."))]
    return list(dict.fromkeys(spelt))


def _without_key(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("n", "yiku_id")}


def _mark(memory: Memory) -> tuple[int, ...]:
    """Return what changes with each write of any process to the home; empty if the last one is too short ago to tell."""
    mark: list[int] = []
    for name in ("yiku.db", "yiku.db-wal"):
        try:
            about = os.stat(os.path.join(memory.settings.home, name))
        except FileNotFoundError:
            continue
        if time.time_ns() - about.st_mtime_ns < RACY_NS:
            return ()
        mark += [about.st_mtime_ns, about.st_size]
    return tuple(mark)
