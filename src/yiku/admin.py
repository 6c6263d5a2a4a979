"""
`Memory.admin`: undo, erase, import, export, back up, check, audit, relearn, SQL; each method calls one flow.

Each verb is one call into one flow, loaded when it is first asked for: who only remembers and recalls
does not wait for what mends and moves homes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO, Literal

from yiku.files.vault import Home
from yiku.flows.common.handle import Handle
from yiku.types import (
    Audit,
    Backup,
    BackupFile,
    ChangeRow,
    Check,
    Checked,
    EmbedReport,
    Erased,
    Exported,
    ExportedPages,
    ImportReport,
    Ingested,
    Job,
    ModelCall,
    NightReport,
    Relearned,
    Restored,
    RunReport,
    RunUndone,
    Schedule,
    SqlRows,
    Stats,
    ToReview,
    Undone,
)

Time = datetime | str


class Admin:
    """Maintenance methods of a memory."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def undo(self, operation: int, *, dry_run: bool = False) -> Undone:
        """Undo one operation, by the number in its outcome. Raises NotFound, CannotUndo, InvalidInput."""
        from yiku.flows.keep import undo

        return undo.undo(self._handle, operation, dry_run=dry_run)

    def undo_run(self, run: str, item: int | None = None, *, dry_run: bool = False) -> RunUndone:
        """
        Undo a run of operations, or one of its items by its number; what was changed since stays, and is named.

        Raises NotFound, InvalidInput.
        """
        from yiku.flows.keep import undo_run

        return undo_run.undo_run(self._handle, run, item, dry_run=dry_run)

    def erase(
        self,
        id: str | None = None,
        *,
        session: str | None = None,
        source: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
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

        What came from it alone goes too, and the sentences that say it in other turns, unless `keep_turns`, and in
        your notes, unless `keep_notes`. The
        answer names each place of the home, what was done there, and what was still found in its raw bytes.
        It cannot be undone. `everything` wants the scope's name as `confirm`. `resume` finishes instead what a process
        that died left of its erasures.

        Raises NotFound, Ambiguous, InvalidInput, StoreBusy.
        """
        from yiku.flows.erase import erase

        return erase.erase(
            self._handle,
            id,
            session=session,
            source=source,
            since=since,
            until=until,
            everything=everything,
            confirm=confirm,
            keep_turns=keep_turns,
            keep_notes=keep_notes,
            dry_run=dry_run,
            resume=resume,
            progress=progress,
        )

    def journal(self, *, limit: int = 50) -> list[ChangeRow]:
        """
        Return changes in this scope, newest first: when, who, why, and the previous values.

        Raises InvalidInput, StoreError.
        """
        from yiku.flows.keep import undo

        return undo.journal(self._handle, limit)

    def stats(self) -> Stats:
        """Return counts of what this memory reads, and file sizes. Raises StoreError."""
        from yiku.flows.home import status

        return status.stats(self._handle)

    def import_(
        self,
        records: Iterable[Any],
        *,
        source: str,
        everything: bool = False,
        trust: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """
        Import parsed records of another source: idempotent, resumable, every skipped record reported.

        everything: take in an export of all scopes, each under its own name
        trust: the file is your own: origins, trust, pins and rules count as it says, and an export comes in as it was

        Raises InvalidInput, Paused, StoreBusy.
        """
        from yiku.flows.home import import_

        return import_.import_(
            self._handle, records, source=source, everything=everything, trust=trust, dry_run=dry_run, progress=progress
        )

    def ingest(self, *, budget_s: float | None = None) -> Ingested:
        """
        Record what the hooks of agents have captured in the inbox for this scope, each event once.

        budget_s: for at most so long; what is left waits

        Raises InvalidInput, Paused, StoreBusy while another process does it.
        """
        from yiku.flows.learn import ingest

        return ingest.ingest(self._handle, budget_s=budget_s)

    def captured(self, session: str) -> tuple[datetime, datetime] | None:
        """
        Return when hooks have captured the first and the last turn of a session, forgotten turns too.

        None where they have captured nothing of it. Raises InvalidInput.
        """
        from yiku.flows.find import traces

        return traces.captured(self._handle, session)

    def export(
        self,
        path: str | os.PathLike[str] | BinaryIO,
        *,
        everything: bool = False,
        since: Time | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Exported:
        """
        Write this scope, or everything in the home, as JSON Lines for a lossless `import_`.

        since: only what was done from then on; `progress` is told of each turn and memory

        Raises InvalidInput, NotFound, StorageFull.
        """
        from yiku.flows.home import export

        return export.export(self._handle, path, everything=everything, since=since, progress=progress)

    def export_markdown(
        self,
        folder: str | os.PathLike[str],
        *,
        replace: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> ExportedPages:
        """
        Write everything that this scope knows as Markdown pages for a person, to a new or empty folder.

        replace: the folder holds an earlier export, whose pages are written anew; other files stay
        progress: told of each message

        Raises InvalidInput, NotFound, StorageFull.
        """
        from yiku.flows.home import export_pages

        return export_pages.export_pages(self._handle, folder, replace=replace, progress=progress)

    def backup(self, to: str | os.PathLike[str] | None = None, *, nightly: bool = False) -> Backup | None:
        """
        Copy everything in one snapshot while others write, and verify the copy.

        to:      a new folder outside, which gets the whole home and opens as one on any machine; else a file in backups/
        nightly: only when none was made for 20 hours (else None); the 7 newest of these are kept

        Raises InvalidInput, StorageFull, Damaged, StoreBusy.
        """
        from yiku.flows.home import backup

        return backup.backup(self._handle, to, nightly=nightly)

    def backups(self) -> list[BackupFile]:
        """Return the backups in this home, newest first. Raises StoreError."""
        from yiku.flows.home import backup

        return backup.backups(self._handle)

    def restore_backup(self, name: str, *, dry_run: bool = False) -> Restored:
        """
        Restore everything from a backup; the present state is kept as a backup first.

        Raises NotFound, InvalidInput, Damaged, StoreBusy.
        """
        from yiku.flows.home import backup

        return backup.restore_backup(self._handle, name, dry_run=dry_run)

    def review(self, *, limit: int = 50) -> list[ToReview]:
        """
        Return memories to review: candidates, conflicts, beliefs. See `confirm` and `reject`.

        Raises InvalidInput.
        """
        from yiku.flows.learn import review

        return review.review(self._handle, limit=limit)

    def queue(self, *, dead: bool | None = None) -> list[Job]:
        """Return pending model jobs; with `dead` failed ones, and why. Raises InvalidInput."""
        from yiku.flows.learn import by_model

        return by_model.queue(self._handle, dead=dead)

    def spent(self, *, since: datetime | str | None = None) -> list[ModelCall]:
        """Return model calls with tokens and seconds, oldest first. Raises InvalidInput."""
        from yiku.flows.learn import by_model

        return by_model.spent(self._handle, since=since)

    def relearn(
        self,
        *,
        budget_s: float | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> Relearned:
        """
        Reread all turns with the current rules, and reconcile what earlier rules learned.

        What they do not learn any more is archived, unless somebody told, confirmed, edited or used it; what they learn
        now is learned. What was forgotten or erased stays so. One `undo` takes back all of it.

        Raises InvalidInput, Paused, StoreBusy.
        """
        from yiku.flows.learn import relearn

        return relearn.relearn(self._handle, budget_s=budget_s, dry_run=dry_run, progress=progress)

    def consolidate(
        self,
        mode: Literal["full", "light"] = "full",
        *,
        phase: int | None = None,
        dry_run: bool = False,
        budget_s: float | None = None,
        progress: Callable[[str, int], object] | None = None,
        if_due: bool = False,
    ) -> NightReport:
        """
        Tidy this memory, as each night does: what has ended leaves, what is double is one, what fades falls asleep.

        mode:   light only learns from what waits
        phase:  only this one, of 0 to 7; `progress` is told its name and how many decisions were made
        if_due: only where a night is due; else the report has no run, and its notes say why
        A run that was cut off, or whose time was up, goes on in the next call. `undo` of any of its operations takes
        back all of it.

        Raises InvalidInput, Paused, StoreBusy.
        """
        from yiku.flows.night import schedule

        given = {"phase": phase, "dry_run": dry_run, "budget_s": budget_s, "progress": progress}
        return schedule.consolidate_if_due(self._handle, mode, if_due=if_due, **given)

    def schedule(self) -> Schedule:
        """
        Return the lines by which cron or systemd runs the nights, and when one is due. Nothing is installed.

        Raises Closed.
        """
        from yiku.flows.night import schedule

        return schedule.lines(self._handle)

    def embed(self, *, budget_s: float | None = None, progress: Callable[[int, int], object] | None = None) -> EmbedReport:
        """
        Compute missing vectors of this scope within a time budget; `progress` gets done and total.

        Raises ModelUnavailable where no model is, and StoreBusy while another process does it.
        """
        from yiku.flows.find import embed

        return embed.embed(self._handle, budget_s=budget_s, progress=progress)

    def pause(self, until: Time | None = None) -> datetime | None:
        """
        Pause writing in every process, until a time or `resume`; reading and forgetting still work.

        Raises InvalidInput, StorageFull, ReadOnly.
        """
        from yiku.flows.common import pause

        return pause.pause(self._handle, until)

    def resume(self) -> bool:
        """End a pause; return whether there was one. Raises ReadOnly."""
        from yiku.flows.common import pause

        return pause.resume(self._handle)

    def blob(self, name: str) -> str:
        """Return a long content in full. Raises NotFound, Damaged."""
        from yiku.flows.keep import record

        return record.blob(self._handle, name)

    def report(self, run: str | None = None) -> RunReport:
        """
        Return what a night decided, and why; of the last one if none is named. `.page` has it for a person, as Markdown.

        Raises NotFound, Ambiguous, InvalidInput.
        """
        from yiku.flows.night import report

        return report.report(self._handle, run)

    def audit(self, *, budgets: Mapping[Check, float] | None = None, turns: bool = True) -> Audit:
        """
        Count duplicates, contradictions, statements without support, secrets, what is never recalled or stale, orphans.

        budgets: the share that each check may find, by its name; `.over` names those that found more
        turns:   False leaves out the search for secrets in turns

        `.page` has it for a person, as Markdown. Writes nothing. Raises InvalidInput.
        """
        from yiku.flows.home import audit

        return audit.audit(self._handle, budgets=budgets, turns=turns)

    def sql(
        self,
        sql: str,
        values: Sequence[Any] | Mapping[str, Any] = (),
        *,
        views: Mapping[str, str] | None = None,
        limit: int = 1_000,
        timeout_s: float = 5.0,
    ) -> SqlRows:
        """
        Run one select statement on this memory's tables, read-only; docs/format.md describes them.

        Only rows of the scopes that this memory reads are there; forgotten turns and what is erased are not.

        values:    what `?` or `:name` in the statement stand for
        views:     temporary views for this statement: select statements by name. A table that a view takes the name of is
                   still called yiku_memories and so on
        limit:     at most so many rows; `.truncated` says whether there are more

        Raises InvalidInput, TooLarge where it takes longer than `timeout_s` or too much memory, StoreError.
        """
        from yiku.flows.home import sql as flow

        return flow.sql(self._handle, sql, values, views=views, limit=limit, timeout_s=timeout_s)

    def check(self, depth: Literal["quick", "full", "deep"] = "full", *, progress: Callable[[str], None] | None = None) -> Checked:
        """
        Check the home: quick its pages, full each row and the journal, deep also derived data, blobs, backups.

        Raises InvalidInput, Closed.
        """
        from yiku.flows.home import doctor

        self._handle.store.upkeep.about()  # a memory that was closed says so
        return doctor.check(Home(self._handle.home), depth, progress)
