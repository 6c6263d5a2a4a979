"""The storage of the notes memory: its database, files, chunks, vectors, and its tables as views."""

import json
import sqlite3
import threading
from hashlib import sha256

import numpy as np
import pytest
from bitwise_homes import Provider, workspace

from yiku.errors import Closed, InvalidInput, NotFound
from yiku_compat.bitwise.core.memory import ChunkRecord, MarkdownChunker, SQLiteStorage
from yiku_compat.bitwise.views import VIEWS

TEXT = "# Multiply 乘法\n\nMUL writes the product to Rd.\n\n## Limits 限制\n\nRd 和 Rm 不能相同。\n"


@pytest.fixture
def storage(home):
    with SQLiteStorage(home / "memory.db", embedding_provider=Provider()) as storage:
        yield storage


def select(storage, sql):
    return storage.memory.admin.sql(sql, views=VIEWS["s4"])


def digest(text):
    return sha256(text.encode()).hexdigest()


def chunks_of(text, path, source="document", vector=()):
    return [
        ChunkRecord(id=str(n), path=path, source=source, start_line=one.start_line, end_line=one.end_line, hash=one.hash,
                    text=one.text, embedding=vector)
        for n, one in enumerate(MarkdownChunker().chunk(text))
    ]  # fmt: skip


@pytest.mark.spec("S4-16", "S4-17", "S4-23")
def test_initialize_makes_a_database_in_wal_mode_and_not_under_the_old_name(home):
    """The folder of db_path is the workspace; the constructor touches nothing, and what is closed says so."""
    storage = SQLiteStorage(str(home / "memory.db"), vector_enabled=False)
    assert not home.exists()
    with pytest.raises(Closed):
        storage.search_fts("arm")
    storage.initialize()
    storage.initialize()
    with sqlite3.connect(home / "yiku.db") as database:
        assert ("wal",) == database.execute("pragma journal_mode").fetchone()
    database.close()

    assert not (home / "memory.db").exists()
    assert ([], []) == (storage.search_fts("arm"), storage.search_vectors([1.0] * 32))
    storage.close()
    with pytest.raises(Closed):
        storage.search_fts("arm")
    with pytest.raises(InvalidInput):
        SQLiteStorage(":memory:")


@pytest.mark.spec("S4-18", "S4-55")
def test_a_file_is_stored_as_it_lies_there(storage, home):
    """With its hash, time and size; another hash than that of the file is refused, and so is a file that is not there."""
    (home / "documents").mkdir()
    (home / "documents" / "mul.md").write_text(TEXT)
    storage.upsert_file("documents/mul.md", "document", digest(TEXT), 0, len(TEXT.encode()))
    [(path, source, hash, mtime, size)] = select(storage, "select path, source, hash, mtime, size from files").rows

    assert ("documents/mul.md", "document", digest(TEXT), len(TEXT.encode())) == (path, source, hash, size)
    assert abs(mtime - (home / "documents" / "mul.md").stat().st_mtime * 1000) < 2
    with pytest.raises(InvalidInput):
        storage.upsert_file("documents/mul.md", "document", "0" * 64, 0, len(TEXT.encode()))
    with pytest.raises(NotFound):
        storage.upsert_file("documents/none.md", "document", digest(TEXT), 0, 1)
    for path in ("../escape.md", "documents/../../escape.md", "", "a\0b"):
        with pytest.raises(InvalidInput):
            storage.upsert_file(path, "document", digest(TEXT), 0, 1)


