"""The adapter of the local model: a change beside its weights, in both engines, and a space of its own; on a tiny model."""

import numpy as np
import pytest
from models import tiny

from yiku.models import adapter, e5, prepare, supersession
from yiku.models.e5 import SPACE, LocalE5
from yiku.models.numpy_engine import Plain

TOKENS = [[0, 5, 8, 2], [0, 9, 2]]


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A tiny model is installed, and there is no adapter, nor a model of pairs."""
    monkeypatch.setattr(prepare, "installed", prepare.installed)
    monkeypatch.setattr(prepare, "SHA256", prepare.SHA256)
    monkeypatch.setattr(adapter, "FILE", tmp_path / "none.npz")
    monkeypatch.setattr(supersession, "FILE", tmp_path / "none.npz")
    tiny.install(tmp_path / "e5.bin")


def adapted(tmp_path, monkeypatch, of: str) -> None:
    """An adapter of rank 2 for the one layer of the tiny model."""
    file = tmp_path / f"adapter-{len(of)}.npz"
    np.savez(file, **low_rank(of, 3))
    monkeypatch.setattr(adapter, "FILE", file)


def compared(tmp_path, monkeypatch, of: str) -> None:
    """A model of pairs beside it, with a head."""
    chance = np.random.default_rng(5)
    segments = chance.normal(0, 1, (3, tiny.WIDTH)).astype(np.float16)
    segments[0] = 0
    head = {"hidden": (5 * tiny.WIDTH, 4), "hidden.bias": (4,), "out": (4,), "out.bias": (1,)}
    shapes = {name: chance.normal(0, 0.5, shape).astype(np.float16) for name, shape in head.items()}
    file = tmp_path / f"supersession-{len(of)}.npz"
    np.savez(file, segments=segments, **shapes, **low_rank(of, 4))
    monkeypatch.setattr(supersession, "FILE", file)


def low_rank(of: str, seed: int) -> dict[str, np.ndarray]:
    """The matrices of an adapter of rank 2 for one layer."""
    chance = np.random.default_rng(seed)
    arrays = {"of": np.array(of)}
    for kind in adapter.KINDS:
        inputs, outputs = (tiny.INNER if kind == "fo" else tiny.WIDTH, tiny.INNER if kind == "fi" else tiny.WIDTH)
        for part, size in (("down", inputs), ("up", outputs)):
            arrays[f"{kind}.{part}"] = chance.integers(-127, 128, (1, 2, size), np.int8)
            arrays[f"{kind}.{part}.scale"] = np.full((1, 2), 0.004, np.float32)
    return arrays


def vectors(tmp_path, name: str):
    return Plain(prepare.ready(tmp_path / name) / prepare.MODEL).run(TOKENS)


def test_both_engines_compute_the_same_change(weights, tmp_path, monkeypatch):
    """Onnxruntime beside the weights of 4 bits, numpy in the unpacked ones; another vector than without it."""
    onnxruntime = pytest.importorskip("onnxruntime")
    before = vectors(tmp_path, "plain")
    adapted(tmp_path, monkeypatch, prepare.SHA256)
    after = vectors(tmp_path, "adapted")
    session = onnxruntime.InferenceSession(str(tmp_path / "adapted" / prepare.MODEL), providers=["CPUExecutionProvider"])
    beside = [
        session.run(["embedding"], {"input_ids": np.array([text]), "attention_mask": np.ones((1, len(text)), np.int64)})[0][0]
        for text in TOKENS
    ]

    assert 0.99 > (before * after).sum(1).max()
    assert 0.999 < (np.stack(beside) * after).sum(1).min()


def test_a_change_is_the_product_of_its_matrices(weights, tmp_path, monkeypatch):
    """The weights that numpy runs with differ by down times up, in the very layer."""
    plain = Plain(prepare.ready(tmp_path / "plain") / prepare.MODEL)._layers[0]
    adapted(tmp_path, monkeypatch, prepare.SHA256)
    changed = Plain(prepare.ready(tmp_path / "adapted") / prepare.MODEL)._layers[0]
    change = adapter.changes(adapter.arrays(adapter.FILE, prepare.SHA256), 1)["l0.fi"]
    x = np.eye(tiny.WIDTH, dtype=np.float32)

    moved = changed.wider.of(x, pairs=False) - plain.wider.of(x, pairs=False)
    np.testing.assert_allclose(change.down @ change.up, moved, atol=1e-6)
    assert (tiny.WIDTH, 2) == change.down.shape


def test_without_the_file_or_for_other_weights_nothing_changes(weights, tmp_path, monkeypatch):
    """An adapter belongs to the weights beside which it was trained."""
    before = vectors(tmp_path, "plain")
    adapted(tmp_path, monkeypatch, "another file")

    assert {} == adapter.arrays(adapter.FILE, prepare.SHA256)
    np.testing.assert_array_equal(before, vectors(tmp_path, "other"))


def test_each_adapter_makes_a_space_and_a_folder(weights, tmp_path, monkeypatch):
    """So vectors of two are never compared, and the files of one are not taken for those of the other."""
    plain, folder = LocalE5().space, prepare.cache()
    adapted(tmp_path, monkeypatch, prepare.SHA256)

    assert (SPACE, prepare.NAME) == (plain, folder.name)
    assert f"{SPACE} adapter {adapter.digest()}" == LocalE5().space
    assert f"{prepare.NAME}-{adapter.digest()}" == prepare.cache().name
    assert 8 == len(adapter.digest())


PAIRS = [([0, 5, 8, 2], [9, 2]), ([0, 9, 2], [7, 6, 5, 2])]


def engines(tmp_path, name: str):
    """The two engines on one file."""
    pytest.importorskip("onnxruntime")
    path = prepare.ready(tmp_path / name) / prepare.MODEL
    return e5._OnnxRuntime(path, 1), Plain(path)


def test_both_engines_compare_alike(weights, tmp_path, monkeypatch):
    """A pair's score does not depend on the engine, nor on its company; it does on the order of the two, and on the adapter."""
    adapted(tmp_path, monkeypatch, prepare.SHA256)
    compared(tmp_path, monkeypatch, prepare.SHA256)
    one, other = engines(tmp_path, "both")
    scores = one.compare(PAIRS)
    turned = one.compare([(later, earlier) for earlier, later in PAIRS])

    np.testing.assert_allclose(scores, other.compare(PAIRS), atol=0.02)
    np.testing.assert_allclose(scores, np.concatenate([one.compare([pair]) for pair in PAIRS]), atol=0.002)
    assert 0.05 < abs(scores - turned).min()


