"""
Commands that search: recall, context, explain, traces, timeline, get, list, history.

What is shown to a person counts as retrieved, once, after the answer has left. An empty answer is no
failure: it says on stderr what to try next.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from yiku.errors import InvalidInput, ReadOnly, StorageFull
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call, parse_json, text
from yiku.rules.deciding.history import end_of
from yiku.types import Hit, Hits, Note, SemanticMemory, State, Turn

if TYPE_CHECKING:
    from yiku import Memory

Name = str | None
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What to search for; - reads it from stdin.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", help="Maximum number of results [default: 10].")]
Where = Annotated[
    Name, typer.Option(metavar="JSON", help='A filter such as {"kind": "rule"} or {"said_at": {"gte": "2026-03-01"}}.')
]
AsOf = Annotated[Name, typer.Option(metavar="TIME", help="As recorded at that time.")]
ValidAt = Annotated[Name, typer.Option(metavar="TIME", help="What was true at that time, as far as known now.")]
Running = Annotated[
    Name, typer.Option("--session", metavar="ID", help="The current conversation; its last turns help to interpret the question.")
]
Since = Annotated[Name, typer.Option(metavar="TIME", help="Said since then.")]
Until = Annotated[Name, typer.Option(metavar="TIME", help="Said until then.")]
Types = Annotated[
    list[str] | None, typer.Option("--type", metavar="TYPE", help="memory, turn, episode, attachment or note [default: all].")
]

EVERY_TYPE = ("memory", "turn", "episode", "attachment", "note")
TOOL_CELLS = 200  # of what a tool got or gave; `yiku get` shows it whole
LISTED = 100  # memories, when no limit is given
UNSURE = "No good match; this is the closest."


def recall(
    call: Call,
    *,
    question: Question,
    limit: Limit = None,
    type: Types = None,
    where: Where = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    session: Running = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how the answer was found, like yiku explain.")] = False,
) -> None:
    """
    Search memory: the best matches, each with its source.

    \b
    yiku recall "where do I live?"
    yiku recall "我以前住在哪里？" --limit 3 --json
    """
    asked = text(question, "question")
    with call.memory() as memory:
        found = memory.recall(
            asked,
            limit=limit,
            types=cast("Any", type or EVERY_TYPE),  # whatever was typed: `recall` checks it
            where=parse_json(where, "--where"),
            as_of=as_of,
            valid_at=valid_at,
            session=session,
        )
        if explain:
            data = json_output.hits(asked, found) | {"explanation": json_output.plain(found.explanation)}
            call.answer(data, _format_explanation(call, found))
        else:
            call.answer(json_output.hits(asked, found), _answers(call, found))
        _count(memory, found)


def explain(
    call: Call,
    *,
    question: Question,
    limit: Limit = None,
    type: Types = None,
    where: Where = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    session: Running = None,
) -> None:
    """
    Show how an answer was found: terms, routes, scores.

    It lists what was left out, too, and why.
    """
    recall(
        call,
        question=question,
        limit=limit,
        type=type,
        where=where,
        as_of=as_of,
        valid_at=valid_at,
        session=session,
        explain=True,
    )


def _count(memory: Memory, shown: Sequence[Hit]) -> None:
    """Count what was shown as retrieved, if the home is writable."""
    with suppress(ReadOnly, StorageFull):
        memory.retrieved(shown)


def _answers(call: Call, found: Hits) -> Iterator[str]:
    yield from terminal.hits(found)
    _caveats(call, found)


def _caveats(call: Call, found: Hits) -> None:
    """Yield what was missing, and a low confidence."""
    for diagnostic in found.diagnostics:
        call.hint(diagnostic)
    if found and not found.confident:
        call.hint(UNSURE)
    if not found:
        call.hint(_nothing(call))


def _nothing(call: Call) -> str:
    memories, messages = call.command("list"), call.command("traces", "WORD")
    return f"Nothing found. Try fewer or other words; `{memories}` lists memories, `{messages}` searches the messages."


def _format_explanation(call: Call, found: Hits) -> Iterator[str]:
    why = found.explanation
    yield from terminal.table(
        [
            ("words", " ".join(why.terms) or "none"),
            ("too common", " ".join(why.dropped_terms) or "none"),
            ("slots", ", ".join(why.slots) or "none"),
            ("the past", "is asked for" if why.wants_history else "is not asked for"),
            ("times", ", ".join(why.windows) or "none"),
            ("confidence", f"{found.confidence:.2f}"),
            ("routes", ", ".join(f"{route} {count}" for route, count in why.routes.items())),
        ],
        dim=[0],
    )
    yield ""
    rows = []
    for hit in found:
        routes = ", ".join(f"{name} {value:.2f} (rank {rank})" for name, (rank, value) in hit.routes.items())
        rows.append((f"{hit.score:.2f}", routes, terminal.short(hit.id), terminal.day(hit.said_at), terminal.flat(hit.text)))
    yield from terminal.list_table(rows, head=("score", "found by", "id", "said", "text"), dim=[1, 2, 3])
    for earlier, later, reason in why.said_later:
        text = f"said later than {terminal.short(earlier)}: {terminal.short(later)}, {reason}"
        yield from (terminal.paint(line, "dim") for line in terminal.wrap(text, terminal.width()))
    if why.left_out:
        yield ""
        yield terminal.paint(f"left out: {len(why.left_out)}", "dim")
        yield from terminal.table([(f"  {terminal.short(id)}", reason) for id, reason in why.left_out[:10]], dim=[0, 1])
    _caveats(call, found)


def context(
    call: Call,
    *,
    question: Question,
    max_tokens: Annotated[int | None, typer.Option(help="The token budget, estimated [default: 700].")] = None,
    where: Where = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    session: Running = None,
    no_rules: Annotated[bool, typer.Option("--no-rules", help="Leave out the standing rules.")] = False,
) -> None:
    """
    Print standing rules and the best matches, for a prompt.

    \b
    yiku context "where do I live?" --max-tokens 300
    yiku context 我住在哪里？ --no-rules
    """
    asked = text(question, "question")
    with call.memory() as memory:
        packed = memory.context(
            asked,
            max_tokens=max_tokens,
            where=parse_json(where, "--where"),
            as_of=as_of,
            valid_at=valid_at,
            session=session,
            rules=not no_rules,
        )
    data = {
        "question": asked,
        "text": packed.text,
        "tokens": packed.tokens,
        "omitted": packed.omitted,
        "hits": [json_output.hit(hit) for hit in packed.hits],
        "rules": [json_output.item(rule) for rule in packed.rules],
        "rules_left_out": packed.rules_left_out,
        "diagnostics": list(packed.diagnostics),
        "confidence": packed.confidence,
    }
    call.answer(data, terminal.harmless(packed.text).splitlines())
    for diagnostic in packed.diagnostics:
        call.hint(diagnostic)
    if not packed.hits:
        matches = terminal.plural(packed.omitted, "match", "matches")
        call.hint(f"{matches}, and no room in the budget: raise --max-tokens." if packed.omitted else _nothing(call))


def traces(
    call: Call,
    *,
    keyword: Annotated[Name, typer.Argument(metavar="KEYWORD", help="Words in a message, a tool call or its result.")] = None,
    session: Annotated[Name, typer.Option(help="Only this session.")] = None,
    role: Annotated[Name, typer.Option(help="user, assistant, system or tool.")] = None,
    tool: Annotated[Name, typer.Option(help="Only turns that called this tool.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results.")] = 20,
) -> None:
    """Search the messages themselves, including tool calls."""
    keyword = None if keyword is None else text(keyword, "keyword")
    with call.memory() as memory:
        found = memory.search_traces(
            keyword, session=session, role=cast("Any", role), tool=tool, since=since, until=until, limit=limit
        )
    call.answer({"turns": [json_output.item(turn) for turn in found]}, _turns(found))
    if not found:
        call.hint(f"No turns match. Try fewer conditions; `{call.command('timeline')}` shows the newest.")


def _turns(found: list[Turn]) -> Iterator[str]:
    limit = terminal.width()
    for turn in found:
        yield terminal.paint(terminal.cut(terminal.source(turn), limit), "dim")
        if turn.content:
            yield from (f"  {line}" for line in terminal.wrap(turn.content, limit and limit - 2, lines=terminal.SHOWN_LINES))
        for called in turn.tool_calls:
            line = f"{called.get('name', 'tool')} {json.dumps(called.get('input'), ensure_ascii=False)}"
            yield terminal.cut(f"  > {terminal.flat(line)}", limit or TOOL_CELLS)
        for result in turn.tool_results:
            yield terminal.cut(f"  < {terminal.flat(str(result.get('content', '')))}", limit or TOOL_CELLS)


def timeline(
    call: Call,
    *,
    around: Annotated[Name, typer.Option(metavar="ID", help="What was said around this memory or turn.")] = None,
    since: Since = None,
    until: Until = None,
    where: Where = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results.")] = 50,
) -> None:
    """List messages and memories in the order they were said."""
    with call.memory() as memory:
        found = memory.timeline(around=around, since=since, until=until, where=parse_json(where, "--where"), limit=limit)
    call.answer({"items": [json_output.item(item) for item in found]}, _list_by_time(found))
    if not found:
        call.hint("Nothing was said in that time. Try a wider range.")


def _list_by_time(found: list[SemanticMemory | Turn]) -> Iterator[str]:
    rows = []
    for item in found:
        who = (item.speaker or item.role) if isinstance(item, Turn) else item.kind.value
        rows.append(
            (
                terminal.when(item.said_at),
                terminal.short(item.id),
                terminal.harmless(who),
                terminal.flat(item.content or "(tool call)"),
            )
        )
    yield from terminal.list_table(rows, dim=[0, 1])


def get(
    call: Call,
    *,
    id: Annotated[str, typer.Argument(metavar="ID", help="An id, or at least its last 4 characters.")],
    as_of: AsOf = None,
) -> None:
    """Show one memory, message or passage of a note in full."""
    with call.memory() as memory:
        found = memory.get(id, as_of=as_of)
        content = found.text if isinstance(found, Note) else found.content
        if isinstance(found, Turn) and found.blob:
            content = memory.admin.blob(found.blob)
    call.answer({"item": json_output.item(found) | {"content": content}}, _whole(found, content))


def _whole(found: SemanticMemory | Turn | Note, content: str) -> Iterator[str]:
    yield terminal.harmless(content)
    yield ""
    rows = [(name.replace("_", " "), terminal.flat(value)) for name, value in _facts(found)]
    yield from terminal.table(rows, dim=[0])


def _facts(found: SemanticMemory | Turn | Note) -> Iterator[tuple[str, str]]:
    """Yield the known properties of an item."""
    yield "id", terminal.short(found.id)
    yield "said at", terminal.exactly(found.said_at)
    if isinstance(found, Turn):
        yield "role", " ".join(filter(None, [found.role, found.speaker]))
        yield "session", f"{found.session}, place {found.position}"
        shown = ["tool_calls", "tool_results", "external_id", "parent", "agent", "project", "actor", "metadata", "hidden_at"]
    elif isinstance(found, Note):
        yield "file", f"{found.path}:{terminal.lines(found)}"
        shown = ["heading", "source"]
    else:
        yield "kind", f"{found.kind.value}{terminal.marks(found)}"
        if found.predicate:
            yield "slot", f"{found.subject} | {found.predicate} | {found.object}"
        yield (
            "holds",
            f"from {terminal.exactly(found.valid_from)}" + (f" to {terminal.exactly(found.valid_to)}" if found.valid_to else ""),
        )
        if found.superseded_by:
            yield "replaced by", terminal.short(found.superseded_by)
        for origin in found.sources:
            of = f", turn {terminal.short(origin.turn)} of {origin.session}" if origin.turn else ""
            yield "source", f"{origin.actor or origin.origin.value}, {terminal.exactly(origin.said_at)}{of}"
        yield "accesses", f"retrieved {found.retrieved}, used {found.used}, mentioned {found.mentioned}"
        shown = [
            "importance",
            "confidence",
            "reason",
            "tags",
            "entities",
            "expires_at",
            "external_id",
            "agent",
            "project",
            "metadata",
        ]
    for name in shown:
        if value := getattr(found, name):
            text = value if isinstance(value, str) else _join_values(json_output.plain(value))
            yield name, terminal.shorten_ids(text) if name == "reason" else text


def _join_values(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return ", ".join(value)
    return str(value)


def list_(
    call: Call,
    *,
    kind: Annotated[Name, typer.Option(help="Only this kind.")] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Only with this tag; may be repeated.")] = None,
    about: Annotated[Name, typer.Option(metavar="ENTITY", help="Only about this person or thing.")] = None,
    where: Where = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="Maximum number of memories [default: 100].")] = None,
    offset: Annotated[int, typer.Option(help="Skip this many first.")] = 0,
) -> None:
    """
    List what is remembered now, newest first.

    \b
    yiku list --kind preference --tag tea
    yiku list --about Lantern
    yiku list --where '{"importance": {"gte": 0.8}}'
    """
    conditions = [{"kind": kind}] if kind else []
    conditions += [{"tags": name} for name in tag or ()]
    if (given := parse_json(where, "--where")) is not None:
        conditions.append(given)
    filter_ = None if not conditions else conditions[0] if len(conditions) == 1 else {"and": conditions}
    if about is not None and (filter_ or as_of or valid_at or offset):
        raise InvalidInput('--about goes with --limit only; entities can be part of a filter: --where \'{"entities": "…"}\'')
    with call.memory() as memory:
        if about is not None:
            found = memory.about(about, limit=LISTED if limit is None else limit)
        else:
            found = memory.get_all(
                where=filter_, limit=LISTED if limit is None else limit, offset=offset, as_of=as_of, valid_at=valid_at
            )
        call.answer({"memories": [json_output.item(one) for one in found], "count": len(found)}, _list_memories(found))
        _count(memory, [Hit(item=one, relevance=1.0, score=1.0, routes={}, sources=()) for one in found])
    if not found:
        call.hint(f"No memories match. Store one with: {call.command('remember', 'I live in Oslo.')}")
    elif limit is None and len(found) == LISTED:
        call.hint(f"These are the newest {LISTED}. `--limit` shows more.")


def _list_memories(found: list[SemanticMemory]) -> Iterator[str]:
    rows = [(terminal.short(one.id), terminal.day(one.said_at), one.kind.value, terminal.describe(one)) for one in found]
    yield from terminal.list_table(rows, dim=[0, 1, 2])


def history(
    call: Call,
    *,
    about: Annotated[str, typer.Argument(metavar="ID|TEXT", help="The id of a memory, or what it is about.")],
    as_of: AsOf = None,
) -> None:
    """
    Show every version of a statement, and what replaced it.

    \b
    yiku history "where I live"
    """
    with call.memory() as memory:
        found = memory.history(text(about, "id"), as_of=as_of)
    call.answer({"versions": [json_output.item(one) for one in found]}, versions(found))
    if not found:
        call.hint("Nothing about it was recorded at that time.")


def versions(found: list[SemanticMemory]) -> Iterator[str]:
    """Yield the versions of one line with their time spans, each time in the offset of who said it."""
    rows = []
    for one in found:
        expired = one.live and one.expired(datetime.now().astimezone())
        ended = end_of(one, found)
        if expired and not ended and one.ends_at:
            ended = one.ends_at.astimezone(one.said_at.tzinfo)
        until = terminal.day(ended) if ended else "now" if one.live else "-"
        if one.state is not State.ACTIVE:
            end = terminal.shorten_ids(terminal.flat(one.reason or one.state.value))
        elif one.superseded_by:
            end = f"replaced by {terminal.short(one.superseded_by)}"
        elif one.said_later:
            end = f"said later: {terminal.short(one.said_later)}"
        else:
            end = "expired" if expired else "current"
        rows.append((f"{terminal.day(one.valid_from)} to {until}", terminal.short(one.id), end, terminal.flat(one.content)))
    yield from terminal.list_table(rows, dim=[0, 1, 2])
