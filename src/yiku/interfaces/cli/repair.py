"""
Commands `check` (find damage in the data folder) and `repair` (from readable rows, backups, transcripts).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import Checked, Repaired

DAMAGED = 1  # the exit code when something is wrong


def check(
    call: Call,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Only the identity of the file and its pages.")] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also rebuild what is derived and compare, and read blobs and backups.")
    ] = False,
) -> None:
    """
    Check this home for damage.

    Writes nothing; exits 1 if something is wrong. By default every row is checked against its digest, and the journal against its chain.
    """
    from yiku import maintenance

    if quick and deep:
        raise InvalidInput("give --quick or --deep, not both")
    depth: Literal["quick", "full", "deep"] = "quick" if quick else "deep" if deep else "full"
    with _progress(call) as progress:
        found = maintenance.check(call.home, depth, progress=progress)
    call.answer({"check": json_output.plain(found), "sound": not found.problems}, _format_check(call, found))
    if found.problems:
        call.hint(f"`{call.command('repair', '--dry-run')}` shows what can be repaired, and from what.")
        raise typer.Exit(DAMAGED)


def _format_check(call: Call, found: Checked) -> Iterator[str]:
    seen = ", ".join(_count(count, what.replace("_", " ")) for what, count in found.looked_at.items())
    yield f"{found.depth} check, {found.seconds:.1f} s: {seen or 'nothing'}"
    for problem in found.problems:
        yield f"{terminal.paint('!', 'red')} {terminal.harmless(call.reaching(problem))}"
    for note in found.notes:
        yield f"{terminal.paint('-', 'yellow')} {terminal.harmless(call.reaching(note))}"
    if not found.problems:
        yield terminal.paint("all is well", "green")


def _count(count: int, what: str) -> str:
    """Format a count of rows or files with their name: `1 index entry`, `1 page on the disk`, `2 memories`."""
    name, on, place = what.partition(" on ")
    one = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    return terminal.plural(count, f"{one}{on}{place}", what)


def repair(
    call: Call,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be repaired, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Accept an older, emptied or foreign database as it is.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Also restore turns from transcripts, even without a database, and learn again.")
    ] = False,
) -> None:
    """
    Repair a damaged home.

    Uses what can still be read there, and the backups; with --rebuild also the transcripts. The damaged file is kept in
    damaged/. Close other programs that have this home open first.
    """
    from yiku import maintenance

    with _progress(call) as progress:
        found = maintenance.repair(call.home, dry_run=True, accept=accept, rebuild=rebuild, progress=progress)
    if found.problems and not dry_run:
        _ask(call, found, accept=accept, yes=yes)
        with _progress(call) as progress:
            found = maintenance.repair(call.home, accept=accept, rebuild=rebuild, progress=progress)
    call.answer({"repair": json_output.plain(found)}, _format_repair(call, found), wanted=bool(found.lost))


def _ask(call: Call, planned: Repaired, *, accept: bool, yes: bool) -> None:
    """Ask for confirmation; without a terminal nothing is changed."""
    if yes:
        return
    if not sys.stdin.isatty() or call.json:
        raise InvalidInput("a repair changes the home: add --yes to confirm, or --dry-run to see what it would do")
    for line in _format_repair(call, planned):
        call.note(line)
    what = "Accept this database for this home" if accept else "Put the repaired store in its place"
    typer.confirm(f"{what}?", abort=True, err=True)


def _format_repair(call: Call, found: Repaired) -> Iterator[str]:
    if not found.problems:
        yield terminal.paint("nothing to repair", "green")
        return
    for problem in found.problems:
        yield f"{terminal.paint('!', 'red')} {terminal.harmless(call.reaching(problem))}"
    rows = [
        (table.replace("_", " "), ", ".join(f"{n:,} from {origin}" for origin, n in of.items())) for table, of in found.rows.items()
    ]
    yield from terminal.table(rows, dim=[0])
    for mended in found.mended:
        yield f"{terminal.paint('repaired', 'yellow')} {terminal.harmless(mended)}"
    for lost in found.lost:
        yield f"{terminal.paint('lost', 'yellow')} {terminal.harmless(call.reaching(lost))}"
    if not found.dry_run:
        yield f"{terminal.paint('repaired', 'green')}; what was there before: {found.kept or 'nothing'}"


@contextmanager
def _progress(call: Call) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being checked."""
    if call.quiet or call.json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("checking …") as status:
        yield lambda what: status.update(f"checking {what} …")
