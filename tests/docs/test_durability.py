"""docs/durability.md states the promises that the soak tests prove, in the same words, and names existing tests."""

import re

from pages import ROOT
from soak import goals

TESTS, PAGE = ROOT / "tests", ROOT / "docs" / "durability.md"


def rows() -> dict[str, tuple[str, str]]:
    """Goal: its promise, and what is said of its test."""
    return {
        goal: (promise, said)
        for goal, promise, said in re.findall(r"^\| ([RS]\d+) \| (.+?) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    }


def test_the_promises_are_those_of_the_soak():
    """Each goal once, in the same words and order."""
    assert [*goals.PROMISES.items()] == [(goal, promise) for goal, (promise, _) in rows().items()]


def test_each_promise_names_a_test_that_proves_it():
    """The file is there, and holds a test of that goal or is what such a test runs."""
    for goal, (_, said) in rows().items():
        named = [path for name in re.findall(r"`(test_\w+\.py)`", said) for path in TESTS.rglob(name)]
        proved = {found for path in named for found in goals_of(path.read_text(encoding="utf-8"))}
        assert goal in proved, f"{goal}: no test of it in {[path.name for path in named]}"


def goals_of(text: str) -> set[str]:
    return {goal for test in re.findall(r"^def (test_\w+)", text, re.M) for goal in goals.of(test)}
