"""
Build the system prompt of an agent from its sections: guide, identity, known facts, current work, recalled memories.

Each section is made within its room (rules/prompts/budgets.py). What is made of memories stands in a sealed fence of its own, so
that a section that stays the same has the same bytes, and what a host records of the prompt is known again. Nothing is written
but the count of what was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from yiku.errors import ReadOnly, StorageFull
from yiku.flows.common import checks, prompt_files
from yiku.flows.common.handle import Handle
from yiku.flows.find.context import INJECTED, TOKENS_PER_HIT, nothing_fits
from yiku.flows.find.recall import recall, report_shown
from yiku.flows.find.standing_rules import as_hit, standing_rules, without
from yiku.flows.keep import scratchpad
from yiku.flows.notes.publish import live
from yiku.flows.prompts import core
from yiku.flows.prompts import runtime as environment
from yiku.flows.prompts.identity import POLICIES, Identity
from yiku.rules.finding import pack
from yiku.rules.lexicon.lists import label
from yiku.rules.pages import choosing
from yiku.rules.privacy import fence
from yiku.rules.prompts import budgets, condense, gate, lines
from yiku.rules.prompts.lines import Fitted
from yiku.rules.sessions import scratchpad as pads
from yiku.rules.sessions import tasks
from yiku.rules.text import analyze
from yiku.types import Hit, Kind, Prompt, PromptSection, Scratchpad, SectionName, SemanticMemory

AutoRecall = Literal["off", "gated", "always"]
TOOLS: Mapping[str, str] = {"search": "memory_search", "traces": "memory_traces", "add": "memory_add"}  # as the guide names them
DASHES = 10  # tokens, before lines of a scratchpad that are no list
RULES_AT_MOST = budgets.MOST["rules"] // pack.RULE_TOKENS  # that are looked at
MOST_TOKENS = 100_000
FEWEST_TOKENS = 50
HOST_CHARS = 1_000_000  # of a text that the host gives


@dataclass(slots=True)
class _Draft:
    """
    A prompt while it is made.

    shown: the memories that stand in it; said: all that they say, as `analyze.plain` has it, so that nothing stands there twice
    """

    handle: Handle
    identity: Identity
    message: str
    session: str | None
    language: str
    persona: str | None
    auto_recall: AutoRecall
    tools: Mapping[str, str]
    rules: Sequence[Hit]
    more_rules: int
    rows: Sequence[SemanticMemory]
    host: Mapping[str, str]
    runtime: Sequence[str]
    pad: Scratchpad
    task: str = ""
    shown: list[Hit] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    hits: tuple[Hit, ...] = ()
    diagnostics: list[str] = field(default_factory=list)

    def show(self, hits: Sequence[Hit]) -> None:
        """Note memories that stand in the prompt now."""
        self.shown += hits
        self.said |= {analyze.plain(hit.text) for hit in hits}

    def label(self, name: str) -> str:
        """A label in the language of the prompt."""
        return label(f"prompt.{name}", self.language)


def build(
    handle: Handle,
    message: str | None = None,
    *,
    session: str | None = None,
    max_tokens: int | None = None,
    auto_recall: AutoRecall | None = None,
    persona: str | None = None,
    runtime: bool | Mapping[str, str] = False,
    session_rules: str | None = None,
    catalogs: str | None = None,
    tools: Mapping[str, str] | None = None,
    user: str | None = None,
) -> Prompt:
    """Return the system prompt for a message; see Prompts.build."""
    total = handle.settings.prompt_tokens if max_tokens is None else max_tokens
    total = checks.integer(total, "max_tokens", at_least=FEWEST_TOKENS, at_most=MOST_TOKENS)
    if persona is not None:
        handle = replace(handle, settings=replace(handle.settings, persona=checks.name(persona, "persona")))
    draft = _draft(
        handle,
        message,
        session=session,
        auto_recall=auto_recall,
        runtime=runtime,
        host={"session_rules": session_rules, "catalogs": catalogs},
        tools=tools,
        user=user,
    )
    made = {name: make(draft, budgets.MOST[name]) for name, make in _SECTIONS.items()}
    sizes = {name: one.tokens for name, one in made.items()}
    if (rooms := budgets.rooms(sizes, total)) != sizes:
        draft.shown, draft.said = [], set()
        made = {name: make(draft, rooms[name]) for name, make in _SECTIONS.items()}
    with suppress(ReadOnly, StorageFull):  # a prompt is worth more than a count
        report_shown(handle, draft.hits)
    return _prompt(draft, made, total)


def _draft(
    handle: Handle,
    message: str | None,
    *,
    session: str | None,
    auto_recall: str | None,
    runtime: bool | Mapping[str, str],
    host: Mapping[str, str | None],
    tools: Mapping[str, str] | None,
    user: str | None,
) -> _Draft:
    """Check what the host gives, and read what the sections are made of."""
    how = handle.settings.auto_recall if auto_recall is None else auto_recall
    if how not in ("off", "gated", "always"):
        checks.refuse("auto_recall", "must be off, gated or always")
    said = "" if message is None else fence.strip_all(checks.text(message, "message", empty=True))
    running = checks.optional_name(session, "session")
    rules, further = standing_rules(handle, limit=RULES_AT_MOST, session=running)
    rows = core.statements(handle)
    pad = scratchpad.shown(handle, checks.optional_name(user, "user"))
    language = _language(handle, rows, said or pad.current_focus)
    return _Draft(
        handle=handle,
        identity=Identity(handle),
        message=said,
        session=running,
        language=language,
        persona=handle.settings.persona,
        auto_recall=how,  # type: ignore[arg-type]  # it was looked at
        tools={**TOOLS, **_tools(tools or {})},
        rules=rules,
        more_rules=further,
        rows=rows,
        host={name: checks.text(text, name, at_most=HOST_CHARS, empty=True) for name, text in host.items() if text is not None},
        runtime=environment.lines(handle, runtime, language),
        pad=pad,
        task=tasks.task(said) if said.strip() else "",
    )


def _tools(tools: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(tools, Mapping) or not set(tools) <= set(TOOLS):
        checks.refuse("tools", f"must map some of {', '.join(TOOLS)} to names of the host's tools")
    return {name: checks.name(tool, "tools") if tool != "" else "" for name, tool in tools.items()}


def _language(handle: Handle, rows: Sequence[SemanticMemory], said: str) -> str:
    """The language as set; else that of what is known, so that it is the same for each message; else that of the message or task."""
    if (chosen := handle.settings.language) != "auto":
        return chosen
    return analyze.language_of(" ".join(row.content for row in rows) if rows else said)


# ------------------------------------------------------------------ sections


def _guide(draft: _Draft, room: int) -> Fitted:
    """What memory there is, and how to search it in two levels, in the user's language."""
    entries = prompt_files.text("guide", draft.language).strip().splitlines()
    hidden = [f"{{{part}}}" for part, tool in draft.tools.items() if not tool]
    shown = [line for line in entries if not any(part in line for part in hidden)]
    return lines.fit([line.format(**draft.tools) for line in shown], room)


