"""What erasing means for the words around it: sentences, marks, seals, and what is looked for."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules import erasure, slots
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
    found = erasure.sentences(text)

    assert text == "".join(found)
    assert all(found)


@given(TEXTS, st.randoms())
def test_only_what_goes_is_marked(text, chance):
    """Each sentence that stays is there with all its bytes; what goes leaves a mark and the space behind it."""
    said = erasure.sentences(text)
    gone = {sentence for sentence in said if chance.random() < 0.5 and sentence.strip()}
    expected = "".join(
        erasure.mark(sentence) + sentence[len(sentence.rstrip()) :] if sentence in gone else sentence for sentence in said
    )

    assert expected == erasure.marked(text, gone)
    assert text == erasure.marked(text, set())


@pytest.mark.parametrize(
    ("sentence", "told", "says"),
    [
        ("I like tea.", "I like tea", True),
        ("Well, I LIKE ｔｅａ!", "I like tea", True),
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
def test_when_a_sentence_says_a_statement(sentence, told, says):
    """In its words, as words, or by its slot and value; a piece of it counts when it says something by itself."""
    assert says == erasure.says(sentence, statement(told), speaker=None, names=())


def test_values_are_rewritten_and_their_shape_stays():
    """Each text in a JSON value, however deep; the names of its fields, numbers and nothing stay."""
    value = {"name": "tea", "of": ["tea", 1, None, {"茶": ("tea", True)}]}

    assert {"name": "T", "of": ["T", 1, None, {"茶": ("T", True)}]} == erasure.rewritten(value, lambda text: "T")


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
    """A sentence that says little has none: «Yes.» was said by everybody."""
    assert {} == erasure.of_sentences("Yes. No! 好的。 ok")
    assert ["text\0my locker code is 4711"] == [*erasure.of_sentences("Yes. My locker code is 4711! Ok?")]
    assert erasure.of_session("s") not in erasure.of_sentences("session s")
