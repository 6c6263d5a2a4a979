"""The commands of learning: record, learn, review, confirm, reject, queue."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import commands
import pytest
from commands import Ran
from models.server import Server, error, says, serving

from yiku import Memory
from yiku.flows.learn import by_rules
from yiku.types import Draft, LearningState, SetLearning

CALLED = '[{"name": "bash", "input": {"command": "pytest -q"}, "id": "c1"}]'
FAILED = '[{"tool_use_id": "c1", "content": "ModuleNotFoundError: No module named foo", "is_error": true}]'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    """A home with one statement of each sort to look at: unconfirmed, a pair in conflict, believed."""
    with Memory(tmp_path / "home", owner="user:mei") as memory:
        memory.record_turn("assistant", "测试跑了", session="s1", tool_calls=json.loads(CALLED), tool_results=json.loads(FAILED))
        memory.learn()
        memory.remember("Our mascot is a badger.", said_at="2026-03-01", predicate="mascot", object="badger")
        memory.remember("Our mascot is an otter.", said_at="2026-03-01", predicate="mascot", object="otter")
        memory.remember("我的猫叫豆豆", standing="belief")
    return tmp_path / "home"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def run(home: Path, *words: str, stdin: bytes = b"", **environment: str) -> Ran:
    return commands.run(*words, stdin=stdin, YIKU_HOME=home, **environment)


def chat(server: Server) -> dict[str, str]:
    return {"YIKU_CHAT_URL": server.url, "YIKU_CHAT_MODEL": "a-model"}


def to_review(home: Path) -> dict[str, list[str]]:
    """The contents that wait to be looked at, by why."""
    found: dict[str, list[str]] = {}
    for one in run(home, "review", "--json").json["review"]:
        found.setdefault(one["why"], []).append(one["memory"]["content"])
    return found


# ------------------------------------------------------------------ at once


@pytest.mark.parametrize(
    ("first", "then", "joke"),
    [
        ("I live in Bergen.", "I live in Oslo.", "just kidding"),
        ("我住在卑尔根。", "我住在奥斯陆。", "开玩笑的"),
    ],
)
def test_record_says_what_it_learned_and_what_it_took_back(home, first, then, joke):
    """A line for each: what was learned, instead of what, and what a joke took back; the statement before holds again."""
    one = run(home, "record", first, "--session", "s1")
    two = run(home, "record", then, "--session", "s1")
    three = run(home, "record", joke, "--session", "s1")

    assert re.fullmatch(rf'recorded turn · .*\n  learned: fact "{first}" #\w{{8}}\n', one.out)
    assert re.fullmatch(rf'recorded turn · .*\n  learned: fact "{then}" #\w{{8}}, instead of "{first}"\n', two.out)
    assert re.fullmatch(rf'recorded turn · .*\n  taken back: "{then}" #\w{{8}}; it is again "{first}"\n', three.out)


@pytest.mark.parametrize("said", ["I'm allergic to penicillin.", "我住在奥斯陆。"])
def test_what_was_learned_at_once_does_not_wait(home, said):
    """`status` counts the turns that nothing was learned from yet: not what was read when it was recorded, nor a plain reply."""
    run(home, "record", said)
    run(home, "record", "好的 noted", "--role", "assistant")
    at_once = run(home, "status", "--json").json["status"]["waiting"]
    run(home, "record", "My sister Ann has a dog.", YIKU_LEARN="later")
    run(home, "record", "done", "--role", "assistant", "--tool-results", '[{"content": "ok"}]')
    later = run(home, "status", "--json").json["status"]["waiting"]
    done = run(home, "learn", "--json").json["learn"]

    assert ({}, {"turns to learn from": 2}) == (at_once, later)
    assert (4, {}) == (done["turns"], run(home, "status", "--json").json["status"]["waiting"])


def test_what_was_learned_in_json(home):
    """`learned` and `taken_back` are lists of whole memories, with their source; a turn that taught nothing has empty ones."""
    rule = run(home, "record", "From now on, always write the tests first.", "--session", "s1", "--json").json
    none = run(home, "record", "Hm, 好吧。", "--session", "s1", "--json").json

    assert {"yiku", "verb", "turn", "learned", "taken_back"} == {*rule} == {*none}
    assert [("rule", rule["turn"]["id"])] == [(one["kind"], one["sources"][0]["turn"]) for one in rule["learned"]]
    assert ([], [], []) == (rule["taken_back"], none["learned"], none["taken_back"])


def test_a_turn_that_was_known_teaches_nothing_again(home):
    """Recorded twice under one external id, the second time nothing is learned, and nothing is said to be."""
    first, again = (run(home, "record", "I live in Oslo.", "--external-id", "x1") for _ in range(2))

    assert "  learned: fact" in first.out
    assert 1 == len(again.out.splitlines())


def test_remember_takes_back(home):
    """A joke that is told outright takes back what was told before it, and says what holds again."""
    run(home, "remember", "I live in Oslo.")
    run(home, "remember", "I live in Paris.")
    ran = run(home, "remember", "just kidding")
    done = run(home, "remember", "我住在巴黎。", "--json").json

    assert ran.out.startswith("taken back  I live in Paris.\n  now: I live in Oslo. (said ")
    assert {"yiku", "verb", "outcome", "memory", "replaced", "current", "said", "others", "operation", "dry_run", "why"} == {*done}


# ------------------------------------------------------------------ learn


def test_learn_reads_what_waits(home):
    """With `learn = later` a turn teaches nothing until `yiku learn`; status counts what waits; a second run finds nothing new."""
    recorded = run(home, "record", "我对青霉素过敏。", "--session", "s1", YIKU_LEARN="later")
    before = run(home, "status")
    ran = run(home, "learn")
    again = run(home, "learn", "--json").json

    assert "learned" not in recorded.out
    assert re.search(r"^waiting +turns to learn from 1: yiku learn$", before.out, re.MULTILINE)
    assert re.fullmatch(r"learned from 1 turn: 1 new\n  #\w{8}  fact  我对青霉素过敏。\n", ran.out)
    assert ({"learn", "memories"}, 0, {}) == ({*again} - {"yiku", "verb"}, again["learn"]["turns"], again["learn"]["outcomes"])
    assert re.search(r"^waiting +nothing$", run(home, "status").out, re.MULTILINE)


def test_no_time_at_all_leaves_everything_for_the_next_call(home):
    """With --seconds 0 nothing is read, and what waits is counted; --budget is another name for it."""
    run(home, "record", "I live in Oslo.", "--session", "s1", YIKU_LEARN="later")

    assert "  1 pending: yiku queue\n" in run(home, "learn", "--seconds", "0").out
    assert 1 == run(home, "learn", "--budget", "0", "--json").json["learn"]["waiting"]


def test_a_model_that_is_away_loses_nothing(home, server):
    """What it should read waits in the queue, with why; the exit code is 0, and the next call goes on."""
    server.always = lambda asked: error(503)
    run(home, "record", "我妹妹从小就对花生过敏，出门总要带着肾上腺素笔。", "--session", "s1")
    ran = run(home, "learn", **chat(server))
    queued = run(home, "queue", **chat(server))
    server.always = lambda asked: says("[]")
    after = run(home, "learn", "--all", "--json", **chat(server)).json["learn"]

    assert 0 == ran.code
    assert "! the model is not there: " in ran.out
    assert re.search(
        r"^what +session +state +tried +why\nread a turn +s1 +due \S+ \S+ +0 +the model is not there$", queued.out, re.M
    )
    assert (1, 0, 0) == (after["jobs"], after["waiting"], after["dead"])
    assert "Nothing is pending." in run(home, "queue", **chat(server)).err


def test_what_failed_for_good_is_shown_and_can_be_tried_again(home, server):
    """Replies that are no JSON end in the dead letters after three tries; status and queue say so, `learn --all` tries once more."""
    server.always = lambda asked: says("I'd rather not.")
    run(home, "record", "我妹妹从小就对花生过敏，出门总要带着肾上腺素笔。", "--session", "s1")
    for _ in range(3):
        ran = run(home, "learn", "--all", **chat(server))
    status, dead = run(home, "status", **chat(server)), run(home, "queue", "--dead", "--json", **chat(server)).json
    server.always = lambda asked: says("[]")

    assert "  1 failed: yiku queue says why, yiku learn --all retries\n" in ran.out
    assert "! 1 question to the model failed permanently: yiku queue says why" in status.out
    assert [("extract", "s1", True, 3)] == [(one["kind"], one["session"], one["dead"], one["tries"]) for one in dead["jobs"]]
    assert dead["jobs"][0]["error"]
    assert 0 == run(home, "learn", "--all", "--json", **chat(server)).json["learn"]["dead"]


# ------------------------------------------------------------------ review


def test_review_has_its_groups(doubtful):
    """Unconfirmed, in conflict, believed: numbered through, each with id, source, and what it contradicts; a pair stands once."""
    ran = run(doubtful, "review")
    lines = ran.out.splitlines()

    assert [" 1  bash failed", " 2  Our mascot is an otter.", " 3  我的猫叫豆豆"] == [
        line[:28].partition(":")[0] for line in lines if re.match(r" \d  ", line)
    ]
    assert 3 == sum(line.endswith("used yet") or "which of these" in line or "doubt" in line for line in lines)
    assert "    or: Our mascot is a badger." in lines
    assert 4 == len(re.findall(r"^ +memory · #\w{8} · (?:error|fact) · \d{4}-\d\d-\d\d", ran.out, re.MULTILINE))
    assert "`yiku confirm ID` keeps one, `yiku reject ID` removes it." in ran.err
    assert "! 1 statement waits to be confirmed: yiku review" in run(doubtful, "status").out


def test_what_is_confirmed_and_rejected_leaves_the_list(doubtful):
    """Several ids at once; of a pair the confirmed one stays; what is rejected comes back by `restore`."""
    failed, otter, _, cat = (one["memory"]["id"] for one in run(doubtful, "review", "--json").json["review"])
    confirmed = run(doubtful, "confirm", failed[-8:], f"#{otter[-8:]}")
    rejected = run(doubtful, "reject", cat)

    assert ["confirmed  bash failed: ModuleNotFoundError: No module named foo.", "confirmed  Our mascot is an otter."] == [
        line for line in confirmed.out.splitlines() if line.startswith("confirmed")
    ]
    assert rejected.out.startswith("rejected  我的猫叫豆豆\n  memory · #")
    assert {} == to_review(doubtful)
    with Memory(doubtful) as memory:
        assert ["Our mascot is an otter."] == [one.content for one in memory.get_all(where={"predicate": "mascot"})]
        memory.restore(cat)
    assert {"belief": ["我的猫叫豆豆"]} == to_review(doubtful)


def test_confirm_and_reject_in_json(doubtful):
    """`outcomes` are as those of `remember`, `rejected` as those of `forget`, one for each id."""
    found = run(doubtful, "review", "--json").json["review"]
    confirmed = run(doubtful, "confirm", found[0]["memory"]["id"], "--json").json
    rejected = run(doubtful, "reject", found[-1]["memory"]["id"], "--json").json

    assert [{"why", "memory", "others"}] * 4 == [{*one} for one in found]
    assert ["new"] == [one["outcome"] for one in confirmed["outcomes"]]
    assert [[found[-1]["memory"]["id"]]] == [[memory["id"] for memory in one["memories"]] for one in rejected["rejected"]]


def test_one_id_that_is_not_there_and_nothing_is_confirmed(doubtful):
    """The ids are looked up before the first is confirmed."""
    id = run(doubtful, "review", "--json").json["review"][0]["memory"]["id"]
    before = to_review(doubtful)

    for verb in ("confirm", "reject"):
        ran = run(doubtful, verb, id, "00000000")
        assert (1, "") == (ran.code, ran.out)
        assert "there is no memory or turn with the id 00000000" in ran.err
    assert before == to_review(doubtful)


def test_nothing_to_look_at(home):
    """An empty list is no failure, and says so on stderr; the queue too."""
    reviewed, queued = run(home, "review"), run(home, "queue")

    assert (0, "", 0, "") == (reviewed.code, reviewed.out, queued.code, queued.out)
    assert "There is nothing to review." in reviewed.err
    assert "Nothing is pending." in queued.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["learn", "--seconds", "-1"], 2, "budget_s must be a number of seconds"),
        (["learn", "--seconds", "bald"], 2, "Invalid value for '--seconds'"),
        (["learn", "--again", "--all"], 2, "takes no --session and no --all"),
        (["learn", "--again", "--session", "s1"], 2, "takes no --session and no --all"),
        (["learn", "--dry-run"], 2, "--dry-run needs --again"),
        (["review", "--limit", "-1"], 2, "--limit must be at least 1"),
        (["confirm"], 2, "Missing argument 'ID'"),
        (["reject", "谁"], 1, "with the id 谁"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_asked_wrongly(home, arguments, code, message):
    """Each mistake is told with what to do, and changes nothing."""
    ran = run(home, *arguments)

    assert (code, "") == (ran.code, ran.out)
    assert message in ran.err
    assert re.search(r"\n      \S", ran.err)


# ------------------------------------------------------------------ again


@pytest.fixture
def outgrown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of earlier rules: they took two questions for statements, and did not hear where somebody lives."""
    asked = {"What is the capital of France?": "The capital of France.", "法国的首都是哪里？": "法国的首都。"}
    older = {text: by_rules.Reading((Draft(text=content, quote=text, rule="test"),)) for text, content in asked.items()}
    with monkeypatch.context() as patch, Memory(tmp_path / "home", owner="user:mei") as memory:
        patch.setattr(by_rules, "read", lambda handle, turn, *rest, **named: older.get(turn.content, by_rules.Reading()))
        for text in (*asked, "I live in Oslo."):
            memory.record_turn("user", text, session="s1")
        handle = memory._handle
        handle.store.apply(handle.writes(), [SetLearning(LearningState(1))], handle.cause("test"))
    return tmp_path / "home"


