"""Windows for embedding: within the model's limit, cut between sentences, short turns with the turn before."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.text import chunk

LETTERS = st.text(st.sampled_from("abc é.!?。！？…\n \t,，”安德的猫😀7"), max_size=40)
TEXTS = st.lists(st.builds(lambda text, times: text * times, LETTERS, st.integers(1, 30)), max_size=6).map("".join)


@given(TEXTS, st.integers(8, 60))
def test_nothing_is_lost_and_no_window_is_too_long(text, at_most):
    """All that is said is in the windows, in its order; none has more than it may, but for spaces at its ends."""
    windows = chunk.windows(text, at_most)

    assert "".join(text.split()) == "".join("".join(windows).split())
    assert all(chunk.tokens(window) <= at_most for window in windows)


@pytest.mark.parametrize("text", ["", "short", "短", "  ", "a" * 1_900, "猫" * 600])
def test_what_fits_is_one_window(text):
    """A text that the model can take whole is left as it is."""
    assert [text] == chunk.windows(text)


def test_a_window_ends_with_a_sentence():
    """English and Chinese are cut behind the sign that ends a sentence, quotes and brackets included."""
    text = 'She said: "It rains." ' * 10 + "他说：「下雨了。」" * 10
    windows = chunk.windows(text, 30)

    assert len(windows) > 3
    assert all(window.endswith(('."', "。」")) for window in windows)


@pytest.mark.parametrize(
    "sentence", ["Dr. Okonkwo has moved the 3.5 km line to No. 12B. ", "我把Dr. Okonkwo的灯笼放在No. 12B那里了。"]
)
def test_a_window_is_cut_at_no_abbreviation(sentence):
    """A stop inside a sentence ends no window: each begins where a sentence does."""
    windows = chunk.windows(sentence * 10, round(2.5 * chunk.tokens(sentence)))

    assert [sentence.strip()[:9]] * len(windows) == [window[:9] for window in windows]
    assert len(windows) == 5


@pytest.mark.parametrize("text", ["x" * 65_536, "猫" * 21_000, ". " * 32_000, "\n" * 65_536 + "end", "”" * 65_536, "a.b" * 20_000])
def test_no_text_is_slow_to_cut(text):
    """64 KiB without an end of a sentence, or of nothing else, take a fraction of a second."""
    began = time.process_time()
    windows = chunk.windows(text)

    assert time.process_time() - began < 0.5
    assert len(windows) < 400


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ab猫", False), ("a猫", True), ("aabb猫猫", False), ("aab猫猫", True), ("", False), ("abc", False), ("猫", True)],
)
def test_a_text_is_mostly_chinese_above_a_third(text, expected):
    """A character weighs two letters: at a third exactly the two are level, and the text counts as one with spaces."""
    assert expected is chunk.is_cjk(text)


def test_a_text_of_nothing_but_space_has_no_window_beyond_the_first():
    """A long run of spaces says nothing, so nothing of it is embedded."""
    assert [] == chunk.windows(" \n" * 5_000)


def test_a_short_turn_goes_behind_the_end_of_the_one_before():
    """Of a long turn its last words, from the beginning of a word; of a short one, all."""
    long = "beginning " + "and so on " * 50 + "which colour do you want, 你要什么颜色？"

    assert "What colour?\nBlue, 蓝色。" == chunk.with_previous("What  colour?", "Blue, 蓝色。")
    extended = chunk.with_previous(long, "Blue, 蓝色。")
    assert extended.endswith("which colour do you want, 你要什么颜色？\nBlue, 蓝色。")
    assert len(extended) <= chunk.TAIL_CHARS + len("\nBlue, 蓝色。")
    assert extended.split()[0] in ("and", "so", "on")


def test_a_turn_that_says_enough_stands_alone():
    """A longer turn is not embedded behind another, nor is the first of a session."""
    assert chunk.with_previous("What?", "word " * 40) is None
    assert chunk.with_previous("", "Yes. 好。") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我喜欢喝绿茶。", True),
        ("I like tea", False),
        ("I said 好 to tea", False),
        ("用 pytest 跑一下测试", True),
        ("7 😀", False),
        ("", False),
    ],
)
def test_the_script_of_a_text(text, expected):
    """A text is Chinese when its characters, worth two letters each, are more than the rest."""
    assert expected is chunk.is_cjk(text)
