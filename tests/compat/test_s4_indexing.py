"""The indexer, the searcher and the embedding providers of the notes memory."""

import asyncio
from hashlib import sha256
from itertools import pairwise

import pytest
from bitwise_homes import Provider, workspace
from models import server as fake
from models import tiny

from yiku.errors import InvalidInput, ModelUnavailable
from yiku.models import prepare
from yiku_compat.bitwise.core.memory import (
    ChunkConfig,
    EmbeddingProvider,
    FTSSearchResult,
    HybridConfig,
    LocalEmbeddingProvider,
    MemoryIndexer,
    MemorySearcher,
    OpenAIEmbeddingProvider,
    VectorSearchResult,
)

TEXT = "# Multiply\n\nMUL writes the product to Rd.\n\n# 限制\n\nRd 和 Rm 不能相同。\n"


@pytest.fixture
def manager(home, clock):
    with workspace(home, Provider(), clock) as manager:
        yield manager


@pytest.mark.spec("S4-26", "S4-27", "S4-31", "S4-32", "S4-33")
def test_a_text_is_indexed_replaced_and_left_alone(manager, home):
    """Under its name, with the lines of its chunks; the same text again changes nothing."""
    indexer = MemoryIndexer(manager.storage, None, ChunkConfig())
    first = indexer.index_file("arm/mul.md", TEXT, "document")
    again = indexer.index_file("arm/mul.md", TEXT, "document")
    for question in ("Where is the product written?", "哪两个不能相同？"):
        assert "documents/arm/mul.md" == manager.search_sync(question)[0].path
    changed = indexer.index_file("arm/mul.md", TEXT.replace("product", "sum"), "document")

    assert ("indexed", "unchanged", "indexed") == (first.status, again.status, changed.status)
    assert ("documents/arm/mul.md", 1) == (first.path, first.chunks)
    assert "sum" in (home / "documents/arm/mul.md").read_text()
    assert not any("product" in one.text for one in manager.search_sync("product", 10, 0.0))
    for text, path in (("", "a.md"), (" \n", "a.md"), ("text", "../a.md")):
        with pytest.raises(InvalidInput):
            indexer.index_file(path, text)
    with pytest.raises(InvalidInput, match="400"):
        MemoryIndexer(manager.storage, None, ChunkConfig(512, 64))


@pytest.mark.spec("S4-28")
def test_a_file_of_the_workspace_is_indexed_where_it_lies(manager, home, tmp_path):
    """One from elsewhere is copied; one that is not there is told."""
    (home / "memory").mkdir(exist_ok=True)
    (home / "memory" / "2026-02-01.md").write_text("The build was green. 构建通过。\n")
    outside = tmp_path / "notes" / "arm.md"
    outside.parent.mkdir()
    outside.write_text("The barrel shifter is free. 桶形移位器是免费的。\n")
    found = manager.indexer.index_memory_file(home / "memory" / "2026-02-01.md", home)
    copied = manager.indexer.index_memory_file(outside, home)

    assert ("memory/2026-02-01.md", 1, "missing") == (
        found.path,
        found.chunks,
        manager.indexer.index_memory_file(home / "none.md", home).status,
    )
    assert copied.path.startswith("documents/") and copied.path.endswith("notes/arm.md")
    assert copied.path == manager.search_sync("barrel shifter")[0].path
    assert outside.exists()
    with pytest.raises(InvalidInput):
        manager.indexer.index_memory_file(outside, tmp_path)


@pytest.mark.spec("S4-29")
def test_what_is_deleted_is_found_no_more(manager, home):
    manager.indexer.index_file("mul.md", TEXT)
    assert ("removed", "missing") == (manager.indexer.delete_index("mul.md").status, manager.indexer.delete_index("mul.md").status)
    assert [] == manager.storage.search_fts("product")
    manager.append_to_short_term("The product is stored.")
    with pytest.raises(InvalidInput):
        manager.indexer.delete_index(manager.get_short_term_memory_path(), "memory")


