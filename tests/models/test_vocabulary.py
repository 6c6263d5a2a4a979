"""The full vocabulary of the local model: all pieces, texts as they are written, files and a space of its own; on a tiny model."""

import numpy as np
import pytest
from models import tiny

from yiku import settings
from yiku.files.vault import Home
from yiku.models import adapter, prepare, select, supersession, unigram
from yiku.models.e5 import FULL_SPACE, SPACE, LocalE5
from yiku.models.numpy_engine import Plain
from yiku.models.unigram import UNKNOWN, Tokenizer


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A tiny model is installed, there is no adapter, and nothing is in the cache."""
    monkeypatch.setattr(prepare, "installed", prepare.installed)
    monkeypatch.setattr(prepare, "SHA256", prepare.SHA256)
    monkeypatch.setattr(adapter, "FILE", tmp_path / "none.npz")
    monkeypatch.setattr(supersession, "FILE", tmp_path / "none.npz")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tiny.install(tmp_path / "e5.bin")
    monkeypatch.setattr(select, "installed", prepare.installed)


def prepared(vocab):
    return prepare.ready(prepare.cache(vocab), vocab=vocab)


def test_all_pieces_are_kept(installed):
    """In a folder of its own, beside that of English and Chinese; each piece keeps its number of the package, and its row."""
    reduced, full = prepared("en+zh"), prepared("full")
    words = [Plain(folder / prepare.MODEL)._tensors["word.pairs"] for folder in (reduced, full)]

    assert (prepare.NAME, f"{prepare.NAME}-full") == (reduced.name, full.name)
    assert (tiny.PIECES, tiny.SCORES) == prepare.vocabulary(full)
    assert [tiny.PIECES[n] for n in tiny.KEPT] == prepare.vocabulary(reduced)[0]
    np.testing.assert_array_equal(words[1][tiny.KEPT], words[0])


@pytest.mark.parametrize(
    ("text", "reduced", "full"),
    [
        ("Ångström isst Gemüse, café", "Angstrom isst Gemuse, cafe", "Ångström isst Gemüse, café"),
        ("Straße, œuvre, Þór", "Strasse, oeuvre, Thor", "Straße, œuvre, Þór"),
        ("йогурт ёлка", "иогурт елка", "йогурт ёлка"),
        ("cafe\u0301　ｆｕｌｌ　ﬁne\u200bx", "cafe full fine x", "café full fine x"),
        ("ガラス、한국", "ガラス、한국", "ガラス、한국"),
        ("我妹妹对花生过敏🎉 tea", "我妹妹对花生过敏🎉 tea", "我妹妹对花生过敏🎉 tea"),
    ],
)
def test_a_text_keeps_its_accents(text, reduced, full):
    """Width and spaces are one, for the pieces have accents; English and Chinese are the same for both vocabularies."""
    assert (reduced, full) == (unigram.fold(text), unigram.fold(text, accents=True))
    assert full == unigram.fold(full, accents=True)


@pytest.mark.parametrize(("word", "piece"), [("привет", "▁привет"), ("é", "é")])
def test_other_languages_are_known_pieces(installed, word, piece):
    """With the reduced vocabulary they are unknown, or another letter."""
    tokens = [
        Tokenizer(*prepare.vocabulary(prepared(vocab))).encode(unigram.fold(word, accents=vocab == "full"))
        for vocab in ("en+zh", "full")
    ]

    assert UNKNOWN in tokens[0]
    assert UNKNOWN not in tokens[1]
    assert tiny.PIECES.index(piece) in tokens[1]


def test_the_model_embeds_with_the_vocabulary_that_it_was_given(installed, monkeypatch):
    """In full, Russian and accents have vectors of their own, in the reduced one that of anything unknown; English has the same."""
    monkeypatch.setattr("yiku.models.e5.DIMENSIONS", tiny.WIDTH)
    texts = ["привет", "дом", "é", "e", "tea"]
    reduced, full = (LocalE5(vocab=vocab).embed(texts, "query") for vocab in ("en+zh", "full"))

    for one, other in ((0, 1), (2, 3)):
        np.testing.assert_array_equal(reduced[one], reduced[other])
        assert 1e-3 < np.abs(full[one] - full[other]).max()
    np.testing.assert_allclose(reduced[4], full[4], atol=1e-3)


def test_each_vocabulary_is_a_space(installed, home):
    """What was embedded before the setting existed keeps its space; the setting chooses, and the space says which."""

    def space(**values):
        return select.embedder(settings.load(Home(home), {"search": "local", **values}, {}))[0].space

    assert "local multilingual-e5-small q4 en+zh folded-1 384 'query: ' 'passage: '" == SPACE == LocalE5().space
    assert "local multilingual-e5-small q4 full folded-1 384 'query: ' 'passage: '" == FULL_SPACE == LocalE5(vocab="full").space
    assert (SPACE, SPACE, FULL_SPACE) == (space(), space(local_vocab="en+zh"), space(local_vocab="full"))


def test_an_adapter_goes_with_both(installed, tmp_path, monkeypatch):
    """Names of folders and spaces tell vocabulary and adapter."""
    file = tmp_path / "adapter.npz"
    file.write_bytes(b"an adapter")
    monkeypatch.setattr(adapter, "FILE", file)

    assert f"{prepare.NAME}-full-{adapter.digest()}" == prepare.cache("full").name
    assert f"{FULL_SPACE} adapter {adapter.digest()}" == LocalE5(vocab="full").space
