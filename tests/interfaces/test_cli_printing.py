"""Safe output: stored texts cannot steer a terminal or hide from a reader."""

import json
import os
import re

import commands
import pytest

from yiku import Memory
from yiku.interfaces.cli import call, terminal
from yiku.types.invisible import UNSEEN

# A title for the terminal, C1 controls, direction marks, tags, a zero width, a filler: in every field that takes them.
BAD = "\x1b]0;pwn\x07 \x1b[2J\x9b2J\x85\u202egnp\u2066\u200b\U000e0041\u3164\u00ad"
NAMED = "\x9b2J\u202egnp\u2066\u200b\U000e0041\u3164\u00ad"  # what a name may hold, which has no C0 control
HIDDEN = re.compile(f"[{UNSEEN}]")

VERBS = (
    "recall tea|context tea|explain tea|traces tea|timeline|get MEMORY|get TURN|list|history MEMORY|status|stats|journal|review|queue"
    "|sessions|episodes|scratchpad|attachments|forget MEMORY --dry-run|erase MEMORY --dry-run|backups|check|config"
    "|remember tea-BAD|record tea-BAD|update MEMORY tea-BAD|get nothing-BAD|list --where {BAD|end SESSION"
).split("|")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """See hostile."""
    return hostile(tmp_path_factory.mktemp("printing") / "home")


def hostile(root):
    """A home in which every text that a person can give is of the worst sort; and what its ids are."""
    with Memory(root, owner="user:mei") as memory:
        calls = [{"name": f"tool{BAD}", "input": {f"a{BAD}": BAD}, "id": "1"}]
        results = [{"tool_use_id": "1", "content": f"failed {BAD}", "is_error": True}]
        named = {
            "session": f"s{NAMED}",
            "speaker": f"Mei{NAMED}",
            "agent": f"a{NAMED}",
            "project": f"p{NAMED}",
            "external_id": f"e{NAMED}",
        }
        turn = memory.record_turn("user", f"I like tea {BAD}", **named, metadata={f"k{BAD}": BAD}, parent=f"up{NAMED}", actor=NAMED)
        memory.record_turn("assistant", f"tea {BAD}", session=named["session"], tool_calls=calls, tool_results=results)
        details = {"source": turn.id, "tags": [f"t{NAMED}"], "entities": [f"e{NAMED}"], "metadata": {f"k{BAD}": BAD}, "basis": BAD}
        slot = {"subject": f"tea{NAMED}", "predicate": f"is{NAMED}", "object": f"green{NAMED}"}
        kept = memory.remember(f"Tea is green {BAD}", **details, **slot, agent=f"a{NAMED}").memory
        memory.remember(f"Tea is black {BAD}", standing="belief")
        memory.forget(memory.remember(f"tea leaves {BAD}").memory.id, reason=f"why {BAD}")
        memory.sessions.attach(f"/tmp/tea{NAMED}.txt", session=named["session"], description=BAD)
        memory.sessions.end(named["session"])
    return root, {"MEMORY": kept.id, "TURN": turn.id, "BAD": BAD, "SESSION": named["session"]}


def printing(home, verbs):
    """The verbs that print an invisible character, and those whose JSON is not theirs."""
    wrong = []
    for verb in verbs:
        ran = said(home, verb)
        person, script = ran(), ran("--json")
        if any(map(HIDDEN.search, (person.out, person.err, script.out, script.err))) or script.json["verb"] not in verb:
            wrong.append(verb)
    return wrong


def said(home, verb):
    root, names = home
    words = [re.sub("MEMORY|TURN|BAD|SESSION", lambda match: names[match[0]], word) for word in verb.split(" ")]
    return lambda *more: commands.run(*words, *more, YIKU_HOME=root, COLUMNS="200")


def test_no_verb_prints_what_nobody_sees(home, some):
    """On stdout and stderr, for a person and as JSON, in answers and in errors; in the soak all verbs."""
    assert [] == printing(home, some(VERBS, 10))


def test_json_gives_back_what_was_said_to_the_character(home):
    """Escapes are how JSON writes such characters: whoever reads it has them again."""
    turn = said(home, "get TURN")("--json").json["item"]

    assert (f"I like tea {BAD}", f"Mei{NAMED}", {f"k{BAD}": BAD}) == (turn["content"], turn["speaker"], turn["metadata"])


def test_an_export_on_a_terminal_is_harmless_and_comes_in_whole(home, tmp_path):
    """It escapes the same characters, its sums are of what it wrote, and another home reads the same."""
    out = said(home, "export -")().out
    (tmp_path / "tea.jsonl").write_text(out, encoding="utf-8")
    commands.run("import", "yiku", tmp_path / "tea.jsonl", "--all", YIKU_HOME=tmp_path / "other")
    with Memory(tmp_path / "other", scope="user:mei") as other, Memory(home[0]) as memory:
        assert None is HIDDEN.search(out)
        assert [turn.content for turn in memory.search_traces("tea")] == [turn.content for turn in other.search_traces("tea")]


def test_each_fact_is_one_line(home, tmp_path):
    """A line feed in a value cannot look like another line of `yiku get`."""
    with Memory(tmp_path / "home") as memory:
        kept = memory.remember("Tea", subject="tea", predicate="is", object="green", metadata={"a": "x\nid  0000\n"}).memory
    shown = commands.run("get", kept.id, YIKU_HOME=tmp_path / "home").out

    assert 1 == len([line for line in shown.splitlines() if line.startswith("id ")])


def test_on_a_terminal_only_our_colours_pass(monkeypatch):
    """A line keeps the colours that Yiku gave it; any other sequence in it is shown, not obeyed."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(os, "environ", {})
    line = f"{terminal.paint('tea', 'dim')} \x1b]0;pwn\x07\x1b[5m\x1b[38;5;1m"

    assert "\x1b[2mtea\x1b[0m \\x1b]0;pwn\\x07\\x1b[5m\\x1b[38;5;1m" == terminal.printable(line)


def test_joined_emoji_come_apart_and_the_rest_is_shown():
    """A joiner says nothing by itself; a zero-width space, a filler, a tag or a soft hyphen might hide something."""
    assert "👨👩 ❤" == terminal.harmless("👨\u200d👩 ❤\ufe0f")
    assert "a\\u200bb\\u3164c\\xadd\\U000e0041" == terminal.harmless("a\u200bb\u3164c\xadd\U000e0041")
    assert json.loads(terminal.escape_json(json.dumps(BAD, ensure_ascii=False))) == BAD


def test_the_last_step_before_a_terminal_lets_nothing_through(capsys):
    """Whatever a verb forgot to make visible: a line of an answer, a note, a hint."""
    asked = call.Call("x")
    asked.answer({}, [f"tea {BAD}"])
    asked.note(f"note {BAD}")
    asked.hint(f"hint {BAD}")
    seen = capsys.readouterr()

    assert [] == [*filter(HIDDEN.search, (seen.out, seen.err))]
    assert (True, 2) == (seen.out.startswith("tea \\x1b]0;pwn\\x07"), len(seen.err.splitlines()))
