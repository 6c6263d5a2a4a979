"""Reranking by an endpoint: its order, what it is sent, what holds whatever it says, and recall as ever where it fails."""

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Clock
from embedders import Hashed
from models import server as fake
from models.server import Answer, Server, error, ranked, raw

from yiku import Memory
from yiku.interfaces.hooks import serve
from yiku.models import endpoint, rerank

KEY = "sk-live-4f5e6d7c8b9a0123"
TEA = [
    "The tea shop by the harbour is closed on Mondays.",
    "Green tea keeps me awake, so I drink tea before noon only.",
    "码头边的茶馆星期一不开门，茶不错。",
    "绿茶让我睡不着，所以我只在上午喝茶。",
]
LIKE = {"tea": "茶", "drink": "喝", "noon": "午"}  # what the model for vectors knows
ASKED = ["When do I drink tea?", "我什么时候喝茶？"]


@pytest.fixture
def server() -> Iterator[Server]:
    with fake.serving() as server:
        server.always = lambda asked: ranked(lambda text: float(len(text)))
        yield server


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(endpoint, "FIRST_PAUSE_S", 0.01)


@pytest.fixture
def settings(server: Server) -> dict[str, object]:
    return {"rerank": "api", "rerank_url": server.url, "rerank_model": "m", "rerank_key": KEY, "rerank_timeout_s": 5}


@pytest.fixture
def open_it(memory: Memory, home: Path, clock: Clock, settings: dict[str, object]) -> Iterator[Callable[..., Memory]]:
    """Opens Mei's home with a reranker, or with what is told of it."""
    opened = []

    def open_it(**more: object) -> Memory:
        opened.append(Memory(home, clock=clock, **({"owner": "user:mei", "search": "words", "learn": "off"} | settings | more)))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()


def said(memory: Memory, *texts: str, session: str = "s1") -> list[str]:
    return [memory.record_turn("user", text, session=session).id for text in texts]


def texts(hits) -> list[str]:
    return [hit.text for hit in hits]


def preferring(*words: str) -> Callable[[dict], Answer]:
    """An endpoint that likes what has the first of these words most."""
    return lambda asked: ranked(lambda text: max((len(words) - n for n, word in enumerate(words) if word in text), default=0) + 0.5)


# ------------------------------------------------------------------ the order


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("first", TEA)
def test_the_order_is_that_of_the_endpoint(open_it, server, question, first):
    """Whichever it likes best stands first, in both languages and across; it has read the question and the words of each hit."""
    memory, off = open_it(embedder=Hashed(known=LIKE)), open_it(embedder=Hashed(known=LIKE), rerank="off")
    said(memory, *TEA)
    memory.admin.embed()
    server.always = preferring(first)
    before = off.recall(question)

    hits = memory.recall(question)

    assert {*TEA} == {*texts(before)} == {*texts(hits)}
    assert first == hits[0].text
    ((sent, asked, count),) = [(one["documents"], one["query"], one["top_n"]) for one in server.asked]
    assert ({*TEA}, question, 4) == ({*sent}, asked, count)


def test_what_a_hit_tells_of_it(open_it, server):
    """Its score by the reranker and its place there are a route; relevance and confidence are what they were; scores never rise."""
    memory, off = open_it(), open_it(rerank="off")
    said(memory, *TEA)
    server.always = preferring("awake", "harbour", "绿茶")
    before = off.recall("tea 茶")

    hits = memory.explain("tea 茶")

    assert [(1, 3.5), (2, 2.5), (3, 1.5), (4, 0.5)] == [hit.routes["rerank"] for hit in hits]
    assert ({"rerank": 4}, False) == (
        {"rerank": hits.explanation.routes["rerank"]},
        "rerank" in before.explanation.routes,
    )
    assert {hit.id: hit.relevance for hit in before} == {hit.id: hit.relevance for hit in hits}
    assert ([hit.score for hit in before], before.confidence, ()) == (
        [hit.score for hit in hits],
        hits.confidence,
        hits.diagnostics,
    )


def test_context_stands_in_this_order_too(open_it, server):
    """What the endpoint likes best is packed first, where there is room for one."""
    memory = open_it()
    said(memory, *TEA[:2], session="a")
    said(memory, *TEA[2:], session="b")
    for wanted in TEA:
        server.always = preferring(wanted)
        assert wanted == memory.context("tea 茶", max_tokens=85).hits[0].text


