"""
Commands for sessions: sessions, messages, end, compress (summarize dropped messages), episodes (summaries).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yiku.errors import InvalidInput
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call, file, parse_json, text
from yiku.interfaces.cli.learning import count_outcomes
from yiku.types import Compressed, Ended, Episode, Messages, Session

if TYPE_CHECKING:
    from yiku.memory import Memory

Name = str | None


def sessions(call: Call, *, limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results.")] = 20) -> None:
    """List sessions, newest first."""
    with call.memory() as memory:
        found = memory.sessions.get_all(limit=limit)
    call.answer({"sessions": [json_output.plain(one) for one in found]}, _sessions(found))
    if not found:
        call.hint(f"There are no sessions yet. Start one: {call.command('record', '…', '--session', 's1')}")


def _sessions(found: list[Session]) -> Iterator[str]:
    rows = []
    for one in found:
        times = (terminal.when(at.astimezone()) if at else "-" for at in (one.started_at, one.ended_at))
        state = f"ended {terminal.day(one.closed_at.astimezone())}" if one.closed_at else "open"
        rows.append((terminal.flat(one.id), f"{one.turns:,}", *times, state, terminal.flat(one.task or "")))
    table = [("session", "turns", "from", "to", "state", "task"), *rows] if found else []
    used, limit = (
        sum(max(terminal.cells(row[column]) for row in table) + 2 for column in range(5)) if table else 0,
        terminal.width(),
    )
    if limit is None or used < limit:
        yield from terminal.table(table, dim=[2, 3, 5], right=[1])
        return
    for id, turns, first, last, *rest in rows:
        yield from terminal.stack(id, ["1 turn" if turns == "1" else f"{turns} turns", f"{first} to {last}", *rest])


def messages(
    call: Call,
    *,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The session to print.")],
    limit: Annotated[int, typer.Option("--limit", "-n", help="Turns per page.")] = 100,
    after: Annotated[Name, typer.Option(metavar="CURSOR", help="Continue after the page that printed this cursor.")] = None,
    last: Annotated[bool, typer.Option("--last", help="Print the last ones instead of the first.")] = False,
) -> None:
    """Print the messages of a session, in order."""
    name = text(session, "session")
    with call.memory() as memory:
        found = memory.sessions.messages(name, limit=limit, after=after, last=last)
    call.answer(
        {"session": name, "messages": json_output.plain(found.messages), "turns": list(found.turns), "cursor": found.cursor},
        _format_messages(found),
    )
    if found.cursor is not None:
        call.hint(f"There is more: {call.command('messages', name, '--after', found.cursor)}")


def _format_messages(found: Messages) -> Iterator[str]:
    """Yield messages for people: speaker and text; other parts are named."""
    for message in found:
        content = message.get("content", message.get("output"))
        parts = content if isinstance(content, Sequence) and not isinstance(content, str) else [content]
        said = [part if isinstance(part, str) else _part(part) for part in parts if part]
        said += [f"[{_part(one.get('function', one))}]" for one in message.get("tool_calls") or ()]
        who = str(message.get("role", message.get("type", "")))
        yield f"{terminal.paint(who, 'dim')}  {terminal.flat(' '.join(said))}"


def _part(part: Mapping[str, Any]) -> str:
    text = part.get("text", part.get("refusal", part.get("content")))
    return text if isinstance(text, str) else f"[{' '.join(str(part[key]) for key in ('type', 'name') if key in part)}]"


def end(
    call: Call,
    *,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The session to end.")],
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", help="Time limit for the model, if one is set.")] = 5.0,
) -> None:
    """
    End a session, and summarise it as an episode.

    What applied to this session only expires. Current work moves to the scratchpad. If the session continues, it can be ended again.
    """
    name = text(session, "session")
    with call.memory() as memory:
        done = memory.sessions.end(name, budget_s=seconds)
        lines = [*_format_end(memory, name, done)]
    call.answer({"ended": json_output.plain(done), "session": name}, lines)


def _format_end(memory: Memory, name: str, done: Ended) -> Iterator[str]:
    yield f"{terminal.paint('ended', 'green')}  {terminal.flat(name)}"
    if done.episode is not None:
        yield from _story(memory, done.episode)
    else:
        yield "  nothing was said since it was last ended"
    facts = {
        "learned": count_outcomes(done.outcomes) if done.outcomes else "",
        "now at": terminal.flat(done.scratchpad.current_focus),
    }
    facts["expired"] = f"{terminal.plural(done.expired, 'statement')} that held for this session only" if done.expired else ""
    if done.model is not None:
        facts["model"] = f"{done.model.model}: {count_outcomes(done.model.outcomes)}, {done.model.waiting:,} wait"
    yield from (terminal.paint(f"  {name}: {facts[name]}", "dim") for name in facts if facts[name])


def compress(
    call: Call,
    *,
    messages: Annotated[str, typer.Argument(metavar="FILE", help="A JSON list of messages with role and content; - reads stdin.")],
    session: Annotated[str, typer.Option("--session", metavar="ID", help="The session they belong to.")],
    summary: Annotated[Name, typer.Option(help="Your own summary of them; - reads it from stdin.")] = None,
) -> None:
    """
    Store and summarise messages that leave a context.

    Each message is recorded unless it already was, and learned from; one episode summarises them all.

    \b
    yiku compress messages.json --session s1
    tail -40 chat.jsonl | yiku compress - --session s1
    """
    if messages == summary == "-":
        raise InvalidInput("messages and summary cannot both come from stdin")
    given = _messages(file(messages, "messages"))
    summary_text = None if summary is None else text(summary, "summary")
    with call.memory() as memory:
        call.admit(memory)
        done = memory.sessions.compressing(given, session=session, summary=summary_text)
        lines = [*_format_compression(memory, done)]
    call.answer({"compressed": json_output.plain(done), "session": session}, lines)


def _messages(raw: str) -> list[Mapping[str, Any]]:
    """Parse messages: a JSON list, an object with `messages`, or JSON Lines."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        lines = [line for line in raw.splitlines() if line.strip()]
        single = len(lines) <= 1 or not lines[0].rstrip().endswith("}")
        found = parse_json(raw, "messages") if single else [parse_json(line, f"message {n}") for n, line in enumerate(lines, 1)]
    if isinstance(found, Mapping):
        found = found.get("messages", [found])
    if not isinstance(found, list):
        raise InvalidInput(f"messages must be a list of objects with role and content, not {type(found).__name__}")
    return found


