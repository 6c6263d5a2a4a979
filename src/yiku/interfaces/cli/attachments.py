"""
Commands for files: attach, attachments, describe.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call, text
from yiku.interfaces.cli.keep import collect_details
from yiku.types import Attachment

Name = str | None
Description = Annotated[Name, typer.Option(help="What it shows.")]
Transcription = Annotated[Name, typer.Option(help="What is said in it.")]
ExtractedText = Annotated[Name, typer.Option(help="The text in it; - reads it from stdin.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")]


def attach(
    call: Call,
    *,
    place: Annotated[str, typer.Argument(metavar="PATH|URL", help="A file or a URL.")],
    session: Annotated[str, typer.Option("--session", metavar="ID", help="The session it was sent in.")],
    keep: Annotated[bool, typer.Option("--keep", help="Store a copy of its content, up to 64 MiB.")] = False,
    made: Annotated[bool, typer.Option("--made", help="It was created for you, not sent by you.")] = False,
    turn: Annotated[Name, typer.Option(metavar="ID", help="The turn it came with.")] = None,
    description: Description = None,
    transcription: Transcription = None,
    extracted_text: ExtractedText = None,
    tags: Tags = None,
) -> None:
    """
    Note a file that was sent or made, to be found again.

    \b
    yiku attach report.pdf --session s1 --made
    yiku attach ~/photos/cat.jpg --session s1 --description "窗台上的小猫" --keep
    """
    details = collect_details(
        turn=turn,
        description=description,
        transcription=transcription,
        extracted_text=None if extracted_text is None else text(extracted_text),
        tags=tags,
    )
    where = place if not place.strip() or "://" in place[:12] else str(Path(place).expanduser().absolute())
    with call.memory() as memory:
        call.admit(memory)
        direction = "outbound" if made else "inbound"
        found = memory.sessions.attach(where, session=session, keep=keep, direction=direction, **details)
        content = memory.sessions.content(found.id) if found.blob else b""
    was_cleaned = found.blob is not None and len(content) != found.file_size
    call.tell_masked((where, details), (found, content.decode("utf-8", "replace") if was_cleaned else ""))
    call.answer({"attachment": json_output.plain(found)}, _one("attached", found))
    if found.missing:
        call.note(f"There is no file {where}: its name was noted.")


def attachments(
    call: Call,
    *,
    session: Annotated[Name, typer.Option(help="Only this session.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results.")] = 50,
) -> None:
    """List files that were sent and made, newest first."""
    with call.memory() as memory:
        found = memory.sessions.attachments(session=session, limit=limit)
    call.answer({"attachments": [json_output.plain(one) for one in found]}, _list_attachments(found))
    if not found:
        attach, learn = call.command("attach", "PATH", "--session", "ID"), call.command("learn")
        call.hint(f"There are no attachments. `{attach}` notes a file; `{learn}` notes files that turns mention.")


def _list_attachments(found: list[Attachment]) -> Iterator[str]:
    rows = []
    for one in found:
        size = "gone" if one.missing else "" if one.file_size is None else terminal.bytes_(one.file_size)
        known = one.description or one.transcription or one.extracted_text or ""
        way = "made" if one.direction == "outbound" else "sent"
        name = "  ".join(filter(None, (terminal.flat(one.filename), terminal.flat(known))))
        rows.append((terminal.short(one.id), terminal.day(one.said_at), way, size, name))
    yield from terminal.list_table(rows, dim=[0, 1, 2, 3], right=[3])


def describe(
    call: Call,
    *,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of an attachment, or its last characters.")],
    description: Description = None,
    transcription: Transcription = None,
    extracted_text: ExtractedText = None,
    tags: Tags = None,
    url: Annotated[Name, typer.Option(help="Another URL of the file.")] = None,
    mime_type: Annotated[Name, typer.Option(help="Its media type, such as image/png.")] = None,
) -> None:
    """Describe a noted file, so that it is found by that."""
    details: Any = collect_details(
        description=description,
        transcription=transcription,
        extracted_text=None if extracted_text is None else text(extracted_text),
        tags=tags,
        url=url,
        mime_type=mime_type,
    )
    with call.memory() as memory:
        call.admit(memory)
        found = memory.sessions.describe(id.removeprefix("#"), **details)
    call.answer({"attachment": json_output.plain(found)}, _one("described", found))


def _one(word: str, found: Attachment) -> Iterator[str]:
    size = f" · {terminal.bytes_(found.file_size)}" if found.file_size is not None else ""
    kept = " · kept" if found.blob else ""
    yield f"{terminal.paint(word, 'green')}  {terminal.flat(found.filename)}"
    yield terminal.paint(f"  {terminal.source(found)}{size}{kept}", "dim")
    for text_ in filter(None, (found.description, found.transcription, found.extracted_text)):
        yield f"  {terminal.cut(terminal.flat(text_), (terminal.width() or 200) - 2)}"
