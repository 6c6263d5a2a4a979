"""
Compile selections of rows to SQL conditions with bound values.

A field that a table does not have makes its condition false there: asked for a kind, no turn fits.

A `+` before a column keeps SQLite from choosing an index by it. Where a condition gives the rows at once
(their numbers, an entity, a line), the scope and the order only check and sort them; without the `+`
SQLite, which keeps no statistics here, would rather walk the whole scope.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from yiku.store.index import placeholders
from yiku.store.row_codec import column, micros
from yiku.types import Condition, Filter, Group, Memories, Turns

MEMORY_FIELDS = {
    name: f"m.{name}"
    for name in (
        "id line kind standing state content subject predicate object cardinality flag importance confidence strength priority said_at"
        " valid_from valid_to expires_at pinned retrieved used mentioned origin trust method agent project external_id created_at updated_at"
    ).split()
}
TURN_FIELDS = {
    name: f"t.{name}"
    for name in "id position role speaker content said_at recorded_at origin agent project external_id parent actor".split()
} | {"session": "s.id", "created_at": "t.recorded_at"}
# Fields with several values: the table that holds them, joined by the row's number.
MEMORY_SETS = {
    "tags": "select g.name as v from memory_tag_rel r join memory_tags g on g.id = r.tag_id"
    " where r.scope_id = m.scope_id and r.memory_n = m.n",
    "entities": "select e.entity as v from memory_entities e where e.scope_id = m.scope_id and e.memory_n = m.n",
    "session": "select o.session as v from memory_sources o where o.scope_id = m.scope_id and o.memory_n = m.n",
    "speaker": "select o.actor as v from memory_sources o where o.scope_id = m.scope_id and o.memory_n = m.n",
}
ENDING = 8  # characters of an id that an index is kept of
ENDINGS = {"conversation_turns": "turns_by_ending", "memories": "memories_by_ending"}
EVER = -1 << 63  # before anything
COMPARE = {"eq": "is", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

Sql = tuple[str, list[Any]]


def memories(scopes: Sequence[int], select: Memories) -> Sql:
    """Return the conditions, order and limit of a query on `memories m`."""
    by_number = any(
        given is not None
        for given in (
            select.ns,
            select.suffix,
            select.entities,
            select.relation,
            select.sourced_in,
            select.summarizing,
            select.ended_at,
        )
    )
    parts = [f"{'+' if by_number or select.after is not None else ''}m.scope_id in ({placeholders(scopes)})"]
    values = list[Any](scopes)
    conditions = (
        _common_conditions(select, "memories", "m", scopes),
        _row_conditions(select, scopes),
    )
    for sql, bound in chain.from_iterable(conditions):
        parts.append(sql)
        values.extend(bound)
    order = {
        "n": ("m.n",),
        "said": ("m.said_at", "m.place", "m.n"),
        "confirmed": ("m.confirmed_at", "m.place", "m.n"),
        "updated": ("m.updated_at", "m.n"),
    }[select.order]
    if by_number or select.line is not None or select.live_kind is not None:
        order = tuple("+" + name for name in order)
    return _finish(parts, values, order, select)


def _row_conditions(select: Memories, scopes: Sequence[int]) -> Iterator[Sql]:
    """Yield the conditions on columns of a statement, on its rows in other tables, and on its state and times."""
    if select.line is not None:
        yield "m.line = ?", [select.line]
    if select.slot is not None:
        yield "m.slot = ?", [select.slot]
    if select.pairs is not None:
        subjects, predicates = (json.dumps(list(names), ensure_ascii=False) for names in select.pairs)
        # only known predicates: else each is paired with each
        known = f"exists (select 1 from memories k where k.scope_id in ({placeholders(scopes)}) and k.predicate = value)"
        yield f"m.predicate in (select value from json_each(?) where {known})", [predicates, *scopes]
        yield "m.subject in (select value from json_each(?))", [subjects]
    if select.hash is not None:
        yield "m.content_hash = ?", [select.hash]
    if select.external_id is not None:
        yield "m.external_id = ?", [select.external_id]
    if select.entities is not None:
        names = json.dumps(list(select.entities), ensure_ascii=False)
        named = f"scope_id in ({placeholders(scopes)}) and entity in (select value from json_each(?))"
        yield f"m.n in (select memory_n from memory_entities where {named})", [*scopes, names]
    if select.relation is not None:
        triple = [(name, part) for name, part in zip(("subject", "relation_type", "object"), select.relation, strict=True) if part]
        stated = " and ".join([f"scope_id in ({placeholders(scopes)})", *(f"{name} = ?" for name, _ in triple)])
        yield f"m.n in (select memory_n from memory_relations where {stated})", [*scopes, *(part for _, part in triple)]
    if select.sourced_in is not None:
        turns = json.dumps(list(select.sourced_in))
        sourced = f"scope_id in ({placeholders(scopes)}) and turn in (select value from json_each(?))"
        yield f"m.n in (select memory_n from memory_sources where {sourced})", [*scopes, turns]
    if select.summarizing is not None:
        made = f"scope_id in ({placeholders(scopes)}) and source_n in (select value from json_each(?))"
        yield f"m.n in (select memory_n from summary_sources where {made})", [*scopes, json.dumps(list(select.summarizing))]
    if select.states:
        yield f"m.state in ({placeholders(select.states)})", [state.value for state in select.states]
    if select.current:
        yield "m.superseded_by is null", []
    if select.live_kind is not None:  # these words, not bound values, are what the index `one_live_text` is known by
        yield "m.kind = ? and m.state = 'active' and m.superseded_by is null", [select.live_kind.value]
    if select.unexpired_at is not None:
        at = micros(select.unexpired_at)
        yield "coalesce(m.expires_at > ?, 1) and coalesce(m.auto_delete_at > ?, 1)", [at, at]
    if select.ended_at is not None:
        sql, *bound = _ended(scopes, select.ended_at)
        yield sql, bound
    if select.where is not None:
        yield filter_sql(select.where, MEMORY_FIELDS, MEMORY_SETS, "m")


def _ended(scopes: Sequence[int], at: datetime) -> tuple[Any, ...]:
    """Return the condition that a row has come to its end; the states are those of the two indexes by which it is found."""
    among = f"k.scope_id in ({placeholders(scopes)})"
    sql = (
        f"m.superseded_by is null and m.n in (select n from memories k where {among} and k.expires_at <= ?"
        " and k.expires_at is not null and k.state in ('active', 'candidate')"
        f" union select n from memories k where {among} and k.auto_delete_at <= ? and k.auto_delete_at is not null"
        " and k.state in ('active', 'candidate', 'archived'))"
    )
    return sql, *scopes, micros(at), *scopes, micros(at)


def turns(scopes: Sequence[int], select: Turns) -> Sql:
    """Return the conditions, order and limit of a query on `conversation_turns t`."""
    by_number = select.ns is not None or select.suffix is not None
    parts, values = (
        [f"{'+' if by_number or select.after is not None else ''}t.scope_id in ({placeholders(scopes)})"],
        list[Any](scopes),
    )

    def add(sql: str, *bound: Any) -> None:
        parts.append(sql)
        values.extend(bound)

    for sql, bound in _common_conditions(select, "conversation_turns", "t", scopes):
        add(sql, *bound)
    in_order = select.session is not None and select.order == "position" and len(scopes) == 1
    if in_order:
        # One number instead of a list of them: its index gives the order, and nothing is sorted.
        add("t.session_n = (select n from sessions where scope_id = ? and id = ?)", *scopes, select.session)
    elif select.session is not None:
        add(
            f"t.session_n in (select n from sessions where scope_id in ({placeholders(scopes)}) and id = ?)",
            *scopes,
            select.session,
        )
    if select.external_ids is not None:
        add(
            "t.external_id in (select value from json_each(?))",
            json.dumps(list(select.external_ids), ensure_ascii=False),
        )
    if select.roles:
        add(f"t.role in ({placeholders(select.roles)})", *select.roles)
    if select.tool is not None:
        add("exists (select 1 from json_each(t.tool_calls) j where json_extract(j.value, '$.name') = ?)", select.tool)
    if select.blob is not None:
        named = "exists (select 1 from json_each(t.tool_results) j where json_extract(j.value, '$.blob') = ?)"
        add(f"(t.blob = ? or (instr(t.tool_results, ?) > 0 and {named}))", select.blob, select.blob, select.blob)
    if not select.hidden:
        add("x.hidden_at is null")
    if select.where is not None:
        add(*_unpack(filter_sql(select.where, TURN_FIELDS, {}, "t")))
    if select.beyond is not None:
        add("t.position > ?", select.beyond)
    order = {"n": ("t.n",), "said": ("t.said_at", "t.position", "t.n"), "position": ("t.position",)}[select.order]
    few = any(given is not None for given in (select.ids, select.session, select.external_ids))
    if by_number or (few and not in_order):
        order = tuple("+" + name for name in order)
    return _finish(parts, values, order, select)


def _id_ends_with(table: str, alias: str, scopes: Sequence[int], length: int) -> str:
    """Return the condition that an id has this suffix; short suffixes scan the scopes' ids."""
    known = f"substr(id, -{ENDING}) = ? and " if length >= ENDING else ""
    by = f"indexed by {ENDINGS[table]} " if known else ""
    return f"{alias}.n in (select n from {table} {by}where scope_id in ({placeholders(scopes)}) and {known}substr(id, -?) = ?)"


