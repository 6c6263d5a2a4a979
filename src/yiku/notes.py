"""
`Memory.notes`: methods for the Markdown files of the vault. No logic; flows are imported on first use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from yiku.types import Compacted, Edited, Noted, PublishReport, SyncReport

if TYPE_CHECKING:
    from yiku.flows.common.handle import Handle


class Notes:
    """Index, publish and write the Markdown files of the vault."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    # -------------------------------------------------------------- the index

    def sync(
        self,
        *,
        force: bool = False,
        progress: Callable[[int, int], object] | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> SyncReport:
        """
        Index what changed in the files of the vault since the last sync.

        force:    read every file again, and accept that files that are gone are gone, however many
        progress: called with how many files are done, and of how many
        stopped:  asked before each file; once it returns true the rest is left to the next sync

        Raises InvalidInput for a scope without a vault, Paused, StoreBusy while another process indexes.
        """
        from yiku.flows.notes import sync

        return sync.sync(self._handle, force=force, progress=progress, stopped=stopped)

    def index_document(
        self,
        path: str | os.PathLike[str],
        *,
        update: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> SyncReport:
        """
        Index a file or folder now. What lies outside the vault is copied to its documents/ first.

        update:   copy again what was edited outside since; a copy that was changed or removed here is left, and named in `failed`
        dry_run:  with `update`: only say what would be done
        progress: with `update`: called with how many files are done, and of how many

        Raises InvalidInput where there is no such file, where it is not Markdown or text, or where documents/ has another file of
        that name; Paused, StoreBusy.
        """
        from yiku.flows.notes import add

        return add.document(self._handle, path, update=update, dry_run=dry_run, progress=progress)

    def index_skill(self, path: str | os.PathLike[str]) -> SyncReport:
        """Index a skill now, from skills/. Raises as `index_document` does."""
        from yiku.flows.notes import add

        return add.skill(self._handle, path)

    # -------------------------------------------------------------- MEMORY.md and USER.md

    def publish(self, *, keep: Literal["memory", "file"] | None = None) -> PublishReport:
        """
        Read what people changed in MEMORY.md and USER.md, and write both as memory has them now; compile USER.md for prompts.

        keep: for a page that is held because an accident is likelier than a wish: "memory" writes again what is missing there,
              "file" forgets it

        Raises InvalidInput in a scope without files, StoreBusy, StoreError.
        """
        from yiku.flows.prompts import publish

        return publish.publish(self._handle, keep=keep)

    def edited(self, id: str, *, before: str, after: str) -> Edited:
        """
        A memory whose text somebody has edited: `before` is what they were shown, `after` what they made of it.

        What was told in between stays in the text where the edit left it alone.

        Raises NotFound, InvalidInput, WasErased, Paused.
        """
        from yiku.flows.notes import edits

        return edits.edit(self._handle, id, before, after)

    # -------------------------------------------------------------- what is noted down

    def append_daily(self, text: str, metadata: Mapping[str, Any] | None = None, *, said_at: datetime | str | None = None) -> Noted:
        """
        Add an entry to the log of today, `memory/2026-03-01.md`: its time, what is known of it, its text.

        metadata: any JSON object, up to 16 KiB; it stands in a comment below the time
        said_at:  when it was said, by default now: the day is the local one of that time

        Raises InvalidInput, TooLarge, KeptOut, Paused, StoreBusy, StorageFull.
        """
        from yiku.flows.notes import daily

        return daily.append_daily(self._handle, text, metadata, said_at=said_at)

    def promote(self, text: str, *, topic: str | None = None, summary: str | None = None) -> Noted:
        """
        Add a note to MEMORY.md under a heading, which is made where it is missing; one that stands there is not added again.

        topic:   the heading, by default "Notes"
        summary: one line, in bold above the text

        Raises InvalidInput, TooLarge, KeptOut, Paused, StoreBusy, StorageFull.
        """
        from yiku.flows.notes import daily

        return daily.promote(self._handle, text, topic=topic, summary=summary)

    def compact(
        self,
        *,
        older_than: timedelta | float | None = None,
        strategy: Literal["auto", "archive", "summarize"] = "auto",
        dry_run: bool = False,
    ) -> Compacted:
        """
        Move daily logs to `memory/archive/`, whole. They are found there as before.

        older_than: a time or a number of days, by default the setting `daily_days`
        strategy:   "archive" moves; "summarize" also has a model choose the sentences worth keeping in mind, for the digest of
                    their month; "auto" does so where the settings name a model

        Raises InvalidInput, ModelUnavailable for "summarize" without a model, Paused, StoreBusy, StorageFull.
        """
        from yiku.flows.notes import compact

        return compact.compact(self._handle, older_than=older_than, strategy=strategy, dry_run=dry_run)

    # -------------------------------------------------------------- following the files

    def watch(self, tell: Callable[[SyncReport], object] | None = None, *, stopped: Callable[[], bool] | None = None) -> None:
        """
        Keep the index in step with the files, embed what is new, and run the night when it is due.

        stopped: it is asked twice a second, and ends it
        tell: called with each report that changed something

        Raises StoreBusy while another process or thread watches this home.
        """
        from yiku.flows.night import schedule

        schedule.watch(self._handle, tell, stopped=stopped)