def _format_compression(memory: Memory, done: Compressed) -> Iterator[str]:
    total = done.recorded + done.known
    counts = f"{terminal.plural(total, 'message')}: {done.recorded:,} recorded now, {done.known:,} before"
    yield f"{terminal.paint('compressed', 'green')}  {counts}"
    if done.episode is not None:
        yield from _story(memory, done.episode)
    if done.outcomes:
        yield terminal.paint(f"  learned: {count_outcomes(done.outcomes)}", "dim")


def episodes(
    call: Call,
    *,
    session: Annotated[Name, typer.Option(help="Only this session.")] = None,
    since: Annotated[Name, typer.Option(metavar="TIME", help="Ended since then.")] = None,
    until: Annotated[Name, typer.Option(metavar="TIME", help="Ended until then.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results.")] = 20,
) -> None:
    """List summaries of sessions, newest first."""
    with call.memory() as memory:
        found = memory.sessions.episodes(session=session, since=since, until=until, limit=limit)
        lines = [line for one in found for line in _story(memory, one, lead="")]
    call.answer({"episodes": [json_output.plain(one) for one in found]}, lines)
    if not found:
        call.hint(f"There are no episodes yet. `{call.command('end', 'SESSION')}` and `{call.command('compress')}` make one.")


def _story(memory: Memory, episode: Episode, lead: str = "  ") -> Iterator[str]:
    """Yield an episode under its source."""
    limit = terminal.width()
    yield terminal.paint(lead + terminal.cut(terminal.source(episode), limit and limit - len(lead)), "dim")
    for line in memory.sessions.to_markdown(episode).splitlines():
        yield from (f"{lead}{part}" for part in terminal.wrap(line, limit and limit - len(lead)))
