"""
The public face of the store: all that flows may import from it.

`apply` is the only write: all of its changes or none, and only if what the decision rested on still holds. Reads take
the numbers of the scopes that may be seen; no read crosses them. Each face has at most 25 verbs (tests/store/test_api.py);
what each does is said where it stands.

    this module    | what is imported: RECORD_KINDS, RECORD_TABLES, ByteNeedles, Erasures, Index, IdentityFile, Learning, Nights,
                   | Notes, Reserve, SqliteStore, Store, Upkeep, Vectors, dumps, micros, moment, of_notes, of_pairs, offline,
                   | one_at_a_time, record_tokens, record_was, search_bytes, with_id
    Store          | rows: the one way to write, and reading: scope, scopes, apply, marks, exclusive, conflict_set, memories,
                   | count, version, turn, with_details, turns, unreadable, postings, columns, hidden, records,
                   | page_versions, retrieved_since, sessions, journal, receipt, shorten_busy_timeout, close
    Store.learning | how far learning came, its queue, what models took: upto, extracted, waiting, state,
                   | compressions, jobs, spent
    Store.notes    | files of the vault as they were indexed, and their passages: files, of_file, read, ending, after, exist,
                   | count
    Store.nights   | what the night did, and what it looks for: runs, items, counts, decided, untold, stale,
                    | summarized
    Store.erasures | what was erased, and whether any of it is left: all, last, known, tombstoned, texts,
                   | texts_in_rows, needles_in_rows, found, scrub
    Store.upkeep   | the store as a whole: totals, copies, the way back to one: ensure_open, about, counts, review_counts, sql,
                   | merge, copied, since, restore, resume_numbering
    Vectors        | vectors, in a file of their own: exist, progress_of, other_spaces, load, similar, superseded, beginnings,
                   | build_files, add, add_superseded, forget, remove, drop, keep_only, fits, fit, cached, cache, reset, close, start_over
    IdentityFile   | which store a home has, and how far it came: read, clean_shutdown, write
    Reserve        | space for forgetting on a full disk: size, keep, release
    offline        | a database that no store has open: Depth, Findings, Tokenizers, check_backup, check_store, fsync,
                   | has_tables, install, is_foreign, keep_damaged, named_blobs, read_backup, read_erasures,
                   | read_identity, rebuild, remove, unpack_backup
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from yiku.store.byte_search import Needles as ByteNeedles
from yiku.store.byte_search import search as search_bytes
from yiku.store.erase import with_id
from yiku.store.gate import one_at_a_time
from yiku.store.identity_file import IdentityFile
from yiku.store.protocol import Erasures, Index, Learning, Nights, Notes, Store, Upkeep
from yiku.store.records import KINDS as RECORD_KINDS
from yiku.store.records import TABLES as RECORD_TABLES
from yiku.store.records import from_image as record_was
from yiku.store.records import tokens as record_tokens
from yiku.store.reserve import Reserve
from yiku.store.row_codec import dumps, micros, moment
from yiku.store.sqlite import SqliteStore
from yiku.store.vectors.file import Vectors
from yiku.store.vectors.tables import of_notes, of_pairs

if TYPE_CHECKING:
    from yiku.store import offline

__all__ = [
    "RECORD_KINDS",
    "RECORD_TABLES",
    "ByteNeedles",
    "Erasures",
    "IdentityFile",
    "Index",
    "Learning",
    "Nights",
    "Notes",
    "Reserve",
    "SqliteStore",
    "Store",
    "Upkeep",
    "Vectors",
    "dumps",
    "micros",
    "moment",
    "of_notes",
    "of_pairs",
    "offline",
    "one_at_a_time",
    "record_tokens",
    "record_was",
    "search_bytes",
    "with_id",
]


def __getattr__(name: str) -> Any:
    """Import `offline` on first use: only check, repair and restore need its 20 ms."""
    if name == "offline":
        return import_module("yiku.store.offline")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
