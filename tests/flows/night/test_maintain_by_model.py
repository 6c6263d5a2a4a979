"""
A model in the night's maintenance: it judges undecided pairs, as far as rules confirm its reply.

The model is a real HTTP server on this machine that answers as each test tells it, wrongly too.
"""

import json
from collections.abc import Mapping
from typing import Any

import exports
import pytest
from models import server as fake
from models.chat_server import USAGE, reading
from models.server import Answer, error, says

from yiku.errors import NotFound
from yiku.models import endpoint
from yiku.types import Origin, Standing, State


@pytest.fixture
def server():
    with fake.serving() as server:
        yield server


@pytest.fixture
def memory(blank, home, clock, server):
    with reading(blank, home, server, clock=clock, learn="off") as memory:
        yield memory


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(endpoint, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(endpoint, "REST_S", 0.0)
    monkeypatch.setattr(endpoint, "LONGEST_REST_S", 0.0)


def answers(server: fake.Server, **by_field: Any) -> list[str]:
    """Answer each question by the field that its schema asks for, others with nothing; the list fills with what was asked."""
    asked: list[str] = []

    def answer(request: Mapping[str, Any]) -> Answer:
        schema = json.dumps(request["response_format"])
        name = next(name for name in ("same", "verdict", "sentences", "lines") if f'"{name}"' in schema)
        value = by_field.get(name, [])
        if name in by_field:
            asked.append(request["messages"][1]["content"])
        if isinstance(value, Answer):
            return value
        return says(
            json.dumps({name: value(request["messages"][1]["content"]) if callable(value) else value}, ensure_ascii=False),
            usage=USAGE,
        )

    server.always = answer
    return asked


def tell(memory, clock, *texts, **details):
    found = []
    for text in texts:
        found.append(memory.remember(text, **details).memory)
        clock.advance(hours=2)
    return found


# ------------------------------------------------------------------ duplicates

NEAR = [
    ("My sister repairs old wooden boats in the harbour shed", "My sister repairs old wooden boats in the shed of the harbour"),
    ("我姐姐在码头的棚子里修旧木船", "我姐姐在码头的棚子里修理旧木船"),
]


@pytest.mark.spec("S3-171", "S3-197", "S3-170")
@pytest.mark.parametrize(("first", "second"), NEAR)
def test_a_model_merges_what_is_near(memory, clock, server, first, second):
    """It is shown the cluster alone, and the other becomes history of the one that stays."""
    asked = answers(server, same=[[1, 2]], verdict="both", sentences=[])
    one, two = tell(memory, clock, first, second)
    tell(memory, clock, "The lighthouse has a red roof")
    done = memory.admin.consolidate()

    assert [("merged", "model")] == [(item.action, item.reason) for item in done.items]
    assert {one.id, two.id} == {*done.items[0].ids}
    clusters = [text for text in asked if "<statements>\n  1." in text and "<about>" not in text]
    assert 1 == len(clusters)
    assert "lighthouse" not in clusters[0]


@pytest.mark.spec("T-27", "S3-171")
@pytest.mark.parametrize(
    "pair",
    [
        ("My sister repairs 12 old wooden boats in the harbour", "My sister repairs 15 old wooden boats in the harbour"),
        ("My sister repairs old wooden boats in Bergen", "My brother repairs old wooden boats in Bergen"),
        ("我姐姐在码头修12条旧木船", "我姐姐在码头修15条旧木船"),
        (
            "My sister scans the long strategy report at her old wooden desk by the window",
            "My sister scans the long proposal report at her old wooden desk by the window",
        ),
        ("我姐姐在公司三楼靠窗的工位上扫描一份投资策略报告文档", "我姐姐在公司三楼靠窗的工位上扫描一份投资建议报告文档"),
    ],
)
def test_a_model_that_is_wrong_merges_nothing(memory, clock, server, pair):
    """Whatever it says: another number or another person stays."""
    answers(server, same=[[1, 2]], verdict="both", sentences=[])
    one, two = tell(memory, clock, *pair)
    done = memory.admin.consolidate()

    assert "merged" not in done.counts
    assert all(memory.get(each.id).live for each in (one, two))


@pytest.mark.spec("S3-242", "S3-05", "S3-44")
def test_a_model_is_asked_once_a_cluster(memory, clock, server):
    """Of 60 statements in 12 clusters of five it is asked 12 times at most, and nothing is compared with all others."""
    asked = answers(server, same=[], verdict="both", sentences=[])
    for name in "maple cedar birch alder aspen rowan hazel willow spruce larch juniper poplar".split():
        for text in (
            "My uncle painted the heavy old {} gate in the garden",
            "My uncle painted the old heavy {} gate in the garden",
            "In the garden my uncle painted the heavy old {} gate",
            "In the garden my uncle painted the old heavy {} gate",
            "My uncle painted in the garden the heavy old {} gate",
        ):
            memory.remember(text.format(name))
        clock.advance(hours=1)
    memory.admin.consolidate()

    assert 0 < len([text for text in asked if "<about>" not in text]) <= 12


# ------------------------------------------------------------------ contradictions


@pytest.mark.parametrize("pair", [("The office opens at 9", "The office opens at 10"), ("办公室九点开门", "办公室十点开门")])
@pytest.mark.parametrize("judged", [("replaces", "replaced"), ("both", "refused"), ("unclear", "flagged")])
def test_a_model_judges_a_pair(memory, clock, server, pair, judged):
    """Its verdict replaces, leaves or flags; the spans of both clauses are the evidence."""
    verdict, outcome = judged
    answers(server, same=[], verdict=verdict, sentences=[])
    one, two = tell(memory, clock, *pair)
    done = memory.admin.consolidate()

    assert [(outcome, (two.id, one.id))] == [(item.action, item.ids) for item in done.items]
    assert (two.id if outcome == "replaced" else None) == memory.get(one.id).superseded_by
    assert (outcome == "flagged") is bool(memory.get(one.id).flagged_with)
    assert {*done.items[0].evidence} == {"new", "old"}


def test_a_model_that_is_not_there_destroys_nothing(memory, clock, server):
    """The pair is flagged as without a model, and the report says why."""
    broken = error(500, "out of order")
    answers(server, same=broken, verdict=broken, sentences=broken)
    tell(memory, clock, "The office opens at 9", "The office opens at 10")
    done = memory.admin.consolidate()

    assert {"flagged": 1} == done.counts
    assert any(note.startswith("conflicts: ") for note in done.notes)


# ------------------------------------------------------------------ summaries

FREYA = ("Freya sails a red boat", "Freya teaches music in Bergen", "Freya has two dogs")
CHINESE = ("王小雨开一家茶馆", "王小雨在昆明教书法", "王小雨养了两只猫")


def about(text: str) -> str:
    return text.partition("<about>")[2].partition("</about>")[0]


@pytest.mark.parametrize(
    "case",
    [
        (FREYA, "freya", ["Freya teaches music in Bergen and has two dogs.", "Freya sails a red boat."]),
        (CHINESE, "王小雨", ["王小雨开一家茶馆，在昆明教书法。", "王小雨养了两只猫。"]),
    ],
)
def test_a_summary_cites_its_sources_and_goes_with_them(memory, clock, server, case):
    """It is written once, is found by its entity, and is put aside the night after one of its sources is replaced or forgotten."""
    facts, name, sentences = case
    written = [{"text": sentences[0], "from": [1, 2, 3]}, {"text": sentences[1], "from": [1, 3]}]
    answers(server, same=[], verdict="both", sentences=lambda text: written if about(text) == name else [])
    rows = tell(memory, clock, *facts, entities=[name])
    done = memory.admin.consolidate()
    (added,) = [item for item in done.items if item.action == "added"]
    summary = memory.get(added.ids[0])

    assert " ".join(sentences) == summary.content
    assert (Standing.SUMMARY, Origin.ASSISTANT, (name,)) == (summary.standing, summary.origin, summary.entities)
    assert summary.trust <= 0.5
    assert {row.id for row in rows} == {*added.ids[1:]}
    clock.advance(days=1)
    assert {} == memory.admin.consolidate().counts
    memory.forget(rows[0].id)
    clock.advance(days=1)
    after = memory.admin.consolidate()
    assert ("stale", (summary.id,)) in [(item.action, item.ids) for item in after.items]
    assert State.ARCHIVED is memory.get(summary.id).state
    assert () == tuple(memory.admin.check().problems)


@pytest.mark.parametrize(
    "invented",
    [
        "Freya has three dogs.",
        "Freya teaches music in Oslo.",
        "Freya does not teach music in Bergen.",
        "Freya is a famous and wealthy architect.",
    ],
)
def test_what_a_model_invents_stays_out_of_a_summary(memory, clock, server, invented):
    """Another number, another place, a denial, words that nobody said: only the sound sentence is kept."""
    written = [{"text": invented, "from": [1, 2, 3]}, {"text": "Freya sails a red boat and has two dogs.", "from": [1, 3]}]
    answers(server, same=[], verdict="both", sentences=lambda text: written if about(text) == "freya" else [])
    tell(memory, clock, *FREYA, entities=["Freya"])
    done = memory.admin.consolidate()
    (added,) = [item for item in done.items if item.action == "added"]

    assert "Freya sails a red boat and has two dogs." == memory.get(added.ids[0]).content


@pytest.mark.spec("T-39")
def test_erasing_a_source_erases_the_summary(memory, clock, server):
    """Its words are in the summary, whatever the model made of them."""
    written = [{"text": "Freya sails and has two dogs.", "from": [1, 3]}]
    answers(server, same=[], verdict="both", sentences=lambda text: written if about(text) == "freya" else [])
    rows = tell(memory, clock, *FREYA, entities=["Freya"])
    done = memory.admin.consolidate()
    summary = next(item for item in done.items if item.action == "added").ids[0]
    erased = memory.admin.erase(rows[0].id)

    assert erased.clean
    assert [] == [one for one in memory.get_all(limit=50) if one.id == summary]


@pytest.mark.spec("T-39")
@pytest.mark.parametrize(
    "case",
    [
        (FREYA, "freya", "Freya sails and has two dogs.", True),
        (CHINESE, "王小雨", "王小雨开一家茶馆，养了两只猫。", True),
        (CHINESE, "王小雨", "王小雨开一家茶馆，养了两只猫。", False),
    ],
)
def test_a_summary_travels_with_its_sources(memory, clock, server, tmp_path, case):
    """In another home, too, it goes with one of them, and comes in with all of them or not at all; imported twice it is there once."""
    facts, name, sentence, trust = case
    written = [{"text": sentence, "from": [1, 3]}]
    answers(server, same=[], verdict="both", sentences=lambda text: written if about(text) == name else [])
    first, _, third = tell(memory, clock, *facts, entities=[name])
    done = memory.admin.consolidate()
    summary = next(item for item in done.items if item.action == "added").ids[0]
    memory.admin.export(tmp_path / "export.jsonl")
    (line,) = [line for line in exports.lines(tmp_path / "export.jsonl") if line.get("standing") == "summary"]
    assert [first.id, third.id] == line["made_of"]

    exports.taken(tmp_path / "other", tmp_path / "export.jsonl", trust=trust)
    assert 0 == exports.taken(tmp_path / "other", tmp_path / "export.jsonl", trust=trust).memories
    with exports.opened(tmp_path / "other") as other:
        row = other.get(summary)
        cited = other._handle.store.nights.summarized(other._handle.own()[0], [row.n])
        assert {row.n: sorted(other.get(one.id).n for one in (first, third))} == cited
        other.admin.erase(third.id)
        with pytest.raises(NotFound):
            other.get(summary)
    again = exports.taken(tmp_path / "other", tmp_path / "export.jsonl", trust=trust)
    assert ({"erased": 2}, ()) == (again.skipped, again.problems)
    without = [line for line in exports.lines(tmp_path / "export.jsonl") if line.get("id") != third.id]
    less = exports.taken(tmp_path / "third", exports.written(tmp_path / "less.jsonl", without), trust=trust)
    assert (2, {"summaries of what is not here": 1}) == (less.memories, less.skipped)


def test_without_a_model_no_summary_is_written(blank, home, clock):
    """It waits; nothing is stored that nobody said."""
    with reading(blank, home, type("S", (), {"url": None})(), clock=clock) as memory:
        tell(memory, clock, *FREYA, entities=["Freya"])

        assert "added" not in memory.admin.consolidate().counts


# ------------------------------------------------------------------ the compiled identity


@pytest.mark.spec("S3-204")
@pytest.mark.parametrize("said", [("I live in Oslo.", "- Lives in Oslo."), ("我住在成都。", "- 住在成都。")])
def test_the_model_compiles_what_changed_of_the_identity(memory, home, clock, server, said):
    """USER.md is summed up by the model, once for each change; where it fails, the rules do it and the next night asks again."""
    text, line = said
    asked = answers(server, same=[], sentences=[], lines=[line])
    tell(memory, clock, text)
    memory.admin.consolidate()
    summary = home / "identity" / "compiled" / "user.summary.md"
    clock.advance(days=1)
    memory.admin.consolidate()

    assert line == summary.read_text().strip()
    assert 1 == len(asked)

    server.always = lambda _request: error(500)
    tell(memory, clock, "I like green tea. 我喜欢绿茶。")
    memory.admin.consolidate()
    assert "绿茶" in summary.read_text()

    answers(server, same=[], sentences=[], lines=[line])
    clock.advance(days=1)
    memory.admin.consolidate()
    assert line == summary.read_text().strip()
