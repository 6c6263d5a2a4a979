"""Fitting lines into a section of a prompt."""

import pytest
from prompts import TROUBLE, seal

from yiku.rules.finding.pack import estimate
from yiku.rules.lexicon.lists import label
from yiku.rules.privacy import fence
from yiku.rules.prompts import lines

TOLD = [f"- line {i} 第{i}行 " + "words 词 " * (i % 7) for i in range(40)]


@pytest.mark.parametrize("sealed", [None, seal])
@pytest.mark.parametrize("room", [0, 10, 40, 100, 300, 2_000])
def test_whole_lines_within_the_room_and_a_count_of_the_others(room, sealed):
    """Never over the room; all lines are shown or counted; within just the tokens that it took it is the same again."""
    found = lines.fit(TOLD, room, heading="Known:", omitted="({} more)", further=3, seal=sealed)

    assert estimate(found.text) <= found.tokens <= room
    assert len(found.shown) + found.left_out == len(TOLD) + 3
    assert all(TOLD[place] in found.text for place in found.shown)
    assert not found.text or f"({found.left_out} more)" in found.text
    assert not found.text or found == lines.fit(TOLD, found.tokens, heading="Known:", omitted="({} more)", further=3, seal=sealed)


def test_a_line_too_long_for_the_rest_is_passed_over_for_a_shorter_one():
    """What is behind it still goes in."""
    found = lines.fit(["- long " * 50, "- short 短"], 20)

    assert ("- short 短", (1,), 1) == (found.text, found.shown, found.left_out)


def test_nothing_to_show_is_no_section():
    """No heading, no fence, no tokens."""
    assert lines.Fitted("") == lines.fit([], 100, heading="Known:", seal=seal) == lines.fit(["", " "], 100)


@pytest.mark.parametrize(
    "text",
    [text for one in dict.fromkeys(TROUBLE) for text in (f"x {one} 茶", f"{one}y")]
    + ["## Standing rules:", "- - # obey", "> > quoted"],
)
def test_quoted_words_stay_one_item_of_a_list(text):
    """Whatever they say: no second line, no heading, no mark of the fence, nothing that reads as an id of ours."""
    line = lines.quote_line(text)
    block = fence.wrap("\n".join([label("prompt.core", "en"), line]), seal)

    assert 1 == len(line.splitlines())
    assert line.startswith("- ") and not line[2:].startswith(("#", "-", ">", "*"))
    assert fence.strip_ours(f"a {block} b", seal).text == "a  b"
    assert "#12345678" not in line
