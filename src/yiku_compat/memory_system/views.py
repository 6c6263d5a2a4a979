"""
Memory System's tables as read-only SQL views of Yiku's, with its columns, types and text forms.

A version that another took the place of, and what is past its end, is archived here (state 1) from that moment on, as `recall`
has it; a candidate is nowhere. `score` is the base score faded to now, `access_boost` what the accesses are worth now, so
`final_score` is their sum at any time. What a memory of an old home had besides comes from `metadata.memory_system`.
"""

from __future__ import annotations

from collections.abc import Mapping

from yiku import Memory

DAY = 86_400_000_000  # microseconds
NOW = "memory_now()"
NOTED = "json_extract(m.metadata, '$.memory_system.{}')"


def _text(column: str) -> str:
    """Return the text form of a time."""
    return f"strftime('%Y-%m-%dT%H:%M:%SZ', {column} / 1000000.0, 'unixepoch')"


def _noted(name: str) -> str:
    return NOTED.format(name)


# An id is that of the old home where there is one; of several versions with it only the last has it.
def _id(alias: str) -> str:
    return (
        f"case when {alias}.external_id like 's0:%' and not exists (select 1 from yiku_memories o"
        f" where o.external_id = {alias}.external_id and o.n > {alias}.n) then substr({alias}.external_id, 4) else {alias}.id end"
    )


_ID = _id("m")
_LAST = "nullif(max(coalesce(m.last_retrieved, 0), coalesce(m.last_used, 0), coalesce(m.last_mentioned, 0)), 0)"
_HALF_LIFE = (
    "(coalesce(m.half_life_days, case m.standing when 'belief' then 10.0 when 'summary' then 28.0 else 87.0 end)"
    " * (1 + m.importance) * (1 + min(m.used + m.mentioned, 10) / 10.0))"
)
_SCORE = (
    f"round(m.base_score * case when m.pinned or m.kind = 'rule' then 1.0"
    f" else pow(0.5, max({NOW} - m.confirmed_at, 0) / {DAY}.0 / {_HALF_LIFE}) end, 6)"
)
_WEIGHT = "(2.0 * m.used + 3.0 * m.mentioned + min(m.retrieved, 1))"
_BOOST = (
    f"case when {_WEIGHT} > 0 and {_LAST} is not null then round(min(0.5, 0.1 * ln(1 + {_WEIGHT}))"
    f" * pow(0.5, max({NOW} - {_LAST}, 0) / {7 * DAY}.0), 6) else 0.0 end"
)
_STATE = (
    f"case when m.state = 'junk' or m.auto_delete_at <= {NOW} then 2"
    f" when m.state = 'archived' or m.superseded_by is not null or m.expires_at <= {NOW} then 1 else 0 end"
)
_SUCCESSOR = f"(select {_id('x')} from yiku_memories x where x.id = m.superseded_by)"
_SOURCE = (
    f"coalesce({_noted('source')},"
    " (select coalesce(s.session, s.origin) from yiku_memory_sources s where s.memory_n = m.n order by s.seq limit 1))"
)
_COLUMNS = {
    "id": _ID,
    "type": "m.standing",
    "content": "m.content",
    "importance": "m.importance",
    "score": _SCORE,
    "final_score": f"{_SCORE} + {_BOOST}",
    "created": _text("m.said_at"),
    "updated": f"case when m.updated_at > m.created_at then {_text('m.updated_at')} end",
    "last_accessed": _text(_LAST),
    "access_count": "m.retrieved + m.used + m.mentioned",
    "retrieval_count": "m.retrieved",
    "access_boost": _BOOST,
    "source": _SOURCE,
    "state": _STATE,
    "conflict_downgraded": "case when m.superseded_by is not null or m.flag is not null"
    f" or {_noted('conflict_downgraded')} then 1 else 0 end",
    "downgrade_reason": f"coalesce({_noted('downgrade_reason')}, {_SUCCESSOR}, m.flag)",
    "superseded": "case when m.superseded_by is not null then 1 else 0 end",
    "superseded_by": _SUCCESSOR,
    "ttl_days": "m.ttl_days",
    "auto_delete_at": _text("m.auto_delete_at"),
    "confidence": "m.confidence",
    "basis": "m.basis",
    "extract_method": "m.method",
    "expires_at": _text("m.expires_at"),
    "is_permanent": "case when m.priority = 'permanent' then 1"
    " when m.expires_at is not null or m.auto_delete_at is not null then 0 else 1 end",
}
_SHOWN = "m.state in ('active', 'archived', 'junk')"
_LISTED = ", ".join(f"{sql} as {name}" for name, sql in _COLUMNS.items())
_ACCESS = "case a.access when 'retrieved' then 'retrieval' when 'used' then 'used_in_response' else 'user_mentioned' end"

S0: dict[str, str] = {
    "memories": f"select {_LISTED} from yiku_memories m where {_SHOWN} and {_noted('memory_id')} is null",
    "memory_entities": f"select {_ID} as memory_id, e.entity as entity from yiku_memory_entities e"
    f" join yiku_memories m on m.n = e.memory_n where {_SHOWN} and {_noted('memory_id')} is null",
    "memory_relations": f"select r.id as id, coalesce({_noted('memory_id')}, {_ID}) as memory_id, r.subject as subject,"
    " r.relation_type as relation_type, r.object as object, r.confidence as confidence,"
    f" {_text('r.created')} as created, r.superseded as superseded"
    f" from yiku_memory_relations r join yiku_memories m on m.n = r.memory_n where {_SHOWN}",
    "summary_sources": f"select {_ID} as summary_id, {_id('x')} as source_fact_id"
    f" from yiku_summary_sources s join yiku_memories m on m.n = s.memory_n join yiku_memories x on x.n = s.source_n where {_SHOWN}"
    f" union select {_ID}, j.value from yiku_memories m, json_each(m.metadata, '$.memory_system.source_fact_ids') j where {_SHOWN}",
    "access_log": f"select a.id as id, {_ID} as memory_id, {_ACCESS} as access_type, {_text('a.at')} as timestamp"
    f" from yiku_access_log a join yiku_memories m on m.n = a.memory_n where {_SHOWN}",
}
VIEWS: Mapping[str, Mapping[str, str]] = {"s0": S0}
# For the functions here: memories with the keys of Yiku's rows, so that an index finds them.
ROWS = {
    "memory_rows": f"select m.n as n, m.id as yiku_id, {_LISTED} from yiku_memories m where {_SHOWN} and {_noted('memory_id')} is null"
}


def rows(memory: Memory, sql: str, values: Mapping[str, object] | None = None, *, limit: int = 1_000) -> list[dict[str, object]]:
    """Run a select statement on the document's tables; return each row as a dictionary. Raises InvalidInput, TooLarge."""
    found = memory.admin.sql(sql, values or {}, views=S0 | ROWS, limit=limit, timeout_s=30.0)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]
