"""
Tables of learning: job queue with leases, progress, rule version, compressed turns, session state, model usage.

None of it is journaled: it is work in progress, and can be found out again from the turns. A job is taken under a lease
that runs out by itself; each taking raises its fence, and who ends a job with an older fence is refused, in the
transaction that would have kept what was found. So what a job does is done once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import apsw

from yiku.errors import Stale
from yiku.store import index, row_codec, scope_names
from yiku.types import (
    AddJobs,
    ClaimJobs,
    EndJob,
    Job,
    KeepReply,
    Learned,
    LearningState,
    MarkCompressed,
    ModelCall,
    Session,
    SetLearning,
    SetSession,
)

LEARNING = "learning {}"  # the key in meta, with the number of a scope

_JOB = "n, kind, session, turn_n, content_hash, state, tries, due_at, fence, error, reply, created_at"
_CALL = "at, purpose, session, model, prompt_tokens, completion_tokens, seconds, outcome"


# ------------------------------------------------------------------ how far


def upto(connection: apsw.Connection, scope: int) -> int:
    """Return the number of the last turn processed by learning."""
    found = connection.execute("select upto from learned where scope_id = ?", (scope,)).fetchone()
    return int(found[0]) if found else 0


def extracted(connection: apsw.Connection, scope: int, ns: Sequence[int]) -> set[int]:
    """Return which of these turns were processed individually, ahead of `upto`."""
    sql = "select turn_n from turn_work where scope_id = ? and extracted_at is not null and turn_n in (select value from json_each(?))"
    found: Any = connection.execute(sql, (scope, json.dumps([*ns])))
    return {n for (n,) in found}


def waiting(connection: apsw.Connection, scope: int) -> int:
    """Count the turns that are not processed yet."""
    done = "exists (select 1 from turn_work w where w.turn_n = t.n)"
    sql = f"select count(*) from conversation_turns t where t.scope_id = ? and t.n > ? and not {done}"
    count: int = index.fetch_one(connection, sql, scope, upto(connection, scope))[0]
    return count


def mark_learned(connection: apsw.Connection, scope: int, change: Learned, at: int) -> Iterable[int]:
    """Mark turns as processed. Raises Stale if one already was, so that nothing is learned twice."""
    if change.turns and (any(n <= upto(connection, scope) for n in change.turns) or extracted(connection, scope, change.turns)):
        raise Stale
    sql = (
        "insert into turn_work (turn_n, scope_id, extracted_at)"
        " select n, ?2, ?3 from conversation_turns where n = ?1 and scope_id = ?2"
        " on conflict do update set extracted_at = ?3"
    )
    connection.executemany(sql, [(n, scope, at) for n in change.turns])
    sql = "insert or ignore into turn_work (turn_n, scope_id) select n, ?2 from conversation_turns where n = ?1 and scope_id = ?2"
    connection.executemany(sql, [(n, scope) for n in change.read])
    if change.upto is not None:
        if upto(connection, scope) != change.since:
            raise Stale
        sql = "insert into learned values (?1, ?2) on conflict do update set upto = max(upto, ?2)"
        connection.execute(sql, (scope, change.upto))
    return change.turns


def learning(connection: apsw.Connection, scope: int) -> LearningState:
    """Return the version of the rules with which a scope was last read."""
    found: Any = connection.execute("select value from meta where key = ?", (LEARNING.format(scope),)).fetchone()
    return LearningState(**json.loads(found[0])) if found else LearningState()


def set_learning(connection: apsw.Connection, scope: int, change: SetLearning) -> Iterable[int]:
    """Store that version, and the progress of a rereading."""
    sql = "insert into meta (key, value) values (?1, ?2) on conflict do update set value = ?2"
    connection.execute(sql, (LEARNING.format(scope), json.dumps(asdict(change.state))))
    return ()


def mark_compressed(connection: apsw.Connection, scope: int, change: MarkCompressed, at: int) -> Iterable[int]:
    """Mark turns as having left a host's context; the first time counts."""
    sql = (
        "insert into turn_work (turn_n, scope_id, compressed_at, episode)"
        " select n, ?2, ?3, ?4 from conversation_turns where n = ?1 and scope_id = ?2"
        " on conflict do update set compressed_at = coalesce(compressed_at, ?3), episode = ?4"
    )
    connection.executemany(sql, [(n, scope, at, change.episode) for n in change.turns])
    return change.turns


