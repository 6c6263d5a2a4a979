"""bench/with_model.py: it asks any OpenAI-compatible endpoint, and counts what the model adds and what it answers."""

import json
import lzma
import subprocess
import sys
from pathlib import Path

import pytest
import with_model
from models.server import Server, says, serving


@pytest.fixture
def endpoint():
    """A server on loopback that answers what a test says."""
    with serving() as server:
        yield server


def asked_for(server: Server, *, items=(), reply="") -> None:
    """From now on the server finds these things in a turn, and answers a question with this reply."""

    def answer(asked):
        if "response_format" in asked:
            return says(json.dumps({"items": [*items]}, ensure_ascii=False))
        return says(reply(asked) if callable(reply) else reply)

    server.always = answer


def model(server: Server) -> with_model.Endpoint:
    return with_model.Endpoint(server.url, "scripted", None)


MARK = {
    "text": "Quick one: the courier needs the side door of the Halden building, since our office is on its fourth floor.",
    "must": [{"words": [["halden"], ["fourth"]], "explicit": True}],
    "may": [{"words": [["side door"]], "explicit": False}],
}


@pytest.mark.parametrize(("content", "found", "wrong"), [
    ("The office is on the fourth floor of the Halden building.", 1, 0),
    ("The courier needs the side door.", 0, 0),
    ("The Halden building is nice.", 0, 1),
])  # fmt: skip
def test_what_the_model_learns_is_counted_beside_the_rules(endpoint, tmp_path, content, found, wrong):
    """An item counts if one memory has a word of each of its groups; a memory that has those of none is wrong."""
    evidence = {"The courier needs the side door.": "the courier needs the side door"}.get(
        content, "our office is on its fourth floor"
    )
    text = MARK["text"] if content != "The Halden building is nice." else "The Halden building is nice. " + MARK["text"]
    evidence = content.rstrip(".") if text != MARK["text"] else evidence
    asked_for(endpoint, items=[{"type": "fact", "content": content, "evidence": evidence}])
    alone, both, troubles = with_model.extraction(model(endpoint), [{**MARK, "text": text}], tmp_path)

    assert [] == troubles
    assert (1, 0) == (alone.items, alone.found)
    assert (found, wrong) == (both.found - alone.found, both.wrong - alone.wrong)


SAID = {
    "2026-03-01T09:00:00+00:00": "My locker is 214. 我的柜子是 214。",
    "2026-03-02T09:00:00+00:00": "My locker is 241 now. 我的柜子现在是 241。",
}


def question(**changed):
    """What is told, asked and right."""
    said = [{"role": "user", "content": text, "said_at": at, "session": at[:10]} for at, text in SAID.items()]
    given = {"id": "q", "text": "Which locker is mine?", "said": said, "answer": [["241"]], "outdated": ["214"]} | changed
    return with_model.Question(at=with_model._moment("2026/03/09 (Mon) 09:00"), **given)


@pytest.mark.parametrize(("reply", "right"), [("It is 241.", 1), ("241, before that 214", 0), ("unknown", 0)])
def test_an_answer_is_right_if_it_says_what_holds_and_nothing_outdated(endpoint, tmp_path, reply, right):
    """The model is given the context and the question; the same question without context stands beside it."""
    asked_for(endpoint, reply=lambda asked: reply if "214" in json.dumps(asked) else "unknown")
    result = with_model.answers(model(endpoint), [question()], tmp_path)

    assert (1, right, 0, 1) == (result.asked, result.right, result.without, result.there)
    assert 2 == len(endpoint.asked)


@pytest.mark.parametrize(("text", "language"), [("Which locker is mine?", "en"), ("我的柜子是哪个？", "zh")])
def test_it_is_asked_in_the_language_of_the_question(endpoint, tmp_path, text, language):
    asked_for(endpoint, reply="241")
    with_model.answers(model(endpoint), [question(text=text)], tmp_path)

    assert with_model.PROMPT[language] in endpoint.asked[0]["messages"][0]["content"]


def test_questions_of_longmemeval_have_short_answers(tmp_path):
    """Long answers and questions that nobody can answer are left out; every word of a short one must be there."""
    case = {
        "question_id": "1", "question": "Which sauce?", "answer": "the Kansas City Masterpiece", "question_date": "2023/06/23 (Fri) 07:31",
        "haystack_session_ids": ["s"], "haystack_dates": ["2023/06/20 (Tue) 07:31"],
        "haystack_sessions": [[{"role": "user", "content": "I love it."}]],
    }  # fmt: skip
    path = tmp_path / "questions.json.xz"
    with lzma.open(path, "wt") as file:
        json.dump(
            [case, {**case, "question_id": "2_abs"}, {**case, "answer": "a long story of more words than anybody could look for"}],
            file,
        )
    (found,) = with_model.of_longmemeval(path)

    assert [["kansas"], ["city"], ["masterpiece"]] == found.answer
    assert with_model.says("Kansas City Masterpiece, I think", found) and not with_model.says("Kansas", found)


def test_the_script_reports_each_part(endpoint, tmp_path):
    """From end to end against an endpoint, with one case of each part."""
    asked_for(endpoint, reply="unknown")
    words = [sys.executable, with_model.__file__, "--url", endpoint.url, "--model", "scripted", "--limit", "1", "--wrong"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    assert ["extraction, 1 turns", "corrections, 1 cases"] == [
        line for line in done.stdout.splitlines() if line.endswith(("turns", "cases"))
    ]
    assert "of 1 right" in done.stdout
    assert Path(with_model.__file__).with_name("small_model.py").exists()
