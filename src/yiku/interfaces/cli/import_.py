"""
The command `import`: import existing conversations with their own ids and times.

A file, or every .jsonl file below a folder, one after the other. Known records are only counted, so an
import can be repeated, and goes on where it was cut short. What could not be used is listed by line; it
does not stop the rest and is no failure: the exit code is 0 when everything readable was taken, and 1 when
nothing at all could be read.
"""

from __future__ import annotations

import contextlib
import importlib
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import ImportReport

SOURCES = {"claude-code": "claude_code", "jsonl": "jsonl", "yiku": "yiku_jsonl"}
NOTHING_READ = 1  # the exit code where no line could be used
PROBLEMS_SHOWN = 20  # lines; --json has them all


def import_(
    call: Call,
    *,
    source: Annotated[str, typer.Argument(metavar="|".join(SOURCES), help="The format of the files.")],
    path: Annotated[str | None, typer.Argument(metavar="PATH", help="A file, or a folder of .jsonl files.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Import all scopes of an export, under their own names.")] = False,
    as_: Annotated[str | None, typer.Option("--as", metavar="SCOPE", help="Import an export of one scope into this scope.")] = None,
    trust: Annotated[bool, typer.Option("--trust", help="These files are yours: keep their origins, pins and rules.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count, and write nothing.")] = False,
) -> None:
    """
    Import conversations and memories from files.

    \b
    yiku import claude-code ~/.claude/projects --dry-run
    yiku import jsonl turns.jsonl
    yiku import yiku mei.jsonl --trust

    A line of a jsonl file is a turn {"role", "content", …}, a conversation {"messages", …} or a memory
    {"memory", …}. Lines that cannot be read are listed and skipped. Exits 1 if no line could be read.
    """
    importer, files = _chosen(source, path, as_)
    reports: list[tuple[Path, ImportReport]] = []
    with call.memory() as memory, _watched(call, sum(importer.size(file) for file in files)) as consumed:
        for file in files:
            renamed = {"scope": as_} if as_ is not None else {}
            records = importer.read(file, consumed=consumed, **renamed)
            reports.append(
                (
                    file,
                    memory.admin.import_(
                        records,
                        source=f"{source}: {file.name}"[:200],
                        everything=all_ or as_ is not None,
                        trust=trust,
                        dry_run=dry_run,
                    ),
                )
            )
    total = _total(reports)
    listed = [{"path": str(file), **json_output.plain(report)} for file, report in reports]
    again = [
        "yiku",
        "import",
        source,
        shlex.quote(str(path)),
        *(["--all"] if all_ else []),
        *(["--as", as_] if as_ else []),
        "--trust",
    ]
    lines = [*_summary(total, reports, dry_run), *_lowered(total["lowered"], " ".join(again))]
    call.answer({"source": source, "dry_run": dry_run, "total": total, "files": listed}, lines, wanted=bool(total["problems"]))
    if total["problems"] and not any(total[name] for name in ("turns", "memories", "known", "skipped")):
        raise typer.Exit(NOTHING_READ)


def _chosen(source: str, path: str | None, as_: str | None) -> tuple[ModuleType, list[Path]]:
    """Return the importer of a format and the files to read. Raises InvalidInput."""
    if not path or not path.strip():  # an empty word is a variable that was not set, and not the folder one is in
        named = source if source not in SOURCES else "PATH"
        raise InvalidInput(
            f"give the format and the path: yiku import {source if source in SOURCES else '|'.join(SOURCES)} {named}"
        )
    if source not in SOURCES:
        raise InvalidInput(f"{source[:40]!r} is not a known format; the formats are {', '.join(SOURCES)}")
    if as_ is not None and source != "yiku":
        raise InvalidInput("--as is for exports of Yiku; for other formats use --scope")
    importer = importlib.import_module(f"yiku.interfaces.importers.{SOURCES[source]}")
    where = Path(path).expanduser()
    files = importer.files(where)
    if not files:
        raise InvalidInput(f"{where} contains no {source} file")
    return importer, files


@contextlib.contextmanager
def _watched(call: Call, size_bytes: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar of bytes read on stderr if it is a terminal."""
    if call.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    with Progress(BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("import", total=size_bytes)
        yield lambda read_bytes: bar.advance(task, read_bytes)


def _total(reports: list[tuple[Path, ImportReport]]) -> dict[str, Any]:
    """Return the sums over all files."""
    counts = {
        name: sum(getattr(report, name) for _, report in reports) for name in ("records", "turns", "memories", "known", "sessions")
    }
    skipped, lowered = Counter[str](), Counter[str]()
    for _, report in reports:
        skipped.update(report.skipped)
        lowered.update(report.lowered)
    problems = sum(len(report.problems) for _, report in reports)
    counts |= {"problems": problems}
    return {"files": len(reports), **counts, "skipped": dict(sorted(skipped.items())), "lowered": dict(sorted(lowered.items()))}


def _lowered(lowered: Mapping[str, int], again: str) -> Iterator[str]:
    """Yield what is trusted less than the files claim, and how to trust them."""
    names = {"statements": "statement", "rules": "rule", "pins": "pin", "turns": "turn"}
    if counts := [terminal.plural(lowered[what], name) for what, name in names.items() if lowered.get(what)]:
        yield f"  {terminal.paint('trusted less', 'yellow')} than the file says: {', '.join(counts)}; rules need your review: `yiku review`"
        yield f"  if these files are your own: {terminal.flat(again)}"


def _summary(total: dict[str, Any], reports: list[tuple[Path, ImportReport]], dry_run: bool) -> Iterator[str]:
    done = "would import" if dry_run else "imported"
    kept = f"{terminal.plural(total['turns'], 'turn')} and {terminal.plural(total['memories'], 'memory', 'memories')}"
    files = terminal.plural(total["files"], "file")
    yield f"{terminal.paint(done, 'green')} {kept} from {terminal.plural(total['records'], 'record')} in {files}"
    if total["known"]:
        yield f"  {total['known']:,} already known"
    if total["skipped"]:
        yield "  skipped, nothing to store: " + ", ".join(
            f"{terminal.harmless(what)} {count:,}" for what, count in total["skipped"].items()
        )
    if total["problems"]:
        yield f"  {terminal.paint(terminal.plural(total['problems'], 'problem'), 'yellow')}, left out:"
        listed = [(file, line, why) for file, report in reports for line, why in report.problems]
        for file, line, why in listed[:PROBLEMS_SHOWN]:
            yield f"    {terminal.harmless(str(file))}:{line}: {terminal.flat(why)}"
        if len(listed) > PROBLEMS_SHOWN:
            yield f"    and {len(listed) - PROBLEMS_SHOWN:,} more; --json lists them all"
