"""
Commands for coding agents: ingest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import Ingested


def ingest(
    call: Call,
    *,
    seconds: Annotated[float | None, typer.Option("--seconds", metavar="S", help="Stop after this many seconds.")] = None,
) -> None:
    """
    Record what the hooks of coding agents captured.

    Hooks only append to inbox/ in the home. A running server or yiku watch records that within seconds; yiku learn and
    yiku status do it, too.
    """
    with call.memory() as memory:
        done = memory.admin.ingest(budget_s=seconds)
    call.answer({"ingested": json_output.plain(done)}, _ingested(done), wanted=bool(done.unreadable))
    if done.turns:
        call.hint("`yiku learn` learns from them.")


def _ingested(done: Ingested) -> Iterator[str]:
    yield f"{terminal.paint('recorded', 'green')} {terminal.plural(done.turns, 'turn')} from {terminal.plural(done.events, 'event')}"
    parts = (
        (done.known, "known already"),
        *((count, f"not recorded: {terminal.harmless(why)}") for why, count in done.skipped.items()),
        (done.compressed, "compressions"),
        (done.ended, "sessions ended"),
        (done.waiting, "left: yiku ingest continues"),
    )
    yield from (f"  {count:,} {what}" for count, what in parts if count)
    if done.unreadable:
        yield f"{terminal.paint('!', 'yellow')} {terminal.plural(done.unreadable, 'line')} set aside in inbox/unreadable.jsonl"
