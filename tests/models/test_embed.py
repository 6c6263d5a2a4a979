"""The embeddings client: replies become vectors, failures become errors with advice."""

import json
import logging
import socket
import time
from email.utils import formatdate
from urllib.parse import urlsplit

import numpy as np
import pytest
from models import server as fake
from models.server import DIMENSIONS, Answer, Server, error, in_base64, raw, rows, vector

from yiku.errors import ModelFailed, ModelUnavailable
from yiku.models import embed, endpoint
from yiku.models.embed import ApiEmbedder
from yiku.models.endpoint import Endpoint

FOR_LONG_S = 60.0  # what nobody waits for, however busy the machine is

KEY = "sk-live-4f5e6d7c8b9a0123"
TEXTS = ["I moved to Oslo.", "我搬到奥斯陆了。", "full ｗｉｄｔｈ 🎉", "Bjørn", ""]


@pytest.fixture
def server():
    with fake.serving() as server:
        yield server


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(endpoint, "FIRST_PAUSE_S", 0.01)


def dripped(asked: dict) -> bytes:
    """An answer that takes minutes at 0.05 s a byte."""
    return json.dumps(Answer().body(asked)).encode() + b" " * 2_000


def embedder(server: Server, *, url="", model="m", key=KEY, timeout_s=5.0, **options) -> ApiEmbedder:
    return ApiEmbedder(Endpoint(url=url or server.url, model=model, key=key, timeout_s=timeout_s), **options)


def expected(texts) -> np.ndarray:
    found = np.array([vector(text or " ") for text in texts])
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_each_text_gets_its_vector_at_unit_length(server):
    """In the order of the texts, in batches, with what the endpoint needs to know; an empty text is a space."""
    found = embedder(server, batch=2, dimensions=DIMENSIONS).embed(TEXTS, "passage")

    np.testing.assert_allclose(found, expected(TEXTS), atol=1e-6)
    assert np.float32 == found.dtype
    assert [2, 2, 1] == [len(asked["input"]) for asked in server.asked]
    assert [("m", DIMENSIONS)] * 3 == [(asked["model"], asked["dimensions"]) for asked in server.asked]
    assert {f"Bearer {KEY}"} == {headers["Authorization"] for headers in server.headers}


def test_no_text_asks_nothing(server):
    """And gives no rows."""
    assert ((0, 0), []) == (embedder(server).embed([], "query").shape, server.asked)


@pytest.mark.parametrize(
    "body", [in_base64, lambda asked: {"data": rows(asked["input"])[::-1]}], ids=["base64", "in another order"]
)
def test_other_forms_of_a_right_answer(server, body):
    """Rows go by their index; numbers may come as base64 of float32."""
    server.next = [Answer(body=body)]

    np.testing.assert_allclose(embedder(server).embed(TEXTS, "query"), expected(TEXTS), atol=1e-6)


def test_prefixes_go_by_role(server):
    """A question and a passage are told apart as the model was trained."""
    model = embedder(server, query_prefix="问题：", passage_prefix="passage: ")
    model.embed(["a"], "query")
    model.embed(["a"], "passage")

    assert [["问题：a"], ["passage: a"]] == [asked["input"] for asked in server.asked]


@pytest.mark.parametrize(
    ("tail", "path"), [("", "/v1/embeddings"), ("/v1/", "/v1/embeddings"), ("/v4", "/v4/embeddings"), ("/x/embeddings",) * 2]
)
def test_the_address_is_what_people_write(server, tail, path):
    """A base address, with or without its version, or the whole one."""
    url = server.url.removesuffix("/v1") + tail
    embedder(server, url=url).embed(["a"], "query")

    assert [path] == server.paths


def test_the_space_says_what_a_vector_depends_on(server):
    """Endpoint, model, dimensions asked for, prefixes: another of them is another space. What the first answer tells is not."""
    model = embedder(server)
    before = model.space
    model.embed(["a"], "query")
    others = [{"url": "http://b/v1"}, {"model": "n"}, {"dimensions": 8}, {"query_prefix": "q"}, {"passage_prefix": "q"}]

    assert (before, DIMENSIONS) == (model.space, model.dimensions)
    assert 6 == len({model.space, *(embedder(server, **other).space for other in others)})
    assert model.space == embedder(server, batch=1, timeout_s=1, key="").space
    assert KEY not in model.space


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_batch_that_is_too_large_is_halved(server, status):
    """Ten at most, says the endpoint: 64 become 32, 16, 8, and 8 are remembered."""
    refusal = "batch size is invalid, it should not be larger than 10.: input.contents"
    server.always = lambda asked: Answer() if len(asked["input"]) <= 10 else error(status, refusal)
    model = embedder(server)
    texts = [f"第{n}句" for n in range(70)]

    np.testing.assert_allclose(model.embed(texts, "passage"), expected(texts), atol=1e-6)
    assert [64, 32, 16, *[8] * 8, 6] == [len(asked["input"]) for asked in server.asked]


