"""bench/night_costs.py: nights and searches are measured on a small home, and the story is bilingual and repeats itself."""

import night
import night_costs
import pytest
from night_costs import Cost, Search


def test_statements_are_in_both_languages_and_the_same_for_a_seed():
    """As many as asked for, half of the year's, half of an invented vocabulary; another seed tells others."""
    spoken = night_costs.statements(5, 1_000)

    assert 1_000 == len(spoken)
    assert spoken == night_costs.statements(5, 1_000)
    assert spoken != night_costs.statements(6, 1_000)
    assert 0.3 < sum(night.is_chinese(text) for text in spoken) / len(spoken) < 0.7
    assert all(5 <= len(text) <= 250 for text in spoken)


def test_nights_and_searches_are_measured(tmp_path):
    """A first night, one of fifty new statements and an empty one; searches meanwhile in two ways, and before and after both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(night_costs, "ASKED", 3)
        costs, found = night_costs.measure(tmp_path, 120, seed=3)

    assert ["full", "new", "nothing"] == list(costs)
    assert {} == costs["nothing"].decisions
    assert costs["full"].cpu_s > costs["nothing"].cpu_s > 0
    assert all(cost.peak_mb > cost.before_mb > 10 for cost in costs.values())
    assert {*night_costs.SEARCHED} == {*found}
    assert all(one.wall_p95 >= one.wall_p50 > 0 for one in found.values() if one.asked)
    assert 4 * 3 == found["usual"].asked


def test_what_is_written_at_once_is_as_if_it_had_been_told(tmp_path, monkeypatch):
    """The night finds the same duplicates among it, and nothing is wrong with the store."""
    spoken = [f"The pump {number} stands in hall 3." for number in range(20)] + ["The pump 7 - stands in hall 3"]
    merged = []
    for name, at_once in (("told", 100), ("written", 3)):
        monkeypatch.setattr(night_costs, "TOLD", at_once)
        night_costs.fill(tmp_path / name, spoken)
        with night_costs.opened(tmp_path / name, 1) as memory:
            merged.append(memory.admin.consolidate().counts)
            assert () == tuple(memory.admin.check("deep").problems)

    assert [{"merged": 1}, {"merged": 1}] == merged


def test_the_figures_are_told_beside_their_aims():
    """The aims hold for 10,000 statements; a search is compared with the usual one; notes are not left out."""
    costs = {"full": Cost(31.5, 40.0, 70.0, 90.0, {"merged": 7}), "new": Cost(0.9, 1.0, 70.0, 70.0, {}, ["no backup"])}
    found = {"usual": Search(200, 2.0, 4.0, 1.5, 3.0), "thread": Search(90, 3.0, 6.0, 1.5, 3.0)}
    printed = "\n".join(night_costs.lines(10_000, costs, found))

    assert "first night: 31.50 s of CPU (aim 60)" in printed
    assert "50 new: 0.90 s of CPU (aim 2)" in printed
    assert "peak 90 MB, 70 before" in printed
    assert "no backup" in printed
    assert "p95 6.0 ms, 1.50 times the usual p95" in printed
    assert "aim" not in "\n".join(night_costs.lines(2_000, costs, found))
