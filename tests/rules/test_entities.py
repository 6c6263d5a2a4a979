"""Extracting entities in both scripts."""

import time

import pytest

from yiku.rules.learning import entities


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We call it “Auklet”, 代号「海雀」", ("Auklet", "海雀")),
        ("I met Rachel Lee at The Art Cube", ("Rachel Lee", "Art Cube")),
        ("Yesterday Bob's car broke down near Oslo", ("Bob", "Oslo")),
        ("Anna lives in Bergen", ("Anna", "Bergen")),
        ("the fix is in src/app/main.py", ("src/app/main.py",)),
        ("老郑和小顾都来了", ("老郑", "小顾")),
        ("我跟郑怀舟说了", ("郑怀舟",)),
        ("欧大夫住在隔壁", ("欧大夫",)),
        ("我在北京的翠湖公园跑步", ("北京", "翠湖公园")),
        ("她住在浙江省杭州市", ("浙江省", "杭州市")),
        ("I work at Nordlys，住在杭州", ("Nordlys", "杭州")),
    ],
)
def test_names_are_found_as_they_are_written(text: str, names: tuple[str, ...]) -> None:
    """Quoted, capitalised, titled and placed names, in the order of the text."""
    assert names == entities.extract(text)


@pytest.mark.parametrize(
    "text",
    [
        "用户喜欢这个项目",
        "The user likes the project",
        "I think so. Maybe. Thanks!",
        "我们公司的系统",
        "Tell me about it on Monday",
        "老是小心",
        "“项目”和「system」",
    ],
)
def test_generic_words_are_no_names(text: str) -> None:
    """Two texts about `the project` are not about one thing."""
    assert () == entities.extract(text)


def test_a_part_of_a_longer_name_is_dropped() -> None:
    """`Rachel Lee` and `Lee` are one."""
    assert ("Rachel Lee",) == entities.extract("I met Rachel Lee. “Lee” is what they call her")


def test_a_long_text_costs_little() -> None:
    """Only its beginning is looked at."""
    start = time.process_time()
    for unit in ("A", "Aa ", "老王", "“a", "a/", "x."):
        assert len(entities.extract(unit * 100_000)) <= entities.AT_MOST

    assert time.process_time() - start < 0.5
