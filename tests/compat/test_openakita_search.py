"""Search backends of openakita: FTS5 with jieba, a vector library, an endpoint; which one answers, and why."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from compat.embedding_endpoint import running
from embedders import Hashed

from yiku import Memory
from yiku.errors import ExtraMissing, InvalidInput
from yiku_compat.openakita import (
    APIEmbeddingBackend,
    ChromaDBBackend,
    FTS5Backend,
    SearchBackend,
    SemanticMemory,
    Settings,
    UnifiedStore,
    VectorStore,
    create_search_backend,
)
from yiku_compat.openakita.model_hub import available_backends

SAID = {
    "dark": ("用户喜欢用深色主题", {"type": "preference", "subject": "用户", "predicate": "偏好"}),
    "tool": ("Releases are built with nox and python-3.10, see config.yaml.", {"type": "skill", "tags": ["release"]}),
    "food": ("The user is allergic to peanuts.", {"type": "fact", "subject": "user"}),
}


@pytest.fixture(params=[True, False], ids=["jieba", "characters"])
def fts(request) -> FTS5Backend:
    backend = FTS5Backend(jieba=request.param)
    backend.batch_add([{"id": id, "content": text, "metadata": noted} for id, (text, noted) in SAID.items()])
    return backend


@pytest.fixture
def store(memory) -> Iterator[UnifiedStore]:
    store = UnifiedStore(memory)
    yield store
    store.close()


def found(backend: SearchBackend, query: str, **more) -> list[str]:
    return [id for id, _ in backend.search(query, **more)]


# ------------------------------------------------------------------ FTS5


@pytest.mark.spec("S3-131", "S3-146", "S3-234")
def test_chinese_is_cut_into_words_before_it_is_written():
    """What stands in the table is separated by spaces; jieba is the default where it is installed, and nothing is downloaded."""
    backend = create_search_backend()
    assert backend.add("dark", "用户喜欢用深色主题", {"type": "preference", "subject": "用户", "tags": ["界面"]})

    written = backend.indexed("dark")
    assert "jieba" == backend.segmenter.name
    assert {"用户", "喜欢", "深色", "主题"} <= {*written["content"].split()}
    assert "用户" in written["subject"].split()
    assert "界面" in written["tags"].split()
    assert ["dark"] == found(backend, "深色主题")
    assert backend.available
    assert "fts5" == backend.backend_type


@pytest.mark.spec("S3-131", "T-21")
@pytest.mark.parametrize("query", ["深色主题", "主题", "主", "深色", "用户喜欢什么主题？"])
def test_a_part_of_a_chinese_sentence_finds_it(fts, query):
    """Words, single characters and questions find it, with jieba and without."""
    assert "dark" in found(fts, query)


@pytest.mark.spec("T-22", "T-23", "S3-145")
def test_nothing_in_a_query_is_syntax_and_the_best_hit_has_the_highest_score(fts):
    """Versions, paths, operators and quotes are words; scores lie between 0 and 1 and fall."""
    for query in ("python-3.10", "config.yaml", "foo@bar.com", r"D:\code", "C++", "NOT", '"nox', "nox AND (", "*", "", "   "):
        fts.search(query)
    assert "tool" == found(fts, "python-3.10 config.yaml")[0]
    scores = [score for _, score in fts.search("the user peanuts allergic releases")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    assert "food" == found(fts, "the user peanuts allergic releases")[0]


@pytest.mark.spec("S3-145", "T-15", "T-16")
def test_types_limits_and_removal(fts):
    """A type filters before the limit counts; art is no part of start; what is removed or replaced is not found as it was."""
    for number in range(20):
        fts.add(f"n{number}", "The user starts the car.", {"type": "fact"})
    assert ["dark"] == found(fts, "user 用户", limit=1, filter_type="PREFERENCE")
    assert [] == found(fts, "art")
    assert 3 == len(fts.search("car", limit=3))
    assert fts.delete("food")
    assert not fts.delete("food")
    assert fts.add("tool", "Builds run on 港口.", {"type": "skill"})
    assert [] == found(fts, "peanuts nox")
    assert ["tool"] == found(fts, "港口")


def test_jieba_may_be_demanded(monkeypatch):
    """Without it, the default cuts into characters; who demands it is told."""
    monkeypatch.setitem(sys.modules, "jieba", None)

    assert "characters" == FTS5Backend().segmenter.name
    with pytest.raises(ExtraMissing):
        FTS5Backend(jieba=True)


# ------------------------------------------------------------------ in a store


@pytest.mark.spec("S3-29", "S3-38", "S3-234", "T-39")
def test_a_store_finds_what_was_said_anywhere_and_nothing_that_is_gone(store, memory):
    """What rules learned is found as well; forgotten and replaced statements are not, also where another handle did it."""
    kept = store.save_semantic(SemanticMemory(content="The user is allergic to peanuts. 对花生过敏。", tags=["health"]))
    memory.record_turn("user", "我住在杭州。", session="s1")

    assert "我住在杭州。" == store.search_semantic("住在哪个城市 杭州")[0].content
    assert kept == store.search_semantic("花生", 3)[0].id
    memory.record_turn("user", "我搬到成都了，现在住在成都。", session="s1")
    assert not any("杭州" in one.content for one in store.search_semantic("杭州 成都 住在"))
    memory.admin.erase(store.db.find(kept).id)
    assert not any("花生" in one.content for one in store.search_semantic("花生 peanuts"))


@pytest.mark.spec("T-17")
def test_another_scope_is_neither_found_nor_changed(store, home):
    """Statements of another scope are not found, updated or deleted."""
    with Memory(home, scope="user:lan") as other:
        theirs = UnifiedStore(other).save_semantic(SemanticMemory(content="Lan keeps bees. 兰养蜜蜂。"))

    assert [] == store.search_semantic("bees 蜜蜂")
    assert not store.update_semantic(theirs, {"content": "Lan keeps cats."})
    assert not store.delete_semantic(theirs)
    assert store.get_semantic(theirs) is None


# ------------------------------------------------------------------ the vector library


@pytest.mark.spec("S3-147", "S3-245", "S3-247")
def test_the_local_backend_finds_by_meaning_and_is_filled_in_the_background():
    """sqlite-vec answers by cosine once all is embedded; before that FTS5 does, and says why."""
    model = Hashed(known={"groundnut": "peanuts", "猫": "cat"})
    backend = create_search_backend("chromadb", embedder=model)
    backend.batch_add([{"id": id, "content": text, "metadata": noted} for id, (text, noted) in SAID.items()])
    assert backend.first.ready(30)

    assert backend.degraded is None
    assert "chromadb" == backend.backend_type
    assert "food" == found(backend, "groundnut allergic")[0]
    assert ["food"] == found(backend, "groundnut", filter_type="fact")
    (_, score), *_ = backend.search("The user is allergic to peanuts.")
    assert 0.99 < score <= 1.001
    assert backend.delete("food")
    assert "food" not in found(backend, "groundnut")


@pytest.mark.spec("S3-147", "S3-150", "S3-226", "S3-249")
def test_without_the_library_or_a_model_fts5_answers_and_says_so(monkeypatch, caplog):
    """The reason is logged once and can be read; search works all the same."""
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    missing = create_search_backend("chromadb", embedder=Hashed())
    monkeypatch.undo()
    modelless = create_search_backend("chromadb")

    for backend, why in ((missing, "pip install sqlite-vec"), (modelless, "embedder=")):
        with caplog.at_level(logging.WARNING):
            backend.add("food", *SAID["food"])
            assert ["food"] == found(backend, "peanuts")
            found(backend, "peanuts")
        assert why in backend.degraded
        assert "fts5" == backend.backend_type
        assert backend.available
        assert 1 == sum(why in record.getMessage() for record in caplog.records)
        caplog.clear()
    assert {"fts5": "", "chromadb": "", "api_embedding": ""} == available_backends()


def test_a_vector_store_keeps_the_last_vector_of_an_id():
    """Putting a vector again replaces it; a removed one is not found."""
    store, east, north = VectorStore(2), np.array([1, 0], np.float32).tobytes(), np.array([0, 1], np.float32).tobytes()
    store.put("a", "fact", east)
    store.put("a", "fact", north)
    store.put("b", "rule", east)

    assert [("b", 1.0), ("a", 0.0)] == [(id, round(score, 3)) for id, score in store.nearest(east, 5)]
    assert ["a"] == [id for id, _ in store.nearest(east, 5, "fact")]
    assert store.remove("b")
    assert not store.remove("b")
    assert 1 == len(store)


def test_a_model_that_fails_leaves_the_search_to_words():
    """The local backend says why, and FTS5 answers."""
    model = Hashed()
    backend = create_search_backend("chromadb", embedder=model)
    backend.add("food", *SAID["food"])
    assert backend.first.ready(30)
    model.broken = True

    assert ["food"] == found(backend, "peanuts")
    assert "does not answer" in backend.degraded


# ------------------------------------------------------------------ the endpoint


@pytest.fixture
def endpoint():
    """A real local server that makes vectors of texts."""
    with running() as server:
        yield server


@pytest.mark.spec("S3-148", "S3-133", "S3-246")
def test_the_endpoint_is_asked_once_for_each_text_and_orders_by_cosine(memory, endpoint):
    """Vectors are kept in the home: a second search sends the question alone, a new process sends no text again."""
    backend = create_search_backend("api_embedding", url=endpoint.url, model="test-embedding", api_key="k-test-1234567890")
    store = UnifiedStore(memory, backend)
    for text, noted in SAID.values():
        store.save_semantic(SemanticMemory(content=text, type=noted["type"]))

    assert SAID["food"][0] == store.search_semantic("groundnut", 1)[0].content
    assert "api_embedding" == backend.backend_type
    sent = endpoint.texts()
    assert {text for text, _ in SAID.values()} <= {*sent}
    endpoint.clear()
    scores = [score for _, score in backend.search("allergic groundnut", 3)]
    assert scores == sorted(scores, reverse=True)
    assert {text for text, _ in SAID.values()}.isdisjoint(endpoint.texts())
    assert all("k-test-1234567890" in one for one in endpoint.sent_keys())
    store.close()
    endpoint.clear()
    again = create_search_backend("api_embedding", url=endpoint.url, model="test-embedding", api_key="k-test-1234567890")
    once_more = UnifiedStore(memory, again)
    assert SAID["food"][0] == once_more.search_semantic("groundnut", 1)[0].content
    assert {text for text, _ in SAID.values()}.isdisjoint(endpoint.texts())
    once_more.close()


@pytest.mark.spec("S3-150", "S3-226", "S3-221")
def test_an_endpoint_that_does_not_answer_leaves_the_search_to_words(memory, endpoint):
    """Nothing is lost, the reason is told, and the endpoint is asked again on request."""
    settings = Settings.from_environment(
        {"SEARCH_BACKEND": "api_embedding", "EMBEDDING_API_KEY": "k", "EMBEDDING_API_MODEL": "m", "EMBEDDING_API_URL": endpoint.url}
    )
    backend = settings.backend(timeout_s=2)
    store = UnifiedStore(memory, backend)
    store.save_semantic(SemanticMemory(content=SAID["food"][0]))
    endpoint.broken = True

    assert [SAID["food"][0]] == [one.content for one in store.search_semantic("peanuts")]
    assert backend.degraded
    assert "fts5" == backend.backend_type
    endpoint.broken = False
    assert backend.first.retry()
    assert SAID["food"][0] == store.search_semantic("groundnut")[0].content
    assert "api_embedding" == backend.backend_type
    store.close()


@pytest.mark.spec("S3-149", "S3-220", "S3-221", "S3-148")
def test_the_factory_and_the_settings_know_the_documents_names(tmp_path: Path):
    """Defaults are FTS5 and the two providers' models; an unknown name is refused; without a key words answer."""
    assert isinstance(create_search_backend(), FTS5Backend)
    assert "fts5" == Settings().search_backend
    assert Settings(search_backend="FTS5".lower()) == Settings.from_mapping({"SEARCH_BACKEND": "fts5"})
    keyless = Settings(search_backend="api_embedding").backend()
    assert "no API key" in keyless.degraded
    assert isinstance(keyless.first, APIEmbeddingBackend)
    assert isinstance(create_search_backend("chromadb").first, ChromaDBBackend)
    for wrong in (
        lambda: create_search_backend("qdrant"),
        lambda: Settings.from_mapping({"search": "fts5"}),
        lambda: APIEmbeddingBackend(provider="nobody"),
    ):
        with pytest.raises(InvalidInput):
            wrong()
    for backend in (FTS5Backend(), keyless, ChromaDBBackend()):
        assert isinstance(backend, SearchBackend)
