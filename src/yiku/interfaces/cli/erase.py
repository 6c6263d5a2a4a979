"""
The command `erase`: show the plan, erase, print the receipt.

A person sees what goes, and says yes; for all of a scope they type its name. Where nobody can be asked, `--yes`
says so. The answer is the receipt: each place of the home, what was done there, and whether anything was still found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.types import Attachment, Episode, Erased, Place, Scratchpad, SemanticMemory, Turn

if TYPE_CHECKING:
    from yiku.memory import Memory

NOT_CLEAN = 1  # the exit code when something was still found, or a place could not be dealt with
LISTED = 20  # of each sort, before it is asked

Name = str | None


def erase(
    call: Call,
    *,
    id: Annotated[Name, typer.Argument(metavar="ID", help="A memory or a turn.")] = None,
    session: Annotated[Name, typer.Option(help="Everything in this session.")] = None,
    source: Annotated[Name, typer.Option(metavar="NAME", help="Everything from an origin, an agent or an actor.")] = None,
    since: Annotated[Name, typer.Option(metavar="TIME", help="Everything said since then.")] = None,
    until: Annotated[Name, typer.Option(metavar="TIME", help="Everything said until then.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Everything in this scope.")] = False,
    keep_turns: Annotated[bool, typer.Option("--keep-turns", help="Do not touch the turns that say it.")] = False,
    keep_notes: Annotated[bool, typer.Option("--keep-notes", help="Do not touch the notes that say it.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be erased, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Finish an erasure that was interrupted.")] = False,
) -> None:
    """
    Erase permanently, from every copy; cannot be undone.

    Also erases what was derived from it alone, and the sentences that say it in other turns. The receipt names
    each place that was searched, byte by byte. Exits 1 if something was still found.

    \b
    yiku erase 3f2a91bc
    yiku erase --session s1 --dry-run
    yiku erase --everything
    """
    meant: dict[str, Any] = {"id": id, "session": session, "source": source, "since": since, "until": until}
    meant = {name: value for name, value in meant.items() if value is not None}
    if resume and (meant or everything or dry_run):
        raise InvalidInput("--resume takes no other option: it finishes erasures that were requested before")
    with call.memory() as memory:
        if not resume:
            meant |= {"everything": everything, "keep_turns": keep_turns, "keep_notes": keep_notes}
            listed = memory.admin.erase(**meant, dry_run=True)
            if dry_run:
                call.answer(json_output.erased(listed), _list_erased(listed, "would erase"))
                return
            _ask(call, memory, listed, everything=everything, yes=yes)
            meant["confirm"] = memory.scope if everything else None
        else:
            meant = {"resume": True}
        with _progress(call) as progress:
            done = memory.admin.erase(**meant, progress=progress)
    call.answer(json_output.erased(done), _receipt(call, done), wanted=not done.clean)
    if not done.clean:
        call.hint(_explain_unclean(call, done))
        raise typer.Exit(NOT_CLEAN)


def _ask(call: Call, memory: Memory, listed: Erased, *, everything: bool, yes: bool) -> None:
    """Ask for confirmation; without a terminal nothing is erased."""
    if yes:
        return
    if call.json or not sys.stdin.isatty():
        raise InvalidInput(f"this permanently erases {_much(listed)}: add --yes to confirm, or --dry-run to list them")
    for line in _list_erased(listed, "erases"):
        print(terminal.printable(line), file=sys.stderr)
    if everything:
        typed = typer.prompt(f"Type {memory.scope} to erase everything in it", err=True)
        if typed.strip() != memory.scope:
            raise typer.Abort
    else:
        typer.confirm(f"Erase {_much(listed)} for good?", abort=True, err=True)


def _much(listed: Erased) -> str:
    """Summarize what would be erased."""
    sorts = {sort: [one for one in listed.records if isinstance(one, sort)] for sort in (Episode, Attachment, Scratchpad)}
    counts = {
        terminal.plural(len(listed.memories), "memory", "memories"): listed.memories,
        terminal.plural(len(listed.turns), "turn"): listed.turns,
        f"sentences of {terminal.plural(len(listed.redacted), 'turn')}": listed.redacted,
        terminal.plural(len(sorts[Episode]), "episode"): sorts[Episode],
        terminal.plural(len(sorts[Attachment]), "attachment"): sorts[Attachment],
        "lines of the scratchpad": sorts[Scratchpad],
    }
    return ", ".join(words for words, found in counts.items() if found) or "what only others said too"


def _list_erased(listed: Erased, word: str) -> Iterator[str]:
    """Yield what is deleted, redacted, and kept with other sources."""
    yield from _items(word, [*listed.memories, *listed.turns])
    yield from _items(word, [one for one in listed.records if not isinstance(one, Scratchpad)])
    yield from _items("redacts", listed.redacted)
    yield from (f"{terminal.paint('redacts', 'yellow')}  the scratchpad" for one in listed.records if isinstance(one, Scratchpad))
    yield from _items("keeps", [one for one in listed.kept if not isinstance(one, Place)])
    yield from (
        f"{terminal.paint('keeps', 'yellow')}  {terminal.harmless(one.name)}" for one in listed.kept if isinstance(one, Place)
    )


def _items(heading: str, found: Sequence[SemanticMemory | Turn | Episode | Attachment]) -> Iterator[str]:
    limit = terminal.width() or 10_000
    for item in found[:LISTED]:
        words = item.summary if isinstance(item, Episode) else item.filename if isinstance(item, Attachment) else item.content
        text = terminal.cut(terminal.flat(words), limit - len(heading) - 2)
        yield f"{terminal.paint(heading, 'red' if heading.endswith(('erase', 'erases')) else 'yellow')}  {text}"
        yield terminal.paint(f"  {terminal.source(item)}", "dim")
    if len(found) > LISTED:
        yield terminal.paint(f"{heading}  {len(found) - LISTED:,} more", "dim")


def _receipt(call: Call, done: Erased) -> Iterator[str]:
    """Yield each place: action, amount searched, findings."""
    resumed = not (done.memories or done.turns or done.redacted or done.kept or done.records)
    yield f"{terminal.paint('erased', 'green')}  {'the rest of an interrupted erasure' if resumed else _much(done)}"
    places = [*done.places, *(place for place in done.kept if isinstance(place, Place))]
    longest = [sorted(place.found, key=len, reverse=True) for place in places]
    found = [", ".join(words[:3]) + (" …" if len(words) > 3 else "") for words in longest]
    sizes = [terminal.bytes_(place.bytes) if place.bytes else "" for place in places]
    rows = [
        (terminal.harmless(place.name), size, (f"found: {terminal.flat(words)}; " if words else "") + call.reaching(place.done))
        for place, size, words in zip(places, sizes, found, strict=True)
    ]
    yield from terminal.table(rows, right=[1])
    if done.widened:
        turns = ", ".join(f"#{id[-8:]}" for id in done.widened[:LISTED])
        more = f" and {len(done.widened) - LISTED:,} more" if len(done.widened) > LISTED else ""
        yield f"whole paragraphs were erased where other words say the same: turn {turns}{more}"
    clean = terminal.paint("none was found", "green") if done.looked_for else "its words are no longer known"
    looked = f"looked for {terminal.plural(done.looked_for, 'text, word or piece', 'texts, words and pieces')}"
    yield f"{looked}: {clean if done.clean else terminal.paint('NOT clean', 'red')}"
    yield terminal.paint(f"out of reach: {'; '.join(done.out_of_reach)}", "dim")


def _explain_unclean(call: Call, done: Erased) -> str:
    kept = [place for place in done.kept if isinstance(place, Place)]
    places = ", ".join(terminal.harmless(place.name) for place in (*done.places, *kept) if place.found)
    return f"Look at {places}; `{call.command('erase', '--resume')}` tries again what could not be done now."


@contextmanager
def _progress(call: Call) -> Iterator[Callable[[str], object]]:
    """Show the current place on a terminal."""
    if call.quiet or call.json or not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console

    with Console(stderr=True).status("erasing …") as status:
        yield lambda step: status.update(f"erasing: {step} …")
