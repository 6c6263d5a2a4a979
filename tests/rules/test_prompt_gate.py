"""The gate: which recalled hits enter a prompt without having been asked for."""

import pytest

from yiku import Memory
from yiku.rules.prompts import gate

TOLD = [
    "I live in Oslo.",
    "我喜欢喝绿茶。",
    "My sister Ann works at Acme.",
    "The staging server of Atlas runs PostgreSQL 16.",
    "灯塔项目的测试环境用的是红色脚本。",
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    with Memory(
        tmp_path_factory.mktemp("gate") / "home", owner="user:mei", names=["Mei"], search="words", durability="fast"
    ) as memory:
        for text in TOLD:
            memory.remember(text)
        yield memory


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("where do I live?", [0]),
        ("我住在哪里？", [0]),
        ("what do I like to drink?", [1]),
        ("我喜欢喝什么？", [1]),
        ("Where does Ann work?", [2]),
        ("Does the staging server of Atlas run PostgreSQL?", [3]),
        ("灯塔项目的测试环境用的是哪个脚本？", [4]),
    ],
)
def test_what_surely_belongs_to_a_message_passes(filled, message, expected):
    """It fills the slot that is asked for, or holds every content word."""
    assert [TOLD[place] for place in expected] == [hit.text for hit in gate.certain(message, filled.recall(message).hits)]


@pytest.mark.parametrize(
    "message",
    [
        "thanks!",
        "好的，谢谢",
        "hi",
        "你好",
        "ok, go on",
        "继续吧",
        "where does my brother live?",
        "我妹妹住在哪里？",
        "fix the login page of the Atlas server please",
        "请修复 Atlas 服务器的登录页面",
        "What is a server?",
        "今天天气怎么样？",
    ],
)
def test_what_may_belong_to_it_waits_until_it_is_asked_for(filled, message):
    """Small talk, somebody else's slot, a message of which some words are known, one word alone."""
    assert [] == gate.certain(message, filled.recall(message).hits)


def test_what_no_longer_holds_does_not_pass(filled):
    """A replaced statement may be asked for; it is not put beside a message."""
    hits = filled.recall("where do I live?").hits
    from dataclasses import replace

    assert [] == gate.certain("where do I live?", [replace(hit, superseded_by="x") for hit in hits])
    assert [] == gate.certain("where do I live?", [replace(hit, taken_back=True) for hit in hits])
