"""
Commands `prompt` (show the system prompt built for an agent) and `compile` (summarize the identity files).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, cast

import typer

from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call, text
from yiku.types import Compiled, Prompt

Name = str | None


def prompt(
    call: Call,
    *,
    message: Annotated[Name, typer.Option("--for", metavar="TEXT", help="What the user says; - reads it from stdin.")] = None,
    session: Annotated[Name, typer.Option(metavar="ID", help="The current conversation; its rules apply.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The token budget, estimated [default: 3000].")] = None,
    auto_recall: Annotated[
        Name, typer.Option(metavar="off|gated|always", help="What is recalled for the text [default: gated].")
    ] = None,
    persona: Annotated[Name, typer.Option(metavar="NAME", help="A file in identity/personas/.")] = None,
    runtime: Annotated[bool, typer.Option("--runtime", help="Add system, folder, shell and time.")] = False,
    bare: Annotated[bool, typer.Option("--bare", help="Print the prompt alone, to pass it on.")] = False,
) -> None:
    """
    Show the system prompt that memory makes, and its tokens.

    \b
    yiku prompt --for "where do I live?"
    yiku prompt --for 我住在哪里？ --bare
    """
    said = None if message is None else text(message, "--for")
    with call.memory() as memory:
        built = memory.prompts.build(
            said,
            session=session,
            max_tokens=max_tokens,
            auto_recall=cast("Any", auto_recall),  # whatever was typed: `build` checks it
            persona=persona,
            runtime=runtime,
        )
    data = {
        "text": built.text,
        "tokens": built.tokens,
        "budget": built.budget,
        "stable": built.stable,
        "task": built.task,
        "language": built.language,
        "sections": [json_output.plain(section) for section in built.sections],
        "hits": [json_output.hit(hit) for hit in built.hits],
        "diagnostics": list(built.diagnostics),
    }
    call.answer(data, terminal.harmless(built.text).splitlines() if bare else _format_prompt(built))
    for diagnostic in built.diagnostics:
        call.hint(diagnostic)


def _format_prompt(built: Prompt) -> Iterator[str]:
    yield from terminal.harmless(built.text).splitlines()
    yield ""
    rows = [
        (
            one.name.replace("_", " "),
            f"{one.tokens:,} of {one.budget:,} tokens",
            f"{one.left_out:,} left out" if one.left_out else "",
        )
        for one in built.sections
    ]
    yield from terminal.table([*rows, ("all", f"{built.tokens:,} of {built.budget:,} tokens", "")], dim=[0, 1, 2])


def compile(
    call: Call,
    *,
    strategy: Annotated[
        str,
        typer.Option(metavar="auto|model|rules", help="model asks the chat model, rules does not; auto asks one if there is one."),
    ] = "auto",
    force: Annotated[bool, typer.Option("--force", help="Also compile unchanged files.")] = False,
) -> None:
    """
    Compile identity files to short summaries.

    These files are SOUL.md, AGENT.md and personas/user_custom.md in identity/, and USER.md; none is changed. The
    summaries are written to identity/compiled/.
    """
    with call.memory() as memory:
        done = memory.prompts.compile(strategy=cast("Any", strategy), force=force)
    call.answer(json_output.plain(done), _format_compiled(done), wanted=any(one.action == "held" for one in done.summaries))


def _format_compiled(done: Compiled) -> Iterator[str]:
    for one in done.summaries:
        if one.action == "missing":
            continue  # there is no such file to compile
        how = f"by {'a model' if one.by == 'model' else 'rules'}, {one.tokens:,} tokens" if one.by else ""
        notes = "; ".join(filter(None, [how, one.why]))
        yield f"{terminal.paint(one.action, 'yellow' if one.action == 'held' else 'green')} {one.path}{f': {notes}' if notes else ''}"
    if all(one.action == "missing" for one in done.summaries):
        yield "nothing to compile: there is no USER.md, and no file in identity/"
