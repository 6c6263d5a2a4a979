"""Traditional Chinese characters: analyzed as simplified ones, shown as written, found in either form."""

import pytest

from yiku import Memory
from yiku.rules.deciding import slots
from yiku.rules.privacy import erasure
from yiku.rules.text import analyze


def test_a_text_keeps_its_length_and_what_has_one_writing_only() -> None:
    assert "我妹妹对花生过敏 🥜 ok" == analyze.simple("我妹妹對花生過敏 🥜 ok")
    assert "已经是简体字" == analyze.simple("已经是简体字")


def test_a_word_has_few_other_writings() -> None:
    assert ["过敏"] == analyze.writings("過敏")
    assert ["過敏"] == analyze.writings("过敏")
    assert [] == analyze.writings("花生")
    assert [] == analyze.writings("allergy")
    assert all(len(analyze.writings(word)) <= analyze.MOST_WRITINGS for word in ("干干干干", "复后系发"))


def test_less_common_characters_have_both_writings_too() -> None:
    """The table is that of OpenCC, as far as the simplified character is a common one."""
    assert "弥漫，颠簸，馋，锅贴，诽谤" == analyze.simple("瀰漫，顛簸，饞，鍋貼，誹謗")
    assert ["馋"] == analyze.writings("饞")


def test_what_is_hashed_stays_as_it_was_first() -> None:
    """A tombstone holds for what was erased before the table grew: only the first characters of it count in a hash."""
    assert "我妹妹对花生过敏 饞" == analyze.hashed_plain("我妹妹對花生過敏，饞！")
    assert "我妹妹对花生过敏 馋" == analyze.plain("我妹妹對花生過敏，饞！")
    assert ["text\0饞嘴的猫很饞嘴"] == erasure.of_parts(["饞嘴的貓很饞嘴。"])


@pytest.mark.parametrize(
    ("said", "subject", "predicate", "object_"),
    [
        ("我妹妹對花生過敏", "user's sister", "allergic to", "花生"),
        ("我媽媽住在臺北", "user's mother", "lives in", "臺北"),
        ("我現在在騰訊上班", "user", "works at", "騰訊"),
    ],
)
def test_a_slot_is_read_from_either_writing_and_says_its_value_as_it_was_written(said, subject, predicate, object_) -> None:
    slot = slots.read(said)
    assert slot is not None
    assert (subject, predicate, object_) == (slot.subject, slot.predicate, slot.object)


def test_what_was_said_in_one_writing_is_found_and_corrected_in_the_other(home) -> None:
    with Memory(home, owner="user:mei", search="words") as memory:
        memory.record_turn("user", "我媽媽住在臺北")
        memory.record_turn("user", "我們討論了發票的格式")
        assert "我媽媽住在臺北" in memory.recall("妈妈住在哪里？")[0].text
        assert "發票" in memory.recall("发票的格式")[0].text
        memory.record_turn("user", "我妈妈搬到了高雄")
        assert ["我妈妈搬到了高雄。"] == [memory.content for memory in memory.get_all()]


def test_what_is_erased_in_one_writing_is_gone_in_both(home) -> None:
    with Memory(home) as memory:
        turn = memory.record_turn("user", "我媽媽對蝦過敏，住在臺北")
        memory.record_turn("user", "我也討論過敏的事")
        erased = memory.admin.erase(turn.id)
        assert erased.clean, [place for place in erased.places if place.found]
        assert "蝦" not in "".join(hit.text for hit in memory.recall("妈妈对虾过敏吗"))