def test_a_home_is_read_again_after_an_upgrade(outgrown):
    """`status` proposes it, `--dry-run` says what would change and changes nothing, `undo` takes all of it back."""
    assert "yiku learn --again" in run(outgrown, "status").out
    before = live(outgrown)
    planned = run(outgrown, "learn", "--again", "--dry-run")
    assert "would change after reading 3 turns again: 2 archived, 1 learned" in planned.out
    assert "nothing was written" in planned.out and before == live(outgrown)

    lines = run(outgrown, "learn", "--again").out.splitlines()
    assert "read 3 turns again: 2 archived, 1 learned" == lines[0]
    assert ["The capital of France.", "法国的首都。"] == sorted(line.split("  ")[-1] for line in lines[2:4])
    assert "I live in Oslo." in lines[5]
    assert ["I live in Oslo."] == live(outgrown)

    run(outgrown, "undo", re.search(r"yiku undo (\d+)", lines[-1])[1])
    assert before == live(outgrown)


def live(home: Path) -> list[str]:
    with Memory(home) as memory:
        return sorted(row.content for row in memory.get_all())


def test_what_is_read_again_as_json(outgrown):
    """The lists are whole memories; with a budget it says how many turns are left, and the next call goes on."""
    first = run(outgrown, "learn", "--again", "--seconds", "0", "--json").json["relearned"]
    second = run(outgrown, "learn", "--again", "--json").json["relearned"]

    assert (1, 2, 2, 0) == (first["turns"], first["left"], second["turns"], second["left"])
    assert ["The capital of France."] == [one["content"] for one in first["archived"]]
    assert ("memory", "rules", {"new": 1}) == (second["learned"][0]["type"], second["learned"][0]["method"], second["outcomes"])
    assert (False, True) == (second["dry_run"], second["operation"] > first["operation"])
