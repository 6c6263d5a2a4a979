"""Detecting a person's edits of the managed region."""

import hashlib

import pytest

from yiku.rules.pages import hand_edits
from yiku.rules.pages.hand_edits import Edits
from yiku.rules.pages.region import items
from yiku.types import PageVersion

IDS = {
    "11111111": "0199-aaaa-11111111",
    "22222222": "0199-aaaa-22222222",
    "33333333": "0199-aaaa-33333333",
    "44444444": "0199-aaaa-44444444",
}
TEXT = "## Rules\n\n- Answer in short sentences. #11111111\n\n## 事实\n\n- 我住在奥斯陆。 #22222222\n- Ann likes tea. #33333333"


def seal(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def version(text, name="v1"):
    return PageVersion("MEMORY.md", name, seal(text), hand_edits.entries(items(text), seal, lambda id: IDS.get(id, "")))


def read(text, *known, name="v1"):
    """The edits in plain words: changed, added, removed, own."""
    edits = hand_edits.read(text, name, known or (version(TEXT),), seal)
    return (
        {id[-8:]: item.text for id, item in edits.changed},
        [item.text for item in edits.added],
        [id[-8:] for id in edits.removed],
        list(edits.own),
    )


NOTHING = ({}, [], [], [])


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("- ", "* ").replace("\n\n", "\n"),
        TEXT.replace("#22222222", "(#22222222)"),
        TEXT.replace(" #22222222", ""),
        TEXT.replace("in short", "in\n  short"),
        "\n".join(reversed(TEXT.split("\n"))),
        TEXT + "\n- Ann likes tea. #33333333",
        TEXT + "\n-\n",
    ],
    ids=["as it was", "a formatter", "brackets", "an id left out", "wrapped", "another order", "a line twice", "an empty item"],
)
def test_what_reads_the_same_is_no_edit(text):
    assert read(text) == NOTHING


@pytest.mark.spec("S4-14", "T-30")
def test_a_changed_line_corrects_its_memory():
    assert read(TEXT.replace("奥斯陆", "卑尔根")) == ({"22222222": "我住在卑尔根。"}, [], [], [])


def test_a_new_line_is_a_new_statement_of_its_section():
    edits = hand_edits.read(TEXT.replace("## 事实", "- Use British spelling.\n\n## 事实"), "v1", [version(TEXT)], seal)

    assert [(item.text, item.section) for item in edits.added] == [("Use British spelling.", "Rules")]


def test_a_missing_line_takes_its_memory_out():
    assert read(TEXT.replace("- Ann likes tea. #33333333", "")) == ({}, [], ["33333333"], [])


def test_an_id_without_a_text_is_a_missing_line():
    assert read(TEXT.replace("Ann likes tea. ", "")) == ({}, [], ["33333333"], [])


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("我住在奥斯陆。 #22222222，靠近海港", "我住在奥斯陆，靠近海港"),
        ("我住在奥斯陆。 #22222222靠近海港。", "我住在奥斯陆。靠近海港。"),
        ("我住在奥斯陆。 （#22222222） near the harbour", "我住在奥斯陆。 near the harbour"),
        ("我住在 #22222222 卑尔根。", "我住在 卑尔根。"),
    ],
)
def test_words_typed_behind_an_id_correct_its_memory(line, after):
    """The id is no part of what the line says, wherever it stands."""
    assert read(TEXT.replace("我住在奥斯陆。 #22222222", line)) == ({"22222222": after}, [], [], [])
    assert read(TEXT.replace("tea. #33333333", "tea. #33333333, and cake")) == ({"33333333": "Ann likes tea, and cake"}, [], [], [])


@pytest.mark.parametrize(
    "line",
    [
        "The badge is #12345678 on the door.",
        "门牌是 #12345678，在门上。",
        "Ask about #22222222 again.",
        "再问 #22222222 和 #33333333 的事。",
    ],
)
def test_what_looks_like_an_id_in_a_new_line_is_its_text(line):
    """Where this page knows no such id, where the line of that id is still there, or where there are several."""
    assert read(f"{TEXT}\n- {line}") == ({}, [line], [], [])


