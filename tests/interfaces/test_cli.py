"""Each command in a process of its own on a real home: output, errors, exit codes."""

import fcntl
import functools
import os
import re
import signal
import subprocess
import sys
import termios
import time
import zipfile
from pathlib import Path

import commands
import pytest
from commands import COLD, Ran, Started

from yiku import Memory
from yiku.interfaces.cli import app, call, complete, terminal
from yiku.interfaces.cli.app import VERBS
from yiku.interfaces.importers import formats

MEMORY = set(
    "type id line kind standing state content subject predicate object cardinality basis flag flagged_with importance base_score"
    " strength confidence priority half_life_days said_at confirmed_at valid_from valid_to superseded_by reason expires_at"
    " auto_delete_at ttl_days pinned retrieved used mentioned last_retrieved last_used last_mentioned origin trust method tags"
    " metadata agent project external_id created_at updated_at sources entities relations scope said_later live expired access_count".split()
)
TURN = set(
    "type id session position role content said_at recorded_at speaker tool_calls tool_results external_id parent agent project"
    " metadata origin actor blob hidden_at scope".split()
)
HIT = set("type id text said_at relevance score superseded_by taken_back said_later outdated routes sources item".split())


def run(home: Path, *words: str | bytes | Path, stdin: bytes = b"", **environment: str) -> Ran:
    return commands.run(*words, stdin=stdin, YIKU_HOME=home, **environment)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    """A home in which Mei moved, told in two languages; what is known was told outright, and nothing learned."""
    root = tmp_path_factory.mktemp("talk") / "home"
    with Memory(root, owner="user:mei", names=["Mei"], learn="off") as memory:
        said = {"session": "s1", "speaker": "Mei"}
        turn = memory.record_turn("user", "I live in Bergen, 天天下雨 🌧️", said_at="2026-03-02T09:24:00+01:00", **said)
        called = [{"name": "bash", "input": {"command": "pytest -q"}, "id": "c1"}]
        memory.record_turn("assistant", "Tests first.", session="s1", said_at="2026-03-02T09:25:00+01:00", tool_calls=called)
        memory.remember("I live in Bergen.", source=turn.id, tags=["home"])
        moved = memory.record_turn("user", "我搬到奥斯陆了", said_at="2026-04-11T15:30:00+02:00", session="s2", speaker="Mei")
        memory.remember("I live in Oslo.", source=moved.id, tags=["home"])
        memory.remember("我喜欢乌龙茶。", said_at="2026-04-12T10:00:00+02:00")
    return root


# ------------------------------------------------------------------ keeping


def test_a_turn_is_recorded_with_all_that_is_said_of_it(home):
    """`record` stores a turn with its own time, speaker and tool calls; the new home is announced on stderr alone."""
    called = '[{"name": "bash", "input": {"command": "ls"}}]'
    ran = run(
        home, "record", "在看 🍵", "--role", "assistant", "--session", "s1", "--speaker", "Yi", "--said-at",
        "2026-03-02T09:14:00+01:00", "--tool-calls", called, "--external-id", "x1", "--json",
    )  # fmt: skip

    assert 0 == ran.code
    assert {"yiku", "verb", "turn", "learned", "taken_back"} == {*ran.json}
    turn = ran.json["turn"]
    assert TURN == {*turn}
    assert ("turn", "assistant", "在看 🍵", "s1", "Yi") == (
        turn["type"],
        turn["role"],
        turn["content"],
        turn["session"],
        turn["speaker"],
    )
    assert "2026-03-02T09:14:00+01:00" == turn["said_at"]
    assert [{"name": "bash", "input": {"command": "ls"}}] == turn["tool_calls"]
    assert re.fullmatch(rf"Made a new home in {re.escape(str(home))}, owner \S+\.\n", ran.err)


def test_a_statement_and_its_correction(home):
    """`remember` says what became of a statement, to a person in words and to a script always under the same names."""
    first = run(home, "remember", "I live in Bergen.")
    second = run(home, "remember", "我住在奥斯陆。", "--tag", "家", "--importance", "0.9", "--json")

    assert first.out.startswith("new  I live in Bergen.\n  #")
    names = "yiku verb outcome memory replaced current said others operation dry_run why".split()
    assert {*names} == {*second.json}
    assert (1, "remember", "replaced", None, []) == tuple(second.json[k] for k in ("yiku", "verb", "outcome", "current", "others"))
    assert MEMORY == {*second.json["memory"]} == {*second.json["replaced"]}
    assert (["家"], 0.9) == (second.json["memory"]["tags"], second.json["memory"]["importance"])
    assert "I live in Bergen." == second.json["replaced"]["content"]


def test_a_text_comes_on_stdin(home):
    """`-` reads the text from stdin, whole and without its last line feed; a dry run keeps nothing."""
    ran = run(home, "remember", "-", "--dry-run", "--json", stdin="我喜欢乌龙茶。\n".encode())

    assert ("new", "我喜欢乌龙茶。", True) == (ran.json["outcome"], ran.json["memory"]["content"], ran.json["dry_run"])
    assert [] == run(home, "list", "--json").json["memories"]