def test_an_outage_of_the_model_takes_nothing_from_the_index(home):
    """What was found is still found, by its words; with the model back the rest is made up for."""
    provider = Provider()
    with workspace(home, provider) as manager:
        manager.indexer.index_file("mul.md", TEXT)
        provider.hashed.broken = True
        down = manager.indexer.index_file("mul.md", TEXT.replace("product", "sum"))
        found = manager.search_sync("sum")

        assert "words only" in down.why
        assert "documents/mul.md" == found[0].path
        assert manager.searcher.diagnostics
        provider.hashed.broken = False
        assert 1 == manager.sync_sync().embedded
        assert manager.search_sync("sum")[0].vector_score


@pytest.mark.spec("S4-30", "S4-33", "S4-31")
def test_chunks_have_exact_lines_and_their_vectors_are_made_once(manager):
    """A chunk's lines hold its text, also of long Chinese lines; a known vector is not asked for."""
    text = "\n".join(f"{n}. The register R{n} holds a word. 寄存器{n}保存一个字。" for n in range(200)) + "\n" + "长" * 3_000
    chunks = manager.indexer._chunk_content(text)
    lines = text.split("\n")
    for chunk in chunks:
        held = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.text.strip() in held
        assert sha256(chunk.text.encode()).hexdigest() == chunk.hash
    provider = manager.storage.vectors.provider
    first = asyncio.run(manager.indexer._embed_chunks(chunks[:3]))
    again = asyncio.run(manager.indexer._embed_chunks(chunks[:4]))

    assert len(chunks) > 10
    assert (first, 4) == (again[:3], len(provider.asked))
    assert {32} == {len(vector) for vector in again}


# ------------------------------------------------------------------ the searcher


def vector_hit(id, score, path="a.md"):
    return VectorSearchResult(chunk_id=id, path=path, source="document", start_line=1, end_line=2, text=id, score=score)


def word_hit(id, score, path="a.md"):
    return FTSSearchResult(chunk_id=id, path=path, source="document", start_line=1, end_line=2, text=id, score=score)


@pytest.mark.spec("S4-36", "S4-39", "S4-86")
def test_routes_are_added_up_with_their_weights(manager):
    """70 to 30 by default, otherwise as configured; weights that add up to something else count in proportion."""
    for config, wanted in (
        (HybridConfig(), {"both": 0.7 * 0.5 + 0.3, "near": 0.7, "said": 0.3 * 0.8}),
        (HybridConfig(vector_weight=0.2, text_weight=0.2), {"both": 0.75, "near": 0.5, "said": 0.4}),
    ):
        searcher = MemorySearcher(manager.storage, None, config)
        found = searcher._merge_results(
            [vector_hit("near", 1.0), vector_hit("both", 0.5)], [word_hit("both", 1.0), word_hit("said", 0.8)]
        )
        assert wanted == {one.chunk_id: pytest.approx(one.score) for one in found}
        assert [one.chunk_id for one in found] == sorted(wanted, key=lambda id: -wanted[id])
    alone = manager.searcher._merge_results([], [word_hit("said", 0.8)])
    assert [0.8] == [one.score for one in alone]


@pytest.mark.spec("S4-15", "S4-36", "T-37")
def test_the_long_term_file_comes_first_among_equals(manager):
    found = manager.searcher._merge_results([], [word_hit("log", 1.0), word_hit("lasting", 1.0, "MEMORY.md")])
    assert ["lasting", "log"] == [one.chunk_id for one in found]
    with pytest.raises(InvalidInput):
        HybridConfig(vector_weight=0, text_weight=0)