def test_a_batch_of_one_that_is_too_large_is_an_error(server):
    """Halving ends."""
    server.always = lambda asked: error(413, "payload too large")

    with pytest.raises(ModelFailed, match="not even one text"):
        embedder(server, batch=4).embed(TEXTS, "passage")
    assert [4, 2, 1] == [len(asked["input"]) for asked in server.asked]


# ------------------------------------------------------------------ what passes


@pytest.mark.parametrize(
    "fault",
    [error(429), error(500), error(503), Answer(cut_at=20), Answer(cut_at=0), error(429, Retry_After="nonsense")],
    ids=["429", "500", "503", "cut off", "no body", "bad Retry-After"],
)
def test_what_passes_is_tried_again(server, fault):
    """The second answer counts."""
    server.next = [fault]

    np.testing.assert_allclose(embedder(server).embed(TEXTS, "query"), expected(TEXTS), atol=1e-6)
    assert 2 == len(server.asked)


@pytest.mark.parametrize("wait", ["0.4", "date"])
def test_retry_after_is_respected(server, wait):
    """In seconds or as a date, nothing is asked before."""
    server.next = [error(429, Retry_After=formatdate(time.time() + 1.5, usegmt=True) if wait == "date" else wait)]
    start = time.monotonic()
    embedder(server).embed(["a"], "query")

    assert time.monotonic() - start >= 0.4


def test_a_retry_after_beyond_our_time_is_told_at_once(server):
    """Nobody waits an hour; the message says that the endpoint asked for it."""
    server.next = [error(429, Retry_After="3600")]
    start = time.monotonic()

    with pytest.raises(ModelUnavailable, match=r"answers 429 \(it asks to wait 3600 s\)"):
        embedder(server, timeout_s=FOR_LONG_S).embed(["a"], "passage")
    assert time.monotonic() - start < FOR_LONG_S / 2


def test_tries_end(server):
    """A question is tried twice, a passage five times; then it is said what is wrong and what to do."""
    server.always = lambda asked: error(500)
    for role in ("query", "passage"):
        with pytest.raises(ModelUnavailable, match=r"answers 500: see that it runs and can be reached, or change embed_url"):
            embedder(server).embed(["a"], role)

    assert 2 + 5 == len(server.asked)


@pytest.mark.parametrize("slow", [Answer(delay_s=FOR_LONG_S), Answer(drip_s=0.05, body=dripped)], ids=["late", "dripping"])
def test_a_slow_answer_is_not_waited_for(server, slow):
    """The time-out holds for the whole request, also when single bytes keep coming."""
    server.always = lambda asked: slow
    start = time.monotonic()

    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.3 s"):
        embedder(server, timeout_s=0.3).embed(["a"], "query")
    assert time.monotonic() - start < FOR_LONG_S / 2


def test_nobody_waits_for_a_dead_endpoint_with_every_question(server, monkeypatch):
    """After an outage searches fail at once for a while; passages ask, and so do questions later on."""
    server.next = [error(500), error(500)]
    model = embedder(server)
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="answers 500"):
            model.embed(["a"], "query")
    assert 2 == len(server.asked)

    model.embed(["a"], "passage")
    later = time.monotonic() + endpoint.REST_S
    monkeypatch.setattr(endpoint.time, "monotonic", lambda: later)

    assert (1, DIMENSIONS) == model.embed(["a"], "query").shape


def test_a_port_where_nobody_listens(server):
    """The endpoint is named, and what to do."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ModelUnavailable, match=rf"{url}/embeddings cannot be reached: .*see that it runs"):
        embedder(server, url=url).embed(["a"], "query")


def test_a_server_on_this_machine_is_asked_without_the_proxy(server, monkeypatch):
    """A proxy of the network knows nothing of 127.0.0.1."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)

    assert (1, DIMENSIONS) == embedder(server).embed(["a"], "query").shape


# ------------------------------------------------------------------ what does not pass


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (error(401, KEY), "refuses the key in embed_key"),
        (error(403, KEY), "refuses the key in embed_key"),
        (error(404, "no such model"), "answers 404: check embed_url and embed_model. .*no such model"),
        (error(307, Location="http://localhost:9/v1/embeddings?token=x"), r"redirects to http://localhost/v1/embeddings, and"),
        (error(302, Location="/elsewhere"), "redirects to /elsewhere, and the key is not sent there"),
    ],
    ids=["401", "403", "404", "307 to another host", "302"],
)
def test_what_does_not_pass_is_said_at_once(server, answer, why):
    """One request, no second try, and nothing is sent to where a redirect leads."""
    server.next = [answer]

    with pytest.raises(ModelUnavailable, match=why):
        embedder(server).embed(["a"], "passage")
    assert 1 == len(server.asked)


