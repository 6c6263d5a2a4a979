"""
The command `scratchpad`: show or edit the current task, open questions and next steps of a user.
"""

from __future__ import annotations

from typing import Annotated

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call, file

Lines = list[str] | None


def scratchpad(
    call: Call,
    *,
    set_: Annotated[
        str | None, typer.Option("--set", metavar="FILE", help="Replace it with this Markdown file; - reads stdin.")
    ] = None,
    add_question: Annotated[Lines, typer.Option(metavar="LINE", help="Add an open question; may be repeated.")] = None,
    settle_question: Annotated[Lines, typer.Option(metavar="LINE", help="Remove a question that is answered.")] = None,
    add_step: Annotated[Lines, typer.Option(metavar="LINE", help="Add a next step; may be repeated.")] = None,
    settle_step: Annotated[Lines, typer.Option(metavar="LINE", help="Remove a step that is done.")] = None,
    user: Annotated[str | None, typer.Option(help="Whose scratchpad [default: the scope's owner].")] = None,
) -> None:
    """
    Show or edit current work: task, questions, next steps.

    It follows from the conversations. What you write yourself wins: a section changed with --set stays as you
    wrote it, until a later --set leaves it out.

    \b
    yiku scratchpad > pad.md; nano pad.md; yiku scratchpad --set pad.md
    yiku scratchpad --add-step 写测试 --settle-question "which port?"
    """
    patch = {
        "add_open_questions": add_question or (),
        "settle_open_questions": settle_question or (),
        "add_next_steps": add_step or (),
        "settle_next_steps": settle_step or (),
    }
    if set_ is not None and any(patch.values()):
        raise InvalidInput("give either --set or lines to add and settle, not both")
    with call.memory() as memory:
        found = memory.sessions.scratchpad(user)
        if set_ is not None:
            call.admit(memory)
            found = memory.sessions.edit_scratchpad(file(set_, "the scratchpad"), user)
        elif any(patch.values()):
            call.admit(memory)
            found = memory.sessions.patch_scratchpad(**patch, user=user)
        for line in found.left_out:
            settling = line in patch["settle_open_questions"] or line in patch["settle_next_steps"]
            call.note(
                f'"{line}" {"is not in the scratchpad" if settling else "was left out: it is there already, or there is no room"}.'
            )
        shown = memory.sessions.to_markdown(found)
    limit = terminal.width()
    lines = [part for line in shown.splitlines() for part in terminal.wrap(line, limit)]
    call.answer({"scratchpad": json_output.plain(found), "markdown": shown}, lines, wanted=True)
    if not shown:
        call.hint(
            f"The scratchpad is empty. It follows from what you ask for in `{call.command('record')}`; "
            f"add a line with `{call.command('scratchpad', '--add-step', '…')}`"
        )
