"""
Create episodes (summaries of a session's turns) by rules, have a model rewrite them, and list them.

It is told by rules at once, with the steps that tools took; where there is a model, a job is queued, and its telling takes
the place of the summary when it comes. An episode of the same turns is the same episode, told anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from yiku.errors import NotFound
from yiku.flows.common import checks, forgotten, intake, prompt_files
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.keep import scratchpad
from yiku.models.api import Message, Schema
from yiku.rules.learning import extraction
from yiku.rules.privacy import fence
from yiku.rules.sessions import episodes as rules
from yiku.rules.text import analyze
from yiku.types import (
    AddJobs,
    Change,
    Episode,
    EpisodeOutcome,
    EpisodeSource,
    Expect,
    Job,
    MarkCompressed,
    Memories,
    Put,
    Records,
    ScratchpadPatch,
    State,
    Tokens,
    Turn,
    Turns,
)

MOST_TURNS = 10_000  # of a session that one episode tells of
TOLD = ("summary", "method", "goal", "outcome", "outcome_reason", "entities", "decisions")  # what a model tells anew
OF_THE_HOST = ("summary", "method")
GIVEN_CHARS = 2_000  # of what tools were given, by which it is found


def of_session(handle: Handle, session: str) -> list[Episode]:
    own = handle.own()
    return handle.store.records(Episode, own, Records(sessions=[session])) if own else []


def create(handle: Handle, given: Sequence[Turn], source: EpisodeSource, summary: str | None) -> Episode:
    """Create or update the episode of these turns."""

    def attempt() -> Episode:
        erasure = handle.store.erasures.last()
        turns = handle.store.turns(handle.own(), Turns(ns=[turn.n for turn in given], hidden=True))  # what is left of them
        if not turns:
            raise NotFound("the turns of this session were erased")
        now, session = handle.now(), turns[0].session
        ends = turns[0].id, turns[-1].id
        known = next((e for e in of_session(handle, session) if (e.first_turn, e.last_turn) == ends), None)
        as_ended = known is not None and known.source == "session_end"
        episode = rules.tell(
            [fence.own_words(turn) for turn in turns],
            id=known.id if known else handle.new_id(now),
            now=now,
            source="session_end" if as_ended else source,
        )
        linked = handle.store.memories(handle.own(), Memories(sourced_in=[turn.id for turn in turns], states=(State.ACTIVE,)))
        episode = replace(episode, linked_memory_ids=tuple(memory.id for memory in linked))
        if known is not None:
            episode = replace(episode, changed=known.changed, created_at=known.created_at, access_count=known.access_count)
            if known.method != "rules":  # what a model told of these turns stays, and what the host did
                kept = OF_THE_HOST if known.method == "host" else TOLD
                episode = replace(episode, **{name: getattr(known, name) for name in kept})
        if summary is not None:
            episode = replace(episode, summary=summary, method="host")
        changes: list[Change] = [Put(episode, tokens(episode))]
        if source == "context_compress":
            changes.append(MarkCompressed([turn.n for turn in turns], episode.id))
        if handle.chat() is not None and episode.method == "rules":
            changes.append(AddJobs([_job(handle, episode)]))
        handle.store.apply(handle.writes(), changes, handle.cause("episode"), Expect(erasure=erasure))
        return handle.store.records(Episode, handle.own(), Records(ids=[episode.id]))[0]

    return retry_if_stale(handle, attempt)


def _job(handle: Handle, episode: Episode) -> Job:
    now = handle.now()
    return Job(kind="episode", session=episode.session, content_hash=episode.id.encode(), due_at=now, created_at=now)


def tokens(episode: Episode) -> Tokens:
    """Return the search tokens of an episode: story, goal, names, tools, decisions."""
    given = " ".join(str(value) for node in episode.action_nodes for value in node.key_params.values())[:GIVEN_CHARS]
    parts = (episode.summary, episode.goal, *episode.entities, *episode.tools_used, given, *episode.decisions, *episode.tags)
    return analyze.tokens("\n".join(part for part in parts if part))


def retell(handle: Handle, model: str, job: Job, ask: Callable[[Sequence[Message], Schema], Any]) -> None:
    """Rewrite an episode by a model; what it leaves open goes to the scratchpad."""
    erasure = handle.store.erasures.last()
    found = handle.store.records(Episode, handle.own(), Records(ids=[job.content_hash.decode()]))
    if not found or found[0].method != "rules":
        return
    episode = found[0]
    turns = _between(handle, episode)
    if not turns:
        return
    messages = [
        {"role": "system", "content": prompt_files.text("episode", rules.spoken(turns))},
        {"role": "user", "content": extraction.shown(turns)},
    ]
    story = intake.clean(handle, json.loads(job.reply) if job.reply is not None else ask(messages, extraction.EPISODE))
    outcome: EpisodeOutcome = "partial" if story["outcome"] == "completed" else story["outcome"]
    better = replace(
        episode,
        summary=story["summary"].strip() or episode.summary,
        goal=story.get("goal", "").strip() or episode.goal,
        outcome=outcome,
        outcome_reason=None if outcome != "partial" else episode.outcome_reason or "as the model tells it",
        entities=tuple(dict.fromkeys([*episode.entities, *_short_texts(story.get("entities"))]))[:20],
        decisions=_short_texts(story.get("decisions")) or episode.decisions,
        method=model,
        updated_at=handle.now(),
    )
    changes: list[Change] = [Put(better, tokens(better))]
    open_questions, next_steps = _short_texts(story.get("open_questions")), _short_texts(story.get("next_steps"))
    if episode.source == "session_end" and (open_questions or next_steps):
        changes += scratchpad.patch_change(handle, ScratchpadPatch(add_open_questions=open_questions, add_next_steps=next_steps))
    handle.store.apply(handle.writes(), changes, handle.cause("episode"), Expect(erasure=erasure))  # together: it is done once


def _short_texts(texts: object) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts if text.strip())[:5] if isinstance(texts, list) else ()


def _between(handle: Handle, episode: Episode) -> list[Turn]:
    """Return the turns of an episode."""
    own, ids = handle.own(), {episode.first_turn or "", episode.last_turn or ""}
    ends = [turn.n for turn in handle.store.turns(own, Turns(ids=[*ids], hidden=True))]
    if len(ends) < len(ids):
        return []
    turns = handle.store.turns(own, Turns(session=episode.session, after=min(ends) - 1, limit=MOST_TURNS))
    return [fence.own_words(turn) for turn in turns if turn.n <= max(ends)]


def listed(handle: Handle, *, session: str | None = None, since: Any = None, until: Any = None, limit: int = 20) -> list[Episode]:
    """Return episodes, newest first."""
    now = handle.now()
    select = Records(
        sessions=None if session is None else [intake.name(handle, session, "session")],
        since=checks.optional_time(since, "since", now=now),
        until=checks.optional_time(until, "until", now=now),
    )
    return forgotten.newest(handle, handle.reads(), Episode, select, checks.integer(limit, "limit"))
