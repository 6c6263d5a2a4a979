"""
learn: what was said becomes what is known.

Turns are dealt with in the order in which they came, by rules first: what the user plainly says of himself is decided
like any statement, each with its turn as the source. Where there is a model, what may hold more goes into the queue and is
read by it, with the calls of tools in view; what it says counts only where the turns say it too. Every step can be cut off and
done again: a turn gives a statement once, a reply is kept before anything is made of it, and a job ends under its own fence.

The same rules run at the end of `record_turn`, for a user's turn that is not long, so what he says is known at once.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from yiku.errors import (
    InvalidInput,
    KeptOut,
    ModelError,
    ModelFailed,
    ModelUnavailable,
    NotFound,
    Paused,
    Stale,
    YikuError,
)
from yiku.flows.common import checks, pause, prompt_files
from yiku.flows.common.handle import Handle
from yiku.flows.keep import attach, scratchpad
from yiku.flows.keep.remember import checked, remember
from yiku.models.api import ChatModel, Message, Reply, Schema
from yiku.rules import analyze, extraction, fence, history, importance, retention, retract, score, values
from yiku.rules.analyze import fold
from yiku.rules.learning import amended, tools
from yiku.rules.learning.drafts import drafts
from yiku.rules.text.sentences import ASKING
from yiku.store.api import one_at_a_time
from yiku.types import (
    AddJobs,
    Change,
    ClaimJobs,
    CountAccess,
    Draft,
    EndJob,
    Expect,
    How,
    Job,
    KeepReply,
    Learned,
    LearnReport,
    Memories,
    ModelCall,
    Origin,
    Outcome,
    SemanticMemory,
    Spend,
    State,
    Turn,
    Turns,
)

BATCH = 100  # turns between two steps of the mark
INLINE_CHARS = 4_000  # of a turn that is learned from before `record_turn` returns: some 2 ms
TURN_S = 3.0  # of CPU to read one turn, ten times of what the first in a process takes; the rest of it is left out, and said
ASKED_CHARS = 30  # a shorter turn is not worth a model's time; a Chinese character counts twice
ASKED_FROM = 0.2  # importance, below which a model is not asked
BEFORE = 20  # turns of a session, which must be known before something of it is taken back
AROUND = 2  # turns before a user's that a model is shown with it
LOOKED_AT = 20  # memories with words of a turn, of which those are shown that count now
ANSWERS = 6  # and turns behind it, until the user speaks again
LEASE = timedelta(minutes=10)
TRIES = 3
PAUSES = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))  # before a job is tried again
NIGHT = timedelta(hours=12)  # until what is over a session's budget is due
CITED = 8  # characters of a memory's id that a reply cites
OBJECT_CHARS = 2  # an object this short may stand in a reply by chance
# What the data or the disk can bring about; a mistake of ours (TypeError, AttributeError …) is raised.
FAILURES = (YikuError, OSError, ArithmeticError, LookupError, RecursionError, ValueError)

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], object]


@dataclass(slots=True)
class _Run:
    """One run of learning, and what came of it."""

    handle: Handle
    scope: int
    model: ChatModel | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    jobs: int = 0
    troubles: list[str] = field(default_factory=list)
    looks_back: bool = False
    dry_run: bool = False
    failed: list[tuple[Job, str]] = field(default_factory=list)  # each keeps its lease to the end: one run tries it once

    @property
    def named(self) -> str:
        """The model, as it is noted on what it found."""
        return (self.model.name if self.model else "rules")[:80]

    def took(self, outcome: Outcome | None) -> None:
        if outcome is not None:
            self.outcomes[type(outcome).__name__.casefold()] += 1


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What the rules find in a turn, whatever is known.

    whole:   all of the turn was read
    """

    drafts: tuple[Draft, ...] = ()
    whole: bool = True


