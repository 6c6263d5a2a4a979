"""Commands that the command line prints to be pasted: they reach the home and the scope that were asked for."""

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import commands
import pytest
from commands import Ran

import yiku
from yiku import Memory
from yiku.flows.common.handle import Handle
from yiku.interfaces.cli.app import VERBS
from yiku.interfaces.cli.call import Call

CLI = Path(yiku.__file__).parent / "interfaces/cli"
BARE = re.compile(rf"\byiku ({'|'.join(VERBS)})\b(?!:)")


@pytest.fixture
def run(tmp_path):
    """Commands in one folder, whose default home is another than those that are named."""
    (tmp_path / "here").mkdir()

    def run_here(*words: str | Path, stdin: bytes = b"", **environment: str) -> Ran:
        return commands.run(*words, stdin=stdin, cwd=tmp_path / "here", YIKU_HOME=tmp_path / "default", **environment)

    run_here("remember", "I live in Oslo.", "-q")
    run_here("remember", "我喜欢绿茶。", "-q")
    return run_here


def pasted(printed: str, verb: str) -> list[str]:
    """The words of the first printed command of a verb, as a shell reads them, behind `yiku`."""
    begin = re.search(rf"yiku (?:--home .+? )?(?:--scope .+? )?{verb}\b[^`;·\n]*", printed)
    assert begin, printed
    words = shlex.split(begin[0], comments=True)
    return words[1 : words.index("takes") if "takes" in words else None]


def texts(ran: Ran) -> list[str]:
    return [one["content"] for one in ran.json["memories"]]


@pytest.mark.parametrize(
    "given",
    [
        ["--home", "other"],
        ["--home", "另一个 home"],
        ["--home", "it's"],
        ["--scope", "user:bob"],
        ["--home", "../other", "--scope", "user:小明"],
    ],
    ids="folder chinese quote scope both".split(),
)
def test_a_pasted_undo_reaches_the_memory_that_was_changed(run, given):
    """The command printed with a change undoes this change, in its home and scope, also with spaces and quotes in their names."""
    kept = run(*given, "remember", "I like beer.")
    words = pasted(kept.out, "undo")
    undone = run(*words)

    assert [*given, "undo"] == words[:-1]
    assert (0, []) == (undone.code, texts(run(*given, "list", "--json")))
    assert {"I live in Oslo.", "我喜欢绿茶。"} == {*texts(run("list", "--json"))}


def test_options_behind_the_verb_are_in_the_hint_too(run):
    """Wherever `--home` stands, the printed command has it; a command that was given none prints none."""
    assert "undo with: yiku --home other undo 2\n" in run("remember", "I like beer.", "--home", "other").out
    assert "undo with: yiku undo 4\n" in run("remember", "I like beer.").out


def test_each_change_prints_a_command_for_its_home(run):
    """Forgetting, undoing, rejecting, reading pages, restoring a backup: the printed command works as it is."""
    other = ("--home", "other")
    id = run(*other, "remember", "I like beer.", "--json").json["memory"]["id"]
    forgotten = run(*other, "forget", id)
    undone = run(*other, *pasted(forgotten.out, "undo")[2:])
    assert 0 == run(*pasted(undone.out, "undo")).code
    assert [] == texts(run(*other, "list", "--json"))

    run(*other, "restore", id)
    rejected = run(*other, "reject", id)
    assert 0 == run(*pasted(rejected.out, "undo")).code
    assert ["I like beer."] == texts(run(*other, "list", "--json"))

    name = Path(run(*other, "backup", "--json").json["backup"]["path"]).name
    run(*other, "remember", "I like tea.")
    restored = run(*other, "restore-backup", name, "--yes")
    assert 0 == run(*pasted(restored.out, "restore-backup"), "--yes").code
    assert {"I like beer.", "I like tea."} == {*texts(run(*other, "list", "--json"))}


def test_the_next_page_of_messages_is_of_the_same_home(run):
    """`There is more` names the home, the session and the cursor."""
    for text in ("One.", "二。"):
        run("--home", "other", "record", text, "--session", "the 会话")
    first = run("--home", "other", "messages", "the 会话", "--limit", "1")

    assert "二。" in run(*pasted(first.err, "messages")).out


def test_the_printed_undo_of_a_night_can_be_pasted(run):
    """It names the run without a `#`, which begins a comment in a shell."""
    for given in ([], ["--home", "other"]):
        run(*given, "remember", "The lift is out. 电梯坏了。", "--said-at", "2026-01-01", "--expires-at", "2026-03-02", "-q")
        night = run(*given, "consolidate")

        assert 0 == run(*pasted(night.out, "undo")).code
        assert "The lift is out. 电梯坏了。" in run(*given, "list", "--where", '{"state": "active"}').out


def test_a_run_whose_name_ends_in_digits_alone_is_no_operation(run, tmp_path, monkeypatch):
    """One run in forty ends so: its eight digits name it, with and without an item, and a number that names nothing is refused."""
    made, number = Handle.new_id, count(10_000_000)
    monkeypatch.setattr(Handle, "new_id", lambda self, now=None: f"{made(self, now)[:-8]}{next(number)}")
    with Memory(tmp_path / "here/other") as memory:
        for text in ("The lift is out.", "电梯坏了。"):
            memory.remember(text, said_at="2026-01-01", expires_at="2026-03-02")
        name = memory.admin.consolidate(phase=0).run[-8:]

    assert 0 == run("--home", "other", "undo", name, "1").code
    assert 0 == run("--home", "other", "undo", name).code
    assert 2 == len(texts(run("--home", "other", "list", "--where", '{"state": "active"}', "--json")))
    assert 1 == run("--home", "other", "undo", "99999999").code
    assert (2, 1) == (run("--home", "other", "undo", "2", "1").code, run("--home", "other", "undo", "9999999").code)


