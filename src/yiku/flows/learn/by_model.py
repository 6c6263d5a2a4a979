"""
Learn by a model: queue jobs, take them under a lease, and store the statements that its replies support with quotes.

Jobs wait in a queue and are taken one by one under a lease. A reply is kept before anything is made of it, so that it is paid for
once, and a job ends under its own fence. What fails is tried again later; after TRIES it is dead, and waits for `yiku learn --all`.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from yiku.errors import ModelError, ModelFailed, ModelUnavailable, Stale
from yiku.flows.common import checks, prompt_files
from yiku.flows.common.handle import Handle
from yiku.flows.learn import episodes
from yiku.flows.learn.by_rules import said_by_person
from yiku.flows.learn.store_draft import Result, Step, Trouble, keep, known_of
from yiku.models.api import ChatModel, Message, Reply, Schema
from yiku.rules.deciding import history
from yiku.rules.finding import score
from yiku.rules.learning import extraction, importance
from yiku.rules.privacy import fence
from yiku.rules.text import analyze
from yiku.rules.values import canonical
from yiku.types import (
    AddJobs,
    ClaimJobs,
    Draft,
    EndJob,
    Job,
    KeepReply,
    Memories,
    ModelCall,
    Origin,
    SemanticMemory,
    Spend,
    State,
    Turn,
    Turns,
)

ASKED_CHARS = 30  # a shorter turn is not worth a model's time; a Chinese character counts twice
ASKED_FROM = 0.2  # importance, below which a model is not asked
AROUND = 2  # turns before a user's that a model is shown with it
LOOKED_AT = 20  # memories with words of a turn, of which those are shown that count now
ANSWERS = 6  # and turns behind it, until the user speaks again
LEASE = timedelta(minutes=10)
TRIES = 3
PAUSES = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))  # before a job is tried again
NIGHT = timedelta(hours=12)  # until what is over a session's budget is due
NAME_CHARS = 80  # of the model's, as it is noted on what it found


@dataclass(frozen=True, slots=True)
class Asking:
    """Scope and model of a learning run."""

    handle: Handle
    scope: int
    model: ChatModel

    @property
    def method(self) -> str:
        """The model's name as recorded with what it found."""
        return self.model.name[:NAME_CHARS]


# ------------------------------------------------------------------ the queue


def jobs_for(handle: Handle, scope: int, turns: Sequence[Turn]) -> list[Job]:
    """Return jobs for user turns that may contain more than rules find, within the session's budget."""
    now, jobs = handle.now(), list[Job]()
    asked = Counter(call.session for call in handle.store.learning.spent(scope, since=now - NIGHT) if call.purpose == "extract")
    asked.update(job.session for job in handle.store.learning.jobs(scope) if job.kind == "extract")
    for turn in map(fence.own_words, turns):
        if said_by_person(turn) and _weight(turn.content) >= ASKED_CHARS and importance.score(turn.content) >= ASKED_FROM:
            asked[turn.session] += 1
            due = now if asked[turn.session] <= handle.settings.learn_calls else now + NIGHT
            jobs.append(
                Job(
                    kind="extract",
                    session=turn.session,
                    turn_n=turn.n,
                    content_hash=turn.content_hash,
                    due_at=due,
                    created_at=now,
                )
            )
    return jobs


def _weight(text: str) -> int:
    """Return the length of a text; CJK characters count double."""
    return len(text) + sum("\u3040" <= character <= "\uffef" for character in text)


def queue(handle: Handle, *, dead: bool | None = None) -> list[Job]:
    """Return the jobs of this scope; with `dead` only failed ones, without only pending ones."""
    if dead is not None:
        checks.flag(dead, "dead")
    own = handle.own()
    return handle.store.learning.jobs(own[0], dead=dead) if own else []


def spent(handle: Handle, *, since: datetime | str | None = None) -> list[ModelCall]:
    """Return recorded model calls of this scope, oldest first."""
    own, start = handle.own(), checks.optional_time(since, "since", now=handle.now())
    return handle.store.learning.spent(own[0], since=start) if own else []


def revive(handle: Handle, scope: int, session: str | None) -> None:
    """Queue failed jobs again."""
    if dead := [job for job in handle.store.learning.jobs(scope, dead=True) if session in (None, job.session)]:
        handle.store.apply(scope, [AddJobs(dead)], handle.cause("learn"))