def test_the_best_thirty_are_read_whatever_the_limit(open_it, server):
    """The last of them can come first, of one hit that is asked for; what stands behind them stays there."""
    memory, off = open_it(), open_it(rerank="off")
    said(memory, *[f"tea number {n} of the list of teas 茶" for n in range(40)])
    every = texts(off.recall("list of teas", limit=40))
    server.always = preferring(every[29])

    one, all_of_them = memory.recall("list of teas", limit=1), memory.recall("list of teas", limit=40)

    assert [every[29]] == texts(one)
    assert [30, 30] == [len(asked["documents"]) for asked in server.asked]
    assert [every[29], *every[:29], *every[30:]] == texts(all_of_them)
    assert 30 == sum("rerank" in hit.routes for hit in all_of_them)


def test_the_order_without_one_is_that_of_before(open_it, server):
    """`rerank = off` asks nobody, though an endpoint is described."""
    memory = open_it(rerank="off")
    said(memory, *TEA)

    assert memory.recall("tea 茶")
    assert memory.context("tea 茶").hits
    assert [] == server.asked


# ------------------------------------------------------------------ what holds whatever it says

CHANGES = [
    ("I live in Bergen.", "I moved to Oslo, so I live in Oslo now.", "Where do I live?"),
    ("我住在卑尔根。", "我搬家了，现在住在奥斯陆。", "我住在哪里？"),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("learn", ["at_once", "off"])
def test_an_older_statement_stays_behind_the_later_one(open_it, clock, server, change, learn):
    """Though the endpoint likes the older one best: what was said later comes first, and the older is marked or gone."""
    older, later, question = change
    memory = open_it(learn=learn)
    said(memory, older, *TEA)
    clock.advance(days=3)
    said(memory, later, session="s2")
    server.always = preferring(older)

    hits = memory.recall(question)

    assert server.asked
    assert later in {hits[0].text, *(turn.content for turn in [memory.get(link.id) for link in hits[0].sources if link.id])}
    old = next((hit for hit in hits if hit.text == older), None)
    assert old is None or old.said_later or old.superseded_by


FILLERS = [
    "Letter {} says that only very few of the wild animals can live so far up there, in such cold places without any trees.",
    "第{}封信里说，住不住得下去要看冬天有多冷。",
]


@pytest.mark.parametrize(("change", "filler"), [*zip(CHANGES, FILLERS, strict=True)], ids=["en", "zh"])
def test_nor_where_the_endpoint_puts_the_later_one_last(open_it, clock, server, change, filler):
    """What the search had among the best is compared, wherever the endpoint puts it."""
    older, later, question = change
    memory = open_it(embedder=Hashed())
    said(memory, older, *[filler.format(n) for n in range(25)])
    clock.advance(days=3)
    said(memory, later, session="s2")
    memory.admin.embed()
    server.always = lambda asked: ranked(lambda text: 2.0 if text == older else 0.0 if text == later else 1.0)

    hits = memory.recall(question)

    assert [later, older] == texts(hits)[:2]
    assert len(server.asked[0]["documents"]) == hits[0].routes["rerank"][0] > 20


@pytest.mark.parametrize(
    ("text", "places", "filler"),
    [
        ("The shed key hangs in the {}.", ("hall", "barn"), "A shed is in the garden of number {}, with key and lock."),
        ("棚子钥匙挂在{}。", ("门厅", "谷仓"), "第{}号棚子钥匙上有编号。"),
    ],
    ids=["en", "zh"],
)
def test_nor_of_two_statements_that_contradict_each_other(open_it, clock, server, text, places, filler):  # noqa: PLR0917
    """The later one stands directly before the other, which is marked, wherever the endpoint puts them."""
    memory = open_it()
    known = []
    for place in places:
        slot = {"subject": "shed key", "predicate": "hangs", "object": place}
        known.append(memory.remember(text.format(place), **slot).memory)
        clock.advance(minutes=1)
    said(memory, *[filler.format(n) for n in range(20)])
    earlier, later = (one.content for one in known)
    server.always = lambda asked: ranked(lambda text: 2.0 if text == earlier else 0.0 if text == later else 1.0)

    hits = memory.recall("shed key 棚子钥匙")

    assert [later, earlier] == texts(hits)[:2]
    assert [None, known[1].id] == [hit.said_later for hit in hits[:2]]
    assert hits[0].routes["rerank"][0] > 15


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_replaced_is_not_brought_back(open_it, clock, server, change):
    """A statement that another supersedes is neither sent nor found as current."""
    older, later, question = change
    memory = open_it()
    first = memory.remember(older).memory
    said(memory, *TEA)
    clock.advance(days=3)
    memory.update(first.id, later)
    server.always = preferring(older)

    assert [later] == [hit.text for hit in memory.recall(question) if hit.type == "memory"]


# ------------------------------------------------------------------ what it is sent


@pytest.fixture
def heard(open_it, server) -> Callable[..., str]:
    """What the endpoint hears of a question, all texts in one."""

    def heard(memory: Memory, question: str, **how: object) -> str:
        memory.recall(question, **how)
        return "\n".join(server.asked[-1]["documents"])

    return heard


def test_it_hears_what_a_caller_may_see_and_no_more(open_it, home, clock, heard):
    """Nothing of other scopes, and nothing forgotten; of scopes that are read, what they hold."""
    memory = open_it(reads=["team:tea"])
    said(memory, *TEA)
    (gone,) = said(memory, "tea that is forgotten: zinnober 朱砂茶")
    memory.forget(gone)
    for scope, word in (("user:li", "purpur"), ("team:tea", "indigo")):
        with Memory(home, scope=scope, clock=clock, search="words", learn="off") as other:
            said(other, f"tea of somebody else: {word}", f"别人的茶：{word}")

    sent = heard(memory, "tea 茶")

    assert ([True, True], [False] * 3) == (
        [w in sent for w in (TEA[0], "indigo")],
        [w in sent for w in ("zinnober", "朱砂", "purpur")],
    )


def test_it_hears_what_an_endpoint_for_embeddings_would(open_it, home, heard):
    """Turns with their speaker, statements and notes; no tool calls, files, episodes, erased or private words; secrets as masked."""
    memory = open_it()
    said(memory, *TEA, "tea <private>ocker</private>", "茶<私密>赭石</私密>", "[erased]", "[已抹去]")
    memory.record_turn("user", "tea for two", session="s1", speaker="Ann")
    memory.record_turn("user", "tea export TOKEN=ghp_" + "a1B2c3D4e5F6" * 3, session="s1")
    call = {"id": "c1", "name": "find", "input": {"tea": "smalte"}}
    memory.record_turn("assistant", "I looked the tea up.", session="s1", tool_calls=[call])
    memory.sessions.attach("/tmp/umbra.txt", session="s1", description="tea umbra")
    memory.remember("Our house tea is sencha.")
    (home / "documents").mkdir(exist_ok=True)
    (home / "documents" / "tea.md").write_text("# Tin 茶罐\n\nThe gunpowder tea is in the blue tin. 珠茶在蓝罐里。\n")
    memory.notes.sync()

    memory.sessions.end("s1")
    question = "tea export, erased file 茶 已抹去"

    sent = heard(memory, question, limit=50)

    parts = ("Ann: tea for two", "sencha", "[secret github-token", "I looked the tea up.", "Tin 茶罐\n# Tin 茶罐 The gunpowder tea")
    assert [*parts] == [part for part in parts if part in sent]
    assert {"episode", "attachment"} <= {hit.type for hit in memory.recall(question, limit=50) if "rerank" not in hit.routes}
    assert [] == [word for word in ("ocker", "赭石", "smalte", "umbra", "ghp_", "[erased]", "[已抹去]") if word in sent]


def test_thirty_notes_are_read_whatever_the_limit(open_it, home, server):
    """As many as of what was said."""
    memory = open_it()
    (home / "documents").mkdir(exist_ok=True)
    for n in range(35):
        (home / "documents" / f"{n}.md").write_text(f"The tea {n} is in the blue tin. 珠茶在第{n}个蓝罐里。\n")
    memory.notes.sync()

    memory.recall("Which tea is in the blue tin? 珠茶", limit=1)

    assert 30 == len(server.asked[0]["documents"])


@pytest.mark.parametrize("wanted", ["The gunpowder tea is kept in the blue tin.", "珠茶放在蓝色的罐子里。"])
def test_of_a_long_text_it_hears_what_is_near_the_question(open_it, server, heard, wanted):
    """Some four hundred tokens, in whole sentences, with those that have the question's words; the question's beginning."""
    memory = open_it()
    filler = "The harbour was quiet and nobody came by today. 港口很安静，今天没有人来过。" * 45
    memory.record_turn("user", filler + wanted + filler, session="s1", speaker="安")
    said(memory, "Another tea, 另一种茶。")

    sent = heard(memory, "Where is the gunpowder tea kept? 珠茶放在哪里？" + "请" * 3_000)

    assert 1_000 == len(server.asked[0]["query"])
    assert wanted in sent
    assert "安: " in sent
    assert len(sent) < 2_500


def test_a_question_that_is_looked_up_by_the_way_asks_nobody(open_it, server):
    """A time that hangs on an event, a history, what a hook or a system prompt brings in: the endpoint hears what was asked alone."""
    memory = open_it()
    said(memory, "We moved to Oslo with all our tea.", *TEA)
    memory.remember("Our house tea is sencha.")
    memory.recall("What tea did I drink the week before we moved to Oslo?")
    asked = len(server.asked)

    memory.history("house tea")
    memory.prompts.inject("s2", "What is our house tea?")
    memory.prompts.build("What is our house tea?")

    assert (1, 1) == (asked, len(server.asked))


def test_a_server_that_warms_up_asks_nobody(open_it, server):
    """It looks for nothing, and no memory leaves the machine for that."""
    memory = open_it()
    said(memory, *TEA, "warm up the tea", "tea that warms up")
    answering = serve.Answering(memory)
    answering.close()

    assert [] == server.asked
    assert memory.recall("warm up")
    assert 1 == len(server.asked)


def test_one_hit_or_none_asks_nobody(open_it, server):
    """There is nothing to order."""
    memory = open_it()
    assert [] == texts(memory.recall("tea 茶"))
    said(memory, TEA[0])

    assert TEA[:1] == texts(memory.recall("tea 茶"))
    assert [] == server.asked


def test_nothing_is_stored(open_it, home):
    """Not a byte of the home changes by a question."""
    memory = open_it()
    said(memory, *TEA)
    memory.recall("tea 茶")

    def state() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.suffix not in (".db-shm",)}

    before = state()
    assert "rerank" in memory.recall("tea 茶")[0].routes

    assert before == state()