@pytest.mark.parametrize("verb", ["list", "config"])
def test_a_wrong_setting_is_named_with_its_file_and_where_to_look_is_no_command_that_fails_too(run, tmp_path, verb):
    """The message has the file, the setting and what it must be; the advice is to correct it there, and works."""
    file = tmp_path / "default/yiku.toml"
    right = file.read_text(encoding="utf-8")
    file.write_text(f'{right}limit = "ten"\n', encoding="utf-8")
    wrong = run(verb, "--json")
    error = wrong.json["error"]

    assert (2, f"{file}: limit must be a whole number from 1 to 10000, not 'ten'") == (wrong.code, error["message"])
    assert "A setting has an invalid value. Correct it where it was set; docs/settings.md says what each may be." == error["advice"]
    file.write_text(f"{right}limit = 10\n", encoding="utf-8")
    assert 0 == run(verb).code


@pytest.mark.parametrize(
    "given", [["--home", "另一个 home"], ["--home", "other", "--scope", "user:小明"], []], ids="home both none".split()
)
def test_the_commands_in_errors_troubles_and_notes_reach_the_home_too(run, given):
    """What the memory itself says is printed with the home and the scope that were given: pasted, it ends this pause."""
    run(*given, "remember", "I like beer. 我喜欢啤酒。", "-q")
    run(*given, "pause", "-q")
    refused, status = run(*given, "remember", "I like tea. 我喜欢茶。"), run(*given, "status")

    assert f"`{shlex.join(['yiku', *given, 'resume'])}` ends the pause." in " ".join(refused.err.split())
    assert f"! memory is paused: {shlex.join(['yiku', *given, 'resume'])}\n" in status.out
    assert "resumed" in run(*pasted(refused.err, "resume")).out


def test_what_a_message_quotes_stays_as_it_was_said():
    """Only commands of Yiku's own are completed, all of them, and each once."""
    call = Call("status", home="my home")
    printed = {
        "a: yiku queue says why, yiku learn --all retries, or yiku review": "a: {} queue says why, {} learn --all retries, or {} review",
        '`yiku list` and `yiku history 12` (`yiku undo "run 1"`)': '`{} list` and `{} history 12` (`{} undo "run 1"`)',
        "there is no session '; yiku resume': yiku sessions": "there is no session '; yiku resume': {} sessions",
        "没有“`yiku resume`”：`yiku list`": "没有“`yiku resume`”：`{} list`",
        "the model's answer: yiku learns; a yiku embed": "the model's answer: yiku learns; a yiku embed",
        call.command("undo", 2): "{} undo 2",
    }

    assert [printed[text].replace("{}", "yiku --home 'my home'") for text in printed] == [*map(call.reaching, printed)]
    assert [*printed][:-1] == [*map(Call("status").reaching, printed)][:-1]


@pytest.mark.parametrize("home", ["a long folder name for a home of ours/it's", "long/" * 16 + "home", "很长的 名字" * 8])
def test_no_printed_command_is_broken_by_the_width_of_the_terminal(run, home):
    """On a narrow terminal the commands of hints and errors stand on one line each: what is pasted reaches that home."""
    given = ("--home", home, "--scope", "bob")
    run(*given, "record", "My cat is Tom. 我的猫叫汤姆。", "-q")
    printed = {words: run(*given, *words, COLUMNS="60") for words in (("attachments",), ("recall", "zebra"), ("config", "x"))}

    assert [*given, "attach", "PATH", "--session", "ID"] == command_in(printed["attachments",].err, "attach")
    assert [*given, "traces", "WORD"] == command_in(printed["recall", "zebra"].err, "traces")
    assert [*given, "config"] == command_in(printed["config", "x"].err, "config")


def command_in(printed: str, verb: str) -> list[str]:
    """The words behind `yiku` of a printed command, as a shell reads the line on which it stands."""
    [line] = [line for line in printed.splitlines() if re.search(rf"yiku --home .* {verb}\b", line)]
    return shlex.split(re.split("[`;]", line[line.index("yiku --home") :])[0])[1:]


def test_every_printed_command_goes_through_the_call():
    """No message of the command line writes `yiku VERB` by hand: it would reach another home than the one that was named."""
    files = [path for path in CLI.glob("*.py") if path.name != "demo.py"]  # which shows what was done in the home that it made
    found = [f"{path.name}: {text}" for path in files for text in _messages(ast.parse(path.read_text(encoding="utf-8")))]

    assert [] == [text for text in found if BARE.search(text)]


def _messages(module: ast.Module) -> Iterator[str]:
    """The texts of a module, without docstrings and the help of options."""
    help_ = {
        id(part) for node in ast.walk(module) if isinstance(node, ast.keyword) and node.arg == "help" for part in ast.walk(node)
    }
    said = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in help_ | said:
            yield node.value
