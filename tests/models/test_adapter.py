"""The adapter of the local model: a change beside its weights, in both engines, and a space of its own; on a tiny model."""

import numpy as np
import pytest
from models import tiny

from yiku.models import adapter, prepare
from yiku.models.e5 import SPACE, LocalE5
from yiku.models.numpy_engine import Plain

TOKENS = [[0, 5, 8, 2], [0, 9, 2]]


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A tiny model is installed, and there is no adapter."""
    monkeypatch.setattr(prepare, "installed", prepare.installed)
    monkeypatch.setattr(prepare, "SHA256", prepare.SHA256)
    monkeypatch.setattr(adapter, "FILE", tmp_path / "none.npz")
    tiny.install(tmp_path / "e5.bin")


def adapted(tmp_path, monkeypatch, of: str) -> None:
    """An adapter of rank 2 for the one layer of the tiny model."""
    chance = np.random.default_rng(3)
    arrays = {"of": np.array(of)}
    for kind in adapter.KINDS:
        inputs, outputs = (tiny.INNER if kind == "fo" else tiny.WIDTH, tiny.INNER if kind == "fi" else tiny.WIDTH)
        for part, size in (("down", inputs), ("up", outputs)):
            arrays[f"{kind}.{part}"] = chance.integers(-127, 128, (1, 2, size), np.int8)
            arrays[f"{kind}.{part}.scale"] = np.full((1, 2), 0.004, np.float32)
    file = tmp_path / f"adapter-{len(of)}.npz"
    np.savez(file, **arrays)
    monkeypatch.setattr(adapter, "FILE", file)


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
    change = adapter.changes(prepare.SHA256, 1)["l0.fi"]

    np.testing.assert_allclose(change.down @ change.up, changed.wider - plain.wider, atol=1e-6)
    assert (tiny.WIDTH, 2) == change.down.shape


def test_without_the_file_or_for_other_weights_nothing_changes(weights, tmp_path, monkeypatch):
    """An adapter belongs to the weights beside which it was trained."""
    before = vectors(tmp_path, "plain")
    adapted(tmp_path, monkeypatch, "another file")

    assert {} == adapter.changes(prepare.SHA256, 1)
    np.testing.assert_array_equal(before, vectors(tmp_path, "other"))


def test_each_adapter_makes_a_space_and_a_folder(weights, tmp_path, monkeypatch):
    """So vectors of two are never compared, and the files of one are not taken for those of the other."""
    plain, folder = LocalE5().space, prepare.cache()
    adapted(tmp_path, monkeypatch, prepare.SHA256)

    assert (SPACE, prepare.NAME) == (plain, folder.name)
    assert f"{SPACE} adapter {adapter.digest()}" == LocalE5().space
    assert f"{prepare.NAME}-{adapter.digest()}" == prepare.cache().name
    assert 8 == len(adapter.digest())
