"""
Bring the transcripts up to date with the database: append new turns, mark forgotten ones, expire old lines.

The database comes first, and the transcripts are caught up with it: by a write that finds the last time a minute ago, by the
thread in the background, when a memory is closed, and by each sync of the notes; `lag` counts what waits. Each line is appended
once: a mark says up to which turn the files go, and behind a mark that lags, as after a kill, the last line of a file does. What
was forgotten meanwhile is marked in its line. A copy goes 30 days after its turn was recorded, but not before learning has dealt
with that turn.

A file that goes further than the database, as after an older backup was restored, is put aside in transcripts/lost/: there
`search_traces` looks, and `yiku repair --rebuild` brings its turns back.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from yiku.errors import StoreBusy, StoreError
from yiku.files import transcripts
from yiku.files.transcripts import Broken, Folder, Line, Mark
from yiku.files.vault import Home
from yiku.flows.common.handle import Handle
from yiku.store.api import one_at_a_time
from yiku.types import Turn, Turns

BATCH = 500  # turns between two steps of the mark
FOLLOW_S = 60.0  # after which a write sees to what was written since
WITHIN_S = 0.05  # that this write spends on it
CLOSING_S = 1.0  # that closing a memory does: some 30,000 turns, as an import leaves them
LOCK_S = 60.0  # that an erasure or a repair waits for somebody who appends

_log = logging.getLogger(__name__)


@contextmanager
def lock(home: Home, timeout_s: float | None = None) -> Iterator[None]:
    """Nobody else writes transcripts meanwhile. Raises StoreBusy."""
    home.locks.mkdir(mode=0o700, exist_ok=True)
    with one_at_a_time(
        home.locks / "transcripts.lock", "another process writes transcripts", LOCK_S if timeout_s is None else timeout_s
    ):
        yield


# ------------------------------------------------------------------ when


def note_write(handle: Handle) -> None:
    """Turns were written: a write that finds the oldest of them a minute old sees to all of them."""
    now = time.monotonic()
    if handle.uncopied_since is None:
        handle.uncopied_since = now
    elif now - handle.uncopied_since >= FOLLOW_S:
        try_catch_up(handle, within_s=WITHIN_S)


def finish(handle: Handle) -> None:
    """A memory is closed: what it wrote is in the transcripts, as far as that takes a moment. The next one does the rest."""
    if handle.uncopied_since is not None:
        try_catch_up(handle, within_s=CLOSING_S)


def try_catch_up(handle: Handle, *, within_s: float | None = None) -> None:
    """`catch_up` for those who do something else: where it cannot be done now, the log and `status` say why."""
    try:
        catch_up(handle, within_s=within_s)
        handle.copy_trouble = None
    except StoreBusy:  # whoever is at it sees to it
        pass
    except (StoreError, OSError) as error:
        handle.copy_trouble = error.detail if isinstance(error, StoreError) else str(error)
        handle.uncopied_since = time.monotonic()
        _log.warning("what was said is stored, but not in transcripts/ yet: %s", handle.copy_trouble)


def lag(handle: Handle) -> int:
    """How many turns of this scope wait for their lines for over a minute, as after a process that was killed."""
    own = handle.own()
    if handle.settings.transcripts == "off" or handle.store.read_only or not own:
        return 0
    mark = Folder(handle.paths, own[0]).mark(handle.store.store_id) or Mark()
    late, upto, count = handle.now() - timedelta(seconds=FOLLOW_S), mark.turns, 0
    while turns := handle.store.turns(own, Turns(after=upto, hidden=True, limit=BATCH)):
        waiting = [turn for turn in turns if turn.recorded_at < late]
        count, upto = count + len(waiting), turns[-1].n
        if len(waiting) < len(turns):
            break
    return count


# ------------------------------------------------------------------ catching up


def catch_up(handle: Handle, *, within_s: float | None = None, wait_s: float = 0.0) -> int:
    """
    Append what the database holds beyond the transcripts; how many turns were looked at. It ends early after `within_s`.

    Raises StoreBusy while another process is at it, longer than `wait_s`.
    """
    own = handle.own()
    if handle.settings.transcripts == "off" or handle.store.read_only or not own:
        handle.uncopied_since = None
        return 0
    until = None if within_s is None else time.monotonic() + within_s
    with lock(handle.paths, wait_s):
        folder = Folder(handle.paths, own[0])
        mark = folder.mark(handle.store.store_id)
        if mark is None:
            reconcile(handle, folder)
            mark = Mark(changes=_last_change(handle, own[0]))
        count, mark = _append_new(handle, own[0], folder, mark, until)
        if until is None or time.monotonic() < until:
            mark = _mark_hidden(handle, own[0], folder, mark)
            mark = _expire(handle, own[0], folder, mark)
            handle.uncopied_since = None
    return count


def _append_new(handle: Handle, scope: int, folder: Folder, mark: Mark, until: float | None) -> tuple[int, Mark]:
    """Turn by turn, in batches; the mark moves behind each."""
    count, cutoff = 0, _cutoff(handle)
    while turns := handle.store.turns([scope], Turns(after=mark.turns, hidden=True, limit=BATCH)):
        old = [turn for turn in turns if turn.recorded_at < cutoff]
        gone = processed(handle, scope, old) if old else set()
        sessions: dict[str, list[Line]] = {}
        for turn in turns:
            if turn.n not in gone:
                sessions.setdefault(turn.session, []).append(transcripts.line(turn))
        for session, due in sessions.items():
            _append(handle, scope, folder, session, due)
        mark = replace(mark, turns=turns[-1].n)
        folder.set_mark(handle.store.store_id, mark)
        count += len(turns)
        if until is not None and time.monotonic() >= until:
            break
    return count, mark


def _append(handle: Handle, scope: int, folder: Folder, session: str, due: Sequence[Line]) -> None:
    """A session's file goes on; one that is of another history is put aside, and begun anew."""
    last = folder.append(session, due)
    if last is None:
        return
    if _known(handle, scope, [last]):
        folder.append(session, due, after=last)
        return
    folder.put_aside(folder.path / transcripts.file_name(session), handle.now())
    folder.append(session, due)


