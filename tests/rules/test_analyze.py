"""The analyzer: the same tokens from text for indexing and for queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.text import analyze


def words(text: str) -> list[str]:
    return analyze.tokens(text).words


def test_english_words_are_stemmed_and_empty_words_left_out() -> None:
    """Moving, moved and moves are one term; what carries no meaning is none."""
    assert ["move", "move", "move"] == words("She moved, is moving and moves")
    assert [] == words("it was not there, and they were")


@pytest.mark.spec("T-21")
@pytest.mark.parametrize("asked", ["深色主题", "主题", "主"])
def test_one_two_and_more_chinese_characters_are_found(asked: str) -> None:
    """Every term of a shorter piece is among the terms of the sentence that holds it."""
    kept, question = analyze.tokens("用户喜欢用深色主题"), analyze.question(asked)

    assert set(question.words) <= set(kept.words)
    assert set(question.characters) <= set(kept.characters)
    assert question.words or question.characters


@pytest.mark.spec("T-22")
@pytest.mark.parametrize(
    ("text", "whole", "part"),
    [
        ("python-3.10", "python-3.10", "python"),
        ("config.yaml", "config.yaml", "yaml"),
        ("foo@bar.com", "foo@bar.com", "bar"),
        (r"D:\code\main.py", "d:/code/main.py", "code"),
        ("C++", "c++", "c"),
        ("C#", "c#", "c"),
        ("v1.2.3-beta", "v1.2.3-beta", "beta"),
        ("ＬＮ－２０８６", "ln-2086", "2086"),
    ],
)
def test_a_compound_is_found_whole_and_by_its_parts(text: str, whole: str, part: str) -> None:
    """A path, a version or an address is one token, and each of its parts is another."""
    assert whole == words(text)[0]
    assert part in words(text)


def test_width_case_and_accents_make_no_difference() -> None:
    """ＡＢＣ, Tromsø, Café and STRASSE are found however they are written."""
    assert words("abc tromso cafe strasse") == words("ＡＢＣ Tromsø Café Straße")


def test_mixed_text_is_cut_at_the_border_of_scripts() -> None:
    """Without any space between them, Chinese and Latin words are told apart; an emoji is a word."""
    assert ["我用", "python", "写代", "代码", "🎉"] == words("我用Python写代码🎉")
    assert ["我", "用", "写", "代", "码"] == analyze.tokens("我用Python写代码🎉").characters


def test_a_question_asks_only_for_what_means_something() -> None:
    """Function characters bind a sentence together; alone they are all there is, so they are kept."""
    assert ["住"] == analyze.question("我住在哪里？").characters
    assert ["live"] == analyze.question("where do I live?").words
    assert analyze.question("你是谁").characters


def test_a_question_has_at_most_so_many_terms() -> None:
    """However long the question, the number of terms is bounded."""
    found = analyze.question(" ".join(f"word{n}" for n in range(5_000)))

    assert 0 < len(found.words) <= analyze.QUESTION_TERMS


def test_a_long_token_is_cut_on_both_sides_alike() -> None:
    """A hash of a thousand characters is one bounded token, and its own question finds it."""
    text = "f" * 1000

    assert [text[: analyze.TOKEN_CHARS]] == words(text) == analyze.question(text).words


@given(st.text(max_size=200))
def test_every_token_survives_the_index_tokenizer(text: str) -> None:
    """No token has a character at which the index would cut it again."""
    found = analyze.tokens(text)

    for token in (*found.words, *found.characters):
        assert token
        assert all(c.isalnum() or c in "._-@/:+#" for c in token if c.isascii()), token
        assert not any(c.isspace() for c in token), token


@given(st.text(max_size=200))
def test_the_analyzer_takes_any_text_and_gives_the_same_twice(text: str) -> None:
    """No text breaks it, and tokens do not depend on what was analysed before."""
    first = analyze.tokens(text)
    analyze.tokens(text[::-1])

    assert first == analyze.tokens(text)
