"""
Compress (record, learn, make an episode) and end sessions, list them, set variables; render episodes as Markdown.

Nothing here needs a model. An episode is told by rules from the turns and the calls of tools in them, at once; where there
is a model, a job is queued, and its telling takes the place of the summary when it comes. Every step is done in a
transaction of its own and can be done again: turns that are recorded are known again, an episode of the same turns is the same.
One process at a time compresses or ends: of two that hand in the same messages, the second finds them.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain
from typing import Any

from yiku.errors import InvalidInput, NotFound, StoreBusy
from yiku.flows.common import checks, intake, pause
from yiku.flows.common.handle import Handle, content_hash
from yiku.flows.find import context
from yiku.flows.find.standing_rules import ended_with, goes_on, put_away_with
from yiku.flows.keep import attach, record, scratchpad
from yiku.flows.keep import messages as shapes
from yiku.flows.learn import at_once, by_rules, episodes, learn
from yiku.rules.deciding import retention
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.privacy import fence
from yiku.rules.sessions import episodes as rules
from yiku.rules.text.analyze import language_of
from yiku.store.api import one_at_a_time
from yiku.types import (
    Change,
    Compressed,
    Ended,
    Episode,
    Memories,
    Records,
    Scratchpad,
    Session,
    SetSession,
    State,
    Turn,
    Turns,
    UpdateMemory,
)

VARIABLES_BYTES = 16_384
TOLD_BY = ("session_end", "daily_consolidation")  # episodes whose turns the next one of a session does not tell again


# ------------------------------------------------------------------ compression


def compress(handle: Handle, messages: Iterable[Mapping[str, Any]], *, session: str, summary: str | None = None) -> Compressed:
    """
    Record messages that leave a host's context, learn from them, and create an episode.

    summary: the host's own, where it has one; it is kept as it is
    """
    pause.raise_if_paused(handle)
    name = intake.name(handle, session, "session")
    given = [shapes.to_turn(handle, message, strict=False) for message in _check_list(messages, "messages")]
    if summary is not None:
        summary = intake.clean(handle, checks.text(summary, "summary"))
    if not given:
        raise InvalidInput("messages must hold at least one message with role and content")
    with _one_at_a_time(handle):
        began = handle.now()
        turns, recorded = _record(handle, given, name)
        if not turns:
            return Compressed(None, recorded, 0, {})
        outcomes = Counter[str]()
        for turn in turns:
            outcomes.update(at_once.learn_from(handle, turn))
            by_rules.update_scratchpad(handle, turn, again=turn.recorded_at < began)
        episode = episodes.create(handle, turns, "context_compress", summary)
        return Compressed(episode, recorded, len(turns) - recorded, dict(outcomes))


def compress_recorded(handle: Handle, session: str) -> Episode | None:
    """Compress the turns of a session that are recorded and in no episode of a compression yet; None where there are none."""
    pause.raise_if_paused(handle)
    name = intake.name(handle, session, "session")
    with _one_at_a_time(handle):
        own, began = handle.own(), handle.now()
        ends = [one.last_turn for one in episodes.of_session(handle, name) if one.source == "context_compress" and one.last_turn]
        last = max((turn.n for turn in handle.store.turns(own, Turns(ids=ends, hidden=True))), default=None) if ends else None
        turns = handle.store.turns(own, Turns(session=name, after=last, limit=episodes.MOST_TURNS)) if own else []
        for turn in turns:
            at_once.learn_from(handle, turn)
            by_rules.update_scratchpad(handle, turn, again=turn.recorded_at < began)
        return episodes.create(handle, turns, "context_compress", None) if turns else None


def _one_at_a_time(handle: Handle) -> AbstractContextManager[None]:
    return one_at_a_time(
        handle.paths.locks / "sessions.lock", "another process ends or compresses a session", handle.settings.busy_timeout_s
    )


def _check_list(given: Any, name: str) -> list[Any]:
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InvalidInput(f"{name} must be a list of objects")
    return [*given]


def _record(handle: Handle, drafts: Sequence[record.Draft], session: str) -> tuple[list[Turn], int]:
    """Record messages that are new; known ones are matched by id, or by role and words in order."""
    own = handle.own()
    there = handle.store.turns(own, Turns(session=session, hidden=True)) if own else []
    by_id = {turn.external_id: turn for turn in there if turn.external_id is not None}
    by_words: dict[Any, deque[Turn]] = {}
    for turn in there:
        by_words.setdefault(_words(turn.role, turn.content_hash, turn.content, turn), deque()).append(turn)
    known: dict[int, Turn] = {}
    fresh: list[record.Draft] = []
    for place, (message, files) in enumerate(drafts):
        external = message.get("external_id")
        text = _as_kept(handle, checks.text(message.get("content", ""), "content", at_most=checks.CONTENT_BYTES, empty=True))
        words = _words(str(message.get("role")), content_hash(text), text, message)
        same = [turn for turn in by_words.get(words, ()) if external is None or turn.external_id is None]
        if isinstance(external, str) and external in by_id:
            known[place] = by_id[external]
        elif same:
            known[place] = same[0]
            by_words[words].remove(same[0])
        else:
            fresh.append((message, files))
    ids = record.store_turns(handle, fresh, session=session)[0].ids if fresh else ()
    stored = handle.store.turns(handle.own(), Turns(ids=ids, hidden=True)) if ids else []
    return sorted([*known.values(), *stored], key=lambda turn: turn.position), len(stored)


def _words(role: str, hash: bytes, text: str, turn: Turn | Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the key by which a message equals a turn: role and words, or tool data."""
    if text.strip():
        return role, hash
    given = (turn.tool_calls, turn.tool_results) if isinstance(turn, Turn) else (turn.get("tool_calls"), turn.get("tool_results"))
    calls, results = (one or () for one in given)
    return role, hash, *(str(one.get("id")) for one in calls), *(str(one.get("tool_use_id")) for one in results)


