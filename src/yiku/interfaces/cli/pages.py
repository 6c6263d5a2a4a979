"""
Commands that edit memories as Markdown: publish (MEMORY.md and USER.md), edit.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from yiku.errors import InvalidInput, NotFound
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.interfaces.cli.keep import Id
from yiku.types import Note, PageReport, PublishReport, Turn

EDITORS = ("sensible-editor", "nano", "vim", "vi")  # where the environment names none
SHOWN_CELLS = 100


def publish(
    call: Call,
    *,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="memory|file", help="For a page that is held: write its lost lines again, or forget them."),
    ] = None,
) -> None:
    """
    Read your edits of MEMORY.md and USER.md, and write both.

    A line that you change corrects a memory, a new one is remembered, one that you remove is forgotten. What you
    write outside of the marked region is yours and stays as it is. yiku undo takes the edits back.
    """
    if keep not in (None, "memory", "file"):
        raise InvalidInput("--keep must be memory or file")
    with call.memory() as memory:
        done = memory.notes.publish(keep=keep)  # type: ignore[arg-type]  # it was looked at
    held = any(page.action == "held" for page in done.pages)
    call.answer(json_output.plain(done), _format_publishing(call, done), wanted=held)
    if held:
        raise typer.Exit(1)


def _format_publishing(call: Call, done: PublishReport) -> Iterator[str]:
    for page in done.pages:
        if page.action == "held":
            yield f"{terminal.paint('held', 'yellow')} {page.path} {call.reaching(page.why or '')}"
        else:
            more = f", {page.omitted:,} more in memory" if page.omitted else ""
            yield f"{terminal.paint(page.action, 'green')} {page.path}: {terminal.plural(page.shown, 'statement')}{more}"
        yield from edits(page)
    if done.operations:
        yield f"  {call.command('undo', done.operations[-1])} takes all of this back"


def edits(page: PageReport) -> Iterator[str]:
    """What was read from the edits of a page, a line each."""
    counts = {"corrected": page.changed, "remembered": page.added, "forgotten": page.removed, "moved below the region": page.own}
    for what, texts in counts.items():
        for text in texts:
            yield f"  {what}: {terminal.cut(terminal.flat(text), SHOWN_CELLS)}"


def edit(call: Call, id: Id) -> None:
    """
    Edit a memory in your editor.

    $VISUAL or $EDITOR names it. Saving the text corrects the memory; an empty text, or one that you did not change,
    changes nothing. What was told meanwhile stays, too.

    \b
    EDITOR="code --wait" yiku edit 39f7023c
    """
    with call.memory() as memory:
        found = memory.get(id)
        if isinstance(found, Turn):
            raise NotFound(f"there is no memory with the id {found.id} (this id is a turn's)", "What was said does not change.")
        if isinstance(found, Note):
            raise NotFound(f"there is no memory with the id {found.id} (this id is a note's)", f"Edit {found.path} itself.")
        call.admit(memory)
        versions = memory.history(found.id)
        before = next((row for row in reversed(versions) if row.live), found)
        home = Path(memory.settings.home)
    text = _in_editor(call, home, before.content)
    if not text or text == before.content.strip():
        call.answer({"memory": json_output.item(before), "merged": True, "changed": False}, ["unchanged"])
        return
    with call.memory() as memory:
        done = memory.notes.edited(before.id, before=before.content, after=text)
    lines = [f"{terminal.paint('updated', 'green')}  {terminal.cut(terminal.flat(done.memory.content), SHOWN_CELLS)}"]
    call.answer({"memory": json_output.item(done.memory), "merged": done.merged, "changed": True}, lines)
    if not done.merged:
        call.note(f"It was changed meanwhile in the same place; your text counts: {call.command('history', done.memory.id[-8:])}")
    call.tell_masked(text, done.memory.content)


def _in_editor(call: Call, home: Path, text: str) -> str:
    """The text as it was saved. It lies in the home meanwhile, so that erasing looks through it, too."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, EDITORS), None)
    if not command:
        raise InvalidInput(f"there is no editor: name one in EDITOR, or use {call.command('update')}")
    path = home / f".edit.{secrets.token_hex(6)}"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    try:
        try:
            ended = subprocess.run([*shlex.split(command), str(path)], check=False).returncode
        except (OSError, ValueError) as error:
            raise InvalidInput(f"the editor {command} cannot be started: {error}") from error
        if ended:
            raise InvalidInput(f"the editor ended with {ended}; nothing was changed")
        return path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise InvalidInput("the editor saved no UTF-8; nothing was changed") from error
    finally:
        path.unlink(missing_ok=True)
