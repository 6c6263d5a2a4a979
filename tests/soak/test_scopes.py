"""R26: a million calls of all public verbs over 42 hostile names, and whether time tells what words do not."""

import pytest
from store.scope_home import World
from store.test_scopes import AT_MOST, beside, timed


def test_R26_no_call_shows_anything_of_another_scope(tmp_path, seed, count, figure):
    """Nothing of a foreign scope in any answer, error, explanation, journal row or count; foreign ids are told like absent ones."""
    many = World(tmp_path, seed)
    many.run(count(20_000, 1_000_000, "calls of public verbs"))

    figure("homes", many.homes)
    figure("leaks", 0, most=0)  # the first would have ended the run, with its seed and the last operations


@pytest.fixture
def crowded(home):
    """A small scope beside one of 10,000 turns."""
    yield from beside(home, 10_000)


def test_R26_time_does_not_tell_what_is_foreign(crowded, count, figure):
    """An id, the end of one, or a word that another scope has takes as long as one that nobody has."""
    found = timed(*crowded, pairs=count(500, 2_000, "pairs of calls a verb and round"))

    figure("foreign against absent, at worst", max(found.values()), "times", most=AT_MOST)
