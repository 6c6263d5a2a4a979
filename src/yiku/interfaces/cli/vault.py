"""
Commands for notes: note (daily log), promote (to MEMORY.md), compact (archive old logs), watch (index changes).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import typer

from yiku.errors import StoreBusy
from yiku.interfaces.cli import call as calls
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import Compacted, Noted, SyncReport

WAIT_S = 5.0  # until a second watcher tries again

Text = Annotated[str, typer.Argument(help="The text; - reads it from stdin.")]


def note(
    call: Call,
    text: Text,
    *,
    metadata: Annotated[str | None, typer.Option(metavar="JSON", help="What is known of it, as a JSON object.")] = None,
) -> None:
    """
    Add a note to today's log.

    It goes to memory/YYYY-MM-DD.md with its time, and is found like every note.
    """
    with call.memory() as memory:
        call.admit(memory)
        given = calls.text(text)
        found = memory.notes.append_daily(given, calls.parse_json(metadata, "--metadata"))
    call.answer({"note": json_output.plain(found)}, _format_note(found))


def promote(
    call: Call,
    text: Text,
    *,
    topic: Annotated[str | None, typer.Option(help='The heading that it stands under [default: "Notes"].')] = None,
    summary: Annotated[str | None, typer.Option(help="One line, in bold above the text.")] = None,
) -> None:
    """
    Add a lasting note to MEMORY.md, under a topic.

    What stands there already is not added again. Your own text and the part that Yiku writes stay as they are.
    """
    with call.memory() as memory:
        call.admit(memory)
        found = memory.notes.promote(calls.text(text), topic=topic, summary=summary)
    call.answer({"note": json_output.plain(found)}, _format_note(found))


def _format_note(found: Noted) -> Iterator[str]:
    state = terminal.paint("noted", "green") if found.new else "there already"
    yield f"{state} {terminal.harmless(found.path)}:{found.start_line}"


def compact(
    call: Call,
    *,
    days: Annotated[
        int | None, typer.Option(metavar="N", help="Logs older than this many days [default: the setting daily_days].")
    ] = None,
    strategy: Annotated[str, typer.Option(metavar="HOW", help="auto, archive, or summarize (asks the chat model).")] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be moved.")] = False,
) -> None:
    """
    Move old daily logs to memory/archive/.

    They move whole and are found there as before. With a model, the sentences worth keeping in mind also go to
    the digest of their month, memory/archive/YYYY-MM.md, word for word.
    """
    with call.memory() as memory:
        found = memory.notes.compact(older_than=days, strategy=strategy, dry_run=dry_run)  # type: ignore[arg-type]  # checked there
    call.answer({"compacted": json_output.plain(found)}, _format_compaction(found), wanted=bool(found.kept))


def _format_compaction(found: Compacted) -> Iterator[str]:
    what = terminal.plural(len(found.archived), "log", "logs")
    yield f"{'would archive' if found.dry_run else terminal.paint('archived', 'green')} {what}"
    for path, where in found.archived.items():
        yield f"  {terminal.harmless(path)} → {terminal.harmless(where)}"
    for path, why in found.kept.items():
        yield f"  {terminal.paint('kept', 'yellow')} {terminal.harmless(path)}: {terminal.harmless(why)}"


def watch(call: Call) -> None:
    """
    Keep search in step with the notes until Ctrl-C.

    A change is read once the files have been quiet for a second, and new text is embedded where there is a model.
    What hooks of agents capture is recorded, and their prompts get memories from here. One process watches a home;
    another one waits for its turn.
    """
    from yiku.interfaces.hooks.serve import Answering  # which no other verb of this file needs

    ended, codes = threading.Event(), list[int]()

    def end(number: int, frame: object) -> None:
        ended.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the second time it does not wait for what is being read

    def tell(report: SyncReport) -> None:
        try:
            call.answer({"sync": json_output.plain(report)}, _changes(report), wanted=True)
        except typer.Exit as nobody_reads:
            codes.append(nobody_reads.exit_code)
            ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    with call.memory() as memory:
        call.note(f"Watching {memory.settings.home}. Ctrl-C ends it.")
        answering, waited = Answering(memory), False
        while not ended.is_set():
            try:
                memory.notes.watch(tell, stopped=ended.is_set)
            except StoreBusy:
                if not waited:
                    call.note("Another process watches this home; this one waits for its turn.")
                waited = True
                ended.wait(WAIT_S)
        answering.close()
    if codes:
        raise typer.Exit(codes[0])


def _changes(report: SyncReport) -> Iterator[str]:
    at = f"{datetime.now().astimezone():%H:%M:%S}"
    for mark, colour, paths in (("+", "green", report.added), ("~", "yellow", report.changed), ("-", "red", report.removed)):
        for path in paths:
            yield f"{at} {terminal.paint(mark, colour)} {terminal.harmless(path)}"
    for path, before in (report.renamed or {}).items():
        yield f"{at} {terminal.paint('→', 'cyan')} {terminal.harmless(path)} (was {terminal.harmless(before)})"
    for path, why in (report.failed or {}).items():
        yield f"{at} {terminal.paint('not indexed', 'yellow')} {terminal.harmless(path)}: {why}"