def _as_kept(handle: Handle, text: str) -> str:
    return intake.clean(handle, fence.strip_ours(text, handle.seal).text)


# ------------------------------------------------------------------ the end of a session


def end(handle: Handle, session: str, *, budget_s: float = 5.0) -> Ended:
    """
    End a session: episode, scratchpad, model jobs, and expiry of session memories.

    budget_s: how long the model is asked, where there is one; what is left waits
    """
    pause.raise_if_paused(handle)
    name = intake.name(handle, session, "session")
    with _one_at_a_time(handle):
        ended = _end(handle, name)
    if handle.chat() is None or not budget_s > 0:
        return ended
    try:
        report = learn.learn(handle, budget_s=budget_s, session=name, everything=True)
    except StoreBusy:  # somebody is learning already, and will come to it
        report = None
    episode = ended.episode and handle.store.records(Episode, handle.own(), Records(ids=[ended.episode.id]))[0]
    return replace(ended, episode=episode, model=report)


def _end(handle: Handle, name: str) -> Ended:
    """End a session, without a model."""
    now, own = handle.now(), handle.own()
    turns = _since_last(handle, name) if own else []
    if not turns and not (own and handle.store.turns(own, Turns(session=name, hidden=True, limit=1))):
        raise NotFound(f"there is no turn in session {checks.shown(name)}", "`yiku sessions` lists the sessions.")
    learned: Counter[str] = Counter()
    for turn in turns:
        learned.update(at_once.learn_from(handle, turn))
        by_rules.update_scratchpad(handle, turn, again=True)
    with handle.store.exclusive():  # a learner notes them, too
        if own and (files := attach.find_in_turns(handle, own[0], turns)):
            handle.store.apply(handle.writes(), files, handle.cause("attach"))
    episode = None
    for start in range(0, len(turns), episodes.MOST_TURNS):
        episode = episodes.create(handle, turns[start : start + episodes.MOST_TURNS], "session_end", None)
    done = episode is not None and episode.outcome == "success"
    pad = scratchpad.finish(handle, episode) if episode is not None and done else scratchpad.shown(handle)
    expired = _expire(handle, name)
    handle.store.apply(handle.writes(), [SetSession(name, {"closed_at": now})], handle.cause("end session"))
    return Ended(episode, pad, expired, dict(learned), None)


