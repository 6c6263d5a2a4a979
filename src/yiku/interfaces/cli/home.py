"""
Commands for the data folder and its settings: pause, resume, status, stats, journal, config, completion, version.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated

import typer

from yiku import __version__
from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import ChangeRow, Stats, Status

CAPTURED_S = 0.2  # that `status` spends on recording what hooks captured
BUSY_S = 2.0  # and waits for a process that writes
JOURNAL_CELLS = 80  # that its columns need
SHELLS = ("bash", "zsh", "fish")
MENDS = {  # what does the pending work
    "events to record": "ingest",
    "to embed": "embed",
    "turns to copy to transcripts": "sync",
    "notes to index": "sync",
    "turns to learn from": "learn",
    "questions to the model": "learn",
}
_LENGTH = re.compile(r"(?:(\d{1,4})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?")


def pause(
    call: Call,
    *,
    for_: Annotated[str | None, typer.Option("--for", metavar="LENGTH", help="How long: 30m, 2h, 1d, 1h30m.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Until this time.")] = None,
) -> None:
    """
    Pause writing; reading and forgetting still work.

    This applies to every program that uses this home, until that time or until yiku resume.
    """
    if for_ is not None and until is not None:
        raise InvalidInput("give --for or --until, not both")
    end = until if for_ is None else datetime.now().astimezone() + _length(for_)
    with call.memory() as memory:
        found = memory.admin.pause(end)
    when = terminal.when(found) if found else call.command("resume")
    call.answer({"paused": True, "until": json_output.plain(found)}, [f"{terminal.paint('paused', 'yellow')} until {when}"])


def _length(given: str) -> timedelta:
    found = _LENGTH.fullmatch(given.strip().lower())
    if not found or not any(found.groups()):
        raise InvalidInput(f"--for takes a length such as 30m, 2h or 1d, not {given[:40]!r}")
    days, hours, minutes = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes)


def resume(call: Call) -> None:
    """Resume writing after a pause."""
    with call.memory() as memory:
        was = memory.admin.resume()
    call.answer({"paused": False, "was_paused": was}, [terminal.paint("resumed", "green") if was else "memory was not paused"])


def status(call: Call) -> None:
    """Show where this home is, pending work and problems."""
    with call.memory(BUSY_S) as memory:
        why = call.take_captured(memory, CAPTURED_S)
        found, counts = memory.status(), memory.admin.stats()
    if why and found.waiting:
        found = replace(found, troubles=(*found.troubles, f"what hooks captured waits in inbox/ ({why}): {call.command('ingest')}"))
    call.answer({"status": json_output.plain(found), "stats": json_output.plain(counts)}, _status(call, found, counts))


def _status(call: Call, found: Status, counts: Stats) -> Iterator[str]:
    memories, limit = counts.memories, terminal.width()
    rows = [
        ("home", found.home),
        ("scope", f"{found.scope}; reads {', '.join(found.reads)}"),
        (
            "holds",
            f"{terminal.plural(counts.turns, 'turn')} in {terminal.plural(counts.sessions, 'session')}, {_count_kinds(memories)}"
            + (f", {terminal.plural(counts.notes, 'note')}" if counts.notes else ""),
        ),
        ("search", f"{found.search} ({found.missing})" if found.missing else found.search),
        *([("reranking", found.reranked_by)] if found.reranked_by else []),
        ("durability", found.durability),
        ("disk", found.disk),
        (
            "waiting",
            "; ".join(f"{name} {count:,}: {call.command(MENDS[name])}" for name, count in found.waiting.items()) or "nothing",
        ),
        *([("notes", f"followed by process {found.watching.pid}")] if found.watching and found.watching.alive else []),
        ("versions", f"yiku {__version__}, schema {found.schema}, analyzer {found.analyzer}, SQLite {found.sqlite}"),
        ("store", found.store_id),
    ]
    yield from terminal.table(rows, dim=[0])
    for trouble in found.troubles:
        first, *more = terminal.wrap(call.reaching(trouble), limit and limit - 2)
        yield f"{terminal.paint('!', 'yellow')} {first}"
        yield from (f"  {line}" for line in more)
    if not found.troubles:
        yield terminal.paint("all is well", "green")


def _count_kinds(memories: object) -> str:
    if not isinstance(memories, dict) or not any(memories.values()):
        return "no memories"
    listed = [f"{count:,} {name}" for name, count in memories.items() if count]
    return f"{', '.join(listed)} {'memory' if sum(memories.values()) == 1 else 'memories'}"


def stats(call: Call) -> None:
    """Show counts and file sizes."""
    with call.memory() as memory:
        found = memory.admin.stats()
    rows = [
        ("turns", f"{found.turns:,}", ""),
        ("sessions", f"{found.sessions:,}", ""),
        *((f"memories, {name}", f"{count:,}", "") for name, count in found.memories.items()),
        *((f"kind {name}", f"{count:,}", "") for name, count in found.kinds.items()),
        *(
            (name, f"{getattr(found, name):,}", "")
            for name in "entities relations tags episodes notes attachments queue changes".split()
        ),
        ("first said", terminal.day(found.first_said_at.astimezone()) if found.first_said_at else "-", ""),
        ("last said", terminal.day(found.last_said_at.astimezone()) if found.last_said_at else "-", ""),
        ("database", terminal.bytes_(found.database_bytes), ""),
        ("blobs", terminal.bytes_(found.blob_bytes), ""),
    ]
    call.answer({"stats": json_output.plain(found)}, terminal.table(rows, dim=[0], right=[1]))


def journal(call: Call, *, limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results.")] = 50) -> None:
    """
    List changes, newest first: when, what and why.

    The first column is the number that yiku undo takes.
    """
    with call.memory() as memory:
        found = memory.admin.journal(limit=limit)
    call.answer({"changes": [json_output.plain(change) for change in found]}, _changes(found))
    if not found:
        call.hint("There are no changes yet.")


def _changes(found: list[ChangeRow]) -> Iterator[str]:
    rows = []
    for change in found:
        what = f"{change.action} {change.table}" + (f" x{change.count}" if change.count > 1 else "")
        why = terminal.shorten_ids(terminal.flat(change.reason or change.actor or ""))
        rows.append((str(change.transaction), terminal.when(change.at.astimezone()), change.operation, what, why))
    if (limit := terminal.width()) is None or limit >= JOURNAL_CELLS:
        yield from terminal.table([("undo", "at", "operation", "what", "why"), *rows] if rows else [], dim=[1, 3], right=[0])
        return
    for number, at, operation, what, why in rows:
        yield from terminal.stack(f"{number}  {operation}: {what}", [at, why])


def config(
    call: Call, *, names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Only these settings.")] = None
) -> None:
    """
    Show each setting, its value and its origin.

    \b
    yiku config
    yiku config language limit
    """
    from yiku import settings

    place = settings.home(call.home)
    found = settings.load(place, {"scope": call.scope})
    home_from = "argument" if call.home else "YIKU_HOME" if os.environ.get("YIKU_HOME") else "default"
    origins = {**found.origins, "home": home_from}
    shape = json_output.plain(found)
    if unknown := [name for name in names or () if name not in origins]:
        raise InvalidInput(f"there is no setting {unknown[0][:40]!r}; `{call.command('config')}` lists them")
    listed = [{"name": name, "value": shape[name], "origin": origins[name]} for name in names or origins]
    rows = [(str(one["name"]), str(one["origin"]), _value(one["value"])) for one in listed]
    call.answer({"settings": listed, "file": str(place.settings)}, terminal.table(rows, dim=[1]))
    if found.unknown_variables:
        call.hint(f"Unknown settings, ignored: {', '.join(found.unknown_variables)}.")
    call.hint(
        f"To change one: {place.settings}, a YIKU_ variable, or an argument." if place.exists() else "There is no home here yet."
    )


def _value(value: object) -> str:
    return "-" if value in (None, []) else ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def completion(
    call: Call,
    *,
    shell: Annotated[str | None, typer.Argument(metavar="bash|zsh|fish", help="The shell [default: yours].")] = None,
) -> None:
    """
    Print a completion script for your shell.

    \b
    bash: yiku completion bash >> ~/.bashrc
    zsh:  yiku completion zsh > ~/.zfunc/_yiku
    fish: yiku completion fish > ~/.config/fish/completions/yiku.fish
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    shell = shell or os.path.basename(os.environ.get("SHELL", "bash"))
    if shell not in SHELLS:
        raise InvalidInput(f"shell must be one of {', '.join(SHELLS)}, not {shell[:40]!r}")
    script = get_completion_script(prog_name="yiku", complete_var="_YIKU_COMPLETE", shell=shell)
    call.answer({"shell": shell, "script": script}, [script])


def version(call: Call) -> None:
    """Print the version of Yiku."""
    data = {"version": __version__, "python": platform.python_version()}
    call.answer(data, [f"yiku {__version__}"])
