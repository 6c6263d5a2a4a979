"""
Commands that write: record, remember, update, feedback, forget, restore, undo.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from yiku.errors import InvalidInput, NotFound, YikuError
from yiku.interfaces.cli import json_output, terminal
from yiku.interfaces.cli.call import Call, parse_json, takes, text
from yiku.types import Forgotten, Outcome, Refused, RunUndone, SemanticMemory, Turn, TurnDetails, Undone

if TYPE_CHECKING:
    from yiku.memory import Memory

Id = Annotated[str, typer.Argument(metavar="ID", help="An id, or at least its last 4 characters.")]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="The text; - reads it from stdin.")]
Name = str | None
Key = Annotated[Name, typer.Option("--key", help="An idempotency key: repeating the call returns the first result.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and write nothing.")]

REFUSED = 1  # the exit code when a statement was not kept
WORDS = {"past": "kept as history", "flagged": "kept, but may contradict", "retracted": "taken back"}
RETRACTED = "retracted"  # the reason in the journal
LOOKED_AT = 20  # rows of the journal
RUN_DIGITS = 8  # of the end of a run's name, as it is printed
QUOTED_CELLS = 100  # of what was learned; `yiku get` shows it whole

Metadata = Annotated[Name, typer.Option(metavar="JSON", help="A JSON object to store with it.")]
SaidAt = Annotated[Name, typer.Option(metavar="TIME", help="When it was said [default: now].")]
Session = Annotated[Name, typer.Option(help="The session it was said in.")]
Agent = Annotated[Name, typer.Option(help="The agent it belongs to.")]
Project = Annotated[Name, typer.Option(help="The project it belongs to.")]
External = Annotated[Name, typer.Option(help="Its id in another system; a turn with a known id is not stored twice.")]

# What may be said of a statement besides its text: the name in `Details`, and the option that takes it.
DETAILS: dict[str, Any] = {
    "kind": Annotated[Name, typer.Option(help="fact, preference, rule, skill, error, event, task …")],
    "tags": Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")],
    "subject": Annotated[Name, typer.Option(help="Who or what it is about.")],
    "predicate": Annotated[Name, typer.Option(help="The property it states, such as deadline.")],
    "object": Annotated[Name, typer.Option(help="The value of that property.")],
    "cardinality": Annotated[Name, typer.Option(help="How many values can hold at a time: single or multi.")],
    "standing": Annotated[Name, typer.Option(help="fact, belief or summary.")],
    "importance": Annotated[float | None, typer.Option(help="From 0 to 1.")],
    "confidence": Annotated[float | None, typer.Option(help="From 0 to 1.")],
    "pinned": Annotated[bool | None, typer.Option("--pin/--unpin", help="Exempt it from fading.")],
    "entities": Annotated[
        list[str] | None, typer.Option("--entity", metavar="NAME", help="A person or thing it names; may be repeated.")
    ],
    "metadata": Metadata,
    "said_at": SaidAt,
    "valid_from": Annotated[Name, typer.Option(metavar="TIME", help="When it became true [default: when it was said].")],
    "expires_at": Annotated[Name, typer.Option(metavar="TIME", help="When it expires.")],
    "ttl_days": Annotated[int | None, typer.Option(help="Expire it after this many days.")],
    "source": Annotated[Name, typer.Option(metavar="ID", help="The turn it comes from.")],
    "session": Session,
    "speaker": Annotated[Name, typer.Option(help='Who said it: "I" then means them.')],
    "origin": Annotated[Name, typer.Option(help="user, assistant, tool, file or import.")],
    "agent": Agent,
    "project": Project,
    "external_id": Annotated[Name, typer.Option(help="Its id in another system; a memory with a known id is updated.")],
}
_JSON = frozenset(["metadata", "tool_calls", "tool_results"])


def collect_details(**details: Any) -> Any:
    """Return the given details, with JSON parsed."""
    read = {name: parse_json(value, f"--{name.replace('_', '-')}") if name in _JSON else value for name, value in details.items()}
    return {name: value for name, value in read.items() if value not in (None, [])}


def record(
    call: Call,
    *,
    content: Text,
    role: Annotated[str, typer.Option(help="user, assistant, system or tool.")] = "user",
    session: Session = None,
    speaker: Annotated[Name, typer.Option(help="The speaker's name.")] = None,
    said_at: SaidAt = None,
    tool_calls: Annotated[Name, typer.Option(metavar="JSON", help='A list such as [{"name": "bash", "input": {…}}].')] = None,
    tool_results: Annotated[Name, typer.Option(metavar="JSON", help='A list such as [{"content": "…"}].')] = None,
    metadata: Metadata = None,
    external_id: External = None,
    parent: Annotated[Name, typer.Option(help="The external id of the turn it follows.")] = None,
    agent: Agent = None,
    project: Project = None,
    key: Key = None,
) -> None:
    """
    Store one message of a conversation, word for word.

    It is on disk when this returns. What users say about themselves, people they know and their preferences is
    learned at once and printed. To store whole conversations, use yiku import.

    \b
    yiku record "My sister Ann is allergic to peanuts." --session s1
    yiku record 好的，记下了。 --role assistant --session s1
    """
    details: TurnDetails = collect_details(
        session=session,
        speaker=speaker,
        said_at=said_at,
        tool_calls=tool_calls,
        tool_results=tool_results,
        metadata=metadata,
        external_id=external_id,
        parent=parent,
        agent=agent,
        project=project,
    )
    with call.memory() as memory:
        call.admit(memory)
        said = text(content, "content")
        began = datetime.now().astimezone()
        turn = memory.record_turn(cast("Any", role), said, idempotency_key=key, **details)
        lines = [f"{terminal.paint('recorded', 'green')} {terminal.source(turn)}"]
        learned, taken_back = list[SemanticMemory](), list[SemanticMemory]()
        if turn.recorded_at >= began:  # else it was known, and what it taught was told then
            with suppress(YikuError):  # the turn is kept, whatever can be said of it
                learned, taken_back = _taught(memory, turn)
                lines += _lessons(memory, learned, taken_back)
    data = {"learned": [json_output.item(one) for one in learned], "taken_back": [json_output.item(one) for one in taken_back]}
    call.answer({"turn": json_output.item(turn), **data}, lines)
    call.tell_masked((said, details), turn)


def _taught(memory: Memory, turn: Turn) -> tuple[list[SemanticMemory], list[SemanticMemory]]:
    """Return what was learned from a turn just recorded, and what it retracted."""
    done = [row for row in memory.admin.journal(limit=LOOKED_AT) if row.operation == "remember" and row.at >= turn.recorded_at]
    if not done:
        return [], []
    said = memory.get_all(where={"said_at": turn.said_at})
    learned = [one for one in reversed(said) if any(source.turn == turn.id for source in one.sources)]
    if not any(row.reason == RETRACTED for row in done):
        return learned, []
    archived = {"state": "archived", "updated_at": {"gte": turn.recorded_at}}
    return learned, [one for one in memory.get_all(where=archived, order="updated") if one.reason == RETRACTED]


def _lessons(memory: Memory, learned: Iterable[SemanticMemory], taken_back: Iterable[SemanticMemory]) -> Iterator[str]:
    """Yield a line for each statement learned or retracted."""
    for one in learned:
        before = [version for version in memory.history(one.id) if version.superseded_by == one.id]
        instead = f", instead of {_quote(before[-1].content)}" if before else ""
        what = f"{one.kind.value} {_quote(one.content)}{terminal.marks(one)} {terminal.short(one.id)}"
        yield f"  {terminal.paint('learned', 'green')}: {what}{instead}"
    for one in taken_back:
        now = [version for version in memory.history(one.id) if version.live]
        again = f"; it is again {_quote(now[-1].content)}" if now else ""
        yield f"  {terminal.paint('taken back', 'yellow')}: {_quote(one.content)} {terminal.short(one.id)}{again}"


def _quote(text: str) -> str:
    return f'"{terminal.cut(terminal.flat(text), QUOTED_CELLS)}"'


@takes(DETAILS)
def remember(
    call: Call,
    *,
    statement: Text,
    key: Key = None,
    despite_erasure: Annotated[bool, typer.Option("--despite-erasure", help="Store it even if it was erased before.")] = False,
    dry_run: DryRun = False,
    **details: Any,
) -> None:
    """
    Store a statement; it replaces an earlier one.

    \b
    yiku remember "I live in Oslo."
    yiku remember "我喜欢乌龙茶。" --tag tea
    yiku remember "Ship in June" --subject App --predicate deadline --object June
    """
    with call.memory() as memory:
        call.admit(memory)
        said = text(statement)
        details_ = collect_details(**details)
        done = memory.remember(said, idempotency_key=key, despite_erasure=despite_erasure, dry_run=dry_run, **details_)
    if isinstance(done, Refused):
        again = "; --despite-erasure keeps it again" if done.why.startswith("erased") else ""
        call.answer(
            json_output.outcome(done, dry_run),
            [f"{terminal.paint('refused', 'yellow')}  {call.reaching(done.why)}{again}"],
            refused=True,
        )
        raise typer.Exit(REFUSED)
    call.answer(json_output.outcome(done, dry_run), describe_outcome(call, done, dry_run))
    call.tell_masked((said, details), done.memory.content)


def describe_outcome(call: Call, done: Outcome, dry_run: bool = False, *, word: str | None = None) -> Iterator[str]:
    """Yield the outcome of a statement for people; `word` replaces the outcome's name."""
    name = type(done).__name__.lower()
    word = word or WORDS.get(name, name)
    memory = done.memory
    yield f"{terminal.paint(word, 'yellow' if name in ('flagged', 'retracted') else 'green')}  {terminal.flat(memory.content)}"
    for label, place in (("instead of", "replaced"), ("now", "current"), ("and", "said")):
        other = getattr(done, place, None)
        if other is not None:
            yield f"  {label}: {terminal.flat(other.content)} {terminal.paint(f'(said {terminal.day(other.said_at)})', 'dim')}"
    for other in getattr(done, "others", ()):
        where = terminal.paint(f"({terminal.short(other.id)}, said {terminal.day(other.said_at)})", "dim")
        yield f"  with: {terminal.flat(other.content)} {where}"
    known = f"{memory.subject} | {memory.predicate}" if memory.predicate else "no slot"
    tail = "nothing was written" if dry_run else f"undo with: {call.command('undo', done.operation)}"
    yield terminal.paint(terminal.harmless(f"  {terminal.short(memory.id)} · {memory.kind.value} · {known} · {tail}"), "dim")


