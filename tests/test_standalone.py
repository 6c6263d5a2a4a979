"""What works without a home: the embedding model that settings name, and the passages of a text."""

from pathlib import Path

import numpy as np
import pytest
from models import server as fake
from models.server import vector

import yiku
from yiku import Memory, errors


def test_an_endpoint_makes_vectors_without_a_home(tmp_path, monkeypatch):
    """Of the arguments alone, whatever the environment and the default home say; nothing is asked before the first text."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("YIKU_EMBED_MODEL", "another")
    with fake.serving() as server:
        model = yiku.embedder(embed_url=server.url, embed_model="m", embed_key="sk-1")
        assert [] == server.asked
        found = model.embed(["I live in Oslo.", "我住在奥斯陆。"], "passage")
        model.close()
        wanted = np.array([vector("I live in Oslo."), vector("我住在奥斯陆。")])

        np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
        assert ("m", "Bearer sk-1") == (server.asked[0]["model"], server.headers[0]["Authorization"])
    assert [] == [*tmp_path.iterdir()]


def test_it_is_the_embedder_of_a_memory(home):
    """One model for both: what it embeds here is found there."""
    with fake.serving() as server, Memory(home, embedder=yiku.embedder(embed_url=server.url, embed_model="m")) as memory:
        memory.record_turn("user", "The heron stood in the pond. 苍鹭站在池塘里。")

        assert 0 == memory.admin.embed().waiting
        assert memory.recall("Which bird?").hits


def test_a_model_that_is_not_there_or_not_named_is_an_error():
    with pytest.raises(errors.ModelUnavailable, match=r"'\.\[local\]'|no package"):
        yiku.embedder()
    with pytest.raises(errors.ModelUnavailable, match="words"):
        yiku.embedder(search="words")
    with pytest.raises(errors.SettingsError, match="embed_model"):
        yiku.embedder(embed_url="http://127.0.0.1:1")
    with pytest.raises(errors.SettingsError, match="embed_urll"):
        yiku.embedder(embed_urll="http://127.0.0.1:1")


@pytest.mark.spec("S4-31", "S4-32", "S4-33")
def test_passages_are_those_that_a_note_is_found_by(memory, home):
    """With their lines and headings, in English and in Chinese; an empty text has none."""
    section = "The water lilies were planted in the spring of that year. 池塘里的睡莲是那年春天种下的。\n"
    text = "# Pond 池塘\n\n" + "".join(f"## Bed {n}\n\n{section * 9}\n" for n in range(9))
    file = Path(home) / "documents" / "pond.md"
    file.parent.mkdir()
    file.write_text(text)
    memory.notes.sync()
    notes = memory.agent.note("documents/pond.md")
    found = yiku.passages(text)

    assert [(one.start_line, one.end_line, one.heading, one.text) for one in notes] == found
    assert len(found) > 2
    assert [] == yiku.passages("") == yiku.passages("\n\n")
    with pytest.raises(errors.InvalidInput):
        yiku.passages(7)
