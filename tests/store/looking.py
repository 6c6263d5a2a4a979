"""Helpers to fill a store and to read it back, for the contract and other tests."""

import contextlib
from collections.abc import Callable
from dataclasses import replace

from store.samples import NOW, cause, kept

from yiku.errors import StoreError
from yiku.rules.deciding.conflict import text_hash
from yiku.rules.deciding.slots import index_tokens
from yiku.store.api import Index, Store
from yiku.types import AddScope, Memories, Origin, SemanticMemory, Source, Turn, Turns, UpdateMemory

Reopen = Callable[[], Store]


def new_scope(store: Store, name: str) -> int:
    store.apply(0, [AddScope(name)], cause())
    number = store.scope(name)
    assert number is not None
    return number


def totals(store: Store, index: Index, scopes: list[int]) -> tuple[int, int]:
    """How many documents and words these scopes have in an index."""
    nothing = store.postings(index, scopes, [], past=False, cap=1)
    return nothing.documents, nothing.words


def scope_of(store: Store, table: str, row: int) -> str | None:
    """The scope of a row that the journal names."""
    everyone = list(range(1, 100))
    if table == "scopes":
        return next(f"scope-{i}" for i in range(100) if store.scope(f"scope-{i}") == row)
    found = (
        store.turns(everyone, Turns(ns=[row])) if table == "conversation_turns" else store.memories(everyone, Memories(ns=[row]))
    )
    return found[0].scope


def refused(store: Store, scope: int, change: object) -> None:
    """Apply a change that must have no effect; the store may raise or do nothing."""
    with contextlib.suppress(StoreError, LookupError):
        store.apply(scope, [change], cause())


def store_turns(store: Store, scope: int, **select: object) -> list[Turn]:
    return store.turns([scope], Turns(**select))


def positions(store: Store, scope: int, session: str) -> list[tuple[str, int]]:
    return [(turn.content, turn.position) for turn in store.turns([scope], Turns(session=session))]


def reopened(reopen: Reopen, scope: int) -> list[SemanticMemory]:
    store = reopen()
    return store.with_details(store.memories([scope], Memories()))


def chained(store: Store, scope: int, *versions: SemanticMemory) -> None:
    """Each version retires the one before it."""
    for i, version in enumerate(versions):
        retired = []
        if i:
            (before,) = store.memories([scope], Memories(ids=[versions[i - 1].id]))
            retired = [UpdateMemory(before.n, {"superseded_by": version.id}, index_tokens(before))]
        store.apply(scope, [*retired, kept(version)], cause())


def met_hash(text: str) -> bytes:
    return text_hash(text, None)


def another_source(**given: object) -> Source:
    return Source(**{"origin": Origin.USER, "said_at": NOW, "recorded_at": NOW, **given})


def everything(store: Store, scope: int) -> object:
    """All that a scope shows, to compare."""
    return (
        store.with_details(store.memories([scope], Memories())),
        store.turns([scope], Turns(hidden=True)),
        store.journal([scope]),
        dict(store.upkeep.counts([scope])),
        [totals(store, index, [scope]) for index in ("turn", "tool", "memory")],
    )


def unnumbered(memory: SemanticMemory) -> tuple[Source, ...]:
    """The sources of a memory without the numbers that the store gave them."""
    return tuple(replace(source, seq=0) for source in memory.sources)