@pytest.mark.spec("S4-19", "S4-21", "S4-58", "S4-59", "S4-38")
def test_chunks_that_are_stored_are_found_by_words_and_leave_with_their_file(storage, home):
    """Written at their lines, whatever their order, and in step with the index when they are replaced or removed."""
    for chunk in reversed(chunks_of(TEXT, "mul.md")):
        storage.upsert_chunk(chunk)
    assert TEXT.strip() == (home / "documents" / "mul.md").read_text().strip()
    for question in ("Where does MUL write the product?", "Rd 和 Rm 相同吗？"):
        [hit, *_] = storage.search_fts(question, 5)
        assert ("documents/mul.md", "document", 1.0) == (hit.path, hit.source, hit.score)
        assert hit.text in TEXT
        assert hit.start_line <= hit.end_line
    line = ChunkRecord(id="x", path="mul.md", start_line=3, end_line=3, hash="", text="MUL writes the quotient to Rd.")
    storage.upsert_chunk(line)

    assert [] == storage.search_fts("product")
    assert storage.search_fts("quotient")
    assert storage.delete_file("mul.md")
    assert ([], False) == (storage.search_fts("quotient"), storage.delete_file("mul.md"))
    with pytest.raises(InvalidInput):
        storage.upsert_chunk(ChunkRecord(id="x", path="a.md", start_line=0, end_line=0, hash="", text="no line"))


def test_many_chunks_of_a_file_cost_what_they_hold(storage, home):
    """Each is appended, and the file is not written anew for it."""
    text = "\n".join(f"Line {n} of the listing." for n in range(3_000))
    inodes = set()
    for chunk in chunks_of(text, "long.md"):
        storage.upsert_chunk(chunk)
        inodes.add((home / "documents" / "long.md").stat().st_ino)

    assert (1, text) == (len(inodes), (home / "documents" / "long.md").read_text())


def test_what_a_person_wrote_is_not_changed_by_a_chunk(storage, home):
    (home / "MEMORY.md").write_text("Mine. 我的。\n")
    with pytest.raises(InvalidInput):
        storage.upsert_chunk(ChunkRecord(id="x", path="MEMORY.md", start_line=1, end_line=1, hash="", text="Another."))
    with pytest.raises(InvalidInput):
        storage.delete_file("MEMORY.md")

    assert "Mine. 我的。\n" == (home / "MEMORY.md").read_text()


@pytest.mark.spec("S4-20", "S4-37")
def test_a_vector_finds_what_is_near_it(storage):
    """Nearest first, whatever the words are; nothing where nothing has vectors."""
    assert [] == storage.search_vectors([1.0] * 32, 3)
    for name, text in {"heron.md": "The heron stood in the pond.", "tea.md": "绿茶很好喝。", "car.md": "The car is red."}.items():
        storage.upsert_chunk(chunks_of(text, name)[0])
    for question, wanted in {"heron pond": "heron.md", "绿茶": "tea.md", "red car": "car.md"}.items():
        vector = storage.vectors.provider.hashed.embed([question], "query")[0]
        found = storage.search_vectors(vector, 2)
        assert (2, f"documents/{wanted}") == (len(found), found[0].path)
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@pytest.mark.spec("S4-20")
def test_vectors_of_a_caller_need_no_provider(home):
    """A chunk brings its own."""
    with SQLiteStorage(home / "memory.db") as storage:
        for name, text, vector in (("a.md", "The heron.", [1.0, 0.0]), ("b.md", "绿茶。", [0.0, 1.0])):
            storage.upsert_chunk(chunks_of(text, name, vector=vector)[0])

        assert "documents/b.md" == storage.search_vectors([0.1, 0.9], 2)[0].path
        assert "documents/a.md" == storage.search_vectors([0.9, 0.1], 2)[0].path


