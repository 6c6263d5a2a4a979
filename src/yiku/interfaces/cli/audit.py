"""
Commands that explain one memory or audit all of them: why, audit.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call
from yiku.interfaces.cli.keep import Id
from yiku.types import Audit


def why(call: Call, id: Id) -> None:
    """
    Explain one memory: what is believed, since when, and why.

    It shows the words that it was learned from, what it replaced, who changed it, and where it was shown.

    \b
    yiku why 3311852f
    yiku why 3311852f --json
    """
    with call.memory() as memory:
        found = memory.why(id)
    call.answer(
        {
            "memory": json_output.item(found.memory),
            "current": json_output.item(found.current) if found.current else None,
            "words": json_output.plain(found.words),
            "replaced": [json_output.item(one) for one in found.replaced],
            "others": [json_output.item(one) for one in found.others],
            "changes": json_output.plain(found.changes),
            "pages": list(found.pages),
            "page": found.page,
        },
        terminal.markdown(found.page),
    )


def audit(
    call: Call,
    *,
    budget: Annotated[
        list[str] | None,
        typer.Option("--budget", metavar="CHECK=SHARE", help="The share that a check may find: stale=0.5. May be repeated."),
    ] = None,
    no_turns: Annotated[bool, typer.Option("--no-turns", help="Do not search turns for secrets.")] = False,
) -> None:
    """
    Audit memory: count duplicates, contradictions, secrets.

    It also counts statements without support, what is never recalled or stale, and orphans. The exit code is 1 if a
    check found more than its budget. Nothing is changed.

    \b
    yiku audit
    yiku audit --budget duplicates=0 --budget stale=0.5 --json
    """
    with call.memory() as memory:
        found = memory.admin.audit(budgets=cast("Any", _budgets(budget or [])), turns=not no_turns)
    data = {
        "findings": [{**json_output.plain(one), "share": round(one.share, 4)} for one in found.findings],
        "over": list(found.over),
        "memories": found.memories,
        "turns": found.turns,
        "details": dict(found.details),
        "page": found.page,
    }
    call.answer(data, _format_audit(found), wanted=bool(found.over))
    if found.over:
        raise typer.Exit(1)


def _budgets(given: list[str]) -> dict[str, float] | None:
    found = {}
    for text in given:
        name, _, share = text.partition("=")
        try:
            found[name.strip()] = float(share)
        except ValueError:
            raise InvalidInput(f"--budget takes a check and a share such as stale=0.5, not {text[:40]!r}") from None
    return found or None


def _format_audit(found: Audit) -> list[str]:
    return [*terminal.markdown(found.page)]
