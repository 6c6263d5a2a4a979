"""
Apply a person's edits of MEMORY.md or USER.md to memory: update, remember or forget.

Each edit goes the way of `update`, `remember` or `forget`, so that it is decided, journaled and undone as if it had been told.
What cannot be kept (it was erased, is private, is no statement) stays the person's own text; who marks a line as private takes its
memory out of use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from yiku.errors import IdempotencyMismatch, InvalidInput, KeptOut, NotFound, Paused, TooLarge
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.lookup import find_memory
from yiku.flows.keep.forget import forget
from yiku.flows.keep.remember import remember
from yiku.flows.keep.update import update
from yiku.rules.pages import choosing, region
from yiku.rules.pages.hand_edits import Edits
from yiku.rules.pages.merge import merge
from yiku.rules.pages.region import Item
from yiku.rules.privacy import private
from yiku.types import Details, Edited, How, Kind, Memories, Refused, Retracted, SemanticMemory, State

METHOD = "edited"
REASON = "removed from {}"


def edit(handle: Handle, id: str, before: str, after: str) -> Edited:
    """A memory with an edited text, merged with what was told of it since it was shown; where both say otherwise, the edit counts."""
    shown, wanted = (checks.text(text, name).strip() for text, name in ((before, "before"), (after, "after")))
    row = find_memory(handle, id, handle.own())
    live = in_use(handle, [row.id])
    if row.id not in live:
        raise NotFound(f"{row.id} is not in use any more", "`yiku restore` brings it back.")
    now = live[row.id]
    both = merge(shown, wanted, now.content.strip())
    text = both.text if both.clean else wanted
    return Edited(now if text == now.content else update(handle, now.id, text, {}), both.clean)


@dataclass(slots=True)
class Applied:
    """What edits came to: the texts that memory has now, the texts of what it forgot, and what stays the person's own."""

    changed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)


def in_use(handle: Handle, ids: Sequence[str]) -> dict[str, SemanticMemory]:
    """The current version of each of these memories that is in use, by the id given."""
    own = handle.own()
    if not own or not ids:
        return {}
    known = handle.store.memories(own, Memories(ids=sorted({*ids})))
    found: dict[str, SemanticMemory] = {}
    for row in known:
        line = Memories(line=row.line, states=(State.ACTIVE, State.CANDIDATE), current=True, limit=1)
        if live := handle.store.memories(own, line):
            found[row.id] = live[0]
    return found


def apply(handle: Handle, page: str, version: str, edits: Edits) -> Applied:
    """
    Bring the edits of a page into memory. Raises Paused, and StoreError; done twice it changes nothing more.

    A line that is missing says nothing of what was told since in its place.
    """
    done = Applied(own=[*edits.own])
    live = in_use(handle, [id for id, _ in edits.changed])
    for id, item in edits.changed:
        if private.is_nothing(private.without(item.text)):
            _forget(handle, page, live.get(id), done)
            done.own.append(region.without_id(item))
            continue
        _keep(done, item, done.changed, _correct(handle, page, version, live.get(id), item))
    for item in edits.added:
        _keep(done, item, done.added, _remember(handle, page, version, item))
    live = in_use(handle, edits.removed)  # what was told just now may have taken the place of a line that is missing
    for id in edits.removed:
        if id in live and live[id].id == id:
            _forget(handle, page, live[id], done)
    return done


def _forget(handle: Handle, page: str, row: SemanticMemory | None, done: Applied) -> None:
    if row is not None and forget(handle, row.id, reason=REASON.format(page)).memories:
        done.removed.append(row.content)


def _keep(done: Applied, item: Item, sentences: list[str], kept: bool) -> None:
    if kept:
        sentences.append(item.text)
    else:
        done.own.append(item.raw)


def _correct(handle: Handle, page: str, version: str, row: SemanticMemory | None, item: Item) -> bool:
    """Whether the memory says so now. One that is not in use any more is told anew."""
    if row is None:
        return _remember(handle, page, version, item)
    if " ".join(row.content.split()) == item.text:
        return True  # done before
    try:
        update(handle, row.id, item.text, {})
        return True
    except Paused:
        raise
    except (TooLarge, KeptOut):
        return False
    except (InvalidInput, NotFound):  # another memory says just that, or holds that slot
        if not _remember(handle, page, version, item, row.kind):
            return False
        forget(handle, row.id, reason=f"changed in {page}")
        return True


def _remember(handle: Handle, page: str, version: str, item: Item, kind: Kind | None = None) -> bool:
    """Whether memory knows it now."""
    kind = kind or (choosing.kind_of(item.section) if page == choosing.MEMORY else None)
    details: Details = {} if kind in (None, Kind.FACT) else {"kind": kind}
    key = f"{page} {version} {handle.scope_seal(item.text).hex()}"
    try:
        outcome = remember(handle, item.text, details, idempotency_key=key, how=How(method=METHOD))
    except IdempotencyMismatch:
        return True  # this line of this version was read before
    except Paused:
        raise
    except (InvalidInput, KeptOut):
        return False
    return not isinstance(outcome, Refused | Retracted)