# ------------------------------------------------------------------ where it fails


def half(asked: dict) -> dict:
    return {"results": ranked([1.0] * len(asked["documents"])).body(asked)["results"][1:]}


def none(asked: dict) -> dict:
    return {"results": [{"index": n, "relevance_score": float("nan")} for n, _ in enumerate(asked["documents"])]}


@pytest.mark.parametrize(
    "failing",
    [
        (error(500, KEY), "answers 500: see that it runs and can be reached, or change rerank_url"),
        (error(401, KEY), "refuses the key in rerank_key (401)"),
        (error(400, KEY), "it answers 400"),
        (error(307, Location="http://127.0.0.1:9/v1"), "redirects to http://127.0.0.1/v1, and the key is not sent there"),
        (Answer(delay_s=0.8), "did not answer within 0.3 s"),
        (Answer(body=half), "3 scores came for 4 texts"),
        (Answer(body=none), "that is no list of scores"),
        (raw(b" " * 50_000), "an answer of over 10,000 bytes"),
        (Answer(cut_at=9), "broke off"),
    ],
    ids=["500", "401", "400", "307", "late", "count", "nan", "huge", "cut off"],
)
def test_a_failure_leaves_the_order_and_is_said(open_it, server, monkeypatch, caplog, failing):
    """The same hits as without a reranker, and one line why; the key is in none."""
    answer, why = failing
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(rerank, "ANSWER_BYTES", 10_000)
    memory, off = open_it(rerank_timeout_s=0.3), open_it(rerank="off")
    said(memory, *TEA)
    server.always = lambda asked: answer

    began = time.monotonic()
    hits = memory.recall("tea 茶")
    took = time.monotonic() - began

    assert off.recall("tea 茶").hits == hits.hits
    (line,) = hits.diagnostics
    assert line.startswith("not reranked: ")
    assert why in line
    assert KEY not in f"{hits.explanation} {line} {caplog.text}"
    assert (line.split(": ")[0],) == tuple(one.split(": ")[0] for one in memory.context("tea 茶").diagnostics)
    assert "rerank" not in hits.explanation.routes
    assert took < 0.8