def test_a_model_of_pairs_changes_no_vector(weights, tmp_path, monkeypatch):
    """A lone text passes by what was trained for pairs, in both engines, with an adapter of its own and without."""
    for adapter_too in (False, True):
        if adapter_too:
            adapted(tmp_path, monkeypatch, prepare.SHA256)
        monkeypatch.setattr(supersession, "FILE", tmp_path / "none.npz")
        before = [engine.run(TOKENS) for engine in engines(tmp_path, f"without {adapter_too}")]
        compared(tmp_path, monkeypatch, prepare.SHA256)
        after = [engine.run(TOKENS) for engine in engines(tmp_path, f"with {adapter_too}")]

        for one, other in zip(before, after, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_what_compares_pairs_has_an_adapter_of_its_own(weights, tmp_path, monkeypatch):
    """Without its matrices the same head says something else."""
    compared(tmp_path, monkeypatch, prepare.SHA256)
    whole = engines(tmp_path, "whole")[0].compare(PAIRS)
    load = supersession.load
    monkeypatch.setattr(supersession, "load", lambda *of: load(*of)._replace(changes={}))

    assert 0.05 < abs(whole - engines(tmp_path, "head alone")[0].compare(PAIRS)).max()


def test_without_its_file_or_for_other_weights_nothing_is_compared(weights, tmp_path, monkeypatch):
    """The model says whether it compares, and a file of other weights gives a graph without that part."""
    assert "" == LocalE5().compares
    compared(tmp_path, monkeypatch, "another file")
    assert supersession.load(prepare.SHA256, 1) is None
    compared(tmp_path, monkeypatch, prepare.SHA256)
    assert supersession.digest() == LocalE5().compares != ""
    assert prepare.cache().name.endswith(supersession.digest())


def test_texts_become_likelihoods(weights, tmp_path, monkeypatch):
    """Between 0 and 1, in the order given, and nothing for nothing."""
    compared(tmp_path, monkeypatch, prepare.SHA256)
    model = LocalE5(folder=tmp_path / "model")
    texts = [("a b", "b"), ("b", "a b"), ("a b a", "b a")]
    found = model.superseded(texts)

    assert (3,) == found.shape
    assert ((found > 0) & (found < 1)).all()
    np.testing.assert_allclose(found[1:2], model.superseded(texts[1:2]), atol=0.002)
    assert (0,) == model.superseded([]).shape
