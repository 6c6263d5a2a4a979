"""
All that the rest of Yiku knows of the store: flows import this module, and nothing behind it.

`apply` is the only write: all of its changes or none, and only if what the decision rested on still holds. Reads take
the numbers of the scopes that may be seen; no read crosses them. Each face has at most 25 verbs (tests/store/test_api.py);
what each does is said where it stands.

    this module    | what is imported: RECORD_KINDS, RECORD_TABLES, Erasures, Index, Learning, Mark, Reserve,
                   | SqliteStore, Store, Upkeep, Vectors, dumps, identified, micros, moment, offline, one_at_a_time,
                   | record_tokens, record_was, search_bytes
    Store          | rows: the one way to write, and reading: scope, scopes, apply, marks, exclusive, met, memories,
                   | count, version, turn, filled, turns, unreadable, postings, columns, hidden, records,
                   | page_versions, retrieved_since, sessions, journal, receipt, hasten, close
    Store.learning | how far learning came, its queue, what models took: upto, extracted, waiting, state,
                   | compressions, jobs, spent
    Store.erasures | what was erased, and whether any of it is left: all, last, known, sealed, holding, still_said,
                   | held, found, scrub
    Store.upkeep   | the store as a whole: totals, copies, the way back to one: about, counts, unsettled, merge,
                   | copied, since, put_back, go_on
    Vectors        | vectors, in a file of their own: exist, embedded, others, loaded, similar, settle, add, forget,
                   | drop, keep_only, fits, fit, cached, cache, begin_anew, close, start_over
    Mark           | which store a home has, and how far it came: read, shut, write
    Reserve        | space for forgetting on a full disk: size, keep, release
    offline        | a database that no store has open: Depth, Look, Words, check_backup, erasures, flushed,
                   | has_tables, identity, install, is_foreign, look, named_blobs, put_aside, read_backup, removed,
                   | rescued, unpack_backup
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from yiku.store.byte_search import search as search_bytes
from yiku.store.erase import identified
from yiku.store.gate import one_at_a_time
from yiku.store.mark import Mark
from yiku.store.protocol import Erasures, Index, Learning, Store, Upkeep
from yiku.store.records import KINDS as RECORD_KINDS
from yiku.store.records import TABLES as RECORD_TABLES
from yiku.store.records import tokens as record_tokens
from yiku.store.records import was as record_was
from yiku.store.reserve import Reserve
from yiku.store.rows import dumps, micros, moment
from yiku.store.sqlite import SqliteStore
from yiku.store.vectors.file import Vectors

if TYPE_CHECKING:
    from yiku.store import offline

__all__ = [
    "RECORD_KINDS",
    "RECORD_TABLES",
    "Erasures",
    "Index",
    "Learning",
    "Mark",
    "Reserve",
    "SqliteStore",
    "Store",
    "Upkeep",
    "Vectors",
    "dumps",
    "identified",
    "micros",
    "moment",
    "offline",
    "one_at_a_time",
    "record_tokens",
    "record_was",
    "search_bytes",
]


def __getattr__(name: str) -> Any:
    """`offline` is imported when it is asked for: only check, repair and the way back to a backup need its 20 ms."""
    if name == "offline":
        return import_module("yiku.store.offline")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