def steps(asking: Asking, session: str | None, *, due: bool, over: Callable[[], bool]) -> Iterator[Step]:
    """
    Process jobs until none is due, time is up, or the model is unavailable.

    session: only the jobs of this one
    due:     only those whose time has come
    Close it, wherever it stops: what failed is put off at the end, so that one run tries it once.
    """
    store, handle, scope = asking.handle.store, asking.handle, asking.scope
    failed: list[tuple[Job, str]] = []  # each keeps its lease to the end
    tried: list[int] = []  # leases of others are those of a process that died: nobody else holds the learner's lock
    try:
        while not over():
            claim = ClaimJobs(handle.now() + LEASE, 1, session, due, excluded=tried)
            claimed = store.apply(scope, [claim], handle.cause("learn")).rows[0]
            if not claimed:
                return
            job = store.learning.jobs(scope, ns=claimed)[0]
            tried.append(job.n)
            done, results = 0, list[Result]()
            try:
                for result in _process(asking, job):
                    results.append(result)
                done = 1
            except Stale:  # its lease ran out, and somebody else has it
                pass
            except ModelUnavailable as error:
                later = handle.now() + PAUSES[0]
                store.apply(scope, [EndJob(job, "the model is not there", later)], handle.cause("learn"))
                yield Step([*results, Trouble(f"the model is not there: {error.detail}")])
                return
            except ModelFailed as error:
                results.append(Trouble(f"a reply could not be used: {error.detail}"))
                failed.append((job, error.detail))
            yield Step(results, jobs=done)
    finally:
        for job, why in failed:
            with suppress(Stale):
                _postpone(asking, job, why)


def _postpone(asking: Asking, job: Job, why: str) -> None:
    tries = job.tries + 1
    due = asking.handle.now() + PAUSES[min(tries, len(PAUSES)) - 1] if tries < TRIES else None
    asking.handle.store.apply(asking.scope, [EndJob(replace(job, tries=tries), why, due)], asking.handle.cause("learn"))


# ------------------------------------------------------------------ one job


def _process(asking: Asking, job: Job) -> Iterator[Result]:
    """Process one job: ask unless a reply is stored, store the reply, apply it, finish."""
    if job.kind == "extract":
        if turns := excerpt(asking.handle, asking.scope, job):
            near = nearest(asking.handle, asking.scope, next(turn for turn in turns if turn.n == job.turn_n))
            items = json.loads(job.reply) if job.reply is not None else _ask(asking, job, question(turns, near), extraction.ITEMS)
            yield from store_items(asking.handle, asking.scope, items, turns, near, method=asking.method)
    else:
        episodes.retell(asking.handle, asking.method, job, lambda messages, schema: _ask(asking, job, messages, schema))
    asking.handle.store.apply(asking.scope, [EndJob(job)], asking.handle.cause("learn"))


def excerpt(handle: Handle, scope: int, job: Job) -> list[Turn]:
    """Return a user's turn with its neighbours; empty if it is gone."""
    session = handle.store.turns([scope], Turns(session=job.session))
    place = next((k for k, turn in enumerate(session) if turn.n == job.turn_n), None)
    if place is None:
        return []
    end = place + 1
    while end < len(session) and session[end].role != "user" and end - place <= ANSWERS:
        end += 1
    return [fence.own_words(turn) for turn in session[max(0, place - AROUND) : end]]


def question(turns: Sequence[Turn], near: Sequence[SemanticMemory]) -> list[Message]:
    """Return what a model is asked about an excerpt: what to look for, and the turns with the memories nearest to them, as data."""
    asked = prompt_files.text("extract", extraction.language(turns)).replace("{most}", str(extraction.MOST))
    return [{"role": "system", "content": asked}, {"role": "user", "content": extraction.known(near) + extraction.shown(turns)}]


