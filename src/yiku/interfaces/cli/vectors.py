"""
The command `embed`: compute missing embeddings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import EmbedReport


def embed(
    call: Call,
    *,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="S", help="Stop after this many seconds; the next call continues.")
    ] = None,
) -> None:
    """
    Compute missing embeddings, to search by meaning.

    Without them search finds words only. It can be stopped at any time and continues from there.
    """
    with call.memory() as memory, call.show_progress() as progress:
        found = memory.admin.embed(budget_s=seconds, progress=progress)
    call.answer({"embed": json_output.plain(found)}, _format_progress(found), wanted=bool(found.failed))


def _format_progress(found: EmbedReport) -> Iterator[str]:
    what = terminal.plural(found.done, "turn, statement or note", "turns, statements and notes")
    yield f"{terminal.paint('embedded', 'green')} {what} with {terminal.harmless(found.space)}"
    if found.compared:
        yield f"  read {terminal.plural(found.compared, 'turn', 'turns')} together with earlier ones, to find what no longer holds"
    if found.waiting:
        yield f"  {found.waiting:,} pending: run it again"
    if found.failed:
        yield f"  {found.failed:,} are found by words only: the model refuses them"
