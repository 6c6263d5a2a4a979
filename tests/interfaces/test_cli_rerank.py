"""The commands `recall`, `explain` and `status` with a reranker behind an endpoint."""

from collections.abc import Iterator
from pathlib import Path

import commands
import pytest
from commands import Ran
from models.server import Server, error, ranked, serving

from yiku import Memory

TEA = ["Green tea keeps me awake.", "The tea shop by the harbour opens at nine.", "绿茶让我睡不着。", "码头边的茶馆九点开门。"]
KEY = "sk-secret-4f5e6d7c8b9a9876"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which four turns are about tea."""
    with Memory(tmp_path / "home", owner="user:mei", learn="off") as memory:
        memory.record([{"role": "user", "content": text} for text in TEA], session="s1")
    return tmp_path / "home"


@pytest.fixture
def run(home: Path, server: Server):
    def run(*words: str, **environment: str) -> Ran:
        of_endpoint = {"YIKU_RERANK_URL": server.url, "YIKU_RERANK_MODEL": "重排", "YIKU_RERANK_KEY": KEY}
        return commands.run(*words, YIKU_HOME=home, YIKU_SEARCH="words", **({"YIKU_RERANK": "api"} | of_endpoint | environment))

    return run


@pytest.mark.parametrize("first", TEA)
def test_the_order_and_the_scores_are_shown(server, run, first):
    """`recall` follows the endpoint, `explain` has its scores; as text and in JSON."""
    server.always = lambda asked: ranked(lambda text: 0.875 if text == first else 0.25)

    found = run("recall", "tea 茶", "--json").json
    explained = run("explain", "tea 茶").out

    assert (first, {"rank": 1, "relevance": 0.875}) == (found["hits"][0]["text"], found["hits"][0]["routes"]["rerank"])
    assert "rerank 0.88 (rank 1)" in explained
    assert f"rerank {len(found['hits'])}" in explained


def test_a_failure_is_a_hint(server, run):
    """The answer comes, with 0, and why it is in the old order stands beside it; the key in neither."""
    server.always = lambda asked: error(401, KEY)
    ran = run("recall", "tea 茶")

    assert 0 == ran.code
    assert all(text in ran.out for text in TEA)
    assert "not reranked: " in ran.err
    assert "refuses the key in rerank_key (401)" in ran.err
    assert "9876" not in ran.out + ran.err


def test_status_says_who_reranks_or_what_is_missing(server, run):
    """The model and its address; a trouble where one of both is not set; nothing where it is off. Nobody is asked."""
    found = [run("status"), run("status", YIKU_RERANK_MODEL=""), run("status", YIKU_RERANK="off")]

    assert f"重排 at {server.url}/rerank" in found[0].out
    assert "all is well" in found[0].out
    assert "! nothing is reranked: an endpoint for reranking needs rerank_model, which is not set" in found[1].out
    assert not {"重排", "reranking", "reranked"} & {*found[2].out.split()}
    assert [] == server.asked