def _identity(draft: _Draft, room: int) -> Fitted:
    """Who the agent is and how it works, in its own words: not fenced."""
    heading = draft.label("identity")
    left = room - lines.frame(heading, None)
    parts = [draft.identity.summary(name) for name in budgets.SHARES]
    if sum(map(condense.size, parts)) > left:
        least = sum(budgets.SHARES.values())
        parts = [draft.identity.summary(name, left * share // least) for name, share in budgets.SHARES.items()]
    return lines.fit([*dict.fromkeys(line for part in parts for line in part.splitlines())], room, heading=heading)


def _persona(draft: _Draft, room: int) -> Fitted:
    """The active persona, in the words of whoever wrote it; what memory learned of the user's wishes stands behind it, quoted."""
    if draft.persona is None:
        return Fitted("")
    learned = _style(draft, room // 2)
    text = draft.identity.persona(draft.persona, left := room - learned.tokens)
    return lines.together(lines.fit(text.splitlines(), left, heading=draft.label("persona").format(draft.persona)), learned)


def _style(draft: _Draft, room: int) -> Fitted:
    """How the user likes to be answered."""
    entries = [lines.quote_line(line) for line in draft.identity.summary("persona").splitlines()]
    return lines.fit(entries, room, heading=draft.label("style"), omitted=draft.label("left_out"), seal=draft.handle.seal)


def _session_rules(draft: _Draft, room: int) -> Fitted:
    """The rules of this home's sessions, then the host's."""
    entries = [*lines.own(draft.identity.source(POLICIES)), *lines.own(draft.host.get("session_rules", ""))]
    return lines.fit(entries, room, heading=draft.label("session_rules"), omitted=draft.label("left_out"))


def _catalogs(draft: _Draft, room: int) -> Fitted:
    """What the host offers: tools, skills, servers."""
    entries = lines.own(draft.host.get("catalogs", ""))
    return lines.fit(entries, room, heading=draft.label("catalogs"), omitted=draft.label("left_out"))


def _user(draft: _Draft, room: int) -> Fitted:
    """The profile of the user; without a persona also how they like to be answered."""
    entries = [lines.quote_line(line) for line in draft.identity.summary("user").splitlines()]
    known = lines.fit(entries, room, heading=draft.label("user"), omitted=draft.label("left_out"), seal=draft.handle.seal)
    draft.said |= {analyze.plain(entries[place].removeprefix("- ")) for place in known.shown}
    return known if draft.persona is not None else lines.together(known, _style(draft, room - known.tokens))


def _rules(draft: _Draft, room: int) -> Fitted:
    """What the user asked for, for good, or for this session: the newest first."""
    entries = [pack.statement(rule, draft.language) for rule in draft.rules]
    fitted = lines.fit(
        entries,
        room,
        heading=label("context.rules", draft.language),
        omitted=label("context.rules_left_out", draft.language),
        further=draft.more_rules,
        seal=draft.handle.seal,
    )
    draft.show([draft.rules[place] for place in fitted.shown])
    return fitted


def _core(draft: _Draft, room: int) -> Fitted:
    """What MEMORY.md shows, as memory has it now, but for the rules: preferences and facts first, five of a kind."""
    handle = draft.handle
    found, _ = choosing.sections(choosing.MEMORY, draft.rows, handle.now(), draft.language)
    by_id = {row.id: row for row in draft.rows}
    chosen = [by_id[one.id] for _, some in found for one in some if by_id[one.id].kind is not Kind.RULE]
    fresh = [row for row in chosen if analyze.plain(row.content) not in draft.said]
    hits = [as_hit(row) for row in handle.store.with_details(fresh)]
    further = max(0, live(handle, handle.settings.project) - len(draft.rules) - draft.more_rules - len(chosen))
    fitted = lines.fit(
        [pack.statement(hit, draft.language) for hit in hits],
        room,
        heading=draft.label("core"),
        omitted=draft.label("in_memory"),
        further=further,
        seal=handle.seal,
    )
    draft.show([hits[place] for place in fitted.shown])
    return fitted


def _scratchpad(draft: _Draft, room: int) -> Fitted:
    """The current task, as the message has it, the next steps, open questions, recent tasks."""
    pad = draft.pad
    if draft.message.strip():
        settings = draft.handle.settings
        pad = pads.follow(pad, draft.message, now=draft.handle.now(), session=draft.session, project=settings.project)
    heading = draft.label("scratchpad")
    text = pads.for_prompt(pad, draft.language, room - lines.frame(heading, draft.handle.seal) - DASHES)
    return lines.fit(_listed(text, draft.language), room, heading=heading, seal=draft.handle.seal) if text else Fitted("")


def _listed(text: str, language: str) -> list[str]:
    """The lines of a scratchpad: a heading of ours stays one, all else is quoted."""
    ours = {f"## {label(f'scratchpad.{name}', language)}" for name in pads.SECTIONS}
    return [line if line in ours else lines.quote_line(line) for line in text.splitlines() if line.strip()]


def _runtime(draft: _Draft, room: int) -> Fitted:
    """Where the agent runs."""
    return lines.fit(draft.runtime, room, heading=draft.label("runtime"), omitted=draft.label("left_out"))


def _recalled(draft: _Draft, room: int) -> Fitted:
    """What memory has on the message: with `gated` only what surely belongs to it, and nothing that stands in the prompt already."""
    draft.hits = ()
    if draft.auto_recall == "off" or not draft.message.strip() or not room:
        return Fitted("")
    handle = draft.handle
    asked = draft.message[: checks.QUESTION_CHARS]
    limit = max(10, room // TOKENS_PER_HIT)
    found = recall(handle, asked, limit=limit, types=INJECTED, session=draft.session)
    draft.diagnostics = [*found.diagnostics, *nothing_fits(found)]
    if not found.fits:
        return Fitted("")
    hits = gate.certain(asked, found.hits) if draft.auto_recall == "gated" else [*found.hits]
    hits = [hit for hit in without(hits, draft.shown) if analyze.plain(hit.text) not in draft.said]
    packed = pack.pack(hits, room - 1, draft.language, found.explanation.terms, seal=handle.seal)
    draft.hits = packed.hits
    return Fitted(packed.text, packed.tokens + 1 if packed.text else 0, left_out=packed.omitted)


_SECTIONS: Mapping[SectionName, Callable[[_Draft, int], Fitted]] = {
    "guide": _guide,
    "identity": _identity,
    "persona": _persona,
    "session_rules": _session_rules,
    "catalogs": _catalogs,
    "user": _user,
    "rules": _rules,
    "core": _core,
    "scratchpad": _scratchpad,
    "runtime": _runtime,
    "recalled": _recalled,
}

# ------------------------------------------------------------------ the whole


def _prompt(draft: _Draft, made: Mapping[SectionName, Fitted], total: int) -> Prompt:
    parts = [(name, made[name]) for name in budgets.in_order(made) if made[name].text or made[name].left_out]
    sections = tuple(PromptSection(name, one.text, one.tokens, budgets.BUDGETS[name], one.left_out) for name, one in parts)
    stable = "\n\n".join(one.text for name, one in parts if one.text and name not in budgets.CHANGING)
    changing = "\n\n".join(one.text for name, one in parts if one.text and name in budgets.CHANGING)
    gap = "\n\n" if stable and changing else ""
    return Prompt(
        text=f"{stable}{gap}{changing}",
        tokens=sum(one.tokens for one in sections),
        budget=total,
        stable=len(stable) + len(gap),
        sections=sections,
        task=draft.task,
        language=draft.language,
        hits=draft.hits,
        diagnostics=(*draft.identity.troubles, *draft.diagnostics),
    )
