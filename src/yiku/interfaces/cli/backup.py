"""
Commands that keep a home safe: backup, backups, restore-backup, export.

The nightly backup is made after the answer of a verb that wrote: Call.back_up.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, streams, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import Backup, Restored

MARKDOWN = "markdown"  # the word before the folder of pages


def backup(
    call: Call,
    *,
    to: Annotated[Path | None, typer.Option("--to", metavar="FOLDER", help="Copy the whole home to a new folder.")] = None,
    nightly: Annotated[bool, typer.Option("--nightly", help="Only if the last one is 20 hours old; 7 are kept.")] = False,
) -> None:
    """
    Back up everything, and verify the copy.

    \b
    yiku backup                        a file in backups/, for yiku restore-backup
    yiku backup --to /media/stick/yiku the whole home, to be opened anywhere

    Other programs can write meanwhile. A copied folder contains the key too: keep it as safe as the home.
    """
    with call.memory() as memory, _show_activity(call, "verifying"):
        made = memory.admin.backup(to, nightly=nightly)
    call.answer({"backup": json_output.plain(made)}, _format_backup(made))


def _format_backup(made: Backup | None) -> Iterator[str]:
    if made is None:
        yield "no backup needed: the last one is less than 20 hours old, or nightly backups are off"
        return
    contents = f"{terminal.plural(made.turns, 'turn')} and {terminal.plural(made.memories, 'memory version')}"
    yield f"{terminal.paint('backed up', 'green')} {contents} in {made.seconds:.1f} s, verified"
    yield f"  {terminal.harmless(made.path)}, {terminal.bytes_(made.bytes)}"
    for name in made.left_out:
        yield f"  {terminal.paint('!', 'yellow')} left out: {terminal.harmless(name)}"


def backups(call: Call) -> None:
    """List the backups in this home, newest first."""
    with call.memory() as memory:
        found = memory.admin.backups()
    rows = [(one.name, terminal.when(one.made_at.astimezone()), terminal.bytes_(one.bytes)) for one in found]
    call.answer({"backups": json_output.plain(found)}, terminal.table(rows, dim=[1]))
    if not found:
        call.hint(f"There are no backups yet: `{call.command('backup')}` makes one.")


def restore_backup(
    call: Call,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name listed by yiku backups.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be lost, and change nothing.")] = False,
) -> None:
    """
    Restore everything from a backup.

    The present state becomes a backup itself, so this can be reversed. A database that no longer opens is moved
    to damaged/ in the home.
    """
    from yiku.maintenance import restore_backup as restore

    found = restore(call.home, name, scope=call.scope, dry_run=True)
    if not dry_run:
        if not yes:
            _confirm(call, found)
        with _show_activity(call, "restoring"):
            found = restore(call.home, name, scope=call.scope)
    call.answer({"restored": json_output.plain(found)}, _format_plan(found) if dry_run else _format_restored(call, found))


def _confirm(call: Call, found: Restored) -> None:
    """Ask before restoring; refuse without a terminal."""
    if call.json or not sys.stdin.isatty():
        raise InvalidInput("this restores the whole home: add --yes to confirm, or --dry-run to see what would be lost")
    for line in _format_plan(found):
        call.note(line)
    typer.confirm("Go back to it?", abort=True, err=True)


def _format_plan(found: Restored) -> Iterator[str]:
    yield f"{found.name} is sound, made {terminal.when(found.made_at.astimezone())}"
    if found.changes is None:
        yield "  the database does not open; it would be moved to damaged/, with everything after the backup"
    else:
        counts = (terminal.plural(found.turns or 0, "turn"), terminal.plural(found.memories or 0, "memory version"))
        yield f"  it does not have the last {terminal.plural(found.changes, 'change')}: {' and '.join(counts)}"
    yield from _list_missing(found)


def _format_restored(call: Call, found: Restored) -> Iterator[str]:
    yield f"{terminal.paint('restored', 'green')} {found.name}"
    if found.kept:
        yield f"  to reverse this: {call.command('restore-backup', found.kept)}"
    if found.aside:
        yield f"  the damaged file is in {found.aside}"
    yield from _list_missing(found)


def _unread(name: str) -> str:
    """Describe what an export could not read: a blob or a row."""
    return name if " " in name else f"blob {name}"


def _list_missing(found: Restored) -> Iterator[str]:
    for name in found.missing:
        yield f"  {terminal.paint('!', 'yellow')} no longer there: {name}"


def export(
    call: Call,
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write, - for stdout; or `markdown` for pages.")],
    folder: Annotated[str | None, typer.Argument(metavar="FOLDER", help="The folder of the pages.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All scopes of the home, not only yours.")] = False,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only changes since then.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Write the pages of an earlier export in this folder anew.")] = False,
) -> None:
    """
    Export all about you as JSON Lines or pages.

    \b
    yiku export mei.jsonl
    yiku export - --all | gzip > all.jsonl.gz
    yiku export markdown ~/what-yiku-knows

    `yiku import yiku FILE` imports JSON Lines without loss. docs/export-format.md describes them; the key is not in them.
    `markdown` writes what holds by kind and topic, what changed, what is not certain, episodes and conversations to a new or
    empty folder, without what was forgotten.
    """
    if folder is None and file != MARKDOWN:
        if replace:
            raise InvalidInput(f"--replace is for pages: {call.command('export', MARKDOWN, 'FOLDER')}")
        _export_lines(call, file, everything, since)
    elif file != MARKDOWN:
        lines, pages = call.command("export", "FILE"), call.command("export", MARKDOWN, "FOLDER")
        raise InvalidInput(f"there is no format {file}: {lines}, or {pages}")
    elif not folder or not folder.strip():
        raise InvalidInput(f"give the folder: {call.command('export', MARKDOWN, 'FOLDER')}")
    elif everything or since:
        raise InvalidInput("pages are of one scope and of now: leave out --all and --since")
    else:
        _export_pages(call, folder, replace)


def _export_pages(call: Call, folder: str, replace: bool) -> None:
    with call.memory() as memory, _show_progress(call, memory.admin.stats().turns) as progress:
        done = memory.admin.export_markdown(folder, replace=replace, progress=progress)
    counts = ", ".join(
        (
            terminal.plural(done.memories, "statement"),
            terminal.plural(done.episodes, "episode"),
            terminal.plural(done.turns, "turn"),
        )
    )
    lines = [
        f"{terminal.paint('exported', 'green')} {counts} of {done.scope}",
        f"  {terminal.plural(done.pages, 'page')}, to begin with {terminal.harmless(done.path)}/README.md",
    ]
    lines += [f"  {done.forgotten} forgotten left out"] if done.forgotten else []
    call.answer({"exported": json_output.plain(done)}, lines)


def _export_lines(call: Call, path: str, everything: bool, since: str | None) -> None:
    with call.memory() as memory:
        total = memory.admin.stats()
        with _show_progress(call, total.turns + sum(total.memories.values())) as progress:
            if path == "-":
                with streams.answering():
                    done = memory.admin.export(sys.stdout.buffer, everything=everything, since=since, progress=progress)
            else:
                done = memory.admin.export(path, everything=everything, since=since, progress=progress)
    contents = (
        f"{terminal.plural(done.turns, 'turn')} and {terminal.plural(done.memories, 'memory version')} of {', '.join(done.scopes)}"
    )
    lines = [
        f"{terminal.paint('exported', 'green')} {contents}",
        f"  {terminal.harmless(done.path)}, {terminal.bytes_(done.bytes)}",
    ]
    lines += [f"  {terminal.paint('!', 'yellow')} could not be read: {_unread(name)}" for name in done.missing]
    if path == "-":
        for line in lines[:1] + lines[2:]:
            call.note(line)
    else:
        call.answer({"exported": json_output.plain(done)}, lines)


@contextlib.contextmanager
def _show_activity(call: Call, doing: str) -> Iterator[None]:
    """Show activity on stderr if it is a terminal."""
    if call.quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(doing):
        yield


@contextlib.contextmanager
def _show_progress(call: Call, total: int) -> Iterator[Callable[[int], object] | None]:
    """Show a progress bar of turns and memories on stderr if it is a terminal."""
    if call.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("export", total=total)
        yield lambda done: bar.advance(task, done)
