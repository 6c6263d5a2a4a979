"""
Keep a user's scratchpad (current task, open questions, next steps) from their turns, patches and Markdown edits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from yiku.flows.common import checks, intake, pause
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.rules.privacy import fence
from yiku.rules.sessions import scratchpad as rules
from yiku.rules.sessions import tasks
from yiku.rules.statements import keys
from yiku.types import Change, Episode, Expect, Put, Records, Scratchpad, ScratchpadPatch, Task, Turn, Turns

SAID_NOW = timedelta(hours=1)  # so long before a turn is recorded it may have been said; an older one was told of later
LOOKED_AT = 100  # turns of the time of a task, of which one may have said it again


def read(handle: Handle, user: str | None = None) -> Scratchpad:
    """Return the scratchpad of a user, by default the owner; empty if there is none."""
    who, own = _user(handle, user), handle.own()
    found = handle.store.records(Scratchpad, own, Records(user=who)) if own else []
    now = handle.now()
    return found[0] if found else Scratchpad(id=handle.new_id(now), user_id=who, updated_at=now, scope=handle.scope)


def shown(handle: Handle, user: str | None = None) -> Scratchpad:
    """Return the scratchpad of a user without what was forgotten; it is back with the turn that said it."""
    return without_forgotten(handle, read(handle, user))


def without_forgotten(handle: Handle, pad: Scratchpad) -> Scratchpad:
    """Return a scratchpad without the tasks of turns that are hidden."""
    if not handle.store.hidden(handle.own(), limit=1):
        return pad
    left = replace(pad, recent=tuple(one for one in pad.recent if not _is_forgotten(handle, one, one.until or one.since)))
    focus = Task(text=pad.current_focus, since=pad.focus_since or pad.updated_at, until=handle.now())
    return replace(left, current_focus="", focus_since=None) if _is_forgotten(handle, focus, pad.updated_at) else left


def _is_forgotten(handle: Handle, task: Task, changed: datetime) -> bool:
    """
    Tell whether the turn that began a task, or the one that changed it, is hidden, and no other turn said it.

    changed: when that was; it may be another change of the scratchpad
    """
    own, moment = handle.own(), timedelta(microseconds=1)
    of_users = Turns(roles=("user",), order="said", newest_first=True, limit=LOOKED_AT)
    ends = [replace(of_users, since=at, until=at + moment, hidden=True) for at in {task.since, changed}]
    said = [turn for end in ends for turn in handle.store.turns(own, end)]
    if all(turn.hidden_at is None for turn in said):
        return False
    said += handle.store.turns(own, replace(of_users, since=task.since, until=task.until and task.until + moment))
    return not any(turn.hidden_at is None and tasks.task(fence.own_words(turn).content) == task.text for turn in said)


def _user(handle: Handle, user: str | None) -> str:
    return handle.scope if user is None else intake.name(handle, user, "user")


def update(
    handle: Handle, user: str | None, change: Callable[[Scratchpad], Scratchpad], why: str, *, said: Turn | None = None
) -> Scratchpad:
    """Apply a change to the scratchpad, unless the turn it rests on was erased meanwhile."""

    def attempt() -> Scratchpad:
        erasure, before = handle.store.erasures.last(), read(handle, user)
        after = change(before)
        if after == before or (said is not None and not _still_said(handle, said)):
            return before
        handle.store.apply(handle.writes(), [Put(after)], handle.cause(why), Expect(erasure=erasure))
        return read(handle, user)

    return retry_if_stale(handle, attempt)


def follow(handle: Handle, turn: Turn, *, again: bool = False) -> None:
    """Update the current work from a turn; `again` for a turn that may have been processed before."""
    if turn.role != "user" or not turn.content.strip():
        return

    def compiled(before: Scratchpad) -> Scratchpad:
        since = [moment for moment in _moments(before) if turn.said_at < moment or (again and turn.said_at == moment)]
        ran_ahead = bool(since) and min(since) > handle.now()  # the clock: what is said now is the current work all the same
        if since and not (ran_ahead and turn.recorded_at - turn.said_at <= SAID_NOW):
            return before
        return rules.follow(before, turn.content, now=turn.said_at, session=turn.session, project=turn.project)

    owner = keys.subject_of("I", turn.speaker, handle.settings.names) == keys.USER
    user = None if owner else turn.speaker
    update(handle, user, compiled, "scratchpad", said=turn)


def _moments(pad: Scratchpad) -> list[datetime]:
    """Return when the current work was mentioned; edits do not count."""
    return [moment for moment in (pad.focus_since, *(task.until for task in pad.recent)) if moment is not None]


def _still_said(handle: Handle, turn: Turn) -> bool:
    found = handle.store.turns(handle.own(), Turns(ns=[turn.n], hidden=True))
    return bool(found) and found[0].content_hash == turn.content_hash


def patch(handle: Handle, user: str | None = None, **lines: Sequence[str]) -> Scratchpad:
    """
    Add lines to open questions and next steps, or settle them.

    lines: by the fields of ScratchpadPatch
    """
    given = ScratchpadPatch(**{name: checks.lines(texts, name) for name, texts in lines.items()})
    pause.raise_if_paused(handle)
    clean = _clean(handle, given)
    return _told(handle, user, lambda before: rules.patch(before, clean, now=handle.now()), "scratchpad")


def _told(
    handle: Handle, user: str | None, change: Callable[[Scratchpad], tuple[Scratchpad, tuple[str, ...]]], why: str
) -> Scratchpad:
    """The scratchpad after a change that somebody asked for, with the lines for which there was no place."""
    left_out: tuple[str, ...] = ()

    def made(before: Scratchpad) -> Scratchpad:
        nonlocal left_out
        after, left_out = change(before)
        return after

    return replace(without_forgotten(handle, update(handle, user, made, why)), left_out=left_out)


def patch_change(handle: Handle, lines: ScratchpadPatch) -> list[Change]:
    """Return a patch for the owner as a change, to be applied with others."""
    before = read(handle)
    after = rules.patch(before, _clean(handle, lines), now=handle.now())[0]
    return [] if after == before else [Put(after)]


def _clean(handle: Handle, lines: ScratchpadPatch) -> ScratchpadPatch:
    return ScratchpadPatch(**{name: tuple(intake.clean(handle, list(getattr(lines, name)))) for name in lines.__slots__})


def edit(handle: Handle, text: str, user: str | None = None) -> Scratchpad:
    """Replace the scratchpad by the user's Markdown; sections they changed are theirs."""
    pause.raise_if_paused(handle)
    written = intake.clean(handle, checks.text(text, "text", empty=True))

    def edited(before: Scratchpad) -> tuple[Scratchpad, tuple[str, ...]]:
        seen = without_forgotten(handle, before)
        after, omitted = rules.edit(seen, written, now=handle.now())
        return after if seen == before else replace(before, overrides=after.overrides, updated_at=after.updated_at), omitted

    return _told(handle, user, edited, "edit scratchpad")


def finish(handle: Handle, episode: Episode) -> Scratchpad:
    """Complete the current work with this episode."""

    def finished(before: Scratchpad) -> Scratchpad:
        if before.focus_since is not None and not episode.started_at <= before.focus_since <= episode.ended_at:
            return before
        return rules.finish(before, now=episode.ended_at, session=episode.session)

    return without_forgotten(handle, update(handle, None, finished, "end session"))


def markdown(pad: Scratchpad, language: str) -> str:
    """Render a scratchpad as editable Markdown."""
    return rules.to_markdown(pad, language)
