"""
Report the counts (`stats`) and the health (`status`) of a home.

Everything degraded, missing, unusual or waiting is a line of `troubles`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from yiku.errors import Damaged, YikuError
from yiku.files import blobs, git, inbox, modes, mounts, transcripts
from yiku.flows.common import background, pause
from yiku.flows.common.handle import Handle
from yiku.flows.find import embed, recall, rerank
from yiku.flows.home import backup
from yiku.flows.keep import transcripts as keep_transcripts
from yiku.flows.learn import ingest, learn, relearn
from yiku.flows.notes import publish, sync, watch
from yiku.rules.privacy.scopes import PUBLIC
from yiku.types import Stats, Status

DISKS = {"local": "local", "network": "network", "overlay": "overlay: gone with its container, unless it is a volume"}
LATE_NIGHT = timedelta(days=3)
LATEST_RUNS = 500  # among which the last full night is looked for
WAL_BYTES = 64 << 20  # more than this means that checkpoints are held up
LITTLE_BYTES = 32 << 20  # of a disk that is nearly full


def stats(handle: Handle) -> Stats:
    """Return counts of what this handle reads, and file sizes."""
    counts = dict(handle.store.upkeep.counts(handle.reads() or [0]))
    about = handle.store.upkeep.about()
    size = blobs.size(handle.blobs)
    return Stats(scope=handle.scope, database_bytes=about["bytes"], blob_bytes=size, **counts)


def status(handle: Handle) -> Status:
    """Return where the home is, its versions, pending work and problems."""
    about, settings = handle.store.upkeep.about(), handle.settings
    candidates, flagged = handle.store.upkeep.review_counts(handle.reads() or [0])
    space, missing, late, why = _search(handle)
    stale, unfit, gone = sync.pending(handle)
    reranked_by, not_reranked = rerank.about(handle)
    why = [
        *why,
        *([not_reranked] if not_reranked else []),
        *([f"{unfit:,} {'note' if unfit == 1 else 'notes'} cannot be indexed: yiku sync says why"] if unfit else []),
        *([f"{gone:,} notes are gone, and are found as before: put them back, or yiku sync --force drops them"] if gone else []),
    ]
    return Status(
        home=settings.home,
        scope=handle.scope,
        reads=tuple(dict.fromkeys((handle.scope, PUBLIC, *settings.reads))),
        store_id=about["store_id"],
        schema=about["schema"],
        analyzer=about["analyzer"],
        sqlite=about["sqlite"],
        durability=settings.durability,
        disk=DISKS[mounts.kind(handle.home)],
        search=space,
        missing=missing,
        waiting={
            **({"events to record": captured} if (captured := ingest.waiting(handle)) else {}),
            **({"to embed": late} if late else {}),
            **({"notes to index": stale} if stale else {}),
            **_to_copy(handle),
            **learn.waiting(handle),
        },
        troubles=(*_troubles(handle, about, flagged), *_needs_review(handle, candidates), *why),
        watching=watch.watching(handle.paths),
        reranked_by=reranked_by,
    )


def _to_copy(handle: Handle) -> Mapping[str, int]:
    """Return the turns that are not in transcripts/, though a minute has passed."""
    late = keep_transcripts.lag(handle)
    return {"turns to copy to transcripts": late} if late else {}


def _search(handle: Handle) -> tuple[str, str | None, int, Sequence[str]]:
    """Return how questions are searched: model space or words, what is missing, pending, wrong."""
    try:
        model, why = handle.embedder()
        if model is None:
            missed = handle.vectors.exist() or handle.settings.embed_url or background.works(handle, embed.THREAD)
            if why and not missed:
                return "words", why.removeprefix("search by words only: "), 0, ()
            return "words", None, 0, [why] if why else ()
        late = sum(embed.waiting(handle, scope, model.space) for scope in handle.reads())
        failed = sum(handle.vectors.progress_of(scope, model.space).failed for scope in handle.reads())
        troubles = [embed.missing_vectors_note(late)] if late else []
        if failed:
            troubles.append(embed.missing_vectors_note(failed, "the model refuses them"))
        if why := background.trouble(handle, embed.THREAD):
            troubles.append(f"nothing is embedded in the background: {why}")
        return model.space, None, late, troubles
    except YikuError as error:
        what = "the vectors are damaged; yiku embed recomputes them" if isinstance(error, Damaged) else error.detail
        return "words", None, 0, [f"{'search by words only' if handle.settings.search == 'auto' else 'searches fail'}: {what}"]


def _troubles(handle: Handle, about: Mapping[str, Any], flagged: int) -> Iterator[str]:
    """Yield problems, one line each with advice."""
    is_paused, until = pause.paused(handle)
    if is_paused:
        yield f"memory is paused{f' until {until:%Y-%m-%d %H:%M}' if until else ''}: yiku resume"
    yield from recall.left_out(handle, handle.reads())
    yield from _of_the_store(about)
    yield from _of_the_place(handle)
    yield from publish.troubles(handle)
    yield from modes.troubles(handle.paths, read_only=about["read_only"])
    if (waiting := sum(not entry["done"] for entry in handle.store.erasures.all())) > 0:
        yield f"{waiting} {'erasure was' if waiting == 1 else 'erasures were'} interrupted: yiku erase --resume"
    yield from watch.troubles(handle.paths)
    if (late := backup.overdue(handle)) is not None:
        yield late
    yield from _late_night(handle)
    if handle.copy_trouble is not None:
        yield f"what was said is stored, but not in transcripts/ yet ({handle.copy_trouble})"
    if transcripts.lost(handle.paths):
        yield "transcripts/lost/ holds turns that the database does not know: yiku repair --rebuild brings them back"
    yield from _set_aside(inbox.set_aside_lines(handle.paths))
    if why := background.trouble(handle, ingest.THREAD):
        yield f"what hooks capture waits in inbox/ ({why}): yiku ingest"
    if handle.settings.durability == "fast":
        yield "durability is fast: a power cut may lose the last second"
    if strangers := handle.settings.unknown_variables:
        yield f"no setting is read from {', '.join(strangers)}: docs/settings.md has the names"
    if flagged:
        yield f"{flagged} memories contradict each other: yiku review"


def _set_aside(lines: inbox.Aside) -> Iterator[str]:
    """Say what the inbox keeps for a person; an event that was refused may be the only copy of what was said."""
    if lines.broken:
        what = "a line that is no event" if lines.broken == 1 else f"{lines.broken:,} lines that are no events"
        which = "the file" if not lines.events else "the line" if lines.broken == 1 else "the lines"
        yield f"inbox/unreadable.jsonl has {what}, or not as it was written: look at it, and delete {which}"
    if lines.events:
        what = "an event" if lines.events == 1 else f"{lines.events:,} events"
        yield f"inbox/unreadable.jsonl keeps {what} that could not be recorded, or only in part: it may be the only copy"


def _needs_review(handle: Handle, candidates: int) -> Iterator[str]:
    """Yield what learning left for review."""
    if handle.put_off is not None:
        yield f"messages are stored, but could not be learned from ({handle.put_off}): yiku learn"
    own = handle.own()
    if dead := len(handle.store.learning.jobs(own[0], dead=True)) if own else 0:
        what = "question to the model" if dead == 1 else "questions to the model"
        yield f"{dead} {what} failed permanently: yiku queue says why, yiku learn --all retries"
    if (proposed := relearn.proposal(handle)) is not None:
        yield proposed
    if candidates:
        yield f"{candidates} {'statement waits' if candidates == 1 else 'statements wait'} to be confirmed: yiku review"


def _late_night(handle: Handle) -> Iterator[str]:
    """Say that nights were skipped, where there ever was one, or why one fails in the background."""
    if why := background.trouble(handle, background.NIGHT):
        yield f"the night fails in the background: {why}"
    own = handle.own()
    last = next((run for run in handle.store.nights.runs(own[0], limit=LATEST_RUNS) if run.mode == "full"), None) if own else None
    if last is not None and handle.now() - last.at > LATE_NIGHT:
        yield f"the last night was {(handle.now() - last.at).days} days ago: yiku consolidate, or yiku schedule"


def _of_the_store(about: Mapping[str, Any]) -> Iterator[str]:
    if about["read_only"]:
        yield "the store is read-only here: nothing can be written"
    if not about["verified"]:
        yield "pages have no checksums here: damage is detected in turns and memories, but not in indexes"
    if not about["marked"]:
        yield "store.id is missing: an older copy of the database would not be detected until the next write"
    if not about["reserve"] and not about["read_only"]:
        yield "no disk space is reserved: forgetting may fail on a full disk"
    if about["wal_bytes"] > WAL_BYTES:
        yield f"the WAL has {about['wal_bytes'] >> 20} MiB: a process has been reading for a long time"


def _of_the_place(handle: Handle) -> Iterator[str]:
    if (free := mounts.free_bytes(handle.home)) is not None and free < LITTLE_BYTES:
        yield f"the disk is nearly full ({free / (1 << 20):.1f} MiB left): what is said may not be stored"
    if mounts.kind(handle.home) == "network":
        yield "this home is on a network file system: slower, and safe only if its locks work"
    if (service := mounts.synced(handle.home)) is not None:
        yield f"this home is in a folder synced by {service}: a copy of an open database can be inconsistent; `yiku backup --to` copies it"
    if tracked := git.tracked(handle.paths.root):
        yield (
            f"git tracks {' and '.join(tracked)} of this home: a commit may tear the database, and a checkout takes it back in time;"
            f" git rm --cached {' '.join(tracked)}"
        )