def compressions(connection: apsw.Connection, scope: int, ns: Sequence[int]) -> dict[int, str]:
    """Return which of these turns were compressed, with the episode, or None if it was erased."""
    among = "turn_n in (select value from json_each(?))"
    sql = f"select turn_n, coalesce(episode, '') from turn_work where scope_id = ? and compressed_at is not null and {among}"
    found: Any = connection.execute(sql, (scope, json.dumps([*ns])))
    return dict(map(tuple, found))


# ------------------------------------------------------------------ the queue


def add(connection: apsw.Connection, scope: int, change: AddJobs) -> Iterable[int]:
    """Queue jobs that are not queued yet; revive dead ones."""
    sql = (
        "insert into extraction_queue (scope_id, kind, session, turn_n, content_hash, due_at, created_at) values (?, ?, ?, ?, ?, ?, ?)"
        " on conflict do update set state = 'waiting', tries = 0, due_at = excluded.due_at, error = null, reply = null"
        " where state = 'dead' returning n"
    )
    found: list[Any] = []
    for job in change.jobs:
        values = (
            scope,
            job.kind,
            job.session,
            job.turn_n,
            job.content_hash,
            row_codec.micros(job.due_at),
            row_codec.micros(job.created_at),
        )
        found += connection.execute(sql, values).fetchall()
    return [n for (n,) in found]


def claim(connection: apsw.Connection, scope: int, change: ClaimJobs, at: int) -> Iterable[int]:
    """Lease jobs that are due."""
    among = """
        select n from extraction_queue where scope_id = ?2 and state = 'waiting'
        and (lease_until <= ?3 or (?7 is not null and n not in (select value from json_each(?7))))
        and (?4 = 0 or due_at <= ?3) and (?5 is null or session = ?5) order by due_at, n limit ?6"""
    sql = f"update extraction_queue set lease_until = ?1, fence = fence + 1 where scope_id = ?2 and n in ({among}) returning n"
    skipped = None if change.excluded is None else json.dumps([*change.excluded])
    values = (row_codec.micros(change.until), scope, at, int(change.due), change.session, change.limit, skipped)
    found: Any = connection.execute(sql, values).fetchall()
    return sorted(n for (n,) in found)


def keep_reply(connection: apsw.Connection, scope: int, change: KeepReply) -> Iterable[int]:
    """Store a model's reply to a job. Raises Stale for an older fence."""
    sql = "update extraction_queue set reply = ? where scope_id = ? and n = ? and fence = ? returning n"
    if not connection.execute(sql, (change.reply, scope, change.job.n, change.job.fence)).fetchall():
        raise Stale
    return (change.job.n,)


def end(connection: apsw.Connection, scope: int, change: EndJob) -> Iterable[int]:
    """Finish, postpone or kill a job. Raises Stale for an older fence."""
    job = change.job
    if change.error is None:
        sql = "delete from extraction_queue where scope_id = ? and n = ? and fence = ? returning n"
        found = connection.execute(sql, (scope, job.n, job.fence)).fetchall()
    else:
        state, due = ("dead", 0) if change.due_at is None else ("waiting", row_codec.micros(change.due_at))
        sql = (
            "update extraction_queue set state = ?, due_at = ?, error = ?, tries = ?, lease_until = 0"
            " where scope_id = ? and n = ? and fence = ? returning n"
        )
        found = connection.execute(sql, (state, due, change.error, job.tries, scope, job.n, job.fence)).fetchall()
    if not found:
        raise Stale
    return (job.n,)