@pytest.mark.spec("S4-22", "S4-25", "S4-91")
def test_a_cached_embedding_is_not_computed_again(storage, home):
    """Neither one that a caller has, nor one that was made before; a vector of another model is refused."""
    provider, text = storage.vectors.provider, "The heron stood in the pond. 苍鹭站在池塘里。"
    storage.cache_embedding(digest(text), "test:hashed", [0.5] * 32)
    storage.cache_embedding(digest("known by the start of its hash")[:16], "test:hashed", [0.25] * 32)
    for name, words in (("a.md", text), ("b.md", "known by the start of its hash"), ("c.md", "New words.")):
        storage.upsert_chunk(chunks_of(words, name)[0])
    storage.search_fts("heron")
    assert ["New words."] == provider.asked
    storage.delete_file("c.md")
    storage.upsert_chunk(chunks_of("New words.", "d.md")[0])
    storage.search_fts("heron")

    assert ["New words."] == provider.asked
    with pytest.raises(InvalidInput):
        storage.cache_embedding(digest(text), "openai:another", [0.5] * 32)


@pytest.mark.spec("S4-23", "S4-24")
def test_threads_read_and_write_at_once_and_one_closes_for_all(storage):
    """None of them meets another one's connection; a close elsewhere is seen everywhere."""
    errors = []

    def work(n):
        try:
            for count in range(3):
                storage.upsert_chunk(chunks_of(f"Thread {n} wrote word{n}x{count}. 线程{n}。", f"t{n}-{count}.md")[0])
                assert storage.search_fts(f"word{n}x{count}", 3)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == errors
    assert 12 == select(storage, "select count(*) from files").rows[0][0]
    closer = threading.Thread(target=storage.close)
    closer.start()
    closer.join()
    with pytest.raises(Closed):
        storage.search_fts("word")


@pytest.mark.spec("S4-54", "S4-55", "S4-56", "S4-57")
def test_the_tables_have_the_documents_columns_and_forms(home):
    """What is written natively is there under the names, types and text forms of the tables; they cannot be written."""
    provider = Provider()
    with workspace(home, provider) as manager:
        manager.storage.memory.notes.promote("Rd and Rm must differ. Rd 和 Rm 不能相同。")
        manager.storage.memory.notes.append_daily("今天学习了 ARM 指令")
        manager.sync_sync()
        storage = manager.storage
        columns = {
            name: select(storage, f"select * from {name}").columns for name in ("meta", "files", "chunks", "embedding_cache")
        }
        chunks = select(storage, "select * from chunks order by path").rows
        types = select(storage, "select " + ", ".join(f"typeof({name})" for name in columns["chunks"]) + " from chunks").rows
        cached = select(
            storage, "select provider, model, provider_key, hash, embedding, dims, updated_at from embedding_cache"
        ).rows

        assert columns == {
            "meta": ("key", "value"),
            "files": ("path", "source", "hash", "mtime", "size"),
            "chunks": ("id", "path", "source", "start_line", "end_line", "hash", "model", "text", "embedding", "updated_at"),
            "embedding_cache": ("provider", "model", "provider_key", "hash", "embedding", "dims", "updated_at"),
        }
        assert {("text",) * 3 + ("integer",) * 2 + ("text",) * 4 + ("integer",)} == set(types)
        assert ("MEMORY.md", "memory", "hashed") == (chunks[0][1], chunks[0][2], chunks[0][6])
        assert np.allclose(provider.hashed.embed([provider.asked[-1]], "passage")[0], json.loads(cached[-1][4]), atol=0.02)
        assert {("test", "hashed", "test:hashed", 32)} == {(row[0], row[1], row[2], row[5]) for row in cached}
        assert {row[5] for row in chunks} == {row[3] for row in cached}
        assert [("1.0.0",)] == [*select(storage, "select value from meta where key = 'schema_version'").rows]
        for statement in ("delete from chunks", "update files set path = 'x'", "insert into meta values ('a', 'b')"):
            with pytest.raises(InvalidInput):
                select(storage, statement)


@pytest.mark.spec("S4-56")
def test_without_vectors_chunks_have_empty_ones(home):
    with workspace(home, vector_enabled=False) as manager:
        manager.storage.memory.notes.promote("Rd 和 Rm 不能相同。")
        manager.sync_sync()

        assert [("[]", "")] == manager.select("select embedding, model from chunks")
        assert [] == manager.select("select * from embedding_cache")
