"""Three-way merge of texts."""

import time

from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.pages.merge import Merged, merge

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "", "我", "好"]), max_size=12).map("\n".join)
OLD = "eggs\nmilk\nbread\ntea"


def test_changes_in_different_places_are_both_there():
    assert merge(OLD, "eggs\noat milk\nbread\ntea", "eggs\nmilk\nbread\ngreen tea\n米") == Merged(
        "eggs\noat milk\nbread\ngreen tea\n米", clean=True
    )


def test_where_both_changed_one_line_both_versions_stay():
    assert merge(OLD, "eggs\noat milk\nbread\ntea", "eggs\nsoy milk\nbread\ntea") == Merged(
        "eggs\noat milk\nsoy milk\nbread\ntea", clean=False
    )


def test_the_same_change_is_made_once():
    assert merge(OLD, "eggs\nbread\ntea", "eggs\nbread\ntea") == Merged("eggs\nbread\ntea", clean=True)


@given(LINES, LINES)
def test_who_changed_nothing_gives_way(base, new):
    assert merge(base, base, new) == merge(base, new, base) == Merged(new, clean=True)


@given(LINES, LINES, LINES)
def test_no_new_line_of_either_is_lost(base, first, second):
    merged = merge(base, first, second).text.split("\n")

    assert {*first.split("\n"), *second.split("\n")} - {*base.split("\n")} <= {*merged}


def test_long_texts_take_no_longer_than_they_are():
    lines = [f"line {place % 97} {place}" for place in range(60_000)]
    began = time.process_time()
    merge("\n".join(lines), "\n".join(["new", *lines]), "\n".join(lines[:-1]))
    merge("a\nb\n" * 30_000, "b\na\n" * 30_000, "b\n" * 30_000)

    assert time.process_time() - began < 5
