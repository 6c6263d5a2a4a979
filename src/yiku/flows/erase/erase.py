"""
Erase content from every place in the home and return a receipt.

Plan what goes (plan.py). Take it out of the store in one transaction that leaves tombstones, keyed hashes of what must not come
back (delete.py). Then deal with every other copy and look through the raw bytes of the home (finish.py); a backup, or an older
file that is put back, has the same erasure done once more (reapply.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from yiku.errors import StorageFull
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.erase import finish, inbox, quotes
from yiku.flows.erase.delete import blobs, delete_planned, erased_rows, seals
from yiku.flows.erase.notes import NotesPlan, cut_files, plan_notes
from yiku.flows.erase.plan import Choice, ErasurePlan, plan
from yiku.store.api import Reserve
from yiku.types import Erased, HeldText, Item, Place


def erase(
    handle: Handle,
    id: str | None = None,
    *,
    session: str | None = None,
    source: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    everything: bool = False,
    confirm: str | None = None,
    keep_turns: bool = False,
    keep_notes: bool = False,
    dry_run: bool = False,
    resume: bool = False,
    progress: Callable[[str], object] | None = None,
) -> Erased:
    """
    Erase a statement, a turn, a session, what came from a source, a time range, or everything in this scope.

    source:     an origin, agent or actor
    everything: all of the scope; `confirm` must be its name
    keep_turns: leave the turns that say an erased statement as they are
    keep_notes: leave the files of the vault that say it as they are
    resume:     instead, finish what a process that died left of its erasures
    Raises NotFound when nothing is meant.
    """
    if checks.flag(resume, "resume"):
        return finish.resume(handle, progress=progress)
    for name, value in (("everything", everything), ("keep_turns", keep_turns), ("keep_notes", keep_notes), ("dry_run", dry_run)):
        checks.flag(value, name)
    _refuse_unclear(id, session, source, window=since is not None or until is not None, everything=everything)
    if everything and not dry_run and confirm != handle.scope:
        checks.refuse("confirm", f"must be the scope's name, {handle.scope}, to erase everything in it")
    now = handle.now()
    choice = Choice(
        id=id,
        session=checks.optional_name(session, "session"),
        source=checks.optional_name(source, "source"),
        since=checks.optional_time(since, "since", now=now),
        until=checks.optional_time(until, "until", now=now),
        everything=everything,
        keep_turns=keep_turns,
    )
    if dry_run:
        meant = plan(handle, choice, keep=False)
        listed = _answer(meant, 0, [one for one in _kept_elsewhere(meant) if one.way == "kept"], dry_run=True)
        return _with_notes(listed, plan_notes(handle, meant), keep=keep_notes, done="would be cut out")
    inbox.record_first(handle)
    done, number, cut, failed = _apply(handle, choice, keep_notes=keep_notes)
    answer = _answer(done, number, quotes.find_quotes(handle, done.sought) if _kept_elsewhere(done) else ())
    answer = _with_notes(answer, cut, keep=keep_notes, done="cut out", failed=failed)
    rows: list[tuple[Item, int]] = [("memory", memory.n) for memory in done.statements.gone]  # also those told anew
    rows += [("note", n) for n in cut.passages]
    return finish.clean_everywhere(
        handle, answer, done.texts, blob_names=blobs(done), sought=done.sought, rows=rows, progress=progress
    )


def _with_notes(answer: Erased, cut: NotesPlan, *, keep: bool, done: str, failed: Sequence[Place] = ()) -> Erased:
    """The answer with the lines of notes that say it."""
    if keep:
        return replace(
            answer, kept=(*answer.kept, *(replace(one, found=("it says this",)) for one in cut.places("kept as you asked")))
        )
    return replace(answer, places=(*answer.places, *cut.places(done), *failed))


def _apply(handle: Handle, choice: Choice, *, keep_notes: bool) -> tuple[ErasurePlan, int, NotesPlan, list[Place]]:
    """
    Plan an erasure, cut it out of notes and delete it from the store, with other writers locked out.

    Returns the plan, its number, what was found in notes, and the files that could not be cut.
    """

    def attempt() -> tuple[ErasurePlan, int, NotesPlan, list[Place]]:
        found = plan(handle, choice, keep=True)
        sealed, cut = seals(handle, found), plan_notes(handle, found)
        kept = keep_notes and not found.whole_scope
        failed = [] if kept else cut_files(handle, cut)
        number = delete_planned(
            handle,
            handle.writes(),
            found,
            cause=handle.cause("erase"),
            seals=sealed,
            named=erased_rows(found),
            notes={} if kept else cut.passages,
        )
        return found, number, cut, failed

    with handle.store.exclusive():  # what is said meanwhile is said after the erasure
        try:
            return attempt()
        except StorageFull:  # what is left of a long content wants a blob
            if not Reserve(handle.paths.root / "reserve").release():
                raise
            return attempt()


def _refuse_unclear(id: str | None, session: str | None, source: str | None, *, window: bool, everything: bool) -> None:
    """Raise InvalidInput unless exactly one thing is meant; a time range may narrow a session or source."""
    chosen = [given for given in (id, session, source) if given is not None]
    if len(chosen) + everything > 1 or (window and (id is not None or everything)) or not (chosen or window or everything):
        checks.refuse("erase", "needs one of: an id, a session, a source, everything; or a time range")


def _kept_elsewhere(plan: ErasurePlan) -> list[HeldText]:
    """Return the erased content that other rows still contain."""
    gone = {memory.id for memory in plan.statements.gone} | {id for ids in plan.derived.ids().values() for id in ids}
    return [one for one in plan.quotes if one.id not in gone]


def _answer(plan: ErasurePlan, number: int, stays: Iterable[HeldText], *, dry_run: bool = False) -> Erased:
    return Erased(
        memories=tuple(plan.statements.deleted),
        turns=tuple(plan.turns),
        redacted=tuple(one.after for one in plan.redacted),
        widened=tuple(one.after.id for one in plan.redacted if one.widened),
        kept=(*plan.statements.kept, *plan.statements.retold.values(), *quotes.remaining(stays)),
        records=(*plan.derived.gone, *(before for before, _ in plan.derived.left)),
        places=tuple(plan.left),
        out_of_reach=finish.OUT_OF_REACH,
        operation=number,
        dry_run=dry_run,
    )
