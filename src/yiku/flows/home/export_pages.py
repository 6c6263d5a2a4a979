"""
Write everything that a scope knows as pages of Markdown that a person can read and a program can search.

Only what this scope wrote goes in, and of that nothing that was forgotten. The pages are a copy: nothing keeps it in step. Within a
home it may lie in `copies/` alone, from which an erasure removes what it finds. `.yiku-pages` in the folder lists the pages, so
a later export knows which of them are its own.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from yiku.errors import InvalidInput, NotFound
from yiku.files.vault import as_store_error, content_of, delete, write_atomically
from yiku.flows.common import checks, turn_texts
from yiku.flows.common.forgotten import remembered
from yiku.flows.common.handle import Handle
from yiku.flows.find.said_later import mark
from yiku.flows.keep import scratchpad
from yiku.flows.keep.forget import FORGOTTEN
from yiku.rules.pages import readable
from yiku.rules.pages.choosing import KINDS, title
from yiku.rules.pages.readable import Contents, Words
from yiku.rules.text.analyze import language_of
from yiku.types import (
    Attachment,
    Episode,
    ExportedPages,
    Memories,
    Records,
    Scratchpad,
    SemanticMemory,
    State,
    Turns,
)

MANIFEST = ".yiku-pages"
COPIES = "copies"  # of a home: an erasure looks there
PAGE = 500  # rows read at a time
MANIFEST_BYTES = 1 << 26


@dataclass(slots=True)
class _Export:
    """An export: where it goes, what it wrote."""

    handle: Handle
    folder: Path
    words: Words
    progress: Callable[[int], object] | None
    before: set[str]
    pages: list[str] = field(default_factory=list)

    def write(self, name: str, text: str) -> None:
        """Write a page. Raises InvalidInput where somebody's file has its name."""
        path = self.folder / name
        if name not in self.before and path.exists():
            raise InvalidInput(f"{path} is not a page of an earlier export; move it away, or name a new folder")
        self.note(name)
        write_atomically(path, text.encode(errors="replace"), below=self.folder)

    def note(self, name: str) -> None:
        """Add a page to the list, before it is written: an export that was cut off can be replaced."""
        self.pages.append(name)
        with open(
            os.open(self.folder / MANIFEST, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW), "a", encoding="utf-8"
        ) as file:
            file.write(f"{name}\n")


def export_pages(
    handle: Handle, folder: str | os.PathLike[str], *, replace: bool = False, progress: Callable[[int], object] | None = None
) -> ExportedPages:
    """
    Write the pages to a folder that is new or empty.

    replace: the folder may hold an earlier export, whose pages are removed or written anew, and files of others, which stay
    Raises InvalidInput, NotFound, StorageFull.
    """
    checks.flag(replace, "replace")
    checks.optional_call(progress, "progress")
    target = checks.path(folder, "folder")
    if not handle.own():
        raise NotFound(f"there is nothing in {handle.scope}")
    before = _pages_before(handle, target, replace)
    rows = _memories(handle)
    run = _Export(handle, target, _words(handle, rows), progress, before)
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(target / MANIFEST, _listed(before), below=target)
        counts, forgotten = _statements(run, rows)
        episodes = _episodes(run, counts)
        turns = _conversations(run, counts)
        notes = sorted(row.path for row in handle.store.notes.files(handle.own()[0]))
        contents = Contents(handle.scope, counts, notes, forgotten)
        run.write(readable.README, readable.first_page(contents, handle.now(), run.words))
        for name in before - {*run.pages}:
            delete(target / name, below=target)
        write_atomically(target / MANIFEST, _listed(run.pages), below=target)
    except OSError as error:
        raise as_store_error(error, target) from error
    held = sum(count for path, (_, count) in counts.items() if path.startswith(readable.MEMORIES))
    return ExportedPages(
        path=str(target),
        scope=handle.scope,
        pages=len(run.pages),
        memories=held,
        episodes=episodes,
        turns=turns,
        forgotten=forgotten,
    )


def _pages_before(handle: Handle, target: Path, replace: bool) -> set[str]:
    """Return the pages of an earlier export in a folder. Raises InvalidInput for a folder that may not be written."""
    home = Path(handle.home).resolve()
    place = target.resolve()
    if place == home or (home in place.parents and home / COPIES not in place.parents):
        raise InvalidInput(f"{target} is in the home: only {home / COPIES} may hold copies there, where an erasure finds them")
    if target.exists() and not target.is_dir():
        raise InvalidInput(f"{target} is a file; name a folder")
    try:
        names = [path.name for path in target.iterdir()] if target.exists() else []
        if names and not replace:
            raise InvalidInput(f"{target} is not empty: name a new folder, or say that the pages there may be replaced")
        known = content_of(target / MANIFEST, at_most=MANIFEST_BYTES).decode().splitlines() if MANIFEST in names else []
    except OSError as error:
        raise as_store_error(error, target) from error
    inside = (name for name in known if not Path(name).is_absolute() and ".." not in Path(name).parts and name.endswith(".md"))
    return {*inside}


