"""The client for rerank endpoints: replies become scores, failures become errors with advice, and nobody waits longer than set."""

import json
import logging
import os
import socket
import threading
import time

import pytest
from models import server as fake
from models.server import Answer, Server, error, ranked, raw

from yiku.errors import ModelFailed, ModelUnavailable
from yiku.models import endpoint, rerank
from yiku.models.endpoint import Endpoint
from yiku.models.rerank import ApiReranker

KEY = "sk-live-4f5e6d7c8b9a0123"
QUESTION = "Where do I live, 我住在哪里？"
TEXTS = ["I moved to Oslo.", "我搬到奥斯陆了。", "full ｗｉｄｔｈ 🎉", "Bjørn"]
SCORES = [0.5, 8.25, -3, 0.0]  # some endpoints give probabilities, others what comes before them
MISSING_TEXTS = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 97"


@pytest.fixture
def server():
    with fake.serving() as server:
        server.always = lambda asked: ranked(SCORES)
        yield server


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(endpoint, "FIRST_PAUSE_S", 0.01)


def reranker(server: Server, *, url="", key=KEY, timeout_s=5.0) -> ApiReranker:
    return ApiReranker(Endpoint(url=url or server.url, model="m", key=key, timeout_s=timeout_s))


def results(rows) -> Answer:
    return Answer(body=lambda _: {"results": rows})


def test_each_text_gets_its_score(server):
    """In the order of the texts, whatever the order of the answer; what the endpoint needs to know is sent once."""
    assert SCORES == reranker(server).scores(QUESTION, TEXTS)
    assert [{"model": "m", "query": QUESTION, "documents": TEXTS, "top_n": 4}] == server.asked
    assert [f"Bearer {KEY}"] == [headers["Authorization"] for headers in server.headers]


@pytest.mark.parametrize(
    ("tail", "path"), [("", "/v1/rerank"), ("/v2", "/v2/rerank"), ("/v1/", "/v1/rerank"), ("/rerank", "/rerank")]
)
def test_the_address_is_what_people_write(server, tail, path):
    """A base address, with or without its version, or the whole one."""
    reranker(server, url=server.url.removesuffix("/v1") + tail).scores(QUESTION, TEXTS)

    assert [path] == server.paths


def test_an_endpoint_that_wants_texts_gets_texts(server):
    """Its refusal says so; that is remembered, and its bare list is understood."""
    server.always = lambda asked: (
        Answer(
            body=lambda _: [{"index": 3, "score": 2}, {"index": 0, "score": 1}, {"index": 1, "score": 4}, {"index": 2, "score": 3}]
        )
        if "texts" in asked
        else error(422, MISSING_TEXTS)
    )
    model = reranker(server)

    assert [[1.0, 4.0, 3.0, 2.0]] * 2 == [model.scores(QUESTION, TEXTS) for _ in range(2)]
    assert {"query": QUESTION, "texts": TEXTS, "truncate": True} == server.asked[1]
    assert [False, True, True] == ["texts" in asked for asked in server.asked]


def test_a_refusal_of_both_forms_is_an_error(server):
    """It is asked in the other form once, and in the first again the next time."""
    server.always = lambda asked: error(422, "texts? documents? 都不行")
    model = reranker(server)

    for _ in range(2):
        with pytest.raises(ModelFailed, match=r"it answers 422: .*texts"):
            model.scores(QUESTION, TEXTS)
    assert [False, True] * 2 == ["texts" in asked for asked in server.asked]


def test_a_lone_surrogate_is_sent_as_a_question_mark(server):
    """JSON has no place for half a character."""
    reranker(server).scores("a\ud800", ["b\udfff", *TEXTS[1:]])

    assert ("a?", "b?") == (server.asked[0]["query"], server.asked[0]["documents"][0])


WHOLE = [{"index": n, "relevance_score": score} for n, score in enumerate(SCORES)]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (results(WHOLE[:3]), "3 scores came for 4 texts"),
        (results([*WHOLE, *WHOLE[:1]]), "5 scores came for 4 texts"),
        (results([*WHOLE[:3], WHOLE[0]]), "4 scores came for 4 texts, or their places are wrong"),
        (results([*WHOLE[:3], {"index": "3", "relevance_score": 1}]), "places are wrong"),
        (results([*WHOLE[:3], {"index": True, "relevance_score": 1}]), "places are wrong"),
        (results([*WHOLE[:3], {"relevance_score": 1}]), "no list of scores"),
        (results([*WHOLE[:3], {"index": 3, "relevance_score": "high"}]), "no list of scores"),
        (results([*WHOLE[:3], {"index": 3, "relevance_score": True}]), "no list of scores"),
        (results([*WHOLE[:3], {"index": 3, "relevance_score": None}]), "no list of scores"),
        (results([*WHOLE[:3], {"index": 3, "relevance_score": float("nan")}]), "no list of scores"),
        (results([*WHOLE[:3], {"index": 3, "relevance_score": float("inf")}]), "no list of scores"),
        (results([*WHOLE[:3], {"index": 3, "relevance_score": 10**400}]), "no list of scores"),
        (results([*WHOLE[:3], 4]), "no list of scores"),
        (results(None), "no list of scores"),
        (results({"0": 1}), "no list of scores"),
        (raw(b'{"results": '), "no list of scores"),
        (raw(b'"scores"'), "no list of scores"),
        (raw(b"[" * 100_000), "no list of scores"),
        (raw("奥斯陆".encode("utf-16")), "no list of scores"),
        (raw(b""), "no list of scores"),
    ],
)
def test_rubbish_is_an_error_that_says_what_came(server, answer, why):
    """Never a score that was not given."""
    server.next = [answer]

    with pytest.raises(ModelFailed, match=why):
        reranker(server).scores(QUESTION, TEXTS)


