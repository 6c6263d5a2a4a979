"""Stripping markup from a text while keeping offsets."""

import random

import pytest

from yiku.rules.text.unmarked import may_split_words, unmarked

PLAIN = {
    "我家的**吉布拉**水泵": "我家的吉布拉水泵",
    "un<b class='x'>believ</b>able": "unbelievable",
    "the [Gibra](https://example.com/a_(b) 'title') pump, [two][2] ![three](3.png) [[page|four]][^1]": "the Gibra pump, two three four",
    "Gi\u200bbra R&amp;D &#20041;&nbsp;x": "Gibra R&D 义\xa0x",
    "> quoted 我家的\n> 水泵 和 山": " quoted 我家的水泵和山",
    "**吉布**\n  > 拉": "吉布拉",
    "snake_case, _emphasis_, 我_家_的, un\\_til": "snake_case, emphasis, 我家的, un_til",
    "a < b, 1 = 1, x==y, AT&T &nope; <https://example.com>": "a  b, 1 = 1, xy, AT&T &nope; https://example.com",
    "no marks at all. 没有标记。\n\n第二段": "no marks at all. 没有标记。\n\n第二段",
}


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_left(text):
    """Marks go, words stay."""
    assert PLAIN[text] == unmarked(text).text


def test_each_character_knows_its_place():
    """Of random texts: what stands at the place in the source is the character, or an entity that says it."""
    chance = random.Random(1)
    signs = [
        "吉",
        "布",
        "a",
        "b",
        " ",
        "\n",
        "*",
        "_",
        "`",
        "[",
        "](u)",
        "<b>",
        "&#20041;",
        "\u200b",
        "\\",
        ">",
        "~",
        "。",
        "== ",
        "![",
    ]
    for _ in range(3_000):
        text = "".join(chance.choices(signs, k=chance.randrange(1, 14)))
        seen = unmarked(text)
        for at, character in enumerate(seen.text):
            start, end = seen.span(at, at + 1)
            assert text[start:end] in (character, "&#20041;")
        spans = [seen.span(at, at + 1) for at in range(len(seen.text))]
        assert sorted(spans) == spans


@pytest.mark.parametrize(
    ("text", "part", "wide"),
    [
        ("x **一句。** y", "一句。", "**一句。**"),
        ("**[一句。](u)**", "一句。", "**[一句。](u)**"),
        ("**A. B.**", "B.", "B."),
        ("A. B.", "A.", "A."),
        ("<b>A.</b>", "A.", "<b>A.</b>"),
    ],
)
def test_marks_on_both_sides_belong_to_what_they_stand_around(text, part, wide):
    start = text.index(part)
    first, last = unmarked(text).widen(start, start + len(part))

    assert wide == text[first:last]


@pytest.mark.parametrize(
    ("text", "splits"),
    [
        ("un**believ**able", True),
        ("我家的**吉布拉**", True),
        ("<i>w</i>ord", True),
        ("Gi\u200bbra", True),
        ("我家的\n水泵", True),
        ("我家的\n> 水泵", True),
        ("&#21513;布", True),
        ("snake_case is **bold** here, `code`.", False),
        ("- see 2 * 3, `code` (and more) > 1", False),
        ("没有标记。\n第二段", False),
    ],
)
def test_whether_marks_may_split_words(text, splits):
    """Where they do not, an index of the words knows them all."""
    assert splits is may_split_words(text)
