"""
Commands for nightly maintenance: consolidate (run it now), report (its decisions), schedule (cron or systemd).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import NightReport, Schedule

SHOWN = 20  # decisions; --json has more


def consolidate(
    call: Call,
    *,
    light: Annotated[bool, typer.Option("--light", help="Only learn from pending turns.")] = False,
    phase: Annotated[int | None, typer.Option("--phase", metavar="N", help="Only this phase, of 0 to 7.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and write nothing.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", "--budget", metavar="S", help="Stop after this many seconds; the next call continues."),
    ] = None,
    if_due: Annotated[bool, typer.Option("--if-due", help="Only if a night is due: for cron and systemd.")] = False,
) -> None:
    """
    Tidy memory now, as each night does.

    Archives what has expired or faded, merges duplicates, settles contradictions, and updates pages and backups. Each
    decision has a reason and can be undone. If interrupted, the next call continues.

    \b
    yiku consolidate --dry-run
    yiku consolidate --light --seconds 60
    """
    with call.memory() as memory, call.show_progress() as bar:
        done = memory.admin.consolidate(
            "light" if light else "full",
            phase=phase,
            dry_run=dry_run,
            budget_s=seconds,
            if_due=if_due,
            progress=lambda _phase, decisions: bar(decisions, decisions),
        )
    call.answer({"night": json_output.plain(done)}, _lines(call, done), wanted=bool(done.notes) and bool(done.run))


def schedule(call: Call) -> None:
    """
    Print configuration for cron or systemd to run the nights.

    Nothing is installed. A running yiku watch needs neither; the setting nights = off stops it from running them.
    """
    with call.memory() as memory:
        found = memory.admin.schedule()
    call.answer({"schedule": json_output.plain(found)}, _schedule(found))


def _schedule(found: Schedule) -> Iterator[str]:
    due = f"not before {found.next_due:%Y-%m-%d %H:%M}" if found.next_due else "when something was written"
    yield f"The next night is due {'now' if found.not_due is None else due}."
    yield ""
    yield "cron (crontab -e):"
    yield found.cron
    yield ""
    yield "or systemd (~/.config/systemd/user/, then systemctl --user enable --now yiku-night.timer):"
    for name, text in (("yiku-night.service", found.service), ("yiku-night.timer", found.timer)):
        yield f"# {name}"
        yield from text.splitlines()
        yield ""


def _lines(call: Call, done: NightReport) -> Iterator[str]:
    if not done.run:
        yield from map(call.reaching, done.notes)
        return
    what = ", ".join(f"{count:,} {action}" for action, count in done.counts.items())
    head = "would be done" if done.dry_run else "done"
    yield f"{terminal.paint(head, 'green')}  {what}" if what else "nothing to do"
    yield from terminal.table(
        [(f"  {item.action}", terminal.short(item.ids[0]) if item.ids else "", item.reason) for item in done.items[:SHOWN]],
        dim=[0, 1],
        lines=1,
    )
    if (more := sum(done.counts.values()) - SHOWN) > 0:
        yield f"  and {more:,} more"
    if not done.finished and not done.dry_run:
        yield f"  out of time in phase {done.phase}: the next call continues"
    for note in done.notes:
        yield f"{terminal.paint('!', 'yellow')} {terminal.harmless(call.reaching(note))}"
    if any(item.operation for item in done.items):
        yield f"  `{call.command('undo', done.run[-8:])}` undoes all of this"


def report(
    call: Call,
    *,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="A night, by the end of its name [default: the last].")] = None,
) -> None:
    """
    Show what a night decided, and why.

    Each decision has a number, by which yiku undo RUN NUMBER undoes it.

    \b
    yiku report
    yiku report 9ed6b6ba --json
    """
    with call.memory() as memory:
        found = memory.admin.report(run)
    data = {
        "run": json_output.plain(found.run),
        "items": [{**json_output.plain(one), "undone": one.operation in found.undone} for one in found.items],
        "texts": dict(found.texts),
        "page": found.page,
    }
    call.answer(data, terminal.markdown(found.page))