def test_an_update_by_a_short_id(home):
    """`update` takes the id as it was printed, with # or without; the old version stays as history."""
    printed = re.search(r"#[0-9a-f]{8}", run(home, "remember", "The retry limit is 3.").out)[0]
    pinned = run(home, "update", printed, "--pin", "--tag", "ops", "--json").json["memory"]
    changed = run(home, "update", printed[1:], "The retry limit is 5.")

    assert (True, ["ops"]) == (pinned["pinned"], pinned["tags"])
    assert changed.out.startswith("updated  The retry limit is 5. (pinned)\n")
    assert ["The retry limit is 3.", "The retry limit is 5."] == [
        one["content"] for one in run(home, "history", printed, "--json").json["versions"]
    ]


def test_feedback_is_counted(home):
    """`feedback` counts a use and shows the counters."""
    id = run(home, "remember", "I prefer tea.", "--json").json["memory"]["id"]
    ran = run(home, "feedback", id, "used")

    assert (0, "counted  I prefer tea.\n  retrieved 0, used 1, mentioned 0\n") == (ran.code, ran.out)


def test_what_is_forgotten_comes_back(home):
    """`forget` names what it takes and how to undo it; `restore` and `undo` bring it back and take it again."""
    id = run(home, "remember", "我对青霉素过敏。", "--json").json["memory"]["id"]
    gone = run(home, "forget", id[-8:], "--reason", "a test", "--json").json
    empty = run(home, "list")
    back = run(home, "restore", id[-8:], "--json").json

    assert {"yiku", "verb", "memories", "turns", "operation", "dry_run"} == {*gone} == {*back}
    assert ("", True) == (empty.out, "No memories match." in empty.err)
    assert [id] == [one["id"] for one in back["memories"]]
    undone = run(home, "undo", str(back["operation"]), "--json").json
    assert (back["operation"], 1, 0) == (undone["undone"], undone["memories"], undone["turns"])
    assert [] == run(home, "list", "--json").json["memories"]


def test_forgetting_much_needs_a_yes(home):
    """A whole session is not forgotten unless a person agrees or --yes is given; --dry-run only lists."""
    run(home, "record", "one", "--session", "s1")
    run(home, "record", "二", "--session", "s1")
    refused = run(home, "forget", "--session", "s1")
    listed = run(home, "forget", "--session", "s1", "--dry-run", "--json").json
    done = run(home, "forget", "--session", "s1", "--yes", "--json").json

    assert (2, "") == (refused.code, refused.out)
    assert "this forgets 2 turns and 0 memories: add --yes" in refused.err
    assert (2, True, 0) == (len(listed["turns"]), listed["dry_run"], listed["operation"])
    assert 2 == len(done["turns"])
    assert [] == run(home, "traces", "--json").json["turns"]