def test_a_key_that_is_missing_is_named(server):
    """The endpoint wants one, and none is set."""
    server.next = [error(401)]

    with pytest.raises(ModelUnavailable, match="a request without a key: set embed_key or YIKU_EMBED_KEY"):
        embedder(server, key="").embed(["a"], "query")


def changed(**change):
    """An answer whose second row is changed."""

    def body(asked):
        found = rows(asked["input"])
        found[1] |= change
        return {"data": found}

    return Answer(body=body)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (raw(b"<html>hello"), "no list of embeddings: <html>hello"),
        (raw(b""), "no list of embeddings"),
        (raw(b"[" * 100_000), "no list of embeddings"),
        (raw(b"{}"), "no list of embeddings"),
        (raw(b'{"data": 5}'), "no list of embeddings"),
        (raw(b'{"data": [5, 6]}'), "no list of embeddings"),
        (Answer(body=lambda asked: {"data": rows(asked["input"])[:1]}), "1 vectors came for 2 texts"),
        (Answer(body=lambda asked: {"data": rows(asked["input"] * 2)}), "4 vectors came for 2 texts"),
        (changed(index=0), "their places are wrong"),
        (changed(index=7), "their places are wrong"),
        (changed(embedding=[1.0] * 5), "vectors of 5, 8 dimensions came"),
        (changed(embedding=[]), "dimensions came"),
        (changed(embedding=[float("nan")] * DIMENSIONS), "not finite, or zero"),
        (changed(embedding=[1e200] * DIMENSIONS), "not finite, or zero"),
        (changed(embedding=[0.0] * DIMENSIONS), "not finite, or zero"),
        (changed(embedding=["1"] * DIMENSIONS), "no list of embeddings"),
        (changed(embedding=[True] * DIMENSIONS), "no list of embeddings"),
        (changed(embedding="%%%"), "no list of embeddings"),
        (changed(embedding="QUJD"), "no list of embeddings"),
        (changed(embedding=[10**400] * DIMENSIONS), "no list of embeddings"),
        (error(400, f"unknown parameter; your key is {KEY}"), r"it answers 400: .*unknown parameter; your key is \[key\]"),
    ],
)
def test_a_wrong_answer_is_refused(server, answer, why):
    """Typed, told with the endpoint and the model, not tried again, and never with the key."""
    server.next = [answer]

    with pytest.raises(ModelFailed, match=why) as raised:
        embedder(server).embed(["a", "b"], "passage")
    assert 1 == len(server.asked)
    assert f"{server.url}/embeddings, model m" in str(raised.value)
    assert KEY not in str(raised.value)


def test_dimensions_that_change_are_refused(server):
    """Those that were asked for, or those of the first answer, stay."""
    server.next = [Answer(), Answer(body=lambda asked: {"data": rows(asked["input"], 4)})]
    model = embedder(server)
    model.embed(["a"], "query")
    with pytest.raises(ModelFailed, match="vectors of 4 dimensions came, and 8 are wanted"):
        model.embed(["b"], "query")

    server.next = [Answer(body=lambda asked: {"data": rows(asked["input"], 8)})]
    with pytest.raises(ModelFailed, match="vectors of 8 dimensions came, and 4 are wanted"):
        embedder(server, dimensions=4).embed(["b"], "query")


def test_an_answer_without_end_is_refused(server, monkeypatch):
    """Memory is bounded."""
    monkeypatch.setattr(embed, "ANSWER_BYTES", 1_000)
    server.next = [raw(b"[" + b"1," * 50_000 + b"1]")]

    with pytest.raises(ModelFailed, match="over 1,000 bytes"):
        embedder(server).embed(["a"], "query")


FAULTS = [error(status, KEY) for status in (400, 401, 404, 418, 429, 500)] + [
    raw(json.dumps({"x": KEY}).encode()),
    Answer(cut_at=5),
]


@pytest.mark.parametrize("fault", FAULTS, ids=range(len(FAULTS)))
def test_the_key_is_in_no_message_and_no_log(server, fault, caplog, capfd):
    """Even when the server repeats it."""
    caplog.set_level(logging.DEBUG)
    server.always = lambda asked: fault

    with pytest.raises((ModelFailed, ModelUnavailable)) as raised:
        embedder(server).embed(["a"], "query")
    chain, found = raised.value, ""
    while chain:
        found += f"{chain} {chain!r}"
        chain = chain.__cause__ or chain.__context__
    assert urlsplit(server.url).netloc in found
    assert KEY not in found + caplog.text + "".join(capfd.readouterr())