@takes(DETAILS)
def update(
    call: Call,
    *,
    id: Id,
    statement: Annotated[Name, typer.Argument(metavar="TEXT", help="The new text; - reads it from stdin.")] = None,
    **details: Any,
) -> None:
    """
    Change the text of a memory, or its details.

    A new text makes a new version; the old one stays in its history.

    \b
    yiku update 3f2a91bc "The retry limit is 5."
    yiku update 3f2a91bc --importance 0.9 --tag 茶
    """
    with call.memory() as memory:
        call.admit(memory)
        said = None if statement is None else text(statement)
        found = memory.update(id, said, **collect_details(**details))
    line = f"{terminal.paint('updated', 'green')}  {terminal.flat(found.content)}{terminal.marks(found)}"
    call.answer({"memory": json_output.item(found)}, [line, terminal.paint(f"  {terminal.source(found)}", "dim")])
    call.tell_masked((said, details), found.content if said is not None else "")


def feedback(
    call: Call, *, id: Id, access: Annotated[str, typer.Argument(metavar="retrieved|used|mentioned", help="How it was used.")]
) -> None:
    """Count that a memory was retrieved, used or mentioned."""
    with call.memory() as memory:
        found = memory.feedback(id, cast("Any", access))
    counts = f"retrieved {found.retrieved}, used {found.used}, mentioned {found.mentioned}"
    call.answer(
        {"memory": json_output.item(found)},
        [f"{terminal.paint('counted', 'green')}  {terminal.flat(found.content)}", terminal.paint(f"  {counts}", "dim")],
    )