def test_a_failure_is_that_of_the_endpoint_alone(open_it, server):
    """With a model for vectors too: the order is as without a reranker, what comes after thirty hits included."""
    memory, off = open_it(embedder=Hashed(known=LIKE)), open_it(embedder=Hashed(known=LIKE), rerank="off")
    said(memory, *TEA, *[f"{'茶' * (n % 3)} tea {n} drink" for n in range(60)])
    memory.admin.embed()
    server.always = lambda asked: error(404)

    for question in ASKED:
        assert off.recall(question, limit=50).hits == memory.recall(question, limit=50).hits


@pytest.mark.parametrize(("missing", "other"), [("rerank_url", "rerank_model"), ("rerank_model", "rerank_url")])
def test_what_the_settings_lack_is_said(open_it, server, missing, other):
    """In each answer and in the status, never as an error."""
    memory = open_it(**{missing: None})
    said(memory, *TEA)

    assert [f"not reranked: an endpoint for reranking needs {missing}, which is not set"] == [*memory.recall("tea 茶").diagnostics]
    assert f"nothing is reranked: an endpoint for reranking needs {missing}, which is not set" in memory.status().troubles
    assert (None, []) == (memory.status().reranked_by, server.asked)


def test_the_status_says_who_reranks(open_it, server):
    """The model and its address, without the key; nobody where it is off."""
    assert f"m at {server.url}/rerank" == open_it().status().reranked_by
    assert KEY not in repr(open_it().status())
    assert open_it(rerank="off").status().reranked_by is None
    assert [] == server.asked
