"""
Let the agent extract statements where no model is set: hand it turns, and check and store what it returns.

The same turns, question, schema and checks as for a model (by_model.py). A piece is handed out under a lease, so two agents do not
read the same one, and what comes back under an older lease is refused. What the agent says is stored first and then judged: what
stands in the user's own words counts as theirs, all else waits as a candidate. Nothing is asked through the agent's host.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from yiku.errors import InvalidInput, NotFound, Stale, StoreBusy
from yiku.flows.common import checks, pause
from yiku.flows.common.handle import Handle
from yiku.flows.learn import by_model, learn
from yiku.flows.learn.store_draft import Result, counted, troubles
from yiku.models import reply
from yiku.models.api import Message
from yiku.rules.learning import extraction
from yiku.rules.privacy import fence
from yiku.types import AddJobs, ClaimJobs, EndJob, Excerpt, Job, KeepReply, LearnReport, SetLearning, Turns

METHOD = "agent"
BATCH = 500  # turns that are looked at for something to read, a step
STEPS = 20  # of those, one call
RULES_S = 1.0  # for what the rules have not read yet
STATEMENTS_BYTES = 65_536
_ID = re.compile(r"([1-9][0-9]{0,17})-([1-9][0-9]{0,8})")  # of a job, and its lease


def excerpt(handle: Handle) -> Excerpt | None:
    """Hand out the next piece of a conversation to learn from; None if nothing waits. See Agent.excerpt."""
    pause.raise_if_paused(handle)
    own = handle.own()
    if not own or handle.settings.learn == "off":
        return None
    with suppress(StoreBusy):  # whoever learns reads them
        learn.learn(handle, budget_s=RULES_S, asking=False, wait_s=RULES_S)
    for _ in range(STEPS):
        for n in _claimed(handle, own[0]):
            job = handle.store.learning.jobs(own[0], ns=[n])[0]
            if found := _handed_out(handle, own[0], job):
                return found
        if not _queue_more(handle, own[0]):
            return None
    return None


def learned(handle: Handle, id: str, statements: Sequence[Any]) -> LearnReport:
    """Take an agent's statements about a piece; see Agent.learned."""
    pause.raise_if_paused(handle)
    named, own = _ID.fullmatch(checks.name(id, "id")), handle.own()
    items = _checked(statements)
    job = next(iter(handle.store.learning.jobs(own[0], ns=[int(named[1])])), None) if named and own else None
    if named is None or job is None or job.fence != int(named[2]):
        raise NotFound(f"the excerpt {id[:40]} is not waiting: it was learned from, or its time ran out", "Ask for the next one.")
    try:
        handle.store.apply(own[0], [KeepReply(job, json.dumps(items, ensure_ascii=False))], handle.cause("learn"))
        results = _finish(handle, own[0], replace(job, reply=json.dumps(items)))
    except Stale:
        raise NotFound(f"the excerpt {id[:40]} was handed out again meanwhile", "Ask for the next one.") from None
    return LearnReport(
        jobs=1,
        outcomes=dict(Counter(counted(results))),
        waiting=len(handle.store.learning.jobs(own[0], dead=False)),
        model=METHOD,
        troubles=tuple(dict.fromkeys(troubles(results))),
    )


def _checked(statements: Sequence[Any]) -> list[Any]:
    """Return the statements as the schema has them. Raises InvalidInput, naming each fault."""
    checks.json_value(statements, "statements", at_most=STATEMENTS_BYTES)
    items, wrong = reply.fit(list(statements) if isinstance(statements, (list, tuple)) else statements, extraction.ITEMS)
    if wrong:
        named = [f"statements{fault}" if fault.startswith("[") else fault for fault in wrong[: reply.TOLD]]
        raise InvalidInput("; ".join(named).replace("the reply", "statements"))
    return list(items)


def _claimed(handle: Handle, scope: int) -> Sequence[int]:
    return handle.store.apply(scope, [ClaimJobs(handle.now() + by_model.LEASE, 1)], handle.cause("learn")).rows[0]


def _handed_out(handle: Handle, scope: int, job: Job) -> Excerpt | None:
    """Return what an agent is shown of a job; None if there is nothing to read, or what was said of it only had to be stored."""
    turns = by_model.excerpt(handle, scope, job) if job.kind == "extract" else []
    if not turns or job.reply is not None:
        with suppress(Stale):
            _finish(handle, scope, job)
        return None
    said = next(turn for turn in turns if turn.n == job.turn_n)
    asked, shown = by_model.question(turns, by_model.nearest(handle, scope, said))
    return Excerpt(
        id=f"{job.n}-{job.fence}",
        instructions=_text(asked),
        text=fence.wrap(_text(shown), handle.seal),
        schema=extraction.ITEMS,
        until=handle.now() + by_model.LEASE,
        waiting=len(handle.store.learning.jobs(scope, dead=False)) - 1,
    )


def _text(message: Message) -> str:
    return str(message["content"])


def _finish(handle: Handle, scope: int, job: Job) -> list[Result]:
    """Store what was said of a job, if it still can be, and end it. Raises Stale."""
    results: list[Result] = []
    if job.kind == "extract" and job.reply is not None and (turns := by_model.excerpt(handle, scope, job)):
        near = by_model.nearest(handle, scope, next(turn for turn in turns if turn.n == job.turn_n))
        results += by_model.store_items(handle, scope, json.loads(job.reply), turns, near, method=METHOD)
    handle.store.apply(scope, [EndJob(job)], handle.cause("learn"))
    return results


def _queue_more(handle: Handle, scope: int) -> bool:
    """Queue what may hold more than rules find among the next turns; whether there were any turns."""
    state, upto = handle.store.learning.state(scope), handle.store.learning.upto(scope)
    turns = handle.store.turns([scope], Turns(after=state.offered, limit=BATCH))
    turns = [turn for turn in turns if turn.n <= upto]
    if not turns:
        return False
    seen = SetLearning(replace(state, offered=turns[-1].n))
    handle.store.apply(scope, [AddJobs(by_model.jobs_for(handle, scope, turns)), seen], handle.cause("learn"))
    return True