def forget(
    call: Call,
    *,
    id: Annotated[Name, typer.Argument(metavar="ID", help="A memory or a turn.")] = None,
    session: Annotated[Name, typer.Option(help="Everything in this session.")] = None,
    since: Annotated[Name, typer.Option(metavar="TIME", help="Everything said since then.")] = None,
    until: Annotated[Name, typer.Option(metavar="TIME", help="Everything said until then.")] = None,
    reason: Annotated[Name, typer.Option(help="Why; stored in the journal.")] = None,
    hard: Annotated[bool, typer.Option("--hard", help="Erase permanently, like yiku erase.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    dry_run: DryRun = False,
) -> None:
    """
    Hide a memory, a message or a session from all results.

    A time range can be hidden too. What is hidden stays on disk, and yiku restore or yiku undo brings it back. To
    remove it for good, use yiku erase.

    \b
    yiku forget 3f2a91bc --reason "no longer true"
    yiku forget --session s1
    """
    if hard:
        from yiku.interfaces.cli.erase import erase

        if reason is not None:
            raise InvalidInput("--hard erases permanently, so it takes no --reason")
        return erase(call, id=id, session=session, since=since, until=until, yes=yes, dry_run=dry_run)
    with call.memory() as memory:
        if id is None and not yes and not dry_run and (session or since or until):
            _confirm(call, memory.forget(session=session, since=since, until=until, dry_run=True))
        done = memory.forget(id, session=session, since=since, until=until, reason=reason, dry_run=dry_run)
    call.answer(json_output.forgotten(done, dry_run), describe_moved(call, done, "would forget" if dry_run else "forgot"))


def _confirm(call: Call, meant: Forgotten) -> None:
    """Ask before forgetting more than one thing; refuse without a terminal."""
    much = f"{terminal.plural(len(meant.turns), 'turn')} and {terminal.plural(len(meant.memories), 'memory', 'memories')}"
    if call.json or not sys.stdin.isatty():
        raise InvalidInput(f"this forgets {much}: add --yes to confirm, or --dry-run to list them")
    typer.confirm(f"Forget {much}?", abort=True, err=True)


def describe_moved(call: Call, done: Forgotten, word: str) -> Iterator[str]:
    """Yield what was forgotten or restored, for people."""
    if not done.memories and not done.turns:
        yield "nothing to forget"
        return
    items: list[SemanticMemory | Turn] = [*done.memories, *done.turns]
    for found in items:
        yield f"{terminal.paint(word, 'yellow')}  {terminal.cut(terminal.flat(found.content), (terminal.width() or 10_000) - len(word) - 2)}"
        yield terminal.paint(f"  {terminal.source(found)}", "dim")
    if done.operation:
        yield terminal.paint(f"  undo with: {call.command('undo', done.operation)}", "dim")


def restore(call: Call, *, id: Id) -> None:
    """Bring back something that was forgotten."""
    with call.memory() as memory:
        done = memory.restore(id)
    call.answer(json_output.forgotten(done, False), describe_moved(call, done, "restored"))


def undo(
    call: Call,
    *,
    operation: Annotated[
        str, typer.Argument(metavar="NUMBER|RUN", help="The number printed by the change, or listed by yiku journal; or a run.")
    ],
    item: Annotated[int | None, typer.Argument(metavar="ITEM", help="Only this decision of the run, by its number.")] = None,
    dry_run: DryRun = False,
) -> None:
    """
    Undo one change, by its number, or a run.

    Of a run, what somebody changed since stays as it is, and is listed.

    \b
    yiku undo 1042
    yiku undo "night 2026-03-02 03:00" 3 --dry-run
    """
    if operation.isdecimal() and len(operation) < RUN_DIGITS:
        if item is not None:
            raise InvalidInput("an operation has no items; name its run")
        _undo_operation(call, int(operation), dry_run)
        return
    if operation.isdecimal() and item is None:
        with suppress(NotFound):  # then it is the end of a run's name that has no letter
            _undo_operation(call, int(operation), dry_run)
            return
    _undo_run(call, operation, item, dry_run)


def _undo_operation(call: Call, number: int, dry_run: bool) -> None:
    with call.memory() as memory:
        done = memory.admin.undo(number, dry_run=dry_run)
    start = f"{terminal.paint('would undo', 'yellow')}" if dry_run else f"{terminal.paint('undone', 'green')}"
    again = "" if dry_run else f"; again with: {call.command('undo', done.operation)}"
    call.answer(cast(dict[str, Any], json_output.plain(done)), [f"{start}  operation {done.undone}: {_undone(done)}{again}"])


def _undone(done: Undone | RunUndone) -> str:
    much = f"{terminal.plural(done.memories, 'memory', 'memories')}, {terminal.plural(done.turns, 'turn')}"
    if done.records:
        much += f", {terminal.plural(done.records, 'episode or other record', 'episodes and other records')}"
    return much


def _undo_run(call: Call, run: str, item: int | None, dry_run: bool) -> None:
    with call.memory() as memory:
        done = memory.admin.undo_run(run, item, dry_run=dry_run)
    start = terminal.paint("would undo", "yellow") if dry_run else terminal.paint("undone", "green")
    lines = [f"{start}  {terminal.plural(len(done.items), 'item')} of {terminal.flat(done.run)}: {_undone(done)}"]
    lines += [f"  left as it is: item {one.item}, {terminal.flat(call.reaching(one.why))}" for one in done.skipped]
    if done.operation:
        lines.append(terminal.paint(f"  again with: {call.command('undo', done.operation)}", "dim"))
    call.answer(cast(dict[str, Any], json_output.plain(done)), lines, wanted=bool(done.skipped))