def _known(handle: Handle, scope: int, lines: Iterable[Line]) -> dict[str, Turn]:
    """The turns that stand in the database where these lines have them, by id."""
    places = {line.id: (line.session, line.position) for line in lines if line.scope == handle.scope}
    found = handle.store.turns([scope], Turns(ids=[*places], hidden=True)) if places else []
    return {turn.id: turn for turn in found if places[turn.id] == (turn.session, turn.position)}


def _last_change(handle: Handle, scope: int) -> int:
    last = handle.store.journal([scope], limit=1)
    return last[0].number if last else 0


def _mark_hidden(handle: Handle, scope: int, folder: Folder, mark: Mark) -> Mark:
    """Turns that were forgotten, or came back, say so in their lines."""
    changes = handle.store.journal([scope], table="turn_state", after=mark.changes)
    if not changes:
        return mark
    update_lines(handle, folder, handle.store.turns([scope], Turns(ns=[change.row for change in changes], hidden=True)))
    mark = replace(mark, changes=changes[-1].number)
    folder.set_mark(handle.store.store_id, mark)
    return mark


def update_lines(handle: Handle, folder: Folder, turns: Sequence[Turn], gone: Sequence[Turn] = ()) -> int:
    """The lines of some turns are as these are now, and those of others go; how many lines changed."""
    now = {turn.id: transcripts.line(turn).raw for turn in turns}
    without, count = {turn.id for turn in gone} - now.keys(), 0

    def change(line: Line) -> bytes | None:
        return None if line.id in without else now.get(line.id, line.raw)

    for session in sorted({turn.session for turn in (*turns, *gone)}):
        path = folder.path / transcripts.file_name(session)
        if path.is_file() and not path.is_symlink():
            count += transcripts.rewrite(handle.paths, path, change, _always)
    return count


def _always(_: Broken) -> bool:
    return True


# ------------------------------------------------------------------ files of another history


def reconcile(handle: Handle, folder: Folder) -> None:
    """
    Nobody knows how the files came about: those that hold more than the database are put aside, the others are as it says.

    The folder of a scope may hold what another scope said, where numbers were given anew.
    """
    scope = handle.own()
    for path in folder.files():
        ours = [line for line in transcripts.lines(path) if isinstance(line, Line)]
        known = _known(handle, scope[0], ours) if scope else {}
        if any(line.id not in known for line in ours):
            folder.put_aside(path, handle.now())
        else:
            transcripts.rewrite(handle.paths, path, _as_stored(known), _always)


def _as_stored(known: dict[str, Turn]) -> transcripts.Change:
    return lambda line: transcripts.line(known[line.id]).raw


# ------------------------------------------------------------------ retention


def _cutoff(handle: Handle) -> datetime:
    return handle.now() - timedelta(days=handle.settings.transcript_days)


def processed(handle: Handle, scope: int, turns: Sequence[Turn]) -> set[int]:
    """Of some turns those that learning has dealt with, a model too where it was asked for one."""
    ns = [turn.n for turn in turns]
    learning = handle.store.learning
    upto, waiting = learning.upto(scope), {job.turn_n for job in learning.jobs(scope)}
    done = {n for n in ns if n <= upto} | learning.extracted(scope, ns)
    return done - waiting


def _expire(handle: Handle, scope: int, folder: Folder, mark: Mark) -> Mark:
    """Once a day: copies that are past their days go, as far as learning has dealt with their turns."""
    today = handle.now().toordinal()
    if mark.aged == today:
        return mark
    for path in folder.files():
        _expire_file(handle, scope, path, _cutoff(handle))
    mark = replace(mark, aged=today)
    folder.set_mark(handle.store.store_id, mark)
    return mark


def _expire_file(handle: Handle, scope: int, path: Path, cutoff: datetime) -> None:
    old = list[Line]()
    for line in transcripts.lines(path):
        if isinstance(line, Line):
            if transcripts.recorded_at(line) >= cutoff:
                break
            old.append(line)
    known = _known(handle, scope, old)
    done = processed(handle, scope, [*known.values()]) if known else set()
    gone = {id for id, turn in known.items() if turn.n in done}
    if gone:
        transcripts.rewrite(handle.paths, path, lambda line: None if line.id in gone else line.raw, _always)