# ------------------------------------------------------------------ finding


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        (["recall", "where do I live?"], {"question", "hits", "confidence", "diagnostics"}),
        (["explain", "我住在哪里？"], {"question", "hits", "confidence", "diagnostics", "explanation"}),
        (
            ["context", "where do I live?"],
            {"question", "text", "tokens", "omitted", "hits", "rules", "rules_left_out", "diagnostics", "confidence"},
        ),
        (["traces", "pytest"], {"turns"}),
        (["timeline", "--limit", "3"], {"items"}),
        (["list", "--kind", "preference"], {"memories", "count"}),
        (["history", "where I live"], {"versions"}),
        (["status"], {"status", "stats"}),
        (["stats"], {"stats"}),
        (["journal", "--limit", "2"], {"changes"}),
        (["config"], {"settings", "file"}),
        (["version"], {"version", "python"}),
        (["completion", "fish"], {"shell", "script"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_shape_of_each_answer(talk, arguments, shape):
    """Each verb prints one JSON object: the version of the shape, the verb, and always the same names."""
    ran = run(talk, *arguments, "--json")

    assert (0, "") == (ran.code, ran.err)
    assert {"yiku", "verb"} | shape == {*ran.json}
    assert (1, arguments[0]) == (ran.json["yiku"], ran.json["verb"])


def test_an_answer_has_its_source(talk):
    """A hit names its memory, the turn it comes from, who said it and when, in the speaker's own time."""
    ran = run(talk, "recall", "我现在住在哪里？", "--limit", "1")
    hit = run(talk, "recall", "我现在住在哪里？", "--limit", "1", "--json").json["hits"][0]

    assert HIT == {*hit}
    assert MEMORY == {*hit["item"]}
    assert {"id", "session", "speaker", "origin", "said_at"} == {*hit["sources"][0]}
    assert ("memory", "I live in Oslo.", "s2", "Mei") == (
        hit["type"], hit["text"], hit["sources"][0]["session"], hit["sources"][0]["speaker"],
    )  # fmt: skip
    short, turn = hit["id"][-8:], hit["sources"][0]["id"][-8:]
    assert f" 1  I live in Oslo.\n    memory · #{short} · fact · 2026-04-11 15:30 · Mei · s2 · from #{turn}\n" == ran.out


@pytest.mark.parametrize(
    "arguments", [["recall", "where do I live?"], ["explain", "我住在哪里？"], ["list"], ["context", "Oslo"]], ids=" ".join
)
def test_what_a_person_is_shown_counts_as_retrieved_once(home, arguments):
    """A verb that answers reports what it showed, at most once a memory and day."""
    with Memory(home) as memory:
        shown = memory.remember("I live in Oslo.").memory
        run(home, *arguments)
        run(home, *arguments)

        assert 1 == memory.get(shown.id).retrieved


@pytest.mark.parametrize(("question", "heading"), [("who won the match?", "Standing rules:"), ("昨天的球赛谁赢了？", "常设规则：")])
def test_a_context_begins_with_the_standing_rules(home, question, heading):
    """In the text and by name in the JSON, also where nothing is found; --no-rules leaves them out."""
    with Memory(home) as memory:
        rule = memory.remember("代码注释一律用英文 comments in English", kind="rule").memory
    ran, context = run(home, "context", question), run(home, "context", question, "--json").json
    without = run(home, "context", question, "--no-rules", "--json").json

    assert heading == ran.out.splitlines()[1]
    assert "Nothing found" in ran.err
    assert ([rule.id], 0, []) == ([one["id"] for one in context["rules"]], context["rules_left_out"], context["hits"])
    assert MEMORY == {*context["rules"][0]}
    assert ([], 0, "") == (without["rules"], without["rules_left_out"], without["text"])


def test_the_past_can_be_asked_for(talk):
    """--valid-at gives what held then, --as-of what was recorded then."""
    then = run(talk, "list", "--valid-at", "2026-03-20", "--json").json["memories"]
    before = run(talk, "list", "--as-of", "2026-01-01", "--json").json["memories"]

    assert ["I live in Bergen."] == [one["content"] for one in then]
    assert [] == before


def test_filters_narrow_the_list(talk):
    """--where, --tag and --about find the same memory in three ways; a turn is no memory."""
    wanted = ["I live in Oslo."]

    assert wanted == [
        one["content"] for one in run(talk, "list", "--where", '{"predicate": "lives in"}', "--json").json["memories"]
    ]
    assert wanted == [one["content"] for one in run(talk, "list", "--tag", "home", "--json").json["memories"]]
    assert wanted == [one["content"] for one in run(talk, "list", "--about", "oslo", "--json").json["memories"]]


def test_the_days_of_a_history_are_those_of_the_speaker(home):
    """One version ends on the day on which the next begins, though that was said elsewhere; an end by time is in its offset, too."""
    run(home, "remember", "I live in Oslo.", "--said-at", "2026-03-02T07:00+08:00")
    run(home, "remember", "I live in Bergen.", "--said-at", "2026-03-08T20:00+00:00")
    run(home, "remember", "茶在柜子里。", "--said-at", "2026-03-01T09:00+08:00", "--expires-at", "2026-03-03T01:00+08:00")
    spans = [line[:24] for about in ("where I live", "茶") for line in run(home, "history", about).out.splitlines()]

    assert ["2026-03-02 to 2026-03-08", "2026-03-08 to now       ", "2026-03-01 to 2026-03-03"] == spans


def test_the_history_of_a_statement(talk):
    """Versions come in the order in which they were said, each with the days in which it held."""
    lines = run(talk, "history", "where I live").out.splitlines()

    assert 2 == len(lines)
    assert re.fullmatch(r"2026-03-02 to 2026-04-11  #\w{8}  replaced by #\w{8}  I live in Bergen\.", lines[0])
    assert re.fullmatch(r"2026-04-11 to now         #\w{8}  current                I live in Oslo\.", lines[1])


def test_turns_are_shown_with_their_tools(talk):
    """`traces` finds a turn by what its tool was given, and shows it; `get` shows it whole."""
    found = run(talk, "traces", "pytest")
    whole = run(talk, "get", re.search(r"#(\w{8})", found.out)[1])

    assert '  Tests first.\n  > bash {"command": "pytest -q"}\n' in found.out
    assert whole.out.startswith("Tests first.\n\nid          #")
    assert "said at     2026-03-02 09:25 +01:00\n" in whole.out


def test_an_empty_answer_is_no_failure(talk):
    """Nothing found: no output, exit code 0, and on stderr what to try next, unless --quiet."""
    ran, quiet = run(talk, "recall", "qwertz"), run(talk, "recall", "qwertz", "--quiet")

    assert (0, "") == (ran.code, ran.out) == (quiet.code, quiet.out)
    assert "`yiku traces WORD` searches the messages" in ran.err
    assert "" == quiet.err


def test_wide_characters_are_aligned(talk):
    """In a list, columns begin at the same cell, whatever the language of what stands before them."""
    from rich.cells import cell_len

    lines = run(talk, "timeline").out.splitlines()

    assert 6 == len(lines)
    assert {41} == {cell_len(line[: re.match(r"\S+ \S+  #\w+  \S+ +", line).end()]) for line in lines}
    assert any("我搬到奥斯陆了" in line for line in lines)


@pytest.fixture(scope="module")
def mascots(tmp_path_factory):
    """A home with a contradiction, an expiry, a long session's name, long texts and a story, in both languages."""
    root = tmp_path_factory.mktemp("mascots") / "home"
    with Memory(root, owner="user:mei") as memory:
        for word in ("badger", "otter"):
            memory.remember(f"Our mascot is the {word} that 张伟 drew for the launch last spring.", predicate="mascot", object=word)
        memory.remember("顾客问退款时，先查订单，再看有没有过三十天，然后问清楚原因，最后才答应。", kind="rule")
        memory.record_turn(
            "user", "Please fix the login test in tests/test_login.py", session="2026-03-02-the-name-that-a-host-gave-it"
        )
        memory.record_turn("user", "帮我修好登录模块的测试 tests/test_login.py", session="s2")
        memory.sessions.end("s2", budget_s=0)
        memory.sessions.attach(root / "yiku.toml", session="s2", description="设置文件，里面有主人的名字和别的设置，很长的说明")
    return root


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize(
    "words",
    [
        ["list"], ["recall", "mascot"], ["explain", "吉祥物 mascot"], ["timeline"], ["history", "mascot"], ["sessions"],
        ["status"], ["journal"], ["config"], ["episodes"], ["attachments"], ["traces"], ["review"], ["recall", "qwertz"],
        ["get", "ffff"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_line_is_wider_than_the_terminal(mascots, words, columns):
    """Texts are wrapped where there is room for them; hints and errors fit, too."""
    from rich.cells import cell_len

    ran = run(mascots, *words, COLUMNS=str(columns))
    lines = (ran.out + ran.err).replace(str(mascots), "~/.yiku").splitlines()

    assert lines
    assert [] == [line for line in lines if cell_len(line) > columns]


@pytest.mark.parametrize("words", [["list"], ["status"], ["recall", "mascot"], ["traces"]], ids=" ".join)
def test_json_is_one_line_whatever_the_width(mascots, words):
    """As JSON nothing is wrapped or cut."""
    narrow, wide = (run(mascots, *words, "--json", COLUMNS=columns) for columns in ("40", "200"))

    assert narrow.json.keys() == wide.json.keys()
    assert 1 == narrow.out.count("\n")
    assert words != ["list"] or "最后才答应。" in narrow.out


@pytest.mark.parametrize("columns", ["60", "120"])
def test_a_contradiction_is_seen_wherever_it_is_shown(mascots, columns):
    """Of two that contradict each other, `recall` and `list` name the other at each, however narrow the terminal; one was said later."""
    shown = {
        verb: " ".join(run(mascots, *words, COLUMNS=columns).out.split())
        for verb, *words in [("list", "list"), ("recall", "recall", "mascot", "--type", "memory")]
    }

    for text in shown.values():
        named = re.findall(r"(?:contradicts|said later:) #(\w{8})", text)
        assert 2 == len({*named}) == len(named)


@pytest.mark.parametrize("verb", ["get", "list", "history"])
def test_one_memory_has_one_id_on_a_page(talk, verb):
    """What a person is shown has the short form alone; JSON has the whole id."""
    id = next(one["id"] for one in run(talk, "history", "where I live", "--json").json["versions"] if one["superseded_by"])
    shown = run(talk, *{"get": ["get", id], "list": ["list"], "history": ["history", "where I live"]}[verb]).out

    assert re.search(r"#[0-9a-f]{8}\b", shown)
    assert None is re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-7", shown)


# ------------------------------------------------------------------ importing

LINES = """\
{"role": "user", "content": "我搬到奥斯陆了", "session": "s1", "said_at": "2026-04-11T15:30:00+02:00", "external_id": "a1"}
{broken
{"memory": "I live in Oslo."}
"""


def test_an_import_goes_on_after_a_bad_line(home, tmp_path):
    """What can be read is taken, what cannot is named by file and line; that is no failure, and once is enough."""
    file = tmp_path / "some.jsonl"
    file.write_text(LINES, encoding="utf-8")
    tried = run(home, "import", "jsonl", str(file), "--dry-run")
    first = run(home, "import", "jsonl", str(file))
    again = run(home, "import", "jsonl", str(tmp_path), "--json").json

    assert (0, 0) == (tried.code, first.code)
    assert tried.out.startswith(
        "would import 1 turn and 1 memory from 3 records in 1 file\n  JSON Lines: 1 conversation, 2026-04-11\n  1 problem, left out:\n"
    )
    assert first.out.startswith("imported 1 turn and 1 memory from 3 records in 1 file\n  JSON Lines: 1 conversation, 2026-04-11\n")
    assert f"    {file}:2: " in first.out
    assert {"yiku", "verb", "source", "dry_run", "total", "files"} == {*again}
    assert (0, 0, 2, 1) == tuple(again["total"][name] for name in ("turns", "memories", "known", "problems"))
    turn = run(home, "traces", "--json").json["turns"][0]
    assert ("a1", "2026-04-11T15:30:00+02:00") == (turn["external_id"], turn["said_at"])


# ------------------------------------------------------------------ the home


def test_options_stand_before_or_behind_the_verb(talk, tmp_path):
    """--home and --scope mean the same on both sides of the verb; the one behind wins over the one before."""
    before = run(tmp_path, "--home", str(talk), "--scope", "user:mei", "--json", "recall", "where do I live?")
    after = run(tmp_path, "recall", "where do I live?", "--json", "--scope", "user:mei", "--home", str(talk))
    other = run(tmp_path, "--home", str(tmp_path / "no"), "list", "--scope", "team:b", "--home", str(talk), "--json")

    assert "I live in Oslo." == before.json["hits"][0]["text"] == after.json["hits"][0]["text"]
    assert [] == other.json["memories"]
    assert not (tmp_path / "yiku.db").exists()


def test_config_says_where_each_value_comes_from(talk):
    """`config` names the argument, the variable, the file or the default behind each setting."""
    found = run(talk, "config", "--scope", "team:b", "--json", YIKU_LIMIT="7").json["settings"]
    origins = {one["name"]: (one["value"], one["origin"]) for one in found}

    assert (str(talk), "YIKU_HOME") == origins["home"]
    assert ("user:mei", "yiku.toml") == origins["owner"]
    assert ("team:b", "argument") == origins["scope"]
    assert (7, "YIKU_LIMIT") == origins["limit"]
    assert ("auto", "default") == origins["language"]


def test_one_of_a_thing_is_singular(home):
    """In what `status`, `check` and `consolidate` count, as in what all other verbs do."""
    run(home, "record", "I live in Oslo.", "--session", "s1", "--said-at", "2026-03-02")
    run(home, "backup")
    status, check = run(home, "status").out, run(home, "check", "--deep").out
    night = run(home, "consolidate", "--dry-run").out

    assert "1 turn in 1 session, 1 active memory" in status
    assert {"1 file", "1 conversation turn", "1 memory", "1 session", "1 backup"} <= {
        *check.splitlines()[0].split(": ")[1].split(", ")
    }

    assert "1 session without an episode" in night


def test_status_and_journal_are_readable(talk):
    """`status` says how much there is and that all is well; `journal` lists operations, newest first."""
    status, journal = run(talk, "status").out, run(talk, "journal", "-n", "3").out.splitlines()

    assert "3 turns in 2 sessions, 2 active, 1 superseded memories" in status
    assert status.endswith("all is well\n")
    assert "undo" == journal[0].split()[0]
    assert "remember" in journal[1]


def test_the_version_and_the_help():
    """--version prints one line; without a verb the help lists the daily verbs first, each verb on one line of 80 cells."""
    home = Path(os.devnull)  # neither opens a home
    version, help_ = run(home, "--version"), run(home)

    assert (0, "yiku 0.1.0\n") == (version.code, version.out)
    assert "0.1.0" == run(home, "--version", "--json").json["version"]
    assert 0 == help_.code
    listed = help_.out[help_.out.index("Daily:") :].splitlines()
    assert [f"{name}:" for name in app.TABLE] == [line for line in listed if line.endswith(":")]
    assert [*VERBS] == [line.split()[0] for line in listed if line.startswith("  ")]
    assert [*VERBS][:4] == ["remember", "recall", "list", "forget"]
    assert max(map(len, listed)) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_fits_eighty_columns(verb):
    """No line is wider, and no mark of the source is left in it, such as one that kept examples on lines of their own."""
    shown = run(Path(os.devnull), verb, "--help", COLUMNS="80").out.splitlines()

    assert [] == [line for line in shown if terminal.cells(line) > 80 or "\\" in line]


@pytest.mark.parametrize(
    "words", [["record", "我对青霉素过敏。"], ["remember", "I live in Oslo."], ["pause"], ["learn"], ["backup"]]
)
def test_a_quiet_change_says_nothing(home, words):
    """With --quiet a change that succeeds prints nothing; as JSON it still answers, and a dry run still lists."""
    quiet = run(home, *words, "-q")

    assert (0, "", "") == (quiet.code, quiet.out, quiet.err)
    assert words[0] == run(home, *words, "-q", "--json").json["verb"]


def test_quiet_hides_no_refusal_and_no_dry_run(home, tmp_path):
    """What was not done, and what was asked to be listed, is printed all the same."""
    file = tmp_path / "some.jsonl"
    file.write_text('{"memory": "I like tea."}\n{broken\n', encoding="utf-8")
    id = run(home, "remember", "密码是 4711。", "--json").json["memory"]["id"]
    dry = run(home, "forget", id, "--dry-run", "-q")
    run(home, "erase", id, "--yes", "-q")

    assert dry.out.startswith("would forget  密码是 4711。")
    assert (1, True) == ((ran := run(home, "remember", "密码是 4711。", "-q")).code, ran.out.startswith("refused"))
    assert "1 problem, left out" in run(home, "import", "jsonl", file, "-q").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed(home, shell):
    """`completion` prints a script for the shell, and the script's question is answered with our verbs."""
    script = run(home, "completion", shell)
    asked = run(home, "_", _YIKU_COMPLETE="complete_bash", COMP_WORDS="yiku rec", COMP_CWORD="1")

    assert "_YIKU_COMPLETE" in script.out
    assert ["recall", "record"] == asked.out.split()


def completed(home, line: str, **environment: str) -> list[str]:
    """What a shell offers where this line ends."""
    words = line.split(" ")
    return run(home, _YIKU_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1), **environment).out.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("yiku list --kind p", ["preference", "persona_trait"]),
        ("yiku remember x --standing ", ["fact", "belief", "summary"]),
        ("yiku import ", [*complete.FORMATS]),
        ("yiku export m", ["markdown"]),
        ("yiku feedback 0123 u", ["used"]),
        ("yiku completion z", ["zsh"]),
        ("yiku config lim", ["limit"]),
        ("yiku recall x --type m", ["memory"]),
        ("yiku traces --role ", ["user", "assistant", "system", "tool"]),
        ("yiku install c", ["claude-code", "codex"]),
        ("yiku uninstall g", ["gemini-cli"]),
        ("yiku compile --strategy ", ["auto", "model", "rules"]),
        ("yiku prompt --auto-recall g", ["gated"]),
    ],
)
def test_a_closed_set_is_completed_without_a_home(tmp_path, line, expected):
    """Kinds, formats, roles, settings and the like; no home is made or opened."""
    assert [*complete.FORMATS] == sorted(formats.FORMATS)
    assert expected == completed(tmp_path / "none", line)
    assert not (tmp_path / "none").exists()


def test_names_that_the_home_holds_are_completed(talk, tmp_path):
    """Sessions, scopes and backups of the home that the line names, before the verb or behind it."""
    with Memory(tmp_path / "two", owner="user:mei") as memory:
        memory.record_turn("user", "早", session="会议")
        memory.record_turn("user", "hi", session="two words")
        backup = Path(memory.admin.backup().path).name
    with Memory(tmp_path / "two", scope="team:b") as memory:
        memory.remember("I live in Oslo.")

    assert ["s2", "s1"] == completed(talk, "yiku end ")
    assert ["user:mei"] == completed(talk, "yiku recall x --scope u")
    assert ["会议"] == completed(talk, f"yiku --home {tmp_path}/two traces --session "), "a name of two words is no completion"
    assert ["team:b", "user:mei"] == sorted(completed(talk, f"yiku list --home {tmp_path}/two --scope "))
    assert [backup] == completed(tmp_path / "two", "yiku restore-backup ")


def test_a_home_that_is_not_there_completes_to_nothing(tmp_path):
    """And is not made."""
    assert [] == completed(tmp_path / "none", "yiku end ")
    assert not (tmp_path / "none").exists()


def test_some_settings_can_be_asked_for(talk):
    """`config NAME` shows those alone, in that order; a name that is none is refused."""
    shown = run(talk, "config", "language", "limit", "--json").json["settings"]
    refused = run(talk, "config", "colour")

    assert ["language", "limit"] == [one["name"] for one in shown]
    assert (2, True) == (refused.code, "there is no setting 'colour'" in refused.err)


# ------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["get", "#00000000"], 1, "there is no memory or turn with the id #00000000\n      `yiku list` and `yiku traces` show"),
        (
            ["get", "bf"],
            2,
            "id 'bf' is too short: give at least four characters of it\n      `yiku get --help` shows what it takes.",
        ),
        (["forget", "#a"], 2, "id '#a' is too short: give at least four characters"),
        (["record", "x", "--role", "usr"], 2, "developer, function\n      `yiku record --help` shows what it takes."),
        (["undo", "999999"], 1, "there is no operation 999999\n      `yiku journal` lists the operations"),
        (["end", "没有"], 1, "there is no turn in session '没有'\n      `yiku sessions` lists"),
        (["describe", "00000000", "--tag", "图"], 1, "there is no attachment with the id 00000000\n      `yiku attachments` lists"),
        (["restore-backup", "yiku-1.db"], 1, "there is no backup yiku-1.db\n      `yiku backups` lists"),
        (["history", "qwertz 谁"], 1, "there is no memory about 'qwertz 谁'"),
        (["recall", "x", "--scope", "Not A Scope"], 2, "scope 'Not A Scope' is not valid\n      A scope is 1 to 128"),
        (["list", "--where", "{kind"], 2, "--where is not JSON"),
        (["list", "--where", '{"colour": 1}'], 2, "there is no field 'colour'"),
        *(([verb, "--limit", "0"], 2, "--limit must be at least 1, not 0") for verb in ("list", "sessions", "timeline", "journal")),
        (["recall", "茶", "-n", "-1"], 2, "--limit must be at least 1, not -1"),
        (["list", "--limit", "many"], 2, "Invalid value for '--limit' / '-n'"),
        (["recall", "x", "--as-of", "gestern"], 2, "as_of 'gestern' is not a time"),
        (["remember", b"th\xe9 vert"], 2, "text has a lone surrogate at 2"),
        (["remember", "  "], 2, "text is empty"),
        (["remember"], 2, "Missing argument 'TEXT'"),
        (
            ["remembr", "x"],
            2,
            "No such command 'remembr'. Did you mean 'remember', 'resume'?\n      `yiku --help` lists the commands.",
        ),
        (["recall", "x", "--colour"], 2, "No such option"),
        (["completion", "tcsh"], 2, "shell must be one of bash, zsh, fish"),
        (["import", "carrier-pigeon", "x"], 2, "'carrier-pigeon' is not a known format"),
        (["import", "jsonl", "nowhere.jsonl"], 2, "nowhere.jsonl: no such file or folder"),
        (["demo", "--scope", "a"], 2, "takes no --scope"),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, list) else None,
)
def test_an_error_says_what_to_do(talk, arguments, code, message):
    """An error is told on stderr in two sentences, what and what to do; stdout stays empty; 1 could not, 2 asked wrongly."""
    ran = run(talk, *arguments)

    assert (code, "") == (ran.code, ran.out)
    assert ran.err.startswith("yiku: ")
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert re.search(r"\n      \S", ran.err)


