"""
Restore from transcripts the turns that a repaired store lacks, learn from them again, and report what is lost.

`repair` has made a store of what could be read and of the backups, or an empty one. Here every turn that a transcript holds and
that store does not is recorded again as it was, without what was erased since; then rules learn from it as from any turn, and
the files of the vault are indexed. The transcripts are written anew from the database, and a file with lines that cannot be read
is kept in damaged/. Whatever does not come back is named: positions that no file has, lines that are damaged, blobs that are
gone, changes that were no turns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from yiku.errors import StoreBusy, YikuError
from yiku.files import mirror, transcripts
from yiku.files.transcripts import Line
from yiku.files.vault import Home, flush_folder
from yiku.flows.common import tombstones
from yiku.flows.common.handle import Handle, content_hash
from yiku.flows.common.turn_texts import blob_names, content, tokens, tool_tokens
from yiku.flows.erase.reapply import reapply
from yiku.flows.home.transcripts import open_store
from yiku.flows.keep.transcripts import catch_up, lock
from yiku.flows.learn import learn
from yiku.flows.notes.sync import sync
from yiku.store.api import Vectors
from yiku.types import AddTurns, Change, Repaired, Settings, SetTurnHidden, Turn, Turns

BATCH = 500  # turns a transaction
NAMED = 100  # damaged lines of one file that are named one by one
SOURCE, AGAIN = "transcripts", "learned again"
_JOURNAL = re.compile(r"journal rows ([\d,]+) to ([\d,]+)")

Say = Callable[[str], None]


@dataclass(slots=True)
class _Came:
    """What came back, and what did not."""

    turns: int = 0
    scopes: dict[str, None] = field(default_factory=dict)  # in which something came back
    ids: set[str] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)
    kept: set[Path] = field(default_factory=set)  # files with lines that could not be read


def rebuild(home: Home, settings: Settings, found: Repaired, say: Say) -> Repaired:
    """Bring turns back from transcripts into the store that `repair` has made; the report with what came back."""
    if found.dry_run:
        return _plan(home, settings, found)
    if found.problems:
        Vectors(home.vectors).drop()  # numbers that other turns had are given again
    with open_store(home, settings) as handle:
        with lock(home):
            _reapply(handle)
            came = _Came()
            for (scope, session), paths in sorted(_sessions(home, came).items(), key=lambda one: one[1][0]):
                say(f"transcript of {session}")
                _session(replace(handle, scope=scope), session, paths, came, gaps=bool(found.problems))
            _reapply(handle)
            _put_away(home, came)
        say("learning again")
        learned = sum(_learn(replace(handle, scope=scope), came) for scope in came.scopes)
        notes = _index_notes(handle, came) if found.problems else 0
        for _, scope, _ in handle.store.scopes():
            with suppress(StoreBusy):
                catch_up(replace(handle, scope=scope), wait_s=10.0)
    return _report(found, came, learned, notes)


def _reapply(handle: Handle) -> None:
    """What was erased does not come back: what the files beside the database tell of, and what it knows itself."""
    mirrored = [*tombstones.unknown_erasures(handle.paths, handle.store), *mirror.read_all(handle.paths)]
    reapply(handle, [*mirrored, *handle.store.erasures.all()])


def _sessions(home: Home, came: _Came) -> dict[tuple[str, str], list[Path]]:
    """The files of each session, those that were put aside first, the oldest of them in front; damaged lines are named."""
    found: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(
        transcripts.files(home), key=lambda path: (path.parent.name != transcripts.LOST, path.parent.name, path.name)
    ):
        named = None
        broken = list[int]()
        for line in transcripts.lines(path):
            if isinstance(line, Line):
                named = line.scope, line.session
            elif line.raw and not line.torn:
                broken.append(line.number)
        if named is not None:
            found.setdefault(named, []).append(path)
        if broken:
            came.kept.add(path)
            where = path.relative_to(home.root)
            came.lost += [f"line {number} of {where}: it is not as Yiku wrote it" for number in broken[:NAMED]]
            if len(broken) > NAMED:
                came.lost.append(f"{len(broken) - NAMED:,} more lines of {where}")
    return found


def _session(handle: Handle, session: str, paths: Sequence[Path], came: _Came, *, gaps: bool) -> None:
    """The turns of one session that the database does not have, in the order in which they were recorded."""
    lines = {
        line.id: line for path in paths for line in transcripts.lines(path) if isinstance(line, Line) and line.scope == handle.scope
    }
    own = handle.own()
    there = handle.store.turns(own, Turns(session=session, order="position", hidden=True)) if own else []
    known = {turn.id for turn in handle.store.turns(own, Turns(ids=[*lines], hidden=True))} if own else set()
    missing = list[Turn]()
    for line in lines.values():
        if line.id not in known:
            try:
                missing.append(_whole(handle, transcripts.turn(line), came))
            except ValueError as error:
                came.kept.update(paths)
                came.lost.append(f"turn {line.id} in {handle.scope}: {error}")
    missing.sort(key=lambda turn: (turn.recorded_at, turn.position))
    for start in range(0, len(missing), BATCH):
        _record(handle, missing[start : start + BATCH], came)
    if gaps:
        positions = {line.position for line in lines.values()} | {turn.position for turn in there}
        came.lost += _gaps(handle, session, positions)


def _whole(handle: Handle, turn: Turn, came: _Came) -> Turn:
    """A turn with the hash of all that it says; blobs that are gone are named."""
    for name in blob_names(turn):
        if not (handle.blobs / name[:2] / f"{name}.z").is_file():
            came.lost.append(f"blob {name} of turn {turn.id}: its head and tail are there")
    said = content(handle, turn)
    return replace(turn, content_hash=turn.content_hash if turn.blob is not None and said == turn.content else content_hash(said))


def _record(handle: Handle, missing: Sequence[Turn], came: _Came) -> None:
    """Turns as they were, without what was erased since; those that were forgotten stay forgotten."""
    kept = tombstones.admit_turns(handle, missing)
    if not kept:
        return
    scope = handle.writes()
    cause = handle.cause("rebuild", "from transcripts")
    added = [AddTurns(kept, [tokens(turn) for turn in kept], [tool_tokens(turn) for turn in kept])]
    ns = handle.store.apply(scope, added, cause).rows[0]
    hidden: list[Change] = [
        SetTurnHidden(n, turn.hidden_at, tokens(turn)) for n, turn in zip(ns, kept, strict=True) if n and turn.hidden_at is not None
    ]
    if hidden:
        handle.store.apply(scope, hidden, cause)
    came.turns += sum(n > 0 for n in ns)
    came.ids |= {turn.id for turn in kept}
    came.scopes[handle.scope] = None


def _gaps(handle: Handle, session: str, positions: Iterable[int]) -> Iterator[str]:
    """Runs of positions that neither the store nor a transcript has."""
    erased = ", unless they were erased" if handle.store.erasures.last() else ""
    last = -1
    for position in sorted(positions):
        if position > last + 1:
            which = f"turn {last + 1}" if position == last + 2 else f"turns {last + 1} to {position - 1}"
            yield f"{which} of session {session} in {handle.scope}: in no backup and no transcript{erased}"
        last = position


def _learn(handle: Handle, came: _Came) -> int:
    """How many statements rules learned from what came back; what a model is to read is queued."""
    try:
        report = learn.learn(handle, asking=False)
    except YikuError as error:
        came.lost.append(f"what turns of {handle.scope} teach ({error.detail}): yiku learn")
        return 0
    return sum(count for outcome, count in report.outcomes.items() if outcome in ("new", "replaced", "flagged", "past"))


def _index_notes(handle: Handle, came: _Came) -> int:
    """How many files of the vault were indexed."""
    owner = replace(handle, scope=handle.settings.owner or handle.scope)
    if owner.vault is None:
        return 0
    try:
        report = sync(owner)
    except YikuError as error:
        came.lost.append(f"the index of the notes ({error.detail}): yiku sync")
        return 0
    came.lost += [f"{path}, a note: {why}" for path, why in (report.failed or {}).items()]
    return len(report.added) + len(report.changed)


def _put_away(home: Home, came: _Came) -> None:
    """Transcripts are written anew from the database; what could not be read of them is kept."""
    aside = home.root / "damaged" / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-transcripts"
    for path in transcripts.files(home):
        if path in came.kept:
            to = aside / path.relative_to(home.transcripts)
            to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.rename(to)
            flush_folder(to.parent)
        else:
            path.unlink()
    for folder in home.transcripts.iterdir() if home.transcripts.is_dir() and not home.transcripts.is_symlink() else ():
        if folder.is_dir() and not folder.is_symlink():
            (folder / "mark").unlink(missing_ok=True)
            flush_folder(folder)
            with suppress(OSError):  # something else lies in it
                folder.rmdir()


# ------------------------------------------------------------------ the report


def _plan(home: Home, settings: Settings, found: Repaired) -> Repaired:
    """How many turns would come back: exactly where the store is sound, else at most so many."""
    ids: dict[str, dict[str, None]] = {}
    for path in transcripts.files(home):
        for line in transcripts.lines(path):
            if isinstance(line, Line):
                ids.setdefault(line.scope, {})[line.id] = None
    if found.problems:
        return _with_turns(found, sum(map(len, ids.values())), f"{SOURCE}, at most")
    count = 0
    with open_store(home, settings) as handle:
        for scope, lines in ids.items():
            own = replace(handle, scope=scope).own()
            count += len(lines) - (len(handle.store.turns(own, Turns(ids=[*lines], hidden=True))) if own else 0)
    return _with_turns(found, count, SOURCE)


def _with_turns(found: Repaired, count: int, source: str) -> Repaired:
    if not count:
        return found
    problems = found.problems or (f"{count:,} {'turn is' if count == 1 else 'turns are'} in transcripts and not in the database",)
    rows = {**found.rows, "conversation_turns": {**found.rows.get("conversation_turns", {}), source: count}}
    return replace(found, problems=problems, rows=rows)


def _report(found: Repaired, came: _Came, learned: int, notes: int) -> Repaired:
    lost = [what for what in found.lost if what.removeprefix("turn ") not in came.ids]
    changes = sum(_count(match) for what in lost if (match := _JOURNAL.fullmatch(what)))
    if changes:
        lost.append(
            f"what these {changes:,} changes did other than record turns: statements made with `remember`, corrections, forgetting,"
            " feedback, attachments, and what a model wrote"
        )
    done = _with_turns(replace(found, lost=(*lost, *came.lost)), came.turns, SOURCE)
    rows: Mapping[str, Mapping[str, int]] = done.rows
    if learned:
        rows = {**rows, "memories": {**rows.get("memories", {}), AGAIN: learned}}
    if notes:
        rows = {**rows, "notes": {"files": notes}}
    return replace(done, rows=rows)


def _count(match: re.Match[str]) -> int:
    first, last = (int(number.replace(",", "")) for number in match.groups())
    return last - first + 1
