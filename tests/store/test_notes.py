"""The tables of notes: a change is made only to the file that its caller saw."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from yiku.errors import Stale
from yiku.rules.text import analyze
from yiku.store.sqlite import SqliteStore
from yiku.types import AddScope, Cause, DropFile, IndexFile, NewChunk, NoteFile

AT = datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
SEEN = NoteFile(
    path="MEMORY.md",
    source="memory",
    hash=b"one",
    size=9,
    mtime_ns=1,
    ctime_ns=1,
    inode=1,
    seen_ns=1,
    status="indexed",
    detail=None,
    said_at=AT,
    indexed_at=AT,
    rules="1",
)


@pytest.fixture
def store(tmp_path: Path, made):
    made(tmp_path)
    store = SqliteStore(tmp_path / "yiku.db", gate=tmp_path / "write.lock", analyzer=analyze.VERSION)
    yield store
    store.close()


def apply(store: SqliteStore, *changes) -> None:
    store.apply(1, changes, Cause("sync", AT))


def test_a_file_that_another_process_indexed_meanwhile_is_left_as_that_has_it(store):
    """Updating or dropping it by an older hash is Stale, and nothing of it changes; by the hash it has both are done."""
    text = "I live in Oslo. 我住在奥斯陆。"
    store.apply(0, [AddScope("user:mei")], Cause("open scope", AT))
    apply(
        store,
        IndexFile(SEEN, new=[NewChunk(id="c1", start_line=1, end_line=1, heading="", text=text, tokens=analyze.tokens(text))]),
    )
    (known,) = store.notes.files(1)
    (passage,) = store.notes.of_file(1, known.n)

    for change in (
        IndexFile(replace(known, hash=b"two"), was=b"zero"),
        DropFile(known.n, b"zero", {passage.n: analyze.tokens(text)}),
    ):
        with pytest.raises(Stale):
            apply(store, change)
    assert ([known], [passage]) == (store.notes.files(1), store.notes.of_file(1, known.n))

    apply(store, IndexFile(replace(known, hash=b"two"), was=b"one"))
    apply(store, DropFile(known.n, b"two", {passage.n: analyze.tokens(text)}))
    assert [] == store.notes.files(1)