@pytest.mark.parametrize("verb", ["forget", "erase", "update", "traces", "config", "report", "completion"])
def test_an_argument_that_may_be_left_out_stands_in_one_pair_of_brackets(verb):
    """And not in two, as where typer adds its own to ours."""
    usage = run(Path("unused"), verb, "--help").out.splitlines()[0]

    assert re.search(r"\[(ID|KEYWORD|TEXT|NAME|RUN|bash\|zsh\|fish)\]", usage), usage
    assert "[[" not in usage


@pytest.mark.parametrize(
    ("arguments", "verb", "type_", "code"),
    [
        (["list", "--limit", "-1"], "list", "InvalidInput", 2),
        (["get", "00000000"], "get", "NotFound", 1),
        (["recall"], "recall", "Usage", 2),
        (["remembr", "x"], "", "Usage", 2),
    ],
)
def test_an_error_as_json(talk, arguments, verb, type_, code):
    """With --json an error is an object on stdout, of one shape; the exit code is the same."""
    ran = run(talk, *arguments, "--json")

    assert (code, "") == (ran.code, ran.err)
    assert {"yiku", "verb", "error"} == {*ran.json}
    assert (verb, type_) == (ran.json["verb"], ran.json["error"]["type"])
    assert {"type", "message", "advice"} == {*ran.json["error"]}
    assert ran.json["error"]["message"]


