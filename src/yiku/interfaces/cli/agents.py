"""
Commands for coding agents: install and uninstall Yiku in one, ingest the events that its hooks captured.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.interfaces.hooks import install as installing
from yiku.interfaces.hooks.config_files import FileChange
from yiku.interfaces.hooks.install import Installation
from yiku.types import Ingested

AgentName = Annotated[str, typer.Argument(metavar="AGENT", help="claude-code, codex, gemini-cli or opencode.")]
Project = Annotated[bool, typer.Option("--project", help="For the project in this folder; the same as --scope project.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and write nothing.")]


def install(call: Call, *, agent: AgentName, project: Project = False, dry_run: DryRun = False) -> None:
    """
    Install Yiku into a coding agent.

    Adds its memory tools (an MCP server) and hooks that capture the conversation. For you, or with --scope project for
    everybody who works in this folder. A copy of each changed file is kept beside it, a second run changes nothing, and
    yiku uninstall removes everything again. --scope with any other name is the scope of the memory, as in all commands.

    \b
    yiku install claude-code --dry-run
    yiku install codex --scope project
    """
    wanted = _installation_of(call, agent, project=project)
    changes = installing.plan(wanted)
    kept = []
    if not dry_run:
        with call.memory() as memory:
            home = Path(memory.settings.home)
        kept = installing.carry_out(changes, keep_backup=True)
        installing.note(home, wanted, [change.path for change in changes])
    done = {"agent": wanted.agent.name, "where": wanted.where, "dry_run": dry_run, "backups": [*map(str, kept)]}
    files = [{"path": str(change.path), "changed": change.changes} for change in changes]
    call.answer({"installed": done | {"files": files}}, _format_changes(wanted, changes, kept, dry_run=dry_run), wanted=dry_run)
    if not dry_run and wanted.agent.hint:
        call.hint(wanted.agent.hint)


def uninstall(call: Call, *, agent: AgentName, project: Project = False, dry_run: DryRun = False) -> None:
    """
    Uninstall Yiku from a coding agent; the memory is kept.

    The rest of the agent's configuration stays unchanged. If nothing else has changed since the installation, the files
    are restored exactly.
    """
    wanted = _installation_of(call, agent, project=project)
    changes = installing.plan_removal(wanted)
    if not dry_run:
        installing.carry_out(changes, keep_backup=False)
        from yiku import settings

        if (place := settings.home(call.home)).exists():
            installing.note(place.root, wanted, None)
    files = [{"path": str(change.path), "changed": change.changes} for change in changes]
    done = {"agent": wanted.agent.name, "where": wanted.where, "dry_run": dry_run, "files": files}
    call.answer({"uninstalled": done}, _format_changes(wanted, changes, [], removal=True, dry_run=dry_run), wanted=dry_run)


def _installation_of(call: Call, name: str, *, project: bool) -> Installation:
    where = "project" if project or call.scope == "project" else "user"
    scope = None if call.scope in ("user", "project") else call.scope
    given = call.home or (os.environ.get("YIKU_HOME") if where == "user" else None)  # agents have other environments than a shell
    home = str(Path(given).expanduser().absolute()) if given else None
    return Installation(installing.agent(name), where, Path.cwd(), home, scope)  # type: ignore[arg-type]


def _format_changes(
    wanted: Installation, changes: Sequence[FileChange], kept: Sequence[Path], *, removal: bool = False, dry_run: bool
) -> Iterator[str]:
    verb, past, joint = ("install", "installed", "in") if not removal else ("uninstall", "uninstalled", "from")
    whom = "this project" if wanted.where == "project" else "you"
    if removal and not any(change.changes for change in changes):
        yield f"Yiku is not installed in {wanted.agent.title}, for {whom}"
        return
    head = f"would {verb}" if dry_run else past
    yield f"{terminal.paint(head, 'yellow' if dry_run else 'green')} {joint} {wanted.agent.title}, for {whom}"
    for change in changes:
        what = "changed" if change.changes else "nothing to change"
        what = "removed" if change.changes and change.after is None else "new" if change.changes and change.before is None else what
        yield f"  {terminal.harmless(str(change.path))}: {what}"
        if dry_run and change.changes:
            yield from (f"    {terminal.harmless(line)}" for line in _difference(change))
    yield from (f"  as it was before: {terminal.harmless(str(path))}" for path in kept)


def _difference(change: FileChange) -> Iterator[str]:
    """The lines that change, without those around them: a configuration may hold secrets."""
    before, after = ((content or b"").decode("utf-8", "replace").splitlines() for content in (change.before, change.after))
    for line in difflib.unified_diff(before, after, lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def ingest(
    call: Call,
    *,
    seconds: Annotated[float | None, typer.Option("--seconds", metavar="S", help="Stop after this many seconds.")] = None,
) -> None:
    """
    Record what the hooks of coding agents captured.

    Hooks only append to inbox/ in the home. A running server or yiku watch records new events within seconds; yiku learn
    and yiku status record them first.
    """
    with call.memory() as memory:
        done = memory.admin.ingest(budget_s=seconds)
    call.answer({"ingested": json_output.plain(done)}, _format_ingested(call, done), wanted=bool(done.unreadable))
    if done.turns:
        call.hint(f"`{call.command('learn')}` learns from them.")


def _format_ingested(call: Call, done: Ingested) -> Iterator[str]:
    if not done.events and not done.waiting and not done.unreadable:
        yield "nothing to record"
        return
    yield f"{terminal.paint('recorded', 'green')} {terminal.plural(done.turns, 'turn')} from {terminal.plural(done.events, 'event')}"
    parts = (
        (done.known, "known already"),
        *((count, f"not recorded: {terminal.harmless(why)}") for why, count in done.skipped.items()),
        (done.compressed, "compressions"),
        (done.ended, "sessions ended"),
        (done.waiting, f"left: {call.command('ingest')} continues"),
    )
    yield from (f"  {count:,} {what}" for count, what in parts if count)
    if done.unreadable:
        yield f"{terminal.paint('!', 'yellow')} {terminal.plural(done.unreadable, 'line')} set aside in inbox/unreadable.jsonl"
