"""bench/learning.py: it judges as bench/learning/README.md says, and the rules reach their targets on the public set."""

import hashlib
import json
import lzma

import learning
import marked_talk
import pytest

from yiku.types.learning import Draft

ITEM = {"kind": "fact", "explicit": True, "words": [["oslo", "奥斯陆"], ["lives", "moved", "搬"]]}


def case(*texts: str, must: list[dict[str, object]], may: list[dict[str, object]] | None = None) -> learning.Judged:
    drafts = tuple(Draft(text=text, quote=text, rule="test") for text in texts)
    return learning.Judged({"must": must, "may": may or []}, "", drafts)


def test_a_memory_matches_when_every_group_has_a_word_in_it() -> None:
    """Case is folded, and one word of a group is enough."""
    assert learning.matches("She MOVED to Oslo", ITEM)
    assert learning.matches("搬到奥斯陆了", ITEM)
    assert not learning.matches("Oslo is cold", ITEM)


def test_recall_counts_items_and_precision_counts_memories() -> None:
    """One memory may say several items; one that says none is wrong; in a turn without marks every memory is."""
    tea = {"kind": "preference", "explicit": True, "words": [["tea"]]}
    judged = [
        case("I moved to Oslo and drink tea.", "Nice weather.", must=[ITEM, tea]),
        case(must=[tea]),
        case("Hm.", must=[]),
        case("tea?", must=[], may=[tea]),
    ]
    found = learning.figures(judged)

    assert (3, 4) == (found["items"], found["learned"])
    assert pytest.approx(2 / 3) == found["recall"]
    assert pytest.approx(2 / 4) == found["precision"]


def test_what_is_said_in_passing_is_not_counted() -> None:
    """Only what is said outright must be learned."""
    assert 0 == learning.figures([case(must=[{**ITEM, "explicit": False}])])["items"]


def test_a_chat_kept_in_one_record_gives_the_users_pieces(tmp_path) -> None:
    """As the marks count them: a part is a piece of the user's."""
    turn = {"text": "user: hi\nassistant: hello\nuser: bye", "datetime": "2026-01-02 08:00:00", "role": "agent_chat"}
    with lzma.open(tmp_path / "talk.json.xz", "wt", encoding="utf-8") as file:
        json.dump([{"id": "c", "sessions": [{"id": "s", "turns": [turn]}]}], file)

    turns = [(one.role, one.text, one.place[4]) for one in marked_talk.said(tmp_path / "talk.json.xz")]

    assert [("user", "hi\n", 0), ("assistant", "hello\n", None), ("user", "bye", 1)] == turns[:3]


def test_a_folder_without_invented_cases_has_its_turns_alone(tmp_path) -> None:
    """As the second set has; a mark whose text is another ends the run."""
    mark = {"id": "en-1", "file": "talk.json.xz", "case": "c", "session": "s", "turn": 0, "sha256": "0" * 16}
    (tmp_path / "turns.jsonl").write_text(json.dumps(mark), encoding="utf-8")
    turn = {"text": "I keep bees.", "role": "user", "datetime": "2026-01-02 08:00:00"}
    talk = [{"id": "c", "sessions": [{"id": "s", "turns": [turn]}]}]
    with lzma.open(tmp_path / "talk.json.xz", "wt", encoding="utf-8") as file:
        json.dump(talk, file)

    assert [] == learning.kinds(tmp_path)
    with pytest.raises(SystemExit, match="en-1"):
        learning.turns(tmp_path, tmp_path)
    mark["sha256"] = hashlib.sha256(b"I keep bees.").hexdigest()[:16]
    (tmp_path / "turns.jsonl").write_text(json.dumps(mark), encoding="utf-8")
    assert ["I keep bees."] == [text for _, text, _ in learning.turns(tmp_path, tmp_path)]


def test_the_rules_reach_their_aims_on_the_invented_cases() -> None:
    """Of what is learned at least nineteen in twenty is right, in each language, and what must teach nothing teaches nothing."""
    judged = learning.judge(learning.kinds())

    assert 150 == len(judged)
    for language in ("en", "zh"):
        found = learning.figures([case for case in judged if case.mark["lang"] == language])
        assert found["learned"] >= 5 and found["precision"] >= 0.95
    silent = [case for case in judged if not case.mark["must"] and not case.mark["may"]]
    assert [] == [case.mark["id"] for case in silent if case.learned]
