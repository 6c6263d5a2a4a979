"""Dividing a prompt's token budget among its sections."""

import pytest

from yiku.rules.prompts import budgets
from yiku.rules.prompts.budgets import BUDGETS, CHANGING, GIVES_WAY, MOST, SECTIONS, rooms


@pytest.mark.spec("S3-206", "S3-207", "S3-208", "S3-209", "S3-210", "S3-211")
def test_the_budgets_are_those_of_the_design():
    """Identity 350 as 100, 120 and 130; persona 200, runtime 150, session rules 300, scratchpad 500; 3,000 in all."""
    named = {name: BUDGETS[name] for name in ("identity", "persona", "runtime", "session_rules", "scratchpad")}

    assert {"identity": 350, "persona": 200, "runtime": 150, "session_rules": 300, "scratchpad": 500} == named
    assert {"soul": 100, "agent_core": 120, "agent_tooling": 130} == budgets.SHARES
    assert budgets.TOTAL >= sum(BUDGETS.values()) - BUDGETS["catalogs"]


@pytest.mark.spec("S3-212", "S3-213", "S3-214", "S3-215")
def test_memory_and_catalogs_have_the_budgets_of_the_design():
    """Core memory 400, what is recalled 300, the profile 120, catalogs 800 beside the total."""
    assert (400, 300, 120, 800) == tuple(BUDGETS[name] for name in ("core", "recalled", "user", "catalogs"))


def test_while_all_fits_each_section_has_what_it_takes():
    """Up to MOST, which for identity is as large as its compiled summaries."""
    sizes = {"identity": 600, "core": 250, "recalled": 300}

    assert sizes == rooms(sizes, 3_000)
    assert {**sizes, "core": MOST["core"]} == rooms({**sizes, "core": 9_000}, 3_000)


def test_what_is_too_long_shrinks_to_its_budget_first_and_then_in_order():
    """Identity gives what it has over its budget before anything else gives; then what a tool finds, and so on."""
    full = dict(MOST)
    tight = rooms(full, 3_000)

    assert {**full, "identity": 380} == tight
    assert rooms(full, 2_800) == {**BUDGETS, "recalled": 130}
    assert rooms(full, 2_600) == {**BUDGETS, "recalled": 0, "runtime": 80}


@pytest.mark.parametrize("total", [0, 50, 400, 1_000, 2_999, 3_000, 5_000])
def test_the_total_is_kept_and_rules_go_last(total):
    """Catalogs stand beside it."""
    found = rooms(dict(MOST), total)

    assert sum(found.values()) - found["catalogs"] <= total
    assert BUDGETS["catalogs"] == found["catalogs"]
    assert found["rules"] == min(total, MOST["rules"])


def test_each_section_has_its_place_and_its_turn():
    """Every section but the catalogs can give way, and what changes with each message stands at the end."""
    assert {*SECTIONS} == {*BUDGETS} == {*GIVES_WAY, "catalogs"}
    assert list(SECTIONS[-3:]) == list(CHANGING)
    assert ["guide", "core", "recalled"] == budgets.in_order(["recalled", "core", "guide"])