def test_an_answer_without_end_is_left(server, monkeypatch):
    """At most so many bytes are read."""
    monkeypatch.setattr(rerank, "ANSWER_BYTES", 10_000)
    server.next = [raw(b" " * 100_000)]

    with pytest.raises(ModelFailed, match=r"an answer of over 10,000 bytes came from the endpoint of rerank_url"):
        reranker(server).scores(QUESTION, TEXTS)


@pytest.mark.parametrize(
    ("answer", "key", "why"),
    [
        (error(401, KEY), KEY, "refuses the key in rerank_key"),
        (error(403), "", "a request without a key: set rerank_key or YIKU_RERANK_KEY"),
        (error(404, "no such model"), KEY, "answers 404: check rerank_url and rerank_model. .*no such model"),
        (error(307, Location="http://localhost:9/x"), KEY, "is not sent there: if that is right, make it rerank_url"),
    ],
    ids=["401", "403", "404", "307"],
)
def test_what_does_not_pass_is_said_at_once(server, answer, key, why):
    """One request, the setting to look at, and no key."""
    server.next = [answer]

    with pytest.raises(ModelUnavailable, match=why) as raised:
        reranker(server, key=key).scores(QUESTION, TEXTS)
    assert 1 == len(server.asked)
    assert KEY not in str(raised.value)


def test_what_passes_is_tried_once_more(server):
    """A second failure lets the line rest: the next question asks nobody."""
    server.next = [error(500)]
    model = reranker(server)

    assert SCORES == model.scores(QUESTION, TEXTS)
    server.always = lambda asked: error(503)
    with pytest.raises(ModelUnavailable, match=r"answers 503: see that it runs and can be reached, or change rerank_url"):
        model.scores(QUESTION, TEXTS)
    asked = len(server.asked)
    with pytest.raises(ModelUnavailable, match="next request in"):
        model.scores(QUESTION, TEXTS)
    assert (4, 4) == (asked, len(server.asked))


@pytest.mark.parametrize(
    "answer",
    [Answer(delay_s=1.2), Answer(body=lambda _: b" " * 1_000, drip_s=0.05)],
    ids=["no answer", "a byte at a time"],
)
def test_nobody_waits_longer_than_set(server, answer):
    """For an answer that does not come, or comes byte by byte; and the line rests then."""
    server.always = lambda asked: answer
    model = reranker(server, timeout_s=0.3)

    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.3 s: see that it runs .* change rerank_url"):
        model.scores(QUESTION, TEXTS)
    assert time.monotonic() - began < 1.0
    with pytest.raises(ModelUnavailable, match="next request in"):
        model.scores(QUESTION, TEXTS)


def test_nor_for_a_head_that_never_ends():
    """A head that comes byte by byte keeps each read in time, and the whole never ends: it is left at the time set."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ended = threading.Event()

        def drip() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while not ended.wait(0.05):
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            model = ApiReranker(Endpoint(url=f"http://127.0.0.1:{listener.getsockname()[1]}", model="m", timeout_s=0.3))
            began = time.monotonic()
            with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.3 s"):
                model.scores(QUESTION, TEXTS)
            took = time.monotonic() - began
        finally:
            ended.set()
            thread.join()

    assert took < 1.0


@pytest.mark.parametrize("host", ["127.0.0.1:9", "a" * 70 + ".example", "no-such-host.invalid"])
def test_an_endpoint_that_is_not_there(host):
    """Nobody listens, or the name is none."""
    with pytest.raises(ModelUnavailable, match="or change rerank_url"):
        ApiReranker(Endpoint(url=f"http://{host}/v1", model="m")).scores(QUESTION, TEXTS)


def test_a_fork_asks_by_itself(server):
    """What the parent's threads are at does not matter to a child."""
    server.next = [Answer(body=ranked(SCORES).body, delay_s=0.5)]
    model = reranker(server)
    thread = threading.Thread(target=model.scores, args=(QUESTION, TEXTS))
    thread.start()
    time.sleep(0.1)

    child = os.fork()
    if not child:
        os._exit(0 if model.scores(QUESTION, TEXTS) == SCORES else 1)
    _, status = os.waitpid(child, 0)
    thread.join()

    assert 0 == os.waitstatus_to_exitcode(status)


def test_the_key_goes_into_one_header_only(server, caplog):
    """No message, log or name of it has the key, though a server sends it back."""
    caplog.set_level(logging.DEBUG)
    model = reranker(server)
    said = [repr(model), model.name]
    for answer in (error(400, f"your key {KEY} is wrong"), raw(f'{{"key": "{KEY}"}}'.encode()), error(401, KEY), error(500, KEY)):
        server.always = lambda asked, answer=answer: answer
        with pytest.raises((ModelFailed, ModelUnavailable)) as raised:
            model.scores(QUESTION, TEXTS)
        said += [str(raised.value), repr(raised.value)]

    assert KEY not in " ".join([*said, caplog.text, json.dumps(server.asked)])
    assert "your key [key] is wrong" in " ".join(said)