@pytest.mark.parametrize(
    ("stdin", "message"), [(b"tea\0time", "text has a NUL character at 3"), (b"\xff\xfe", "text from stdin is not UTF-8 at byte 0")]
)
def test_bad_bytes_on_stdin_are_refused(home, stdin, message):
    """NUL and bytes that are not UTF-8 are refused, and nothing is written."""
    ran = run(home, "remember", "-", "--quiet", stdin=stdin)

    assert 2 == ran.code
    assert message in ran.err
    assert [] == run(home, "list", "--json").json["memories"]


def test_a_home_that_is_a_file_is_refused(tmp_path):
    """A file in the place of the home is left as it is."""
    place = tmp_path / "file"
    place.write_text("mine")
    ran = run(place, "status")

    assert (2, "") == (ran.code, ran.out)
    assert f"yiku: {place} is a file, not a folder" in ran.err.replace("\n      ", " ")
    assert "mine" == place.read_text()


def test_control_characters_do_not_reach_the_terminal(home):
    """What was remembered cannot steer the terminal it is printed on; JSON keeps it as it was."""
    run(home, "remember", "red \x1b[31malert")

    assert "red \\x1b[31malert" in run(home, "list").out
    assert "red \x1b[31malert" == run(home, "list", "--json").json["memories"][0]["content"]


