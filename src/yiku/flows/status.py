"""
stats and status: how much there is, and how the home is.

Nothing is silent: what is degraded, missing, unusual or waiting is a line of `troubles`.
"""

from __future__ import annotations

from yiku.files import blobs
from yiku.flows.handle import Handle
from yiku.rules.scopes import PUBLIC
from yiku.types import Stats, Status


def stats(handle: Handle) -> Stats:
    """Counts of what this handle reads, and the sizes of the files."""
    counts = dict(handle.store.counts(handle.reads() or [0]))
    counts.pop("flagged")
    about = handle.store.about()
    size = blobs.size(handle.blobs)
    return Stats(scope=handle.scope, database_bytes=about["bytes"], blob_bytes=size, **counts)


def status(handle: Handle) -> Status:
    """Where the home is, whose, which versions, what waits, what is wrong."""
    about, settings = handle.store.about(), handle.settings
    counts = handle.store.counts(handle.reads() or [0])
    troubles = []
    if about["read_only"]:
        troubles.append("the store is read-only here: nothing can be remembered")
    if settings.durability == "fast":
        troubles.append("durability is fast: a power cut may lose the last second")
    if counts["flagged"]:
        troubles.append(f'{counts["flagged"]} memories contradict each other: yiku list --where \'{{"flag": "conflict"}}\'')
    return Status(
        home=settings.home,
        scope=handle.scope,
        reads=tuple(dict.fromkeys((handle.scope, PUBLIC, *settings.reads))),
        store_id=about["store_id"],
        schema=about["schema"],
        analyzer=about["analyzer"],
        sqlite=about["sqlite"],
        durability=settings.durability,
        search="words",
        waiting={},
        troubles=tuple(troubles),
    )
