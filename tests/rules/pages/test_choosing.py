"""Choosing the statements of MEMORY.md and USER.md."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules.pages import choosing
from yiku.types import Kind, SemanticMemory, Standing, State

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def row(content, kind=Kind.FACT, age=0, **more):
    at = NOW - age * DAY
    return SemanticMemory(
        id=content,
        line=content,
        kind=kind,
        content=content,
        said_at=at,
        confirmed_at=at,
        valid_from=at,
        created_at=at,
        updated_at=at,
        **more,
    )


def memory_page(*rows, language="en"):
    sections, further = choosing.sections(choosing.MEMORY, rows, NOW, language)
    return [(name, [shown.content for shown in lines]) for name, lines in sections], further


def user_page(*rows):
    sections, _ = choosing.sections(choosing.USER, rows, NOW, "en")
    return [(name, [shown.content for shown in lines]) for name, lines in sections]


@pytest.mark.spec("T-30", "S4-14")
def test_rules_come_first_and_no_kind_has_more_than_five_lines():
    facts = [row(f"fact {place}", age=place) for place in range(7)]
    groups, further = memory_page(*facts, row("Be brief.", Kind.RULE, age=400), row("tea", Kind.PREFERENCE))

    assert groups == [("Rules", ["Be brief."]), ("Preferences", ["tea"]), ("Facts", [f"fact {place}" for place in range(5)])]
    assert further == 2


def test_what_matters_more_and_is_fresher_stands_first():
    """Importance times recency; what is pinned before both."""
    groups, _ = memory_page(
        row("old", age=90), row("new"), row("weighty", age=60, importance=0.9), row("pinned", age=80, pinned=True)
    )

    assert groups == [("Facts", ["pinned", "weighty", "new", "old"])]


@pytest.mark.spec("T-30")
@pytest.mark.parametrize(
    "more",
    [
        {"expires_at": NOW},
        {"auto_delete_at": NOW},
        {"superseded_by": "x"},
        {"valid_to": NOW},
        {"state": State.ARCHIVED},
        {"state": State.CANDIDATE},
        {"standing": Standing.BELIEF},
        {"said_later": "x"},
        {"project": "lantern"},
        {"metadata": {"until_session": "s1"}},
    ],
    ids=lambda more: " ".join(map(str, *more.items())),
)
def test_what_does_not_hold_for_all_is_not_shown(more):
    assert memory_page(replace(row("Be brief.", Kind.RULE), **more)) == ([], 0)


def test_headings_are_read_in_both_languages():
    assert memory_page(row("简短回答。", Kind.RULE), language="zh")[0] == [("规则", ["简短回答。"])]
    assert [choosing.kind_of(name) for name in ("规则", "rules", "ＲＵＬＥＳ", "Mine")] == [Kind.RULE] * 3 + [None]


def test_the_page_about_the_user_has_what_is_known_of_them():
    """Not what is said of others, and no rules."""
    of_user = {"subject": "user"}
    groups = user_page(
        row("I am called Mei.", predicate="name", **of_user),
        row("I use Vim.", predicate="uses", **of_user),
        row("I live in Oslo.", predicate="lives in", **of_user),
        row("I like tea.", Kind.PREFERENCE, predicate="likes", **of_user),
        row("Write the report.", Kind.TASK),
        row("Ann lives in Rome.", subject="ann", predicate="lives in"),
        row("Be brief.", Kind.RULE),
        row("The sky is blue."),
    )

    assert groups == [
        ("Basics", ["I am called Mei."]),
        ("Tools and languages", ["I use Vim."]),
        ("Surroundings", ["I live in Oslo."]),
        ("Likes and needs", ["I like tea."]),
        ("Projects", ["Write the report."]),
    ]