def _since_last(handle: Handle, session: str) -> list[Turn]:
    """Return the turns that no episode covers yet."""
    ends = {episode.last_turn for episode in episodes.of_session(handle, session) if episode.source in TOLD_BY}
    covered = handle.store.turns(handle.own(), Turns(ids=[id for id in ends if id], hidden=True))
    return handle.store.turns(handle.own(), Turns(session=session, after=max((turn.n for turn in covered), default=None)))


def _expire(handle: Handle, session: str) -> int:
    """Expire memories of this session; rules for a task a day later, again where it went on since its last end."""
    now, changes = handle.now(), list[Change]()
    before, own = handle.store.sessions(handle.writes(), id=session), handle.own()
    where = checks.where({"metadata.until_session": session}, now=now)
    live = handle.store.memories(own, Memories(where=where, states=(State.ACTIVE,), current=True))
    for memory in chain(live, *(put_away_with(handle, own, one) for one in before if goes_on(one))):
        ends = retention.until(memory.kind, session=True, now=now, session_ends=now).expires_at or now
        moves = any(goes_on(one) and ended_with(memory, one) for one in before)
        if memory.expires_at is None or ends < memory.expires_at or moves:
            changes.append(UpdateMemory(memory.n, {"expires_at": ends}, index_tokens(memory)))
    if changes:
        handle.store.apply(handle.writes(), changes, handle.cause("end session", f"session {session} is over"))
    return len(changes)


# ------------------------------------------------------------------ state


def state(handle: Handle, session: str) -> Session:
    """Return a session with times, variables and task. Raises NotFound."""
    name, own = intake.name(handle, session, "session"), handle.own()
    found = handle.store.sessions(own[0], id=name) if own else []
    if not found:
        raise NotFound(f"there is no session {checks.shown(name)}", "`yiku sessions` lists the sessions.")
    return found[0]


def listed(handle: Handle, *, limit: int = 50) -> list[Session]:
    """Return sessions of this scope, newest first."""
    most, own = checks.integer(limit, "limit"), handle.own()
    return handle.store.sessions(own[0], limit=most) if own else []


def set_variables(handle: Handle, session: str, variables: Mapping[str, Any], task: str | None = None) -> None:
    """Set variables of a session; None deletes one."""
    pause.raise_if_paused(handle)
    name, given = intake.name(handle, session, "session"), intake.clean(handle, checks.metadata(dict(variables)))
    columns: dict[str, Any] = {}
    if task is not None:
        columns["task"] = intake.clean(handle, checks.text(task, "task", at_most=1_000))
    with handle.store.exclusive():  # another may be setting another variable
        own = handle.own()
        known = handle.store.sessions(own[0], id=name) if own else []
        before = known[0].variables if known else {}
        after = {key: value for key, value in {**before, **given}.items() if value is not None}
        if len(json.dumps(after, ensure_ascii=False).encode()) > VARIABLES_BYTES:
            checks.refuse("variables", f"must be at most {VARIABLES_BYTES:,} bytes together")
        handle.store.apply(handle.writes(), [SetSession(name, {**columns, "variables": after})], handle.cause("session"))


# ------------------------------------------------------------------ to read


def to_markdown(handle: Handle, item: Episode | Scratchpad, language: str | None = None) -> str:
    """Render an episode or a scratchpad, in the language asked for, set, or its own."""
    if language is not None and (not isinstance(language, str) or language not in ("en", "zh")):
        checks.refuse("language", "must be en or zh")
    if isinstance(item, Episode):
        chosen = language or handle.settings.language
        return rules.to_markdown(item, language_of(item.summary) if chosen == "auto" else chosen)
    if not isinstance(item, Scratchpad):
        checks.refuse("item", f"must be an episode or a scratchpad, not {type(item).__name__}")
    return scratchpad.markdown(item, language or context.language(handle, item.current_focus))
