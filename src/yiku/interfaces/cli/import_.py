"""
The command `import`: import conversations, memories and notes from files of a known or detected format.

A file, a zip archive, or every file of a known format below a folder, one after the other. Known records are only counted, so an
import can be repeated, and goes on where it was cut short. What could not be used is listed by line; it
does not stop the rest and is no failure: the exit code is 0 when everything readable was taken, and 1 when
nothing at all could be read.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.interfaces.cli.complete import FORMATS
from yiku.interfaces.importers import formats, run
from yiku.interfaces.importers.run import Done

NOTHING_READ = 1  # the exit code where no line could be used
PROBLEMS_SHOWN = 20  # lines; --json has them all
UNKNOWN_SHOWN = 5  # files of no known format


def import_(
    call: Call,
    *,
    source: Annotated[
        str, typer.Argument(metavar="FORMAT|PATH", help=f"A path; its format is detected. Or one of {', '.join(FORMATS)}.")
    ],
    path: Annotated[str | None, typer.Argument(metavar="PATH", help="After a format: a file, a zip archive, or a folder.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Import all scopes of an export, under their own names.")] = False,
    as_: Annotated[str | None, typer.Option("--as", metavar="SCOPE", help="Import an export of one scope into this scope.")] = None,
    trust: Annotated[bool, typer.Option("--trust", help="These files are yours: keep their origins, pins and rules.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count, and write nothing.")] = False,
) -> None:
    """
    Import conversations, memories and notes from files.

    \b
    yiku import chatgpt-export.zip --dry-run
    yiku import claude-code ~/.claude/projects
    yiku import yiku mei.jsonl --trust

    The format is detected by what is in a file, or named before the path. Lines and conversations that
    cannot be read are listed and skipped. Importing again adds nothing. Exits 1 if nothing could be read.
    """
    name, where = _parse_place(call, source, path)
    if as_ is not None and name not in (None, "yiku"):
        raise InvalidInput("--as is for exports of Yiku; for other formats use --scope")
    found = formats.find(where, name)
    kinds = sorted({format.name for format, _ in found.files})
    if as_ is not None and kinds != ["yiku"]:
        raise InvalidInput("--as is for exports of Yiku; for other formats use --scope")
    options = {"scope": as_, "everything": all_, "trust": trust, "dry_run": dry_run}
    with call.memory() as memory, _progress_bar(call, formats.size(found)) as consumed:
        done = [*run.each(memory, found, progress=consumed, **options)]  # type: ignore[arg-type]
        waiting = memory.status().waiting.get("events to record", 0) if dry_run else 0
    total = _total(done)
    listed = [
        {
            "path": str(one.place),
            "format": one.format,
            "first": json_output.plain(one.first),
            "last": json_output.plain(one.last),
            **json_output.plain(one.report),
        }
        for one in done
    ]
    again = [*([name] if name else []), path or source, *(["--all"] if all_ else []), *(["--as", as_] if as_ else []), "--trust"]
    lines = [
        *_summary(total, done, dry_run),
        *_format_waiting(found, waiting),
        *_format_unknown(found),
        *_format_lowered(call, total["lowered"], again),
    ]
    total |= {"unknown": [str(place) for place in found.unknown], "damaged": {str(place): why for place, why in found.damaged}}
    answer = {"source": name or " ".join(kinds), "dry_run": dry_run, "total": total, "files": listed}
    call.answer(answer, lines, wanted=bool(total["problems"] or found.damaged))
    if total["problems"] and not any(total[name] for name in ("turns", "memories", "notes", "known", "skipped")):
        raise typer.Exit(NOTHING_READ)


def _parse_place(call: Call, source: str, path: str | None) -> tuple[str | None, Path]:
    """Return the format, if one was named, and the path. Raises InvalidInput."""
    if path is None and source.strip() and source not in formats.FORMATS:
        return None, Path(source).expanduser()
    if not path or not path.strip():  # an empty word is a variable that was not set, and not the folder one is in
        known = [source] if source in formats.FORMATS else []
        raise InvalidInput(f"give the path: {call.command('import', *known, 'PATH')}")
    return source, Path(path).expanduser()


@contextlib.contextmanager
def _progress_bar(call: Call, size_bytes: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar of bytes read on stderr if it is a terminal."""
    if call.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    with Progress(BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("import", total=size_bytes)
        yield lambda read_bytes: bar.advance(task, read_bytes)


def _total(done: Sequence[Done]) -> dict[str, Any]:
    """Return the sums over all files."""
    names = ("records", "turns", "memories", "notes", "known", "sessions")
    counts = {name: sum(getattr(one.report, name) for one in done) for name in names}
    skipped, lowered = Counter[str](), Counter[str]()
    for one in done:
        skipped.update(one.report.skipped)
        lowered.update(one.report.lowered)
    counts |= {"problems": sum(len(one.report.problems) for one in done)}
    return {"files": len(done), **counts, "skipped": dict(sorted(skipped.items())), "lowered": dict(sorted(lowered.items()))}


def _format_formats(done: Sequence[Done]) -> Iterator[str]:
    """Yield a line for each format: how many conversations, and from when to when."""
    for name in dict.fromkeys(one.format for one in done):
        of = [one for one in done if one.format == name]
        sessions = sum(one.report.sessions for one in of)
        times = [at for one in of for at in (one.first, one.last) if at is not None]
        days = sorted({f"{at:%Y-%m-%d}" for at in times})
        parts = [terminal.plural(notes, "note")] if (notes := sum(one.report.notes for one in of)) else []
        parts += [terminal.plural(sessions, "conversation")] if sessions else []
        parts += [days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"] if days else []
        if parts:
            yield f"  {formats.FORMATS[name].title}: {', '.join(parts)}"


def _format_waiting(found: formats.Found, waiting: int) -> Iterator[str]:
    """Yield a line on what an import of sessions of an agent would record first."""
    if waiting and any(format.agent for format, _ in found.files):
        verb = "waits" if waiting == 1 else "wait"
        yield f"  {terminal.plural(waiting, 'event')} of hooks {verb} to be recorded first: what they hold is not imported a second time"


def _format_unknown(found: formats.Found) -> Iterator[str]:
    """Yield a line on each file that cannot be read, and one on those of no known format."""
    for place, why in found.damaged[:PROBLEMS_SHOWN]:
        yield f"  {terminal.paint('cannot be read', 'yellow')}: {terminal.harmless(str(place))}: {terminal.flat(why)}"
    if found.unknown:
        names = [terminal.harmless(place.name) for place in found.unknown[:UNKNOWN_SHOWN]]
        more = len(found.unknown) - len(names)
        yield f"  {terminal.plural(len(found.unknown), 'file')} of no known format: {', '.join(names)}{f' and {more} more' if more else ''}"


def _format_lowered(call: Call, lowered: Mapping[str, int], again: Sequence[str]) -> Iterator[str]:
    """Yield what is trusted less than the files claim, and how to trust them."""
    names = {"statements": "statement", "rules": "rule", "pins": "pin", "turns": "turn"}
    if counts := [terminal.plural(lowered[what], name) for what, name in names.items() if lowered.get(what)]:
        less = f"{terminal.paint('trusted less', 'yellow')} than the file says: {', '.join(counts)}"
        yield f"  {less}; rules need your review: `{call.command('review')}`"
        yield f"  if these files are your own: {terminal.harmless(call.command('import', *again))}"


def _summary(total: dict[str, Any], done: Sequence[Done], dry_run: bool) -> Iterator[str]:
    verb = "would import" if dry_run else "imported"
    kept = f"{terminal.plural(total['turns'], 'turn')} and {terminal.plural(total['memories'], 'memory', 'memories')}"
    if total["notes"]:
        kept = terminal.plural(total["notes"], "note") + (f", {kept}" if total["turns"] or total["memories"] else "")
    files = terminal.plural(total["files"], "file")
    yield f"{terminal.paint(verb, 'green')} {kept} from {terminal.plural(total['records'], 'record')} in {files}"
    yield from _format_formats(done)
    if total["known"]:
        yield f"  {total['known']:,} already known"
    if total["skipped"]:
        yield "  skipped, nothing to store: " + ", ".join(
            f"{terminal.harmless(what)} {count:,}" for what, count in total["skipped"].items()
        )
    if total["problems"]:
        yield f"  {terminal.paint(terminal.plural(total['problems'], 'problem'), 'yellow')}, left out:"
        listed = [(one.place, line, why) for one in done for line, why in one.report.problems]
        for file, line, why in listed[:PROBLEMS_SHOWN]:
            yield f"    {terminal.harmless(str(file))}:{line}: {terminal.flat(why)}"
        if len(listed) > PROBLEMS_SHOWN:
            yield f"    and {len(listed) - PROBLEMS_SHOWN:,} more; --json lists them all"
