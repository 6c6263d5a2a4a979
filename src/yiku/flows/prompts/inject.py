"""
Choose what a hook injects into a user's prompt: standing rules once a session, and memories that certainly apply.

What was brought in once is in the agent's context until it compresses that, so it is not repeated: the home remembers the ids by
session, no text (files/inbox.py). Turns of the session itself are in the context anyway. The text is fenced and sealed, like
that of `context`; nothing fits means no text at all.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from yiku.errors import StoreError
from yiku.files import inbox
from yiku.flows.common import checks, intake
from yiku.flows.common.handle import Handle
from yiku.flows.find.context import INJECTED, language
from yiku.flows.find.recall import recall, report_shown
from yiku.flows.find.standing_rules import standing_rules, without
from yiku.rules.finding import pack
from yiku.rules.privacy import fence
from yiku.rules.prompts import gate
from yiku.rules.sessions.agent_events import without_injected
from yiku.types import Context, Hit, Turn

TOKENS = 300  # of memories beside a prompt (C-02)
RULES_TOKENS = 300  # of standing rules, once a session
LOOKED_AT = 10  # hits, before the gate
PROMPT_CHARS = 4_000  # of a prompt that is longer the end, where the question stands


def inject(
    handle: Handle,
    session: str,
    prompt: str | None = None,
    *,
    project: str | None = None,
    restarted: bool = False,
    count: bool = True,
) -> Context:
    """Return what belongs into a prompt, and note that it is there. See Prompts.inject."""
    checks.flag(count, "count")
    name, key = _session(handle, session)
    given = "" if prompt is None else checks.text(prompt, "prompt", at_most=checks.CONTENT_BYTES, empty=True)
    asked = fence.strip_all(without_injected(given)).strip()  # Gemini CLI puts what hooks said before in front of a prompt
    project = checks.optional_name(project, "project")
    known = None if checks.flag(restarted, "restarted") else inbox.shown(handle.paths).get(key)
    spoken = language(handle, asked)
    rules, further = _rules(handle, name, project) if known is None else ((), 0)
    standing = pack.standing_rules(rules, int(RULES_TOKENS / pack.RULES_SHARE), spoken, further=further)
    there = {*(known or ()), *(hit.id for hit in standing.shown)}
    hits = [hit for hit in _fitting(handle, name, asked[-PROMPT_CHARS:]) if hit.id not in there] if asked else []
    room = TOKENS + (RULES_TOKENS if standing.lines else 0)
    packed = pack.pack(without(hits, standing.shown), room, spoken, seal=handle.seal, rules=standing)
    with suppress(StoreError, OSError):  # a prompt is worth more than a count
        inbox.set_shown(handle.paths, key, [*(known or ()), *(hit.id for hit in (*standing.shown, *packed.hits))])
        if count:
            report_shown(handle, packed)
    return packed


def forget(handle: Handle, session: str) -> None:
    """Forget what was brought into a session's prompts: its agent has compressed its context. See Prompts.compressed."""
    with suppress(OSError):
        inbox.set_shown(handle.paths, _session(handle, session)[1], None)


def _session(handle: Handle, session: str) -> tuple[str, str]:
    """The name of a session, and a key under which nothing of that name is kept."""
    handle.store.upkeep.ensure_open()
    name = intake.name(handle, session, "session")
    return name, handle.scope_seal(f"session\0{name}").hex()


def _rules(handle: Handle, session: str, project: str | None) -> tuple[tuple[Hit, ...], int]:
    own = replace(handle, settings=replace(handle.settings, project=project)) if project else handle
    return standing_rules(own, limit=RULES_TOKENS // pack.RULE_TOKENS, session=session)


def _fitting(handle: Handle, session: str, asked: str) -> list[Hit]:
    how = handle.settings.auto_recall
    if how == "off":
        return []
    found = recall(handle, asked, limit=LOOKED_AT, types=INJECTED, session=session)
    hits = gate.certain(asked, found.hits) if how == "gated" else [*found.hits]
    return [hit for hit in hits if not (isinstance(hit.item, Turn) and hit.item.session == session)]