def store_items(
    handle: Handle,
    scope: int,
    items: Sequence[Mapping[str, Any]],
    turns: Sequence[Turn],
    near: Sequence[SemanticMemory],
    *,
    method: str,
) -> Iterator[Result]:
    """
    Store what a model found in an excerpt, as far as its turns support it.

    items: as extraction.ITEMS has them; near: the memories that it was shown
    """
    found, refused = extraction.drafts(items, turns, names=handle.settings.names, nearest=near)
    yield from (Trouble(f"left out: {line}") for line in refused)
    for draft, own_words, turn, replaces in found:
        raised = (own_words and turn.origin is Origin.USER) or _said_by_user(handle, draft, turns)
        known = known_of(handle, scope, turn)
        if any(_same(memory, draft) for memory in known):
            continue
        result = keep(handle, scope, turn, draft, known, method=method, candidate=not raised, replaces=replaces)
        if result is not None:
            yield result


def nearest(handle: Handle, scope: int, turn: Turn) -> list[SemanticMemory]:
    """Return the live statements that share most words with a turn, except its own."""
    store, terms = handle.store, analyze.question(turn.content)
    weights = [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters)
    postings = store.postings("memory", [scope], (*terms.words, *terms.characters), past=False, cap=score.COMMON_ROWS)
    ns, scores, _ = score.bm25(postings, weights)
    best, _ = score.best(ns, scores, LOOKED_AT)
    rows = {row.n: row for row in store.memories([scope], Memories(ns=best, states=(State.ACTIVE,), current=True))} if best else {}
    own, now = {memory.n for memory in known_of(handle, scope, turn)}, handle.now()
    return [rows[n] for n in best if n in rows and n not in own and history.recallable(rows[n], now)][: extraction.NEAREST]


def _same(memory: SemanticMemory, draft: Draft) -> bool:
    """Tell whether the rules learned this from the same turn in other words."""
    return draft.slot is not None and memory.slot == draft.slot.key


def _said_by_user(handle: Handle, draft: Draft, turns: Sequence[Turn]) -> bool:
    """Tell whether a user's turn fills the same slot with the same value."""
    if draft.slot is None:
        return False
    wanted = draft.slot
    mine = [turn for turn in turns if turn.role == "user" and turn.origin is Origin.USER]
    said = ((slot, turn.said_at) for turn in mine for slot in extraction.filled_by(turn.content, turn, handle.settings.names))
    return any(slot.key == wanted.key and canonical.same(slot.object, at, wanted.object, at) for slot, at in said)


# ------------------------------------------------------------------ one question


def _ask(asking: Asking, job: Job, messages: Sequence[Message], schema: Schema) -> Any:
    """Return a model's reply, retried once if invalid; usage is recorded, the reply stored."""
    try:
        reply = _ask_once(asking, job, messages, schema)
    except ModelFailed as error:
        if not error.said:
            raise
        mend = prompt_files.text("repair", "en").replace("{why}", error.detail)
        again = [*messages, {"role": "assistant", "content": error.said}, {"role": "user", "content": mend}]
        reply = _ask_once(asking, job, again, schema)
    kept = KeepReply(job, json.dumps(reply.value, ensure_ascii=False))
    asking.handle.store.apply(asking.scope, [kept], asking.handle.cause("learn"))
    return reply.value


def _ask_once(asking: Asking, job: Job, messages: Sequence[Message], schema: Schema) -> Reply:
    """Ask once and record the usage."""
    return timed(asking.handle, asking.model, messages, schema, purpose=job.kind, session=job.session)


def timed(
    handle: Handle, model: ChatModel, messages: Sequence[Message], schema: Schema, *, purpose: str, session: str | None = None
) -> Reply:
    """Ask a model and record the usage, however it went."""
    began, how = time.monotonic(), "ok"
    cost: Reply | ModelFailed | None = None
    try:
        cost = reply = model.ask(messages, schema)
        return reply
    except ModelError as error:
        how, cost = type(error).__name__, error if isinstance(error, ModelFailed) else None
        raise
    finally:
        call = ModelCall(
            at=handle.now(),
            purpose=purpose,
            session=session,
            model=model.name[:NAME_CHARS],
            prompt_tokens=cost.prompt_tokens if cost else None,
            completion_tokens=cost.completion_tokens if cost else None,
            seconds=round(time.monotonic() - began, 3),
            outcome=how,
        )
        handle.store.apply(handle.writes(), [Spend(call)], handle.cause("learn"))
