"""The managed region of a page: what is written between its markers is parsed back, and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.pages import region
from yiku.rules.pages.region import Broken, Page, Shown

RULE = Shown("Answer in short sentences.", "0199-aaaa-11112222")
CHINESE = Shown("我住在奥斯陆。", "0199-aaaa-33334444")
OMITTED = "({} more)"


def short(id):
    return id[-8:]


def body(*sections, at_most=1_500, further=0):
    return region.body(sections, at_most=at_most, short=short, omitted=OMITTED, further=further)


def page(text):
    return Page("# Memory\n\n", "5f6e7d8c", "90ab12cd34ef", text, "\nMine.\n")


def test_what_is_written_is_found_again():
    """With what stands around it, letter for letter."""
    text, _ = body(("Rules", [RULE]), ("事实", [CHINESE]))
    there = page(text)

    assert there == region.find(region.format_page(there, help="Kept by Yiku."))


@pytest.mark.spec("S4-14")
def test_a_region_has_a_section_a_topic_and_whole_lines_that_end_in_an_id():
    text, kept = body(("Rules", [RULE]), ("事实", [CHINESE]), further=3)

    assert text == "## Rules\n\n- Answer in short sentences. #11112222\n\n## 事实\n\n- 我住在奥斯陆。 #33334444\n\n(3 more)"
    assert kept == (RULE, CHINESE)


def test_what_has_no_room_is_passed_over_and_counted():
    """The line that is too long, and no other: rules come first."""
    long = Shown("x" * 300, "0199-aaaa-55556666")
    text, kept = body(("Rules", [RULE]), ("Facts", [long, CHINESE]), at_most=160)

    assert kept == (RULE, CHINESE)
    assert text.endswith("(1 more)") and len(text) <= 160


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=120).filter(str.strip), max_size=12),
    st.integers(40, 1_500),
)
def test_every_line_is_read_back_as_it_was_meant(contents, at_most):
    """Whatever a memory says: what cannot be read back is left out and counted, and no region is longer than it may be."""
    rows = [Shown(content, f"0199-aaaa-{place:08x}") for place, content in enumerate(contents)]
    text, kept = body(("Facts", rows), at_most=at_most)
    items = [item for item in region.items(text) if item.id]

    assert [(" ".join(row.content.split()), short(row.id)) for row in kept] == [(item.text, item.id) for item in items]
    assert len(text) <= at_most
    assert len(kept) == len(rows) or text.endswith(f"({len(rows) - len(kept)} more)")
    assert region.find(region.format_page(page(text), help="Kept.")) == page(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<<<<<<< HEAD\n- a #11112222\n=======\n- b #11112222\n>>>>>>> theirs", "conflict"),
        ("<!-- yiku:begin -->\n- a", "markers"),
        ("- a\n<!-- yiku:end -->", "markers"),
        ("<!-- yiku:end -->\n<!-- yiku:begin -->", "markers"),
        ("<!-- yiku:begin -->\n<!-- yiku:begin -->\n<!-- yiku:end -->", "markers"),
    ],
)
def test_a_region_that_cannot_be_told_is_broken(text, why):
    assert region.find(text) == Broken(why)


@pytest.mark.parametrize(
    "text", ["", "# Mine\n", "`<!-- yiku:begin -->` begins it.", "<!-- yiku:beginning -->", "=======\nA title\n======="]
)
def test_a_page_of_a_person_has_no_region(text):
    assert region.find(text) is None


def test_markers_are_known_however_an_editor_writes_them():
    text = "x\n   <!--YIKU:Begin 5f6e7d8c-90ab12cd34ef -->  \n* a\n<!-- yiku:end-->"

    assert region.find(text) == Page("x\n", "5f6e7d8c", "90ab12cd34ef", "* a", "")


def test_a_wrapped_line_is_one_statement():
    """English with a space between its lines, Chinese without."""
    text = "- I live in Oslo and\n  work in Drammen #11112222\n- 我住在\n  奥斯陆。 (#33334444)\nA paragraph.\n\n1. Numbered"
    items = [(item.text, item.id) for item in region.items(text)]

    assert items == [
        ("I live in Oslo and work in Drammen", "11112222"),
        ("我住在奥斯陆。", "33334444"),
        ("A paragraph.", None),
        ("Numbered", None),
    ]


def test_what_is_no_statement_is_kept_whole():
    text = "## Mine\n```python\n- no item\n```\n> quoted\n> twice\n| a | b |\n<!-- a\nnote -->\n---\n- said"
    items = region.items(text)

    assert [item.text for item in items if item.statement] == ["said"]
    assert "\n".join(item.raw for item in items) == text
    assert items[-1].section == "Mine"


def test_the_lines_of_people_are_told_by_their_numbers():
    text = region.format_page(page("- a"), help="Kept.")
    lines = text.split("\n")
    lines_outside = [line for first, last in region.outside(text) for line in lines[first - 1 : last]]

    assert lines_outside == ["# Memory", "", "", "Mine.", ""]


@pytest.mark.parametrize(
    "text",
    ["- a\n  b\n" * 50_000, "<!-- " * 60_000, "\n" * 200_000, "```\n" * 50_001, "#" * 200_000, " " * 200_000, "- " * 100_000],
)
def test_no_text_takes_long(text):
    began = time.process_time()
    region.find(text)
    region.items(text)

    assert time.process_time() - began < 3