@pytest.mark.spec("S4-34", "S4-35", "S4-46", "T-37")
def test_search_is_asynchronous_bounded_and_cuts_by_route(manager):
    """A hit of words alone passes, `min_score=0` is no default, and the sync twin works inside a running loop."""
    for n in range(8):
        manager.index_document(f"d{n}.md", f"The heron number {n} stood in the pond. 第{n}只苍鹭站在池塘里。")
    manager.index_document("weak.md", "Somebody went to a pond, far away from here, on a long and quiet day without any birds.")
    searcher = MemorySearcher(manager.storage, None, HybridConfig())

    async def ask():
        inside = manager.search_sync("heron", 3)
        return (
            inside,
            await searcher.search("heron", 3),
            await manager.search("苍鹭在哪里？", 5),
            await searcher.search("heron stood in the pond", 99, 0),
        )

    inside, found, chinese, everything = asyncio.run(ask())
    assert (3, 3, 5) == (len(inside), len(found), len(chinese))
    strict = MemorySearcher(manager.storage, None, HybridConfig(min_score=0.99))
    assert "documents/weak.md" in {one.path for one in everything}
    assert "documents/weak.md" not in {one.path for one in strict.search_sync("heron stood in the pond", 99)}
    assert "documents/weak.md" in {one.path for one in strict.search_sync("heron stood in the pond", 99, 0)}
    assert all(one.score <= before.score for before, one in pairwise(found))
    assert all(max(one.vector_score or 0, one.text_score or 0) >= 0.5 for one in found)
    words = MemorySearcher(manager.storage, None, HybridConfig(vector_weight=1.0, text_weight=0.0, enabled=False))
    assert all(one.text_score is None for one in words.search_sync("heron"))


# ------------------------------------------------------------------ providers


@pytest.mark.spec("S4-60")
def test_a_provider_must_have_everything_that_is_asked_of_it(home):
    """The abstract class has two properties and two asynchronous calls; a failing provider is named, and words still find."""

    class Half(EmbeddingProvider):
        id = "half"
        model = "none"

        async def embed_query(self, text):
            raise RuntimeError("no such host")

    with pytest.raises(TypeError):
        EmbeddingProvider()
    with pytest.raises(TypeError):
        Half()

    class Broken(Half):
        async def embed_batch(self, texts):
            raise RuntimeError("no such host")

    with workspace(home, Broken()) as manager:
        manager.index_document("a.md", "The heron stood in the pond.")
        assert "documents/a.md" == manager.search_sync("heron")[0].path
        assert "no such host" in manager.searcher.diagnostics[0]


@pytest.mark.spec("S4-61", "S4-70")
def test_an_openai_compatible_endpoint_is_asked_with_key_and_model(home):
    """At any base URL; what it makes is what is searched by."""
    with fake.serving() as server:
        provider = OpenAIEmbeddingProvider("sk-test-1", "embedding-3", server.url, id="zhipu")

        async def both():
            return await provider.embed_query("heron"), await provider.embed_batch(["The heron.", "苍鹭。"])

        query, batch = asyncio.run(both())
        assert ("zhipu", "embedding-3", 8, 2) == (provider.id, provider.model, len(query), len(batch))
        assert {"Bearer sk-test-1"} == {headers["Authorization"] for headers in server.headers}
        assert {"embedding-3"} == {asked["model"] for asked in server.asked}
        with workspace(home, provider) as manager:
            manager.index_document("a.md", "The heron stood in the pond.")
            assert [("zhipu", "embedding-3")] == manager.select("select provider, model from embedding_cache")


@pytest.mark.spec("S4-62")
def test_the_local_model_is_a_provider(tmp_path, monkeypatch):
    """Where it is installed; else the error says how to install it, and a manager searches by words."""
    with pytest.raises(ModelUnavailable, match=r"\.\[local\]|no package"):
        LocalEmbeddingProvider()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(prepare, "installed", prepare.installed)
    monkeypatch.setattr(prepare, "SHA256", prepare.SHA256)
    tiny.install(tmp_path / "e5.bin")
    monkeypatch.setattr("yiku.models.select.installed", prepare.installed)
    monkeypatch.setattr("yiku.models.e5.DIMENSIONS", tiny.WIDTH)
    provider = LocalEmbeddingProvider()
    found = asyncio.run(provider.embed_batch(["tea", "绿茶"]))

    assert ("local", 2) == (provider.id, len(found))
    assert all(abs(sum(value * value for value in vector) - 1) < 1e-3 for vector in found)