def jobs(connection: apsw.Connection, scope: int, *, ns: Sequence[int] | None = None, dead: bool | None = None) -> list[Job]:
    """Return the queue of a scope, in order."""
    conditions: list[str] = ["scope_id = ?"]
    values: list[Any] = [scope]
    if ns is not None:
        conditions.append(f"n in ({index.placeholders(ns)})")
        values += ns
    if dead is not None:
        conditions.append("state = 'dead'" if dead else "state = 'waiting'")
    sql = f"select {_JOB} from extraction_queue where {' and '.join(conditions)} order by due_at, n"
    return [_job(row) for row in connection.execute(sql, values)]


def _job(row: Sequence[Any]) -> Job:
    n, kind, session, turn_n, content_hash, state, tries, due_at, fence, error, reply, created_at = row
    return Job(
        n=n,
        kind=kind,
        session=session,
        turn_n=turn_n,
        content_hash=content_hash,
        dead=state == "dead",
        tries=tries,
        due_at=_moment(due_at),
        fence=fence,
        error=error,
        reply=reply,
        created_at=_moment(created_at),
    )


# ------------------------------------------------------------------ sessions and models


def set_session(connection: apsw.Connection, scope: int, change: SetSession) -> Iterable[int]:
    """Update columns of a session's state."""
    columns: dict[str, Any] = {
        name: row_codec.dumps(value) if name == "variables" else row_codec.column(value) for name, value in change.columns.items()
    }
    connection.execute("insert into session_state (scope_id, id) values (?, ?) on conflict do nothing", (scope, change.id))
    assignments = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(
        f"update session_state set {assignments} where scope_id = ? and id = ?", (*columns.values(), scope, change.id)
    )
    return ()


def sessions(connection: apsw.Connection, scope: int, *, id: str | None = None, limit: int | None = None) -> list[Session]:
    """Return sessions, newest first, preceded by those that have state but no turns yet."""
    sql = """
        with named (id) as (
            select id from sessions where scope_id = ?1 and (?2 is null or id = ?2)
            union
            select id from session_state where scope_id = ?1 and (?2 is null or id = ?2) and coalesce(variables, task) is not null
        )
        select coalesce(s.n, 0), i.id, coalesce(s.turns, 0), s.started_at, s.ended_at, x.variables, x.task, x.closed_at, c.name
        from named i join scopes c on c.id = ?1 left join sessions s on s.scope_id = ?1 and s.id = i.id
        left join session_state x on x.scope_id = ?1 and x.id = i.id
        order by s.n is not null, s.ended_at desc, s.n desc limit ?3"""
    found: Any = connection.execute(sql, (scope, id, -1 if limit is None else limit))
    return [
        Session(
            number=n,
            id=name,
            turns=turns,
            started_at=row_codec.nearest(started),
            ended_at=row_codec.nearest(ended),
            variables=row_codec.loads(variables) or {},
            task=task,
            closed_at=row_codec.nearest(closed),
            scope=scope_names.decode(scope_name),
        )
        for n, name, turns, started, ended, variables, task, closed, scope_name in found
    ]


def spend(connection: apsw.Connection, scope: int, call: ModelCall) -> Iterable[int]:
    """Record the usage of one model call."""
    sql = f"insert into model_calls (scope_id, {_CALL}) values ({index.placeholders(range(9))}) returning n"
    values = (row_codec.micros(call.at), call.purpose, call.session, call.model, call.prompt_tokens, call.completion_tokens)
    return (int(index.fetch_one(connection, sql, scope, *values, call.seconds, call.outcome)[0]),)


def spent(connection: apsw.Connection, scope: int, *, since: datetime | None = None, session: str | None = None) -> list[ModelCall]:
    """Return recorded model calls, oldest first."""
    sql = f"select {_CALL} from model_calls where scope_id = ? and at >= ? and (?3 is null or session = ?3) order by n"
    found: Any = connection.execute(sql, (scope, 0 if since is None else row_codec.micros(since), session))
    names = _CALL.split(", ")[1:]
    return [ModelCall(at=_moment(at), **dict(zip(names, rest, strict=True))) for at, *rest in found]


def _moment(at: int) -> datetime:
    return row_codec.EPOCH + at * row_codec.MICROSECOND
