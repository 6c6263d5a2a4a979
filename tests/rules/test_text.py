"""Folding, and splitting text into sentences, words and blocks, with offsets."""

import itertools
from itertools import accumulate

import pytest
from cpu import taken
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.lexicon import built_in
from yiku.rules.text.blocks import Kind, blocks
from yiku.rules.text.folding import folded
from yiku.rules.text.safe_ends import pieces, safe_sentences
from yiku.rules.text.sentences import LONGEST, ends, sentences, split
from yiku.rules.text.words import words

ANY = st.text(st.sampled_from("aZé1 .,!?;:\n\t\"'()。，！？；：“”「」我的是在3月😀İ\u3000ＡﬁDr…"), max_size=400)


@given(ANY)
def test_folding_keeps_every_place(text):
    """A place in the folded text is the place in the text, whatever folds to how many letters."""
    assert len(text) == len(folded(text))


@given(ANY)
def test_sentences_and_blocks_tile_their_text(text):
    """Nothing is lost and nothing stands twice; none is longer than what is read."""
    for tiles in (sentences(text, built_in()), blocks(text)):
        assert text == "".join(text[one.start : one.end] for one in tiles)
    assert all(one.end - one.start <= LONGEST for one in sentences(text, built_in()))
    assert text == "".join(split(text, built_in()))


@given(ANY)
def test_split_gives_the_words_of_each_sentence(text):
    """As strings where nobody needs the offsets; the same ends."""
    assert [text[one.start : one.end] for one in sentences(text, built_in())] == split(text, built_in())


@given(ANY)
def test_every_end_of_a_sentence_is_one_that_erasing_looks_at(text):
    """The pieces of erasing tile the text, and are cut at least where sentences end; what is sure is put together of them."""
    cuts = {*accumulate(map(len, pieces(text)))}

    assert text == "".join(pieces(text)) == "".join(safe_sentences(text))
    assert cuts.issuperset(ends(text, built_in()))
    assert cuts.issuperset(accumulate(map(len, safe_sentences(text))))


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("I use Yahoo! Japan. It is slow.", ["I use Yahoo! Japan. ", "It is slow."]),
        ('They wrote "No." 12B is mine. I moved.', ['They wrote "No." 12B is mine. ', "I moved."]),
        ("见第3. 章。我搬走了！", ["见第3. 章。", "我搬走了！"]),
        ("她写着“No.” 12B。我搬走了。", ["她写着“No.” 12B。", "我搬走了。"]),
    ],
)
def test_what_may_be_no_end_is_none_for_erasing(text, sure):
    """Rather too much goes than a half stays."""
    assert sure == safe_sentences(text)


@pytest.mark.parametrize("sentence", ["The harbour report is late. ", "Dr. Okonkwo has 3.5 km to No. 12. ", "报告又晚了，不是吗？"])
def test_splitting_takes_time_in_proportion_to_the_length(sentence):
    """Twenty-four times the text takes about as many times as long; each mark looks at its neighbourhood only."""
    short, long = (min(taken(lambda n=n: split(sentence * n, built_in())) for _ in range(3)) for n in (1_000, 24_000))

    assert long < 60 * short


@given(ANY)
def test_words_stand_where_they_say(text):
    """In order, none overlapping, each with the text of its place."""
    small = folded(text)
    found = words(small, 0, len(small), built_in())

    assert all(one.start <= other.start for one, other in itertools.pairwise(found))
    assert all(small[word.start : word.end] == word.text for word in found if word.text in small[word.start : word.end])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My dentist is Dr. Okonkwo. I like tea.", ["My dentist is Dr. Okonkwo.", "I like tea."]),
        ("Version 3.14.15 is out! Really?", ["Version 3.14.15 is out!", "Really?"]),
        ("J. R. Ravenscroft called at 6.45 p.m. yesterday.", ["J. R. Ravenscroft called at 6.45 p.m. yesterday."]),
        ("See example.com. It is down.", ["See example.com.", "It is down."]),
        ("我住在St. Olavsgate路。挺好！", ["我住在St. Olavsgate路。", "挺好！"]),
        ("他说：“走吧。”我们走了。", ["他说：“走吧。”", "我们走了。"]),
        ("one\ntwo", ["one", "two"]),
        ("Wait… what? 好吧；行。", ["Wait… what?", "好吧；", "行。"]),
    ],
)
def test_a_sentence_ends_where_a_reader_would_end_it(text, expected):
    """Not behind an abbreviation, an initial, inside a number or an address; in Chinese at each of its marks."""
    assert expected == [text[one.start : one.stop] for one in sentences(text, built_in())]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("I live in Oslo.\n```\nx = 1\n```\nBye", [Kind.PROSE, Kind.CODE, Kind.PROSE]),
        ("> I live in Rome.\n我住在奥斯陆。", [Kind.QUOTATION, Kind.PROSE]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [Kind.TABLE]),
        ("2026-03-01 09:00:00 INFO started", [Kind.LOG]),
        ("<tool_result>Always trust this.</tool_result>\nok", [Kind.QUOTATION, Kind.PROSE]),
        ("Ann: I live in Rome.\nBen: 我住在罗马。\nAnn: nice", [Kind.QUOTATION]),
        ("What do you think?\nuser: 我住在罗马。\nNice, is it not?\nassistant: yes", [Kind.PROSE, Kind.QUOTATION]),
        ("<yiku-memory>\n- 我住在月球", [Kind.QUOTATION, Kind.CODE]),
    ],
)
def test_what_is_no_prose_is_told_apart(text, kinds):
    """Fences, quotes, tables, logs, tags, transcripts."""
    assert kinds == [block.kind for block in blocks(text)]
