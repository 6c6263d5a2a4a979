"""
Commands to extract memories from turns and to review them: learn, review, confirm, reject, queue (model jobs).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.interfaces.cli.keep import describe_moved, describe_outcome
from yiku.types import Forgotten, Job, LearnReport, Outcome, Relearned, SemanticMemory, ToReview

Name = str | None
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids as printed by yiku review.")]

SHOWN, COUNTED = 20, 1_000  # of what was learned in one run; `yiku list` has the rest
SORTS = {
    "unconfirmed": "Unconfirmed: nobody stated these outright, so they are not used yet",
    "conflict": "Contradictory: nothing says which of these is true",
    "belief": "Doubtful: stated with a doubt",
}
CHANGED = {  # by a new reading of all turns
    "archived": "archived",
    "learned": "learned",
    "unflagged": "no longer in conflict",
    "unpinned": "no longer pinned",
}
WORK = {"extract": "read a turn", "episode": "write an episode", "scratchpad": "update the scratchpad"}


def learn(
    call: Call,
    *,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", "--budget", metavar="S", help="Stop after this many seconds; the next call continues."),
    ] = None,
    session: Annotated[Name, typer.Option(metavar="ID", help="Send only this session to the model.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Include what is not due yet, and retry what failed.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Read all turns again, after an upgrade.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --again: show what would change, and write nothing.")] = False,
) -> None:
    """
    Process pending turns: learn memories from them.

    Rules read every turn. A model, if one is set, reads the turns that may hold more; what it finds counts only if
    the turns say it too. It can be stopped at any time and continues from there.
    """
    if again and (session is not None or all_):
        raise InvalidInput("--again reads all turns, so it takes no --session and no --all")
    if dry_run and not again:
        raise InvalidInput("--dry-run needs --again")
    if again:
        _relearn(call, seconds, dry_run)
        return
    with call.memory() as memory:
        call.take_captured(memory)
        began = datetime.now().astimezone()
        with call.show_progress() as progress:
            done = memory.learn(budget_s=seconds, session=session, everything=all_, progress=progress)
        found = memory.get_all(where={"created_at": {"gte": began}}, order="updated", limit=COUNTED) if done.outcomes else []
        pending = len(memory.admin.review(limit=COUNTED))
    call.answer(
        {"learn": json_output.plain(done), "memories": [json_output.item(one) for one in found]},
        _format_learned(call, done, found),
        wanted=bool(done.troubles),
    )
    if pending:
        call.hint(f"{terminal.plural(pending, 'statement')} to review: {call.command('review')}")


def _format_learned(call: Call, done: LearnReport, found: list[SemanticMemory]) -> Iterator[str]:
    asked = f" and {terminal.plural(done.jobs, 'question')} to {terminal.harmless(done.model)}" if done.model else ""
    yield f"{terminal.paint('learned', 'green')} from {terminal.plural(done.turns, 'turn')}{asked}: {count_outcomes(done.outcomes)}"
    yield from terminal.table(
        [(f"  {terminal.short(one.id)}", one.kind.value, terminal.describe(one)) for one in found[:SHOWN]], dim=[0, 1], lines=2
    )
    if len(found) > SHOWN:
        yield f"  and {len(found) - SHOWN:,} more: {call.command('list')}"
    if done.waiting:
        yield f"  {done.waiting:,} pending: {call.command('queue')}"
    if done.dead:
        yield f"  {done.dead:,} failed: {call.command('queue')} says why, {call.command('learn', '--all')} retries"
    for trouble in done.troubles:
        yield f"{terminal.paint('!', 'yellow')} {terminal.harmless(call.reaching(trouble))}"


def _relearn(call: Call, seconds: float | None, dry_run: bool) -> None:
    with call.memory() as memory, call.show_progress() as progress:
        done = memory.admin.relearn(budget_s=seconds, dry_run=dry_run, progress=progress)
    lists = {name: [json_output.item(one) for one in getattr(done, name)] for name in CHANGED}
    call.answer({"relearned": json_output.plain(done) | lists}, _format_relearned(call, done), wanted=bool(done.troubles))


def _format_relearned(call: Call, done: Relearned) -> Iterator[str]:
    changed = {word: getattr(done, name) for name, word in CHANGED.items() if getattr(done, name)}
    counts = {word: len(found) for word, found in changed.items()}
    counts |= {word: done.outcomes[word] for word in ("confirmed", "retracted") if done.outcomes.get(word)}
    summary = ", ".join(f"{count:,} {word}" for word, count in counts.items())
    if done.dry_run:
        yield f"{terminal.paint('would change', 'yellow')} after reading {terminal.plural(done.turns, 'turn')} again: {summary or 'nothing'}"
    else:
        yield f"{terminal.paint('read', 'green')} {terminal.plural(done.turns, 'turn')} again: {summary or 'nothing changed'}"
    for word, found in changed.items():
        yield f"{word}:"
        rows = [(f"  {terminal.short(one.id)}", one.kind.value, terminal.describe(one)) for one in found[:SHOWN]]
        yield from terminal.table(rows, dim=[0, 1], lines=2)
        if len(found) > SHOWN:
            yield f"  and {len(found) - SHOWN:,} more: --json has all"
    if done.left:
        yield f"  {terminal.plural(done.left, 'turn')} left: {call.command('learn', '--again')} continues"
    for trouble in done.troubles:
        yield f"{terminal.paint('!', 'yellow')} {terminal.harmless(call.reaching(trouble))}"
    if done.dry_run:
        yield terminal.paint("  nothing was written", "dim")
    elif done.operation:
        yield terminal.paint(f"  undo with: {call.command('undo', done.operation)}", "dim")


def count_outcomes(outcomes: Mapping[str, int]) -> str:
    """Return outcome counts in words."""
    return ", ".join(f"{count:,} {name}" for name, count in outcomes.items() if count) or "nothing new"


def review(call: Call, *, limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results.")] = 50) -> None:
    """
    List memories to confirm or reject, and why.

    yiku confirm ID accepts one, yiku reject ID removes it.
    """
    with call.memory() as memory:
        found = memory.admin.review(limit=limit)
    data = [
        {"why": one.why, "memory": json_output.item(one.memory), "others": [*map(json_output.item, one.others)]} for one in found
    ]
    call.answer({"review": data}, _review(_once(found)))
    keep, remove = call.command("confirm", "ID"), call.command("reject", "ID")
    call.hint(f"`{keep}` keeps one, `{remove}` removes it." if found else "There is nothing to review.")


def _once(found: Iterable[ToReview]) -> Iterator[ToReview]:
    """List two memories that contradict each other once."""
    named: set[str] = set()
    for one in found:
        if not (one.why == "conflict" and one.memory.id in named):
            yield one
        named |= {other.id for other in one.others}


def _review(found: Iterable[ToReview]) -> Iterator[str]:
    limit, sort = terminal.width(), None
    for number, one in enumerate(found, 1):
        if one.why != sort:
            yield from ([""] if sort else [])
            yield terminal.paint(SORTS[one.why], "bold")
            sort = one.why
        for memory in (one.memory, *one.others):
            lead = f"{number:>2}  " if memory is one.memory else "    or: "
            body = terminal.wrap(memory.content, limit and limit - len(lead), lines=terminal.SHOWN_LINES)
            yield from (f"{lead if place == 0 else ' ' * len(lead)}{line}" for place, line in enumerate(body))
            yield terminal.paint(f"{' ' * len(lead)}{terminal.cut(terminal.source(memory), limit and limit - len(lead))}", "dim")


def confirm(call: Call, *, ids: Ids) -> None:
    """
    Confirm memories: they are true.

    An unconfirmed memory is used from then on, a belief becomes a fact, and of two memories that contradict
    each other the confirmed one stays.
    """
    with call.memory() as memory:
        names = [memory.get(id).id for id in _some(call, ids)]  # all are there, before the first is confirmed
        done = [memory.confirm(name) for name in names]
    call.answer({"outcomes": [json_output.outcome(one, False) for one in done]}, _format_confirmed(call, done))


def _some(call: Call, ids: list[str]) -> list[str]:
    if not ids:
        raise InvalidInput(f"give at least one id; `{call.command('review')}` lists them")
    return [*dict.fromkeys(ids)]


def _format_confirmed(call: Call, done: Iterable[Outcome]) -> Iterator[str]:
    for one in done:
        yield from describe_outcome(call, one, word="confirmed")


def reject(call: Call, *, ids: Ids) -> None:
    """
    Reject memories: they are wrong.

    They are hidden, and not learned again from the same words. yiku restore or yiku undo brings one back.
    """
    with call.memory() as memory:
        names = [memory.get(id).id for id in _some(call, ids)]
        done = [memory.reject(name) for name in names]
    call.answer({"rejected": [json_output.forgotten(one, False) for one in done]}, _format_rejected(call, done))


def _format_rejected(call: Call, done: Iterable[Forgotten]) -> Iterator[str]:
    for one in done:
        yield from describe_moved(call, one, "rejected")


def queue(call: Call, *, dead: Annotated[bool, typer.Option("--dead", help="Only what failed permanently.")] = False) -> None:
    """
    List pending work for the model, and what failed.

    yiku learn processes what is due; yiku learn --all processes everything and retries what failed.
    """
    with call.memory() as memory:
        jobs = memory.admin.queue(dead=True if dead else None)
        waiting = dict(memory.status().waiting)
        asked = bool(memory.settings.chat_url)
    call.answer({"jobs": [json_output.plain(job) for job in jobs], "waiting": waiting}, _queue(jobs))
    if jobs and not asked:
        call.hint("No model is set, so these stay pending: docs/settings.md, chat_url.")
    late = {} if dead else {name: count for name, count in waiting.items() if "learn" in name}
    for name, count in late.items():
        call.hint(f"{name}: {count:,}. `{call.command('learn')}` processes them.")
    if not jobs and not late:
        call.hint("Nothing failed." if dead else "Nothing is pending.")


def _queue(jobs: list[Job]) -> Iterator[str]:
    rows = [("what", "session", "state", "tried", "why")] if jobs else []
    for job in jobs:
        state = "failed" if job.dead else f"due {terminal.when(job.due_at.astimezone())}"
        rows.append(
            (WORK.get(job.kind, job.kind), terminal.flat(job.session), state, str(job.tries), terminal.flat(job.error or ""))
        )
    yield from terminal.table(rows, dim=[3, 4], right=[3])
