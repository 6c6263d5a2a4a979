"""
The command `sql`: run a read-only select on the database, limited to the data that this scope may read.
"""

from __future__ import annotations

from typing import Annotated

import typer

from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call, text


def sql(
    call: Call,
    statement: Annotated[str, typer.Argument(metavar="SQL", help="One select statement, or - for stdin.")],
    *,
    limit: Annotated[int, typer.Option(metavar="N", help="At most so many rows.")] = 1_000,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="How long it may take.")] = 5.0,
) -> None:
    """
    Run a select statement, read-only.

    Only what this scope reads is there.

    Tables: memories, memory_sources, memory_tags, memory_tag_rel, memory_entities, memory_relations, conversation_turns,
    sessions, episodes, attachments, scratchpad, files, chunks, scopes. Times are microseconds since 1970.
    """
    with call.memory() as memory:
        found = memory.admin.sql(text(statement, "SQL"), limit=limit, timeout_s=timeout)
    answer = {"columns": list(found.columns), "rows": json_output.plain(found.rows), "truncated": found.truncated}
    cells = [tuple("" if cell is None else terminal.flat(str(json_output.plain(cell))) for cell in row) for row in found.rows]
    call.answer(answer, terminal.table([found.columns, *cells]) if found.columns else [])
    if found.truncated:
        call.note(f"There are more than {len(found.rows):,} rows; --limit gives more.")
