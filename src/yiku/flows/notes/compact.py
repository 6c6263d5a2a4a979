"""
`compact`: move daily logs older than their retention to the archive, with a digest if a model is asked.

A log is moved, never shortened, and stays in the index; a log that is not indexed as it lies there stays where it is. Where a
model is asked, it chooses the sentences of a log that are worth keeping in mind; only those that stand in the log, letter for
letter, go into the digest of its month, `memory/archive/2026-03.md`. A log whose model failed stays for the next time.

Each step can be cut off and done again: a day that the digest has is not asked about again, and what was moved is not there to
be moved.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from yiku.errors import ModelError, ModelFailed, ModelUnavailable, StoreBusy
from yiku.files import notes as files
from yiku.files.append import append, move_aside
from yiku.files.vault import content_of
from yiku.flows.common import checks, intake, pause, prompt_files
from yiku.flows.common.handle import Handle
from yiku.flows.learn import by_model
from yiku.flows.notes import sync
from yiku.flows.notes.daily import LOGS
from yiku.flows.notes.publish import exclusive_writer, vault_of
from yiku.models.api import ChatModel
from yiku.rules.learning import grounding
from yiku.rules.pages import daily
from yiku.rules.text.analyze import language_of
from yiku.types import Compacted

ARCHIVE = f"{LOGS}/archive"
ASKED_CHARS = 24_000  # of a log that a model is shown: its beginning and its end
MOST_POINTS = 10  # of a day
POINTS: dict[str, Any] = {
    "type": "object",
    "required": ["points"],
    "properties": {"points": {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 1_000}}},
}

Strategy = Literal["auto", "archive", "summarize"]


def compact(handle: Handle, *, older_than: Any = None, strategy: Strategy = "auto", dry_run: bool = False) -> Compacted:
    """Move daily logs into the archive, those of days before today by more than so many days."""
    handle.store.upkeep.ensure_open()
    checks.flag(dry_run, "dry_run")
    pause.raise_if_paused(handle)
    last = handle.now().date() - _retention(handle, older_than)
    model = _model(handle, strategy)
    root = vault_of(handle)
    archived, summarized, kept = dict[str, str](), list[str](), dict[str, str]()
    days = _days(root, before=last)
    if not dry_run:
        sync.sync_files(handle, [f"{LOGS}/{day}.md" for day in days])
    for day in days:
        name = f"{LOGS}/{day}.md"
        if not dry_run and (why := _unlearned(handle, root, name)) is not None:
            kept[name] = why
            continue
        target = f"{ARCHIVE}/{day}.md"
        if dry_run:
            archived[name] = target
            continue
        try:
            if model is not None and _summarize(handle, model, root, day):
                summarized.append(name)
        except ModelError as error:
            kept[name] = f"the model failed: {error.detail}"
            continue
        with exclusive_writer(handle):
            why = _unlearned(handle, root, name)
            moved = move_aside(root / name, root / target, below=Path(handle.home)) if why is None else None
        if why is not None:
            kept[name] = why
        elif moved is not None:
            archived[name] = str(moved.relative_to(root))
    if not dry_run:
        with suppress(StoreBusy):  # who is at it finds them, or the next sync does
            sync.sync(handle)
    return Compacted(archived, tuple(summarized), kept, dry_run)


def _retention(handle: Handle, older_than: Any) -> timedelta:
    if older_than is None:
        return timedelta(days=handle.settings.daily_days)
    days = older_than / timedelta(days=1) if isinstance(older_than, timedelta) else older_than
    if isinstance(days, bool) or not isinstance(days, (int, float)) or not 0 <= days <= 36_500:
        checks.refuse("older_than", "must be a timedelta or a number of days, 0 or more")
    return timedelta(days=int(days))


def _model(handle: Handle, strategy: Strategy) -> ChatModel | None:
    if strategy not in ("auto", "archive", "summarize"):
        checks.refuse("strategy", "must be auto, archive or summarize")
    model = None if strategy == "archive" else handle.chat()
    if model is None and strategy == "summarize":
        raise ModelUnavailable("the settings name no model (chat_url): strategy archive needs none")
    return model


def _days(root: Path, before: date) -> list[date]:
    """The days before this one that have a log, the oldest first; links are not followed."""
    try:
        names = [entry.name for entry in (root / LOGS).iterdir() if entry.is_file() and not entry.is_symlink()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(day for name in names if (day := daily.day_of(name)) is not None and day < before)


def _unlearned(handle: Handle, root: Path, name: str) -> str | None:
    """Why a log stays where it is: the index does not hold what lies there. None where it does."""
    own = handle.own()
    known = handle.store.notes.files(own[0], [name]) if own else []
    if not known:
        return "it is not indexed"
    if known[0].status != "indexed":
        return f"it is not indexed: {known[0].detail or known[0].status}"
    try:
        _, content = files.read(root, name)
    except OSError as error:
        return error.strerror or str(error)
    changed = content is None or sha256(content).digest() != known[0].hash
    return "it has changed since it was indexed" if changed else None


# ------------------------------------------------------------------ the digest of a month


def _summarize(handle: Handle, model: ChatModel, root: Path, day: date) -> bool:
    """Whether the points of a day were put into its month's digest now. Raises ModelError."""
    digest = root / ARCHIVE / f"{day:%Y-%m}.md"
    heading = daily.digest_heading(day)
    text = _text(root / LOGS / f"{day}.md")
    if text is None or heading in (_text(digest) or "").splitlines():
        return False
    points = _points(handle, model, text)
    if not points:
        return False

    def add(page: str) -> str:
        return (
            "" if heading in page.splitlines() else daily.append(page, daily.digest(day, points), f"{day:%Y-%m}").text[len(page) :]
        )

    with exclusive_writer(handle):
        append(digest, add, below=Path(handle.home))
    return True


def _points(handle: Handle, model: ChatModel, text: str) -> list[str]:
    """The sentences of a log that a model finds worth keeping in mind, as far as they stand in it."""
    language = language_of(text)
    asked = text if len(text) <= ASKED_CHARS else f"{text[: ASKED_CHARS // 2]}\n…\n{text[-ASKED_CHARS // 2 :]}"
    shown = "\n".join(["<log>", *(f"  {line}" for line in asked.splitlines()), "</log>"])
    messages = [{"role": "system", "content": prompt_files.text("digest", language)}, {"role": "user", "content": shown}]
    reply = by_model.timed(handle, model, messages, POINTS, purpose="digest")
    whole = grounding.bare(text)
    points = [" ".join(point.split()) for point in reply.value["points"]]
    sound = [point for point in dict.fromkeys(points) if (bare := grounding.bare(point)) and bare in whole]
    if points and not sound:
        raise ModelFailed("nothing that it chose stands in the log")
    return [intake.clean(handle, point) for point in sound[:MOST_POINTS]]


def _text(path: Path) -> str | None:
    """What a file holds; None where it is not there, or is no text."""
    try:
        return content_of(path, at_most=files.LARGEST_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return None