def test_a_reader_that_leaves_is_no_error(talk, tmp_path):
    """`yiku … | head -1` prints no traceback when the reader goes away."""
    reader, writer = os.pipe()
    os.close(reader)
    with (tmp_path / "stderr").open("w+b") as err:
        code = Started(["timeline"], [err.fileno(), writer, err.fileno()], commands.plain({"YIKU_HOME": talk})).wait()
        os.close(writer)

        assert (141, b"") == (code, err.read())


def test_an_interrupt_ends_with_130(home, tmp_path):
    """Ctrl-C while it reads stdin ends the process with 130 and one line."""
    reader, writer = os.pipe()
    with (tmp_path / "shown").open("w+b") as shown:
        started = Started(["remember", "-"], [reader, shown.fileno(), shown.fileno()], commands.plain({"YIKU_HOME": home}))
        os.write(writer, "茶".encode())
        while int.from_bytes(
            fcntl.ioctl(reader, termios.FIONREAD, b"\0" * 4), sys.byteorder
        ):  # until it waits for more of the text
            time.sleep(0.01)
        os.kill(started.pid, signal.SIGINT)
        code = started.wait()
        shown.seek(0)
        lines = shown.read().decode().splitlines()
    for end in (reader, writer):
        os.close(end)

    assert (130, ["yiku: interrupted", "      What was confirmed is stored."]) == (code, lines[-2:])
    assert 3 == len(lines), "the home that was made, and these two: no traceback, no answer"