def learn(
    handle: Handle,
    *,
    budget_s: float | None = None,
    session: str | None = None,
    everything: bool = False,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> LearnReport:
    """
    Learn from what waits, for at most so long.

    budget_s: looked at between sentences; the turn that comes first is read to its end, so that each call gets on
    session:    of the queue only what belongs to this one
    everything: also what is not due yet, and what failed for good
    progress:   told how many turns and jobs are done, of how many
    Raises StoreBusy while another process learns here.
    """
    checks.optional_call(progress, "progress")
    checks.optional_name(session, "session")
    checks.flag(everything, "everything")
    checks.optional_seconds(budget_s, "budget_s")
    handle.store.upkeep.about()  # a memory that was closed says so
    pause.refuse(handle)
    began, own = time.monotonic(), handle.own()
    model = handle.chat()
    if not own or handle.settings.learn == "off":
        return LearnReport(model=model.name if model else None)
    run = _Run(handle, own[0], model)

    def over() -> bool:
        return stopped() or (budget_s is not None and time.monotonic() - began >= budget_s)

    with one_at_a_time(handle.paths.locks / "learner.lock", "another process is learning"):
        late = waiting(handle)
        total = sum(late.values())
        told = (lambda: progress(run.turns + run.jobs, max(total, run.turns + run.jobs))) if progress else (lambda: None)
        _by_rules(run, over, told)
        if model is not None:
            if everything:
                _revived(run, session)
            _by_model(run, session, not everything, over, told)
    left = waiting(handle)
    handle.put_off = None
    return LearnReport(
        turns=run.turns,
        jobs=run.jobs,
        outcomes=dict(run.outcomes),
        waiting=sum(left.values()),
        dead=len(handle.store.learning.jobs(own[0], dead=True)),
        model=model.name if model else None,
        seconds=round(time.monotonic() - began, 3),
        troubles=tuple(dict.fromkeys(run.troubles)),
    )


def waiting(handle: Handle) -> Mapping[str, int]:
    """What waits: turns for the rules, jobs for a model. With `learn = off` nothing does."""
    own = handle.own()
    if not own or handle.settings.learn == "off":
        return {}
    late = handle.store.learning.waiting(own[0])
    queued = len(handle.store.learning.jobs(own[0], dead=False)) if handle.chat() is not None else 0
    return {name: count for name, count in (("turns to learn from", late), ("questions to the model", queued)) if count}


# ------------------------------------------------------------------ by rules


def after(handle: Handle, turn: Turn) -> None:
    """What a turn that was just recorded changes at once: what is known, and what the user is at. The turn is stored, so this never fails."""
    with _kept_for_later(handle):
        if said_by_person(turn) and turn.n > handle.store.learning.upto(handle.writes()):  # else it was known already
            at_once(handle, turn)
            followed(handle, turn)


@contextmanager
def _kept_for_later(handle: Handle) -> Iterator[None]:
    """What cannot be learned now waits for `learn`, as every turn behind the mark does; `status` and the log say why."""
    try:
        yield
    except FAILURES as error:
        why = f"{type(error).__name__}: {error.detail if isinstance(error, YikuError) else error}"
        handle.put_off = why
        _log.warning("what was said is stored, but could not be learned from (%s); `yiku learn` tries again", why)


def followed(handle: Handle, turn: Turn, *, again: bool = False) -> None:
    """What the user is at, after this turn; `again` where that may have been looked at before."""
    if handle.settings.learn != "off" and said_by_person(turn):
        scratchpad.follow(handle, fence.own_words(turn), again=again)


def at_once(handle: Handle, turn: Turn) -> Mapping[str, int]:
    """Learn from a turn that was just recorded; what goes wrong here waits for the next `learn`, and loses nothing."""
    run = _Run(handle, handle.writes())
    if handle.settings.learn != "off" and said_by_person(turn) and len(turn.content) <= INLINE_CHARS:
        with _kept_for_later(handle):
            _from_user(run, turn)
    return run.outcomes


def _by_rules(run: _Run, over: Callable[[], bool], told: Callable[[], object]) -> None:
    """Turn by turn; the mark moves behind each batch, and with it goes what is counted and queued."""
    store, handle = run.handle.store, run.handle
    while not over():
        erasure, upto = store.erasures.last(), store.learning.upto(run.scope)
        turns = store.turns([run.scope], Turns(after=upto, limit=BATCH))
        if not turns:
            hidden = store.turns([run.scope], Turns(after=upto, limit=1, hidden=True))
            if not hidden:
                return
        last = turns[-1].n if turns else hidden[-1].n
        known = store.learning.extracted(run.scope, [turn.n for turn in turns])  # where an import has them from
        turns, used = [turn for turn in turns if turn.n not in known], set[int]()
        for place, turn in enumerate(turns):
            late = over if run.turns else _never
            if late() or (said_by_person(turn) and not _from_user(run, turn, late)):
                turns, last = turns[:place], turn.n - 1  # it comes first in the next run
                break
            if said_by_person(turn):
                followed(handle, turn, again=True)
            else:
                _from_tools(run, turn)
                used |= _used(run, turn)
            run.turns += 1
        changes: list[Change] = [Learned(upto=last, since=upto)]
        if used:
            changes.append(CountAccess(sorted(used), "used"))
        if run.model is not None and (jobs := _to_ask(run, turns)):
            changes.append(AddJobs(jobs))
        cause = handle.cause("learn")
        with suppress(Stale), store.exclusive():  # something was erased meanwhile: what is left is read again
            files = _files(run, turns)  # the end of a session notes them, too
            store.apply(run.scope, [*changes, *files], cause, Expect(erasure=erasure))
        told()


def _never() -> bool:
    return False


def said_by_person(turn: Turn) -> bool:
    """Whether a person said it: what a subagent was told, or a file that a host pastes, has a user's role only."""
    return turn.role == "user" and turn.origin in (Origin.USER, Origin.IMPORT)


def _files(run: _Run, turns: Sequence[Turn]) -> list[Change]:
    """The attachments that these turns name."""
    return attach.named_in(run.handle, run.scope, turns)


def _from_user(run: _Run, turn: Turn, over: Callable[[], bool] = _never) -> bool:
    """
    What the user says in a turn; of one that was imported, candidates.

    over: asked between sentences and drafts; once it is true the turn is left, to be read again
    Returns whether it was dealt with. What is not read within TURN_S is left out: no turn holds up those behind it.
    """
    turn = fence.own_words(turn)
    reading = read(run.handle, turn, over)
    if over():
        return False
    if not reading.whole:
        run.troubles.append(_cut(turn))
    found = _counting(run, turn, reading)
    known = _of_turn(run, turn) if found else []
    for draft in found:
        if over():
            return False
        run.took(_kept(run, turn, draft, known, method="rules", candidate=_as_candidate(turn)))
    run.handle.learned.add(turn.id)
    return True


def read(handle: Handle, turn: Turn, over: Callable[[], bool] = _never) -> Reading:
    """
    What the rules find in a turn of the user's, in at most TURN_S of CPU.

    over: asked between sentences; once it is true the others are left out
    """
    began = time.thread_time()

    def enough() -> bool:
        return over() or time.thread_time() - began > TURN_S

    turn = fence.own_words(turn)
    found = drafts(turn.content, said_at=turn.said_at, speaker=turn.speaker, names=handle.settings.names, enough=enough)
    return Reading(tuple(found), not enough())


def _counting(run: _Run, turn: Turn, reading: Reading) -> list[Draft]:
    """The drafts of a reading that are learned; where it states nothing, what a correction of a value alone says."""
    found = [*reading.drafts]
    if not any(draft.action == "state" for draft in found) and (draft := _amended(run, turn)):
        return [draft]
    return found


def _as_candidate(turn: Turn) -> bool:
    """Whether what a turn says waits until somebody confirms it."""
    return turn.origin is not Origin.USER


def _cut(turn: Turn) -> str:
    return f"left out: the end of turn #{turn.id[-8:]}, which was not read within {TURN_S:g} s"


# ------------------------------------------------------------------ turns that were learned from before


def statements(handle: Handle, turn: Turn, reading: Reading) -> list[SemanticMemory]:
    """All that a reading gives, as the statements that would be kept; none of them is."""
    run, turn = _Run(handle, handle.writes()), fence.own_words(turn)
    found = _counting(run, turn, reading)
    return [one for draft in found if draft.action == "state" and (one := _statement(run, turn, draft)) is not None]


def reread(
    handle: Handle,
    turn: Turn,
    reading: Reading,
    known: Sequence[SemanticMemory],
    unknown: Callable[[Draft, SemanticMemory], bool],
    *,
    dry_run: bool = False,
) -> tuple[list[Outcome], list[str]]:
    """
    Learn from a turn once more; the outcomes, and what was left out and why.

    known:   what was learned from this turn before
    unknown: whether a draft, as the statement that would be kept, is to be learned
    """
    run, turn = _Run(handle, handle.writes(), looks_back=True, dry_run=dry_run), fence.own_words(turn)  # those before it were read
    outcomes = []
    for draft in _counting(run, turn, reading):
        one = _statement(run, turn, draft)
        if one is not None and unknown(draft, one):
            outcome = _kept(run, turn, draft, known, method="rules", candidate=_as_candidate(turn))
            outcomes += [] if outcome is None else [outcome]
    return outcomes, [*([] if reading.whole else [_cut(turn)]), *run.troubles]


def takes_back(draft: Draft) -> bool:
    """Whether a draft takes back what was said before it."""
    return draft.action == "retract" or retract.marker(draft.text) is not None


def _statement(run: _Run, turn: Turn, draft: Draft) -> SemanticMemory | None:
    try:
        return checked(run.handle, draft.text, _details(run, turn, draft, candidate=_as_candidate(turn)), quote=draft.quote)
    except (InvalidInput, KeptOut, NotFound):  # it could not be kept either
        return None


def _amended(run: _Run, turn: Turn) -> Draft | None:
    """What its speaker said just before, with the value that this turn gives instead."""
    if not amended.may_amend(turn.content):
        return None
    select = Turns(session=turn.session, newest_first=True, limit=BEFORE)
    before = [fence.own_words(one) for one in run.handle.store.turns([run.scope], select) if one.n < turn.n]
    place = next((k for k, one in enumerate(before) if one.role == "user"), None)
    if place is None or before[place].speaker != turn.speaker or not turn.said_at - before[place].said_at <= amended.REACHES:
        return None
    asked = any(one.role == "assistant" and one.content.rstrip().endswith(tuple(ASKING)) for one in before[:place])
    return amended.draft(turn.content, _of_turn(run, before[place]), answers=asked)


def _from_tools(run: _Run, turn: Turn) -> None:
    """What calls of tools showed: candidates, until somebody confirms them."""
    if turn.tool_calls or turn.tool_results:
        known = _of_turn(run, turn)
        for draft in tools.of_tools(turn):
            run.took(_kept(run, turn, draft, known, method="rules", candidate=True))


def _of_turn(run: _Run, turn: Turn) -> list[SemanticMemory]:
    """What was learned from a turn before: when a run was cut off, or another process was faster."""
    store = run.handle.store
    return store.filled(store.memories([run.scope], Memories(sourced_in=[turn.id])))


def _kept(
    run: _Run,
    turn: Turn,
    draft: Draft,
    known: Sequence[SemanticMemory],
    *,
    method: str,
    candidate: bool = False,
    replaces: int | None = None,
) -> Outcome | None:
    """Decide and keep one draft; None where this turn gave it before."""
    handle, once = run.handle, None
    if draft.action == "retract" and (candidate or retract.marker(draft.text) in {None, "slip"}):
        return None  # «I misspoke» alone does not say what was wrong, and is no statement either
    if draft.action == "retract":  # once: done again, it would take back what was said before that
        once = f"retract {turn.id}"
        if handle.store.receipt(run.scope, once) is not None:
            return None
        _before(run, turn)
        return _told(run, draft, {"source": turn.id}, How(method=method), once)
    if not candidate and retract.marker(draft.text) is not None:  # what states something may take something back, too
        once = f"retract {turn.id} {handle.sealed(fold(draft.text)).hex()}"
        if handle.store.receipt(run.scope, once) is not None:
            return None
    told = {
        fold(text)
        for memory in known
        for text in (memory.content, *(s.text for s in memory.sources if s.turn == turn.id and s.text))
    }
    if fold(draft.text) in told:
        return None
    details = _details(run, turn, draft, candidate=candidate)
    how = How(method=method, quote=draft.quote, state=State.CANDIDATE if candidate else State.ACTIVE, replaces=replaces)
    return _told(run, draft, details, how, once)


def _details(run: _Run, turn: Turn, draft: Draft, *, candidate: bool) -> Mapping[str, Any]:
    """What a draft says of its statement besides its words."""
    metadata = dict(draft.metadata)
    details: dict[str, Any] = {
        "source": turn.id,
        "origin": metadata.pop("origin", None),  # of what a tool showed: not that of who called it
        "kind": draft.kind,
        "standing": draft.standing,
        "importance": draft.importance,
        "confidence": draft.confidence,
        "tags": draft.tags or None,
        "entities": draft.entities or None,
        "relations": draft.relations or None,
        "basis": draft.basis,
        "metadata": metadata | ({"until_session": turn.session} if draft.session else {}),
    }
    if draft.slot is not None:
        slot = draft.slot
        details |= {"subject": slot.subject, "predicate": slot.predicate, "object": slot.object, "cardinality": slot.cardinality}
    kept = retention.until(
        draft.kind,
        draft.priority,
        "session" if draft.session else None,
        now=max(turn.said_at, run.handle.now() - retention.DAY),
        expires_at=draft.expires_at,
    )
    details |= {"priority": kept.priority, "expires_at": kept.expires_at, "pinned": (draft.pinned or kept.pinned) and not candidate}
    return {name: value for name, value in details.items() if value}


def _told(run: _Run, draft: Draft, details: Mapping[str, Any], how: How, once: str | None = None) -> Outcome | None:
    """A draft is decided and kept; one that cannot be kept is left out, and stops nothing."""
    try:
        return remember(run.handle, draft.text, details, idempotency_key=once, dry_run=run.dry_run, how=how)  # type: ignore[arg-type]
    except Paused:
        raise
    except NotFound:  # its turn was erased meanwhile, and there is nothing to tell of it
        return None
    except (InvalidInput, KeptOut) as error:
        run.troubles.append(f"left out: {draft.text[:60]}: {error.detail}")
        return None
    except Stale:  # decided twice, the second time alone: it holds up none of the turns behind it
        run.troubles.append(f"left out: {draft.text[:60]}: it does not fit with what is known")
        return None


def _before(run: _Run, turn: Turn) -> None:
    """What was said just before is known before something is taken back: else, cut off, that would hit what stands before it."""
    if run.looks_back:  # those before it were read first: else each of n jokes would have all before it read again, 2ⁿ turns
        return
    run.looks_back = True
    try:
        select = Turns(session=turn.session, after=run.handle.store.learning.upto(run.scope), newest_first=True, limit=BEFORE)
        for earlier in reversed(run.handle.store.turns([run.scope], select)):
            if earlier.n < turn.n and said_by_person(earlier) and earlier.id not in run.handle.learned:
                _from_user(run, earlier)
    finally:
        run.looks_back = False


def _used(run: _Run, turn: Turn) -> set[int]:
    """Which memories a reply used: of those shown that day, the ones whose id it cites, or whose object it says."""
    if turn.role != "assistant" or not turn.content:
        return set()
    day = turn.said_at.replace(hour=0, minute=0, second=0, microsecond=0)
    said = fold(fence.without(turn.content))
    return {
        memory.n
        for memory in run.handle.store.retrieved_since(run.scope, day)
        if (memory.last_retrieved is not None and memory.last_retrieved <= turn.recorded_at)
        and (memory.id[-CITED:] in said or _names(said, memory.object))
    }


def _names(said: str, object_: str | None) -> bool:
    return bool(object_) and len(object_ or "") >= OBJECT_CHARS and fold(object_ or "") in said


# ------------------------------------------------------------------ by a model


def _to_ask(run: _Run, turns: Sequence[Turn]) -> list[Job]:
    """Jobs for user turns that may hold more than rules see; beyond a session's budget they wait for the night."""
    now, jobs = run.handle.now(), list[Job]()
    asked = Counter(
        call.session for call in run.handle.store.learning.spent(run.scope, since=now - NIGHT) if call.purpose == "extract"
    )
    asked.update(job.session for job in run.handle.store.learning.jobs(run.scope) if job.kind == "extract")
    for turn in map(fence.own_words, turns):
        if said_by_person(turn) and _weight(turn.content) >= ASKED_CHARS and importance.score(turn.content) >= ASKED_FROM:
            asked[turn.session] += 1
            due = now if asked[turn.session] <= run.handle.settings.learn_calls else now + NIGHT
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
    """Characters, of which one without spaces around it says as much as two."""
    return len(text) + sum("\u3040" <= character <= "\uffef" for character in text)


def _revived(run: _Run, session: str | None) -> None:
    """What failed for good is tried once more."""
    if dead := [job for job in run.handle.store.learning.jobs(run.scope, dead=True) if session in (None, job.session)]:
        run.handle.store.apply(run.scope, [AddJobs(dead)], run.handle.cause("learn"))


def _by_model(run: _Run, session: str | None, due: bool, over: Callable[[], bool], told: Callable[[], object]) -> None:
    """Job by job under a lease, until none is due, time is over, or the model is not there; what fails is put off at the end."""
    try:
        _job_by_job(run, session, due, over, told)
    finally:
        for job, why in run.failed:
            with suppress(Stale):
                _put_off(run, job, why)


def _job_by_job(run: _Run, session: str | None, due: bool, over: Callable[[], bool], told: Callable[[], object]) -> None:
    store, handle = run.handle.store, run.handle
    tried: list[int] = []  # leases of others are those of a process that died: nobody else holds the learner's lock
    while not over():
        claim = ClaimJobs(handle.now() + LEASE, 1, session, due, held=tried)
        claimed = store.apply(run.scope, [claim], handle.cause("learn")).rows[0]
        if not claimed:
            return
        job = store.learning.jobs(run.scope, ns=claimed)[0]
        tried.append(job.n)
        try:
            _done(run, job)
            run.jobs += 1
        except Stale:  # its lease ran out, and somebody else has it
            pass
        except ModelUnavailable as error:
            run.troubles.append(f"the model is not there: {error.detail}")
            later = handle.now() + PAUSES[0]
            store.apply(run.scope, [EndJob(job, "the model is not there", later)], handle.cause("learn"))
            return
        except ModelFailed as error:
            run.troubles.append(f"a reply could not be used: {error.detail}")
            run.failed.append((job, error.detail))
        told()


def _put_off(run: _Run, job: Job, why: str) -> None:
    """A job is tried again later; after TRIES it is dead, and waits for `yiku learn --all`."""
    tries = job.tries + 1
    due = run.handle.now() + PAUSES[min(tries, len(PAUSES)) - 1] if tries < TRIES else None
    run.handle.store.apply(run.scope, [EndJob(replace(job, tries=tries), why, due)], run.handle.cause("learn"))


def _done(run: _Run, job: Job) -> None:
    """One job: ask unless somebody has, keep the reply, then what it says, then it is done."""
    if job.kind == "extract":
        turns = _piece(run, job)
        if turns:
            _extracted(run, job, turns)
    else:
        from yiku.flows.learn import episodes  # 3 ms to load, which the first turn of a process need not wait for

        episodes.by_model(run.handle, run.named, job, lambda messages, schema: asked(run, job, messages, schema))
    run.handle.store.apply(run.scope, [EndJob(job)], run.handle.cause("learn"))


def _piece(run: _Run, job: Job) -> list[Turn]:
    """A user's turn with what stands before and behind it; nothing where it is gone."""
    session = run.handle.store.turns([run.scope], Turns(session=job.session))
    place = next((k for k, turn in enumerate(session) if turn.n == job.turn_n), None)
    if place is None:
        return []
    end = place + 1
    while end < len(session) and session[end].role != "user" and end - place <= ANSWERS:
        end += 1
    return [fence.own_words(turn) for turn in session[max(0, place - AROUND) : end]]


def _extracted(run: _Run, job: Job, turns: Sequence[Turn]) -> None:
    """What a model finds in a piece of a conversation, as far as the turns say it."""
    handle = run.handle
    nearest = _nearest(run, next(turn for turn in turns if turn.n == job.turn_n))
    messages = [
        {
            "role": "system",
            "content": prompt_files.text("extract", extraction.language(turns)).replace("{most}", str(extraction.MOST)),
        },
        {"role": "user", "content": extraction.known(nearest) + extraction.shown(turns)},
    ]
    items = json.loads(job.reply) if job.reply is not None else asked(run, job, messages, extraction.ITEMS)
    found, refused = extraction.drafts(items, turns, names=handle.settings.names, nearest=nearest)
    run.troubles += [f"left out: {line}" for line in refused]
    for draft, own_words, turn, replaces in found:
        raised = (own_words and turn.origin is Origin.USER) or _said_by_user(run, draft, turns)
        known = _of_turn(run, turn)
        if any(_same(memory, draft) for memory in known):
            continue
        run.took(_kept(run, turn, draft, known, method=run.named, candidate=not raised, replaces=replaces))


def _nearest(run: _Run, turn: Turn) -> list[SemanticMemory]:
    """The live statements of this scope with most words of a turn, best first; not those that it taught itself."""
    store, terms = run.handle.store, analyze.question(turn.content)
    weights = [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters)
    postings = store.postings("memory", [run.scope], (*terms.words, *terms.characters), past=False, cap=score.COMMON_ROWS)
    ns, scores, _ = score.bm25(postings, weights)
    best, _ = score.best(ns, scores, LOOKED_AT)
    rows = (
        {row.n: row for row in store.memories([run.scope], Memories(ns=best, states=(State.ACTIVE,), current=True))} if best else {}
    )
    own, now = {memory.n for memory in _of_turn(run, turn)}, run.handle.now()
    return [rows[n] for n in best if n in rows and n not in own and history.recallable(rows[n], now)][: extraction.NEAREST]


def _same(memory: SemanticMemory, draft: Draft) -> bool:
    """Whether the rules learned this from the same turn, in other words."""
    return draft.slot is not None and memory.slot == draft.slot.key


def _said_by_user(run: _Run, draft: Draft, turns: Sequence[Turn]) -> bool:
    """Whether a user's turn fills the very slot with the very value, though the evidence stands elsewhere."""
    if draft.slot is None:
        return False
    wanted = draft.slot
    mine = [turn for turn in turns if turn.role == "user" and turn.origin is Origin.USER]
    said = ((slot, turn.said_at) for turn in mine for slot in extraction.filled_by(turn.content, turn, run.handle.settings.names))
    return any(slot.key == wanted.key and values.same(slot.object, at, wanted.object, at) for slot, at in said)


def asked(run: _Run, job: Job, messages: Sequence[Message], schema: Schema) -> Any:
    """What a model replies, mended once if it must be; what it took is noted, and the reply is kept before anything is made of it."""
    try:
        reply = _timed(run, job, messages, schema)
    except ModelFailed as error:
        if not error.said:
            raise
        mend = prompt_files.text("repair", "en").replace("{why}", error.detail)
        again = [*messages, {"role": "assistant", "content": error.said}, {"role": "user", "content": mend}]
        reply = _timed(run, job, again, schema)
    run.handle.store.apply(run.scope, [KeepReply(job, json.dumps(reply.value, ensure_ascii=False))], run.handle.cause("learn"))
    return reply.value


def _timed(run: _Run, job: Job, messages: Sequence[Message], schema: Schema) -> Reply:
    """One question, and its line in the ledger, however it went."""
    assert run.model is not None
    began, how = time.monotonic(), "ok"
    cost: Reply | ModelFailed | None = None
    try:
        cost = reply = run.model.ask(messages, schema)
        return reply
    except ModelError as error:
        how, cost = type(error).__name__, error if isinstance(error, ModelFailed) else None
        raise
    finally:
        call = ModelCall(
            at=run.handle.now(),
            purpose=job.kind,
            session=job.session,
            model=run.named,
            prompt_tokens=cost.prompt_tokens if cost else None,
            completion_tokens=cost.completion_tokens if cost else None,
            seconds=round(time.monotonic() - began, 3),
            outcome=how,
        )
        run.handle.store.apply(run.scope, [Spend(call)], run.handle.cause("learn"))