def _listed(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in sorted(names)).encode()


@cache
def _said(language: str) -> dict[str, str]:
    return tomllib.loads(files("yiku.prompts").joinpath(f"pages.{language}.toml").read_text(encoding="utf-8"))


def _words(handle: Handle, rows: list[SemanticMemory]) -> Words:
    chosen = handle.settings.language
    if chosen == "auto":
        some = [row.content for row in rows[:PAGE]] or [
            turn.content for turn in handle.store.turns(handle.own(), Turns(limit=PAGE))
        ]
        chosen = language_of(" ".join(some))
    return Words(chosen, _said(chosen))


# ------------------------------------------------------------------ statements


def _memories(handle: Handle) -> list[SemanticMemory]:
    """Return all versions of all statements of this scope."""
    rows, after = list[SemanticMemory](), 0
    while page := handle.store.memories(handle.own(), Memories(after=after, limit=PAGE)):
        after = page[-1].n
        rows += handle.store.with_details(page)
    return rows


def _statements(run: _Export, rows: list[SemanticMemory]) -> tuple[dict[str, tuple[str, int]], int]:
    """Write the pages of statements; return the title and count of each, and how many forgotten ones are left out."""
    now, words = run.handle.now(), run.words
    kept = [row for row in rows if not (row.reason or "").startswith(FORGOTTEN) and row.state not in (State.JUNK, State.PURGED)]
    forgotten = len({row.line for row in rows} - {row.line for row in kept})
    current = [row for row in kept if row.superseded_by is None and not row.expired(now)]
    holding = mark(run.handle, [row for row in current if row.state is State.ACTIVE])
    counts: dict[str, tuple[str, int]] = {}
    for kind in KINDS:
        if found := [row for row in holding if row.kind is kind]:
            name = f"{readable.MEMORIES}/{kind.value}.md"
            run.write(name, readable.memories(kind, found, words))
            counts[name] = title(kind, words.language), len(found)
    text, count = readable.review([*holding, *(row for row in current if row.state is State.CANDIDATE)], words)
    _page(run, counts, readable.REVIEW, text, count)
    lines: dict[str, list[SemanticMemory]] = {}
    for row in sorted(kept, key=lambda row: (row.said_at, row.place, row.n)):
        lines.setdefault(row.line, []).append(row)
    there = {row.id for row in current}
    changed = [versions for versions in lines.values() if len(versions) > 1 or versions[0].id not in there]
    text, count = readable.history(changed, now, words)
    _page(run, counts, readable.HISTORY, text, count)
    return counts, forgotten


def _page(run: _Export, counts: dict[str, tuple[str, int]], name: str, text: str, count: int) -> None:
    """Write a page that has entries, and count them; its title is the word of its name."""
    if count:
        run.write(name, text)
        counts[name] = run.words(name.removesuffix(".md")), count


# ------------------------------------------------------------------ sessions


def _episodes(run: _Export, counts: dict[str, tuple[str, int]]) -> int:
    """Write the pages of episodes, and of scratchpads and attachments; return how many episodes there are."""
    own, store, words = run.handle.own(), run.handle.store, run.words
    episodes = remembered(run.handle, own, store.records(Episode, own, Records()))
    attachments = remembered(run.handle, own, store.records(Attachment, own, Records()))
    pads = [scratchpad.without_forgotten(run.handle, pad) for pad in store.records(Scratchpad, own, Records())]
    _page(run, counts, readable.EPISODES, readable.episodes(episodes, words), len(episodes))
    count = len(pads) + len(attachments)
    _page(run, counts, readable.WORK, readable.work(pads, attachments, words), count)
    return len(episodes)


def _conversations(run: _Export, counts: dict[str, tuple[str, int]]) -> int:
    """Write a page for each session; return how many messages there are."""
    own, total = run.handle.own(), 0
    for session in run.handle.store.sessions(own[0]):
        parts = [readable.conversation_head(session.id), *_messages(run, session.id)]
        if len(parts) == 1:
            continue  # all of it was forgotten, or nothing said yet
        name = f"{readable.CONVERSATIONS}/{readable.file_name(session.id)}"
        run.write(name, "".join(parts))
        counts[name] = session.id, len(parts) - 1
        total += len(parts) - 1
    return total


def _messages(run: _Export, session: str) -> Iterator[str]:
    beyond: int | None = None
    while page := run.handle.store.turns(run.handle.own(), Turns(session=session, order="position", beyond=beyond, limit=PAGE)):
        beyond = page[-1].position
        for turn in page:
            yield readable.message(turn, turn_texts.content(run.handle, turn), run.words)
        if run.progress is not None:
            run.progress(len(page))