def test_colour_only_where_it_is_welcome(talk):
    """A pipe gets plain text; a terminal gets colour; NO_COLOR is respected."""
    import pty

    def on_terminal(**environment: str) -> bytes:
        controller, terminal = pty.openpty()
        known = commands.plain({"YIKU_HOME": str(talk), "TERM": "xterm", **environment})
        assert 0 == Started(["recall", "where do I live?"], [terminal] * 3, known).wait()
        os.close(terminal)
        printed = os.read(controller, 1 << 16)
        os.close(controller)
        return printed

    assert "\x1b" not in run(talk, "recall", "where do I live?").out
    assert b"\x1b[2m" in on_terminal()
    assert b"\x1b" not in on_terminal(NO_COLOR="1")


# ------------------------------------------------------------------ a start from nothing


@pytest.mark.long
def test_each_module_of_the_command_line_starts_cold(talk, tmp_path, some):
    """A new interpreter, which has imported nothing of ours, finds what a verb of each module needs, and says what a fork says."""
    lines = tmp_path / "some.jsonl"
    lines.write_text('{"role": "user", "content": "早"}', encoding="utf-8")
    verbs = {
        "keep": ["remember", "I like tea 茶", "--dry-run"],
        "erase": ["erase", "--session", "s1", "--dry-run"],
        "import_": ["import", "jsonl", lines, "--dry-run"],
        "find": ["recall", "我住在哪里？"],
        "learning": ["review", "--json"],
        "sessions": ["sessions"],
        "scratchpad": ["scratchpad", "--json"],
        "attachments": ["attachments", "--json"],
        "home": ["status"],
        "pages": ["edit", "--help"],
        "prompt": ["prompt", "--for", "我住在哪里？"],
        "backup": ["export", tmp_path / "out.jsonl"],
        "repair": ["check", "--quick"],
        "audit": ["audit"],
        "notes": ["sync"],
        "vectors": ["embed", "--help"],
        "vault": ["compact"],
        "night": ["consolidate", "--dry-run"],
        "demo": ["demo", "--help"],
        "agents": ["install", "--help"],
        "mcp": ["mcp", "--token"],
        "sql": ["sql", "select 1"],
    }
    environment = commands.plain({"YIKU_HOME": talk})

    assert {*VERBS.values()} == {*verbs}
    for module, words in some([*verbs.items()], 4):
        done = subprocess.run([*COLD, *words], env=environment, capture_output=True, check=False)
        assert (0, b"", True) == (done.returncode, done.stderr, len(done.stdout) > 0), module
        if module in ("find", "import_", "demo"):  # what they say has no times and no sizes
            assert done.stdout.decode() == run(talk, *words).out


