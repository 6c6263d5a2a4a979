"""Several facts in one sentence: cut where the second begins, its subject written out; one fact stays whole."""

import pytest

from yiku.rules.extract import compound


@pytest.mark.parametrize(
    ("told", "facts"),
    [
        (
            "I live in Bergen and work at Equinor as a data engineer",
            ["I live in Bergen", "I work at Equinor as a data engineer"],
        ),
        (
            "My sister is called Rain and she's allergic to peanuts",
            ["My sister is called Rain", "My sister is allergic to peanuts"],
        ),
        (
            "My son is called Leo, he is 8 years old and he's allergic to nuts",
            ["My son is called Leo", "My son is 8 years old", "My son is allergic to nuts"],
        ),
        ("I live in Oslo, it rains a lot, and I work at Beta", ["I live in Oslo, it rains a lot", "I work at Beta"]),
        ("Ana lives in Rome and works at Fiat", ["Ana lives in Rome", "Ana works at Fiat"]),
        ("My phone is 4711 and my email is a@b.no", ["My phone is 4711", "my email is a@b.no"]),
        ("我妹妹叫小雨，她对花生过敏", ["我妹妹叫小雨", "我妹妹对花生过敏"]),
        ("我叫李雷，在腾讯做后端，住在深圳", ["我叫李雷", "我在腾讯做后端", "我住在深圳"]),
        ("I have a brother, he lives in Leith", ["I have a brother", "my brother lives in Leith"]),
        ("We have a cat and she's called Momo", ["We have a cat", "my cat is called Momo"]),
        (
            "My wife is called Ann and works at Equinor, I work at Beta",
            ["My wife is called Ann", "My wife works at Equinor", "I work at Beta"],
        ),
        ("我有个妹妹，叫小雨，她对花生过敏", ["我有个妹妹", "我妹妹叫小雨", "我妹妹对花生过敏"]),
        ("我养了只橘猫，叫年糕", ["我养了只橘猫", "我的猫叫年糕"]),
        ("我養了隻橘貓，叫年糕", ["我養了隻橘貓", "我的猫叫年糕"]),
        ("我是新来的，叫小明，住在成都", ["我是新来的，叫小明", "我住在成都"]),
        ("小雨对虾过敏，对花生不过敏", ["小雨对虾过敏", "小雨对花生不过敏"]),
    ],
)
def test_each_fact_is_a_statement(told: str, facts: list[str]) -> None:
    parts = compound.parts(told)

    assert facts == [part.text for part in parts]
    assert all(part.text.endswith(told[part.start : part.end][-4:]) for part in parts)  # where its words stand


@pytest.mark.parametrize(
    "told",
    [
        "I like tea and coffee",
        "I live in Bergen, Norway",
        "I live in Bergen, and I love it",
        "I work at Beta and live with my cat",
        "I use vim and tmux",
        "I met a guy, he lives in Rome",
        "My sister has a dog, he is called Rex and she lives in Leith",
        "我认识一个人，他住在罗马",
        "我妹妹养了只鸟，叫年糕",
        "我喜欢咖啡和茶",
        "我老公在华为上班，经常出差",
        "我爸有高血压，不能吃太咸",
        "我住在奥斯陆，不住卑尔根了",
        "",
        "，，，",
        "and and and",
    ],
)
def test_one_fact_stays_whole(told: str) -> None:
    assert [] == compound.parts(told)
