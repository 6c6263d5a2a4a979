"""bench/night.py: a short simulated year gives the same answers with nights and without, and its counts can fail."""

import night
import pytest

from yiku import Memory
from yiku.rules.deciding.slots import index_tokens
from yiku.types import Kind, Memories, State, UpdateMemory


@pytest.fixture(scope="module")
def years(tmp_path_factory):
    """Three weeks of 200 statements, with nights and without."""
    return night.simulate(tmp_path_factory.mktemp("year"), seed=3, statements=200, days=20)


def test_a_story_has_both_languages_and_values_that_change():
    """The same seed tells the same story; each slot has two to four values, and all rules are given."""
    said = night.story(5, 2_000)

    assert said == night.story(5, 2_000)
    assert 2_000 <= len(said) <= 2_001
    assert [one.day for one in said] == sorted(one.day for one in said)
    assert 0.3 < sum(night.is_chinese(one.text) for one in said) / len(said) < 0.7
    slots = [one.slot for one in said if one.slot]
    assert {*night.RULES} <= {one.text for one in said}
    assert all(2 <= slots.count(slot) <= 4 for slot in {*slots})


def test_nights_lose_no_answer_no_rule_and_bring_nothing_back(years):
    """Present and past are answered as without nights, replaced statements stay replaced, every rule is there."""
    nights, without = years["nights"], years["without"]

    assert nights.present[0] >= without.present[0] > 30
    assert nights.past[0] >= without.past[0]
    assert nights.present_loosely[0] >= without.present_loosely[0] > 10
    assert ([], [], []) == (nights.back, nights.rules_missing, nights.wrong)
    assert (20, 0) == (len(nights.nights), len(without.nights))
    assert any("a night: median" in line for line in night.lines(years))


def test_a_night_that_did_harm_would_be_noticed(tmp_path):
    """A replaced statement made live again, a rule archived, an answer that is gone: each is counted."""

    def spoil(memory: Memory, year: night.Year, slots: object) -> None:
        handle = memory._handle
        rows = handle.store.memories(handle.own(), Memories(states=(State.ACTIVE,)))
        columns: dict[int, dict[str, object]] = {
            row.n: {"superseded_by": None, "slot": None} if row.superseded_by else {"state": State.ARCHIVED}
            for row in rows
            if row.superseded_by or row.kind is Kind.RULE
        }
        changes = [UpdateMemory(row.n, columns[row.n], index_tokens(row)) for row in rows if row.n in columns]
        handle.store.apply(handle.writes(), changes, handle.cause("consolidate"))

    said = night.story(3, 200, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(night, "_night", spoil)
        spoilt = night.live(tmp_path / "home", said, 20, nights=True)

    assert spoilt.back
    assert len(night.RULES) == len(spoilt.rules_missing)


@pytest.mark.parametrize(
    ("action", "one", "other", "right"),
    [
        ("merged", "The pump 7 stands in hall 3.", "The pump 7 - stands in hall 3", True),
        ("merged", "416号压缩机在6号厂房。", "416 号压缩机在 6 号厂房！", True),
        ("merged", "The pump 7 stands in hall 3.", "The pump 8 stands in hall 3.", False),
        ("flagged", "包裹8在门口。", "包裹9在门口。", False),
        ("replaced", "Ann lives in Oslo.", "Ann lives in Bergen.", True),
        ("replaced", "Ann lives in Oslo.", "Hugo lives in Bergen.", False),
        ("flagged", "Ann lives in Oslo.", "Ann lives in Oslo.", False),
    ],
)
def test_a_wrong_decision_is_known(action, one, other, right):
    """By what the year means: what is said again, and which statements give one slot its values."""
    slots = {f"{who} lives in {city}.": (who, "lives in") for who in ("Ann", "Hugo") for city in ("Oslo", "Bergen")}

    assert right is night.is_right(action, one, other, slots)


def test_a_drawing_has_a_bar_for_each_value():
    """The largest value fills its bar, none is left out."""
    assert "▁▄█" == night.drawn([0, 4, 8])
    assert "" == night.drawn([])