@pytest.mark.parametrize("line", ["~~Ann likes tea. #33333333~~", "~~Ann likes tea.~~ #33333333"])
def test_a_line_that_is_struck_out_is_a_missing_line(line):
    assert read(TEXT.replace("Ann likes tea. #33333333", line)) == ({}, [], ["33333333"], [])
    struck = line.replace("Ann likes tea.", "我住在奥斯陆。").replace("3", "2")
    assert read(TEXT.replace("我住在奥斯陆。 #22222222", struck)) == ({}, [], ["22222222"], [])


def test_a_line_that_is_struck_out_in_part_is_changed():
    assert read(TEXT.replace("likes tea", "likes ~~tea~~ cocoa")) == ({"33333333": "Ann likes ~~tea~~ cocoa."}, [], [], [])


def test_a_copied_line_that_was_changed_is_a_new_statement():
    """The one that it was copied from stands there still."""
    assert read(TEXT + "\n- Ann likes cocoa. #33333333") == ({}, ["Ann likes cocoa."], [], [])


@pytest.mark.parametrize("line", ["我住在奥斯陆。 #33333333", "我住在奥斯陆。 #99999999"])
def test_a_line_under_the_id_of_another_is_the_line_that_it_was(line):
    assert read(TEXT.replace("我住在奥斯陆。 #22222222", line)) == NOTHING


def test_lines_that_swapped_their_ids_say_what_they_said():
    assert (
        read(TEXT.replace("我住在奥斯陆。", "X").replace("Ann likes tea.", "我住在奥斯陆。").replace("X", "Ann likes tea."))
        == NOTHING
    )


def test_what_is_no_statement_is_the_persons_own():
    assert read(TEXT + "\n\n## Mine\n\n> quoted") == ({}, [], [], ["## Mine", "> quoted"])


@pytest.mark.parametrize("text", ["### My own 自己的", "| a | b |", "> quoted"])
def test_what_is_written_into_an_empty_region_is_the_persons_own(text):
    assert read(f"{text}\n- Bo likes rain. 博喜欢雨。", version("")) == ({}, ["Bo likes rain. 博喜欢雨。"], [], [text])


def test_who_edits_an_older_version_changed_only_what_that_did_not_say():
    """The line that came since is not missing, and the one that is gone is not said again."""
    newer = TEXT.replace("- Ann likes tea. #33333333", "") + "\n- Bo moved. #44444444"
    known = [version(TEXT), version(newer, "v2")]

    assert read(TEXT + "\n- Cy sings.", *known) == ({}, ["Cy sings."], [], [])
    assert read(newer + "\n- Ann likes tea. #33333333", *known, name="v2") == NOTHING


def test_an_edit_that_was_read_before_is_not_read_again():
    """An editor that still shows what it saved adds a line to that."""
    once = TEXT.replace("奥斯陆", "卑尔根")
    known = [version(TEXT), version(once)]

    assert read(once, *known) == NOTHING
    assert read(once + "\n- Cy sings.", *known) == ({}, ["Cy sings."], [], [])


def test_of_a_version_that_nobody_knows_nothing_is_missing_and_nothing_corrects():
    """Its lines that nobody knows stay, as the person's own text."""
    assert read(TEXT.replace("tea", "cocoa"), name="v9") == ({}, [], [], ["- Ann likes cocoa. #33333333"])


def test_the_last_line_of_a_version_is_known_without_an_id():
    """It says how many more there are."""
    whole = TEXT + "\n\n(1 more in memory: yiku list)"

    assert read(whole, version(whole), name="v9") == NOTHING


def test_that_most_lines_are_gone_is_noticed():
    three = Edits(removed=("a", "b", "c"))

    assert hand_edits.most_gone(three, 5)
    assert not hand_edits.most_gone(three, 6)
    assert not hand_edits.most_gone(Edits(removed=("a", "b")), 2)
