"""Finding and cutting a statement out of a text: spans, certain ends, other wordings, paragraphs."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.deciding import slots
from yiku.rules.privacy import redaction
from yiku.rules.text.safe_ends import pieces
from yiku.types import SemanticMemory

AT = datetime(2026, 3, 1, tzinfo=UTC)
TEXTS = st.text(st.sampled_from("ab 你好。！？.!?;；\n\t…😀Ａ1３"), max_size=60)


def statement(text: str) -> SemanticMemory:
    """A statement as `remember` would read it."""
    slot = slots.read(text, speaker=None, names=())
    fields = {"subject": slot.subject, "predicate": slot.predicate, "object": slot.object} if slot else {}
    return SemanticMemory(
        id="i", line="i", content=text, said_at=AT, confirmed_at=AT, valid_from=AT, created_at=AT, updated_at=AT, **fields
    )


@given(TEXTS)
def test_sentences_are_the_text(text):
    """Put together they are the text, to the byte, and none is empty."""
    found = pieces(text)

    assert text == "".join(found)
    assert all(found)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4))
def test_only_what_goes_is_marked(text, ranges):
    """What stays is there with all its bytes, in order; what goes leaves a mark of its language, and nothing else."""
    wanted = redaction.merge_ranges((min(start, len(text)), min(end, len(text))) for start, end in ranges)
    gone = {place for start, end in wanted for place in range(start, end)}
    left = redaction.cut_out(text, wanted)
    for mark in redaction.marks():
        left = left.replace(mark, "\x00")

    assert "".join(character for place, character in enumerate(text) if place not in gone) == left.replace("\x00", "")
    assert len(wanted) == left.count("\x00")


@pytest.mark.parametrize(
    ("sentence", "stated", "says"),
    [
        ("I like tea.", "I like tea", True),
        ("Well, I LIKE ｔｅａ!", "I like tea", True),
        ("I `**like**` *tea*!", "I like tea", True),
        ("I **like teapots**.", "I like tea", False),
        ("我喜欢 **green tea**。", "我喜欢 green tea", True),
        ("I like teapots.", "I like tea", False),
        ("Hawaii like tea", "I like tea", False),
        ("我喜欢茶。", "我喜欢茶", True),
        ("我喜欢茶的。", "我喜欢茶", True),
        ("我喜欢茶叶。", "我喜欢茶", False),
        ("我喜欢tea", "我喜欢tea", True),
        ("I moved to Oslo", "I live in Oslo", True),
        ("I moved to Oslofjord", "I live in Oslo", False),
        ("I live in Bergen", "I live in Oslo", False),
        ("Ann lives in Oslo", "I live in Oslo", False),
        ("我搬到北京了", "我住在北京", True),
        ("And I live near the old harbour", "My code is 4711. And I live near the old harbour.", True),
        ("Yes.", "Yes. I will come tomorrow", False),
        ("", "I like tea", False),
        ("!?", "I like tea", False),
    ],
)
def test_when_a_sentence_says_a_statement(sentence, stated, says):
    """In its words, as words, or by its slot and value; a piece of it counts when it says something by itself."""
    assert says == redaction.says(sentence, redaction.phrases([statement(stated)]), speaker=None, names=())


def test_values_are_rewritten_and_their_shape_stays():
    """Each text in a JSON value, however deep, the names of its fields too; numbers and nothing stay."""
    value = {"name": "tea", "of": ["tea", 1, None, {"tea 茶": ("tea", True)}]}
    coffee = redaction.rewrite_texts(value, lambda text: text.replace("tea", "coffee"))

    assert {"name": "coffee", "of": ["coffee", 1, None, {"coffee 茶": ("coffee", True)}]} == coffee


@pytest.mark.parametrize(
    ("text", "span", "left"),
    [
        ("My dentist is Dr. Okonkwo. I like tea.", "My dentist is Dr", "[erased] I like tea."),
        ("I live at St. Olavs gate No. 12B. ok", "I live at St. Olavs gate No", "[erased] ok"),
        ("I was born on the 3. May 1990. ok", "I was born on the 3", "[erased] ok"),
        ("My rent is approx. 5000 EUR. ok", "My rent is approx", "[erased] ok"),
        ("I work at Yahoo! Japan. I like tea.", "I work at Yahoo", "[erased] I like tea."),
        ("It's by J. R. R. Tolkien. I like tea.", "It's by J", "[erased] I like tea."),
        ("I use example.com. I like tea.", "I use example", "[erased] I like tea."),
        ("Hi. Dr. Okonkwo is my dentist. Bye.", "Okonkwo is my dentist", "Hi. [erased] Bye."),
        ("我在读第3. 章的内容。我喜欢茶。", "我在读第3", "[已抹去]我喜欢茶。"),
        ("我用Yahoo!邮箱。我喜欢茶。", "我用Yahoo", "[已抹去]我喜欢茶。"),
        ("我用Yahoo! 邮箱。我喜欢茶。", "我用Yahoo", "[已抹去]我喜欢茶。"),
        ("My boss is Tom! 我喜欢茶。", "My boss is Tom", "[erased] 我喜欢茶。"),
        ("我用3.14版。我喜欢茶。", "我用3", "[已抹去]我喜欢茶。"),
        ("My code is 4711. The gym is far.", "My code is 4711", "[erased] The gym is far."),
        ("我的密码是4711！我喜欢茶。", "我的密码是4711", "[已抹去]我喜欢茶。"),
        ("My code is 4711. 我喜欢茶。", "My code is 4711", "[erased] 我喜欢茶。"),
        ("I live in Bergen and work at Equinor.", "I live in Bergen", "[erased] and work at Equinor."),
        ("Dr.\nOkonkwo is my dentist.", "Okonkwo is my dentist", "[erased]"),
        ("I like tea.\nBye", "I like tea", "[erased]\nBye"),
    ],
)
def test_a_cut_goes_on_to_an_end_that_is_sure(text, span, left):
    """A stop behind a title, an initial, an ordinal or in a name ends nothing; one behind a statement does."""
    start = text.index(span)

    assert left == redaction.cut_out(text, [redaction.to_safe_ends(text, start, start + len(span))])


@pytest.mark.parametrize(
    ("text", "words", "stands"),
    [
        ("See: ＭY Löcker-code\tis… ４７１１!", "my locker-code is 4711", "ＭY Löcker-code\tis… ４７１１"),
        ("Nai\u0308ve Æsop ﬁnds it", "naive aesop finds", "Nai\u0308ve Æsop ﬁnds"),
        ("我的儲物櫃密碼是４７１１吗", "我的储物柜密码是 4711", "我的儲物櫃密碼是４７１１"),
        ("ﾊﾞﾅﾅが好き", "バナナが好き", "ﾊﾞﾅﾅが好き"),
        ("I like teapots", "I like tea", None),
        ("我喜欢茶叶", "我喜欢茶", None),
        ("one\ntwo three", "one two", "one\ntwo"),
        ("xa a a", "a a", "a a"),
    ],
)
def test_words_are_found_in_any_form_and_cut_to_the_character(text, words, stands):
    """In whatever case, width, accents, signs and Chinese writing, over a line's end too; not inside of other words."""
    found = redaction.Folded(text).places(words)

    assert ([] if stands is None else [stands]) == [text[start:end] for start, end in found]


@given(TEXTS, TEXTS, TEXTS)
def test_a_text_is_found_where_it_stands(before, words, after):
    """Whatever it is made of, its words are among what is found, between texts of its own."""
    text = f"{before} .x. {words} .x. {after}"
    found = redaction.Folded(text).places(words)

    if redaction.plain(words):
        assert any(redaction.plain(words) == redaction.plain(text[start:end]) for start, end in found)


def test_said_in_other_words_the_paragraph_goes():
    """Where the slot alone tells that it is said, nobody knows where: the block of lines goes, and the cut says so."""
    text = "Hello.\n\nWell, news:\nI moved to Oslo, at last.\nPacked 40 boxes.\n\nBye."
    cuts = redaction.cuts(text, redaction.phrases([statement("I live in Oslo")]), speaker=None, names=())

    assert ("Hello.\n\n[erased]\n\nBye.", True) == (redaction.cut_out(text, cuts.ranges), cuts.widened)