def _common_conditions(
    select: Memories | Turns, table: str, alias: str, scopes: Sequence[int]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Return the conditions common to both: row numbers, ids, id suffix, time window."""
    if select.ns is not None:
        yield f"{alias}.n in (select value from json_each(?))", (json.dumps(list(select.ns)),)
    if select.after is not None:
        yield f"{alias}.n > ?", (select.after,)
    if select.ids is not None:
        yield f"{alias}.id in (select value from json_each(?))", (json.dumps(list(select.ids)),)
    if select.suffix is not None:
        length, known = len(select.suffix), ([select.suffix[-ENDING:]] if len(select.suffix) >= ENDING else [])
        yield _id_ends_with(table, alias, scopes, length), (*scopes, *known, length, select.suffix)
    since, until = select.since, select.until
    if (place := select.said_after) is not None:  # SQLite takes one bound of the index, and of two not the closer one
        since = place[0] if since is None else max(since, place[0])
    if since is not None:
        yield f"{alias}.said_at >= ?", (micros(since),)
    elif select.order == "said" and select.limit is not None and getattr(select, "session", None) is None:
        # else SQLite would read and sort the scope for a page of it
        yield f"{alias}.said_at >= ?", (EVER,)
    if (place := select.said_before) is not None and (until is None or place[0] < until):
        yield f"{alias}.said_at <= ?", (micros(place[0]),)
    elif until is not None:
        yield f"{alias}.said_at < ?", (micros(until),)
    for sign, place in ((">", select.said_after), ("<", select.said_before)):
        if place is not None:
            row = f"({alias}.said_at, {alias}.{'place' if alias == 'm' else 'position'}, {alias}.n)"
            yield f"{row} {sign} (?, ?, ?)", (micros(place[0]), *place[1:])


def journal(
    scopes: Sequence[int],
    *,
    transaction: int | None,
    run: str | None,
    table: str | None,
    row_ns: Sequence[int] | None,
    since: datetime | None,
    after: int | None,
    limit: int | None,
) -> Sql:
    """Return the conditions, order and limit of a query on `changes`: newest first, or oldest first after a number."""
    parts, values = [f"scope_id in ({placeholders(scopes)})"], list[Any](scopes)
    if transaction is not None:
        parts.append("tx = ?")
        values.append(transaction)
    if run is not None:
        parts.append("run = ?")
        values.append(run)
    if table is not None:
        parts.append("tbl = ?")
        values.append(table)
    if row_ns is not None:
        parts.append("row_n in (select value from json_each(?))")
        values.append(json.dumps(list(row_ns)))
    if since is not None:
        parts.append("at > ?")
        values.append(micros(since))
    if after is not None:
        parts.append("number > ?")
        values.append(after)
    order = "desc" if after is None else "asc"
    return f"where {' and '.join(parts)} order by number {order} limit ?", [*values, -1 if limit is None else limit]


def filter_sql(item: Filter, fields: dict[str, str], sets: dict[str, str], alias: str) -> Sql:
    """Compile one filter to a condition."""
    match item:
        case Group(how="not", parts=parts):
            sql, values = filter_sql(Group("or", parts), fields, sets, alias)
            return f"not ({sql})", values
        case Group(how=how, parts=parts):
            done = [filter_sql(part, fields, sets, alias) for part in parts]
            joined = f" {how} ".join(f"({sql})" for sql, _ in done)
            return f"({joined or 1})", [value for _, values in done for value in values]
        case Condition(field=name, operator=operator, value=value) if name in sets:
            return _any_of(sets[name], operator, value)
        case Condition(field=name, operator=operator, value=value) if name.startswith("metadata."):
            key = json.dumps(name.removeprefix("metadata."), ensure_ascii=False)
            kept = f"{alias}.metadata"  # no JSON in a damaged row, which fits nothing
            read = f"case when json_valid({kept}) then json_extract({kept}, ?) end"
            sql, values = _compare(read, operator, value)
            return f"coalesce({sql}, 0)", ["$." + key, *values]
        case Condition(field=name, operator=operator, value=value) if name in fields:
            sql, values = _compare(fields[name], operator, value)
            return f"coalesce({sql}, 0)", values
    return "0", []


def _any_of(values_sql: str, operator: str, value: Any) -> Sql:
    """Compile a filter on a list of values: any fits, or with `ne` and `nin` none."""
    if operator == "exists":
        return f"exists ({values_sql}) = ?", [int(bool(value))]
    positive = {"ne": "eq", "nin": "in", "contains": "eq"}.get(operator, operator)
    sql, values = _compare("j.v", positive, value)
    return f"{'not ' if operator in ('ne', 'nin') else ''}exists (select 1 from ({values_sql}) j where {sql})", values


def _compare(name: str, operator: str, value: Any) -> Sql:
    if operator == "ne":
        return f"{name} is not ?", [column(value)]
    if operator == "exists":
        return f"({name} is not null) = ?", [int(bool(value))]
    if operator in ("in", "nin"):
        sql = f"{name} in (select value from json_each(?))"
        return (sql if operator == "in" else f"not coalesce({sql}, 0)"), [
            json.dumps([column(v) for v in value], ensure_ascii=False)
        ]
    if operator in ("contains", "icontains"):
        escaped = str(value).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        if operator == "contains":
            return f"instr({name}, ?) > 0", [str(value)]
        return f"{name} like ? escape '\\'", [f"%{escaped}%"]
    return f"{name} {COMPARE[operator]} ?", [column(value)]


def _unpack(sql: Sql) -> tuple[Any, ...]:
    return sql[0], *sql[1]


def _finish(parts: list[str], values: list[Any], order: Sequence[str], select: Memories | Turns) -> Sql:
    direction = " desc" if select.newest_first else ""
    sql = f"where {' and '.join(f'({part})' for part in parts)} order by {', '.join(name + direction for name in order)}"
    if select.limit is not None:
        sql += " limit ? offset ?"
        values += [select.limit, select.offset]
    return sql, values


def order_of(select: Memories | Turns) -> Callable[[Any], tuple[Any, ...]]:
    """Return the sort key equivalent to a selection's SQL order."""
    if select.order == "n":
        return lambda item: (item.n,)
    if select.order == "position":
        return lambda item: (item.position, item.n)
    if select.order == "updated":
        return lambda item: (item.updated_at, item.n)
    at = "confirmed_at" if select.order == "confirmed" else "said_at"
    place = "place" if isinstance(select, Memories) else "position"
    return lambda item: (getattr(item, at), getattr(item, place), item.n)
