"""
Commands that index notes: sync, index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.interfaces.cli.pages import edits
from yiku.types import SyncReport

SHOWN = 20  # paths of each sort


def sync(
    call: Call,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Read every file again, and drop files that are gone, however many.")
    ] = False,
) -> None:
    """
    Index changed notes, so that search finds them.

    They are MEMORY.md and the files in memory/, documents/ and skills/.
    """
    with call.memory() as memory, call.show_progress() as progress:
        done = memory.notes.sync(force=force, progress=progress)
    call.answer(
        {"sync": json_output.plain(done)},
        _format_sync(call, done),
        wanted=bool(done.failed or done.held or any(page.action == "held" for page in done.pages)),
    )


def index(
    call: Call,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A Markdown or text file, or a folder of them.")],
    *,
    skill: Annotated[bool, typer.Option("--skill", help="Put it into skills/ instead of documents/.")] = False,
) -> None:
    """
    Index a document or skill now.

    What lies outside the home is copied to its documents/ folder first; the original stays as it is.
    """
    with call.memory() as memory:
        done = memory.notes.index_skill(path) if skill else memory.notes.index_document(path)
    call.answer({"sync": json_output.plain(done)}, _format_sync(call, done), wanted=bool(done.failed))


def _format_sync(call: Call, done: SyncReport) -> Iterator[str]:
    lists = {
        "added": done.added,
        "changed": done.changed,
        "renamed": [f"{old} -> {new}" for new, old in (done.renamed or {}).items()],
        "removed": done.removed,
    }
    for page in done.pages:
        if page.action == "held":
            yield f"{terminal.paint('held', 'yellow')} {page.path} {call.reaching(page.why or '')}"
        yield from edits(page)
    if done.operations:
        yield f"  {call.command('undo', done.operations[-1])} takes these edits back"
    if not done.anything:
        yield f"{terminal.paint('up to date', 'green')} {terminal.plural(done.unchanged, 'file')}"
    for what, paths in lists.items():
        for path in paths[:SHOWN]:
            yield f"{terminal.paint(what, 'green')} {terminal.harmless(path)}"
        if len(paths) > SHOWN:
            yield f"{terminal.paint(what, 'green')} {len(paths) - SHOWN:,} more"
    for path, why in (done.failed or {}).items():
        yield f"{terminal.paint('not indexed', 'yellow')} {terminal.harmless(path)}: {why}"
    if done.held:
        files = terminal.plural(len(done.held), "file")
        yield f"{terminal.paint('missing', 'yellow')} {files}: the passages stay until `{call.command('sync', '--force')}`"
