"""Seals of erased texts, and the words that verification searches for."""

import pytest

from yiku.rules.privacy import erasure


def test_what_is_looked_for():
    """Texts, words, stems, pairs of Chinese characters, and the ends of words; little words and single characters are not."""
    found = erasure.looked_for(["The happiest Crème brûlée in 上海市", "an ox", "tea"])

    assert {"The happiest Crème brûlée in 上海市", "happiest", "piest", "creme", "brulee", "rulee", "上海市", "上海", "海市"} <= {
        *found
    }
    assert not {"The", "ox", "tea", "an", "上", "est"} & {*found}
    assert "上海" == found["上海"]


def test_long_words_are_cut():
    """A word of a hundred thousand letters is looked for by its beginning: what is looked for stays small."""
    found = erasure.looked_for(["x" * 100_000 + "y" * 100_000])

    assert len(found) < 200
    assert sum(map(len, found)) < 250_000


def test_sessions_turns_and_sentences_have_seals_of_their_own():
    """A sentence that says little has none: `Yes.` was said by everybody."""
    assert [] == erasure.of_sentences("Yes. No! 好的。 ok")
    assert ["text\0my locker code is 4711"] == [*erasure.of_sentences("Yes. My locker code is 4711! Ok?")]
    assert erasure.of_session("s") not in erasure.of_sentences("session s")


def test_what_was_sealed_as_one_sentence_is_found_however_it_is_cut():
    """Where a stop ends nothing: the sentence is one when it is sealed, and one of the runs of pieces when it comes again."""
    for text in (
        "My dentist is Dr. J. R. Okonkwo.",
        "I live at St. Olavs gate No. 12B!",
        "我的医生是王医生（Dr. Wang）。",
        "我用Yahoo! 邮箱 3.14 版。",
    ):
        (sealed,) = erasure.of_sentences(text)
        again = f"It rained; 下雨了。 {text} Bye."
        ((start, end),) = {*erasure.runs(again)[sealed]}

        assert text == again[start:end]


LISTED = ("# {}", "- {}", "* {}", "+ {}", "  • {}", "- [x] {}", "1) {}", "1、{}", "（一）{}", "> - {}", "- 1. **{}**")


@pytest.mark.parametrize("said", ["My secret plan is to buy the lighthouse", "我的秘密计划是买下灯塔"])
@pytest.mark.parametrize("line", [*LISTED, "### {} ###", "| 1 | {} |", "1|{}|2", "Plan\t{}", "| {} | Milk"])
def test_a_sentence_is_found_without_the_mark_of_its_line_and_its_line_is_sealed_without_it(said, line):
    """A heading, an item of a list, a task, the cell of a table: the range is the sentence alone, with or without a stop."""
    (sealed,) = erasure.of_sentences(said)
    for stop in (".", ""):
        text = f"Milk. 牛奶\n{line.format(said + stop)}\n- Bread 面包\n"
        found = {text[start:end] for start, end in erasure.runs(text)[sealed]}

        assert found <= {said + stop, f"{said}{stop}**", f"**{said}{stop}", f"**{said}{stop}**"}
        assert line not in LISTED or sealed in erasure.of_sentences(line.format(said))


def test_telling_words_are_names_numbers_and_things():
    """Not those of any talk, in either language."""
    words = erasure.telling_words(["I really think that my dentist is Dr. Okonkwo, No. 12B", "我觉得我的牙医很好，他叫王芳"])

    assert {"dentist", "okonkwo", "12b", "牙医", "王芳"} <= words
    assert words.isdisjoint({"think", "realli", "觉得", "我的"})