def test_no_value_waits_for_pydantic():
    """Typer takes each value with it, unless we do: to import it takes as long as all that `yiku remember` does."""
    taken = {(verb, one.name): one.process_value for verb in VERBS for one in call.command(verb, app._function(verb)).params}

    assert len(taken) > 200
    assert [] == [where for where, process in taken.items() if not isinstance(process, functools.partial)]


def test_an_import_of_no_known_form_says_how_to_name_one(tmp_path):
    """A file that is of none of them, a path that is not there, a format without a path: what to type instead is said."""
    (tmp_path / "出.txt").write_text("hello")
    unknown, missing = (run(tmp_path / "home", "import", str(tmp_path / name)) for name in ("出.txt", "gone.json"))
    bare = run(tmp_path / "home", "import", "jsonl")

    assert [2, 2, 2] == [unknown.code, missing.code, bare.code]
    assert "yiku import jsonl 出.txt" in unknown.err and "chatgpt" in unknown.err
    assert "no such file" in " ".join(missing.err.split())
    assert "yiku import jsonl PATH" in bare.err


def test_an_import_names_a_file_of_an_archive_that_cannot_be_read(tmp_path):
    """The rest of the archive comes in."""
    line = '{"role": "user", "content": "I like %s. 我喜欢枣。", "session": "q"}\n'
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.jsonl", line % "dates")
        archive.writestr("b.jsonl", line % "plums")
    (tmp_path / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes().replace(b"dates", b"DATES"))
    done = run(tmp_path / "home", "import", str(tmp_path / "a.zip"))

    assert 0 == done.code
    assert "imported 1 turn" in done.out
    assert "cannot be read: a.zip/a.jsonl: Bad CRC" in " ".join(done.out.replace(f"{tmp_path}/", "").split())


@pytest.mark.parametrize("source", [*formats.FORMATS])
@pytest.mark.parametrize("path", ["", "  "])
def test_an_import_of_an_empty_path_is_refused(tmp_path, source, path):
    """A variable that was not set is not the folder one is in."""
    ran = run(tmp_path / "home", "import", source, path)

    assert 2 == ran.code
    assert "yiku import " in ran.err


@pytest.mark.parametrize("source", [name for name in formats.FORMATS if name != "notes"])  # these are no lines
@pytest.mark.parametrize(
    "content",
    [b"", b"\xef\xbb\xbf", b"\n \n", b"hello\n", "你好\n".encode(), b"\0\0"],
    ids=["empty", "bom", "blank", "text", "文", "nul"],
)
def test_a_file_without_one_readable_line_is_a_failure(tmp_path, source, content):
    """The exit code says it, and a line says what is wrong with the file; as JSON, too."""
    file = tmp_path / "some.jsonl"
    file.write_bytes(content)
    ran = run(tmp_path / "home", "import", source, file)
    as_json = run(tmp_path / "home", "import", source, file, "--json")

    assert (1, 1) == (ran.code, as_json.code)
    assert f"    {file}:1: " in ran.out or f"{file}:2: " in ran.out
    assert 1 <= as_json.json["total"]["problems"] <= 2


def test_a_mark_at_the_start_of_an_export_and_a_blank_line_at_its_end_are_no_damage(talk, tmp_path):
    """As some editors leave a file behind: every line is what was written."""
    file = tmp_path / "mei.jsonl"
    run(talk, "export", file)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes() + b"\n")
    ran = run(tmp_path / "home", "import", "yiku", file, "--all", "--json")

    assert (0, 0, 3) == (ran.code, ran.json["total"]["problems"], ran.json["total"]["turns"])


@pytest.mark.parametrize(
    ("verb", "ours"), [("search", "recall"), ("add", "remember"), ("delete", "forget"), ("get-messages", "messages")]
)
def test_a_verb_of_another_tool_says_which_it_is_here(home, verb, ours):
    """Exit code 2, and a line that names ours."""
    ran = run(home, verb, "茶")

    assert (2, True) == (ran.code, f"here it is `yiku {ours}`" in ran.err.replace("\n      ", " "))
