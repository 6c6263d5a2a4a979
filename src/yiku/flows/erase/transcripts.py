"""
Erase from the transcript files of the home: rewrite lines from the database, remove those of erased turns.

Whoever appends waits meanwhile, and reads the database afterwards, so nothing that was erased is appended again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from yiku.files import transcripts
from yiku.files.transcripts import Broken, Folder, Line
from yiku.files.vault import flush_folder
from yiku.flows.common import tombstones
from yiku.flows.common.handle import Handle
from yiku.flows.keep.transcripts import lock, update_lines
from yiku.types import Erased, Place, Turns

Holds = Callable[[bytes], bool]  # whether bytes hold what was erased and no row has a right to say


def sweep(handle: Handle, answer: Erased, holds: Holds | None) -> Place:
    """
    What an erasure took is taken out of the transcripts.

    holds: None where nobody knows the words any more
    """
    home = handle.paths
    if not home.transcripts.is_dir() or home.transcripts.is_symlink():
        return Place("transcripts", "there are none")
    with lock(home):
        if holds is None:
            count = sum(_rewrite(handle, path, _keep_admitted(handle), lambda broken: False) for path in transcripts.files(home))
            return Place("transcripts", f"{count:,} lines rewritten or removed, by what the database and its tombstones know")
        entry = next((entry for entry in handle.store.erasures.all() if entry["number"] == answer.operation), None)
        scope = entry["scope"] if entry is not None else next(iter(handle.own()), 0)
        count = _sweep_lost(handle, answer, holds, whole_sessions=bool(entry and entry["rows"]["session"]))
        if not handle.own():
            _remove(home.transcripts / str(scope))
            return Place("transcripts", "those of the scope removed")
        changed = (*answer.turns, *answer.redacted)
        now = handle.store.turns(handle.own(), Turns(ids=[turn.id for turn in changed], hidden=True)) if changed else []
        count += update_lines(handle, Folder(home, scope), now, changed)
    return Place("transcripts", f"{count:,} {'line' if count == 1 else 'lines'} rewritten or removed")


def _sweep_lost(handle: Handle, answer: Erased, holds: Holds, *, whole_sessions: bool) -> int:
    """Lines of turns that the database does not know: by id, by session and by their words."""
    ids = {turn.id for turn in answer.turns}
    sessions = {turn.session for turn in answer.turns} if whole_sessions else set()
    everything = not handle.own()

    def change(line: Line) -> bytes | None:
        ours = line.scope == handle.scope and (everything or line.id in ids or line.session in sessions)
        return None if ours or holds(line.raw) else line.raw

    return sum(
        transcripts.rewrite(handle.paths, path, change, lambda broken: not holds(broken.raw))
        for path in transcripts.lost(handle.paths)
    )


def rewrite_from_database(handle: Handle, name: str, holds: Holds) -> None:
    """A file in which something was found, name from the home: its lines are as the database has their turns now."""
    with lock(handle.paths):
        path = handle.paths.root / name
        _rewrite(handle, path, lambda line: None if holds(line.raw) else line.raw, lambda broken: not holds(broken.raw))


def _rewrite(handle: Handle, path: Path, unknown: transcripts.Change, keep: Callable[[Broken], bool]) -> int:
    """Lines as the database has their turns; what becomes of those that it does not know, and of what is no line, is given."""
    ids = [line.id for line in transcripts.lines(path) if isinstance(line, Line)]
    every = [number for number, *_ in handle.store.scopes()]
    found = handle.store.turns(every, Turns(ids=ids, hidden=True)) if every and ids else []
    now = {turn.id: transcripts.line(turn).raw for turn in found}
    return transcripts.rewrite(handle.paths, path, lambda line: now.get(line.id) or unknown(line), keep)


def _keep_admitted(handle: Handle) -> transcripts.Change:
    """What tombstones leave of a turn that the database does not know: they know the words that nobody else does."""

    def change(line: Line) -> bytes | None:
        try:
            left = tombstones.admit_turns(replace(handle, scope=line.scope), [transcripts.turn(line)])
        except ValueError:
            return None
        return transcripts.line(left[0]).raw if left else None

    return change


def _remove(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
        flush_folder(folder.parent)
