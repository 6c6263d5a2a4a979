"""`yiku install` and `uninstall` for coding agents: files written, files kept, no trace left."""

import json
import os
import shlex
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import commands
import pytest

from yiku.errors import InvalidInput, UnreadableConfig
from yiku.interfaces.hooks import config_files, install
from yiku.interfaces.hooks.agents import AGENTS
from yiku.interfaces.hooks.install import Installation

SETTINGS = (
    '{\n\t"theme": "dark 暗",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo mine"}]}]},'
    ' "mcpServers": {"other": {"command": "x"}}}\n'
)
TOML = '# mine 我的\nmodel = "x"   # keep\n\n[mcp_servers.other]\ncommand = "a"\n'


@pytest.fixture
def person(tmp_path, monkeypatch):
    """A person's folder, in which agents have their configuration."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "YIKU_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def carried_out(wanted):
    install.carry_out(install.plan(wanted), keep_backup=True)


@pytest.mark.parametrize("where", ["user", "project"])
@pytest.mark.parametrize("name", [*AGENTS])
def test_an_installation_can_be_done_again_and_taken_back(person, name, where):
    """The second run changes nothing; afterwards every file is as it was, byte for byte, and new ones are gone."""
    wanted = Installation(install.agent(name), where, person / "work")
    for file in wanted.agent.files(where, person / "work"):
        if file.form != "plugin":
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_text(TOML if file.form == "toml" else SETTINGS)
            file.path.chmod(0o640)
    before = tree(person)
    carried_out(wanted)
    first = tree(person)
    carried_out(wanted)

    assert first == tree(person) != before
    assert {0o640} == {stat.S_IMODE((person / path).stat().st_mode) for path in before}
    for file in wanted.agent.files(where, person / "work"):
        text = file.path.read_text()
        assert ("other" in text and "yiku" in text) or file.form == "plugin"
        if "hooks" in file.holds:
            assert "echo mine" in text and {*json.loads(text)["hooks"]} == {*wanted.agent.events, "Stop"}
        assert "theme" in text or "# keep" in text or file.form == "plugin"
    install.carry_out(install.plan_removal(wanted), keep_backup=False)
    assert before == tree(person)


@pytest.mark.parametrize("name", [*AGENTS])
def test_without_a_configuration_one_is_made_and_removed_again(person, name):
    """Nothing of ours is left where nothing was before."""
    wanted = Installation(install.agent(name))
    carried_out(wanted)
    assert tree(person)
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    assert {} == tree(person)


def test_what_was_changed_since_stays(person):
    """Somebody adds a hook and a server of their own after the installation: only ours go."""
    wanted = Installation(install.agent("claude-code"))
    (person / ".claude").mkdir()
    (person / ".claude" / "settings.json").write_text(SETTINGS)
    carried_out(wanted)
    settings = json.loads((person / ".claude" / "settings.json").read_text())
    settings["hooks"]["PostToolUse"][0]["hooks"].append({"type": "command", "command": "echo later"})
    (person / ".claude" / "settings.json").write_text(json.dumps(settings))
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    left = json.loads((person / ".claude" / "settings.json").read_text())
    assert {"Stop", "PostToolUse"} == {*left["hooks"]}
    assert ["echo later"] == [one["command"] for one in left["hooks"]["PostToolUse"][0]["hooks"]]
    assert not (person / ".claude.json").exists()


def test_a_table_that_codex_wrote_anew_goes_too(person):
    """Without our marks it is known by its name; comments and other tables stay."""
    config = person / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(TOML)
    carried_out(wanted := Installation(install.agent("codex")))
    text = config.read_text().replace(config_files.BEGIN + "\n", "").replace(config_files.END + "\n", "")
    config.write_text(text + '\n[mcp_servers.yiku.env]\nA = "b"\n\n[tui]\nx = 1\n')
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    assert {"model": "x", "mcp_servers": {"other": {"command": "a"}}, "tui": {"x": 1}} == tomllib.loads(config.read_text())
    assert "# mine 我的" in config.read_text()


@pytest.mark.parametrize(
    ("name", "path", "content"),
    [
        ("claude-code", ".claude/settings.json", "{not json"),
        ("claude-code", ".claude/settings.json", '{"hooks": []}'),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": {}}}'),
        ("claude-code", ".claude.json", "[1]"),
        ("gemini-cli", ".gemini/settings.json", '{"a": 1} // a comment'),
        ("gemini-cli", ".gemini/settings.json", '{"mcpServers": 7}'),
        ("codex", ".codex/config.toml", "a = = b"),
        ("codex", ".codex/hooks.json", "\udcff"),
        ("opencode", ".config/opencode/opencode.json", "{" * 100_000),
    ],
)
def test_what_cannot_be_read_is_never_written(person, name, path, content):
    """A typed error that names the file; no other file of the agent is changed either."""
    (file := person / path).parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode(errors="surrogateescape"))
    before = tree(person)
    with pytest.raises(UnreadableConfig) as refused:
        carried_out(Installation(install.agent(name)))

    assert str(file) in str(refused.value) and "run the command again" in str(refused.value)
    assert before == tree(person)


def test_a_server_of_somebody_else_with_our_name_is_not_replaced(person):
    """It is named, and stays."""
    (person / ".claude.json").write_text('{"mcpServers": {"yiku": {"command": "docker", "args": ["run", "yiku"]}}}')
    with pytest.raises(InvalidInput, match="another MCP server named yiku"):
        carried_out(Installation(install.agent("claude-code")))
    config = person / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('mcp_servers = { other = { command = "a" } }\n')
    with pytest.raises(UnreadableConfig):
        carried_out(Installation(install.agent("codex")))


def test_a_file_behind_a_link_stays_one(person):
    """Many keep their settings in a folder of their own, and link to them."""
    (person / "dotfiles").mkdir()
    (person / "dotfiles" / "settings.json").write_text(SETTINGS)
    (person / ".gemini").mkdir()
    (person / ".gemini" / "settings.json").symlink_to("../dotfiles/settings.json")
    carried_out(wanted := Installation(install.agent("gemini-cli")))

    assert (person / ".gemini" / "settings.json").is_symlink() and "yiku" in (person / "dotfiles" / "settings.json").read_text()
    install.carry_out(install.plan_removal(wanted), keep_backup=False)
    assert SETTINGS == (person / "dotfiles" / "settings.json").read_text()


def test_a_file_that_changes_meanwhile_is_not_overwritten(person):
    """The agent wrote its file between our reading and our writing."""
    changes = install.plan(Installation(install.agent("claude-code")))
    (person / ".claude.json").write_text('{"numStartups": 1}')
    with pytest.raises(UnreadableConfig, match="changed by another program"):
        install.carry_out(changes, keep_backup=True)

    assert '{"numStartups": 1}' == (person / ".claude.json").read_text()


def test_the_command_of_a_hook_works_and_ends_well_without_yiku(person, tmp_path):
    """As an agent runs it: by a shell, from any folder, with next to no environment; also when the package is gone."""
    home = tmp_path / "家 home"
    wanted = Installation(install.agent("claude-code"), home=str(home), scope="team:atlas")
    for command in (wanted.hook("prompt"), wanted.hook("prompt").replace("__main__.py", "gone.py")):
        done = subprocess.run(
            ["/bin/sh", "-c", command], input=b'{"prompt": "hi"}', capture_output=True, cwd="/", env={}, check=False
        )
        assert 0 == done.returncode and done.stdout == b""
    assert 1 == len([*(home / "inbox").glob("events-*.jsonl")])
    assert [str(home), "team:atlas"] == [shlex.split(wanted.hook("end"))[at] for at in (-5, -3)]


def test_what_is_shared_in_a_project_has_no_path_of_a_machine(person):
    """`yiku` by its name, and no home."""
    wanted = Installation(install.agent("claude-code"), "project", person / "work")
    carried_out(wanted)

    text = "".join((person / "work" / name).read_text() for name in (".mcp.json", ".claude/settings.json"))
    assert str(person) not in text and os.sep + "bin" not in text
    assert ["yiku", "mcp"] == wanted.server()


def test_from_the_command_line(tmp_path):
    """Install, show, install again, uninstall; JSON, and what to do in case of an error."""
    (folder := tmp_path / "work").mkdir()

    def yiku(*words):
        return commands.run(*words, cwd=folder, HOME=tmp_path, YIKU_HOME=tmp_path / "home")

    shown = yiku("install", "claude", "--dry-run")
    assert (0, False) == (shown.code, (tmp_path / ".claude").exists())
    assert "would install in Claude Code" in shown.out and '"UserPromptSubmit"' in shown.out
    done = yiku("install", "claude-code", "--json").json["installed"]
    assert [True, True] == [file["changed"] for file in done["files"]]
    assert ["claude-code"] == [one["agent"] for one in install.manifest(tmp_path / "home")]
    assert "nothing to change" in yiku("install", "claude-code").out
    assert 0 == yiku("install", "gemini", "--scope", "project").code and (folder / ".gemini" / "settings.json").exists()
    assert 0 == yiku("uninstall", "claude-code").code
    assert ["gemini-cli"] == [one["agent"] for one in install.manifest(tmp_path / "home")]
    assert not (tmp_path / ".claude.json").exists()
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("= x")
    wrong = [yiku("install", "codex"), yiku("install", "cursor")]
    assert [2, 2] == [one.code for one in wrong]
    assert "is not TOML" in " ".join(wrong[0].err.split()) and "known are claude-code" in wrong[1].err


def test_the_plugin_of_opencode_is_a_program(person):
    """It has the commands of this installation in it."""
    carried_out(Installation(install.agent("opencode")))
    text = Path(person / ".config" / "opencode" / "plugin" / "yiku.js").read_text()

    assert "/* COMMANDS */" not in text and "prompt --agent opencode" in text


FOREIGN = [
    '[mcp_servers.yiku]\ncommand = "node"\nargs = ["/opt/other/server.js"]\nenv = { TOKEN = "secret" }\n',
    '["mcp_servers"."yiku"]\ncommand = "node"\n',
    '[mcp_servers]\nyiku = { command = "node" }\n',
    '[mcp_servers.yiku]\nurl = "https://example.org/mcp"\n[mcp_servers.yiku.env]\nA = "b"\n',
    'note = """\n[mcp_servers.yiku]\ncommand = "yiku"\n"""\n',
]


@pytest.mark.parametrize("foreign", FOREIGN[:4])
def test_codexs_server_of_somebody_else_with_our_name_is_neither_replaced_nor_removed(person, foreign):
    """However it is written: an installation names it and changes nothing, an uninstallation leaves it."""
    (config := person / ".codex" / "config.toml").parent.mkdir()
    config.write_text(f'model = "x"\n\n{foreign}\n# my projects\n[projects."/x"]\ntrust_level = "trusted"\n')
    before = tree(person)
    wanted = Installation(install.agent("codex"))
    with pytest.raises(InvalidInput, match="another MCP server named yiku"):
        carried_out(wanted)
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    assert before == tree(person)


def test_what_only_looks_like_our_table_is_text(person):
    """In a text of several lines."""
    (config := person / ".codex" / "config.toml").parent.mkdir()
    config.write_text(FOREIGN[4])
    carried_out(wanted := Installation(install.agent("codex")))
    assert config.read_text().startswith(FOREIGN[4]) and "yiku" in tomllib.loads(config.read_text())["mcp_servers"]
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    assert FOREIGN[4] == config.read_text()


@pytest.mark.parametrize(
    "following", ["\n# my projects: do not touch\n# 别动\n[projects]\n", "# a last note\n", "\n\n# one\n\n# two", ""]
)
def test_comments_behind_our_table_stay(person, following):
    """Codex wrote the table anew, without our marks, and before what is somebody else's."""
    (config := person / ".codex" / "config.toml").parent.mkdir()
    carried_out(wanted := Installation(install.agent("codex")))
    ours = config.read_text().replace(config_files.BEGIN + "\n", "").replace(config_files.END + "\n", "")
    config.write_text(f'model = "x"\n\n{ours}env = {{ A = "b" }}\ntimes = [\n  1, # of it\n]\n{following}')
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    assert f'model = "x"\n{following}' == config.read_text()


@pytest.mark.parametrize("cut", ["\\ud83d", "\\udc00 切断", "\\\\ud83d is text"])
def test_half_an_emoji_in_a_configuration_stays_as_it_is(person, cut):
    """JSON may hold one, UTF-8 may not: it is written as JSON writes it, and the file can be read afterwards."""
    (person / ".claude.json").write_text(f'{{"history": [{{"display": "look 看 {cut}"}}]}}')
    given = json.loads((person / ".claude.json").read_text())
    carried_out(wanted := Installation(install.agent("claude-code")))

    text = (person / ".claude.json").read_bytes().decode()
    assert f"look 看 {cut}" in text and {**given, "mcpServers": json.loads(text)["mcpServers"]} == json.loads(text)
    assert [] == [change for change in install.plan(wanted) if change.changes]
    (person / ".claude.json.before-yiku").unlink()
    install.carry_out(install.plan_removal(wanted), keep_backup=False)
    assert given == json.loads((person / ".claude.json").read_bytes().decode())


@pytest.mark.parametrize("args", [5, "mcp", None, {"a": 1}, [5, None]])
def test_an_entry_of_an_odd_form_is_somebody_elses(person, args):
    """It is named, and nothing is changed."""
    (person / ".claude.json").write_text(json.dumps({"mcpServers": {"yiku": {"command": "x", "args": args}}}))
    wanted, before = Installation(install.agent("claude-code")), tree(person)
    with pytest.raises(InvalidInput, match="another MCP server named yiku"):
        carried_out(wanted)
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    assert before == tree(person)


@pytest.mark.parametrize("name", [*AGENTS])
def test_what_was_added_to_our_entries_and_behind_our_hooks_stays(person, name):
    """A second installation changes nothing then; one for another home changes the command alone."""
    wanted = Installation(install.agent(name))
    carried_out(wanted)
    for file in wanted.agent.files("user", person):
        if file.form == "toml":
            file.path.write_text(file.path.read_text().replace("\nargs", '\nenv = { YIKU_LANGUAGE = "zh" } # mine\nargs'))
        elif file.form == "json":
            config = json.loads(file.path.read_text())
            if "server" in file.holds:
                config[wanted.agent.servers]["yiku"]["env"] = {"YIKU_LANGUAGE": "zh"}
            for groups in config.get("hooks", {}).values():
                groups.append({"hooks": [{"type": "command", "command": "say done"}]})
            file.path.write_text(json.dumps(config))
    before = tree(person)
    carried_out(wanted)
    assert before == tree(person)

    carried_out(Installation(install.agent(name), home="/家\\"))
    changed = "".join(content.decode() for path, content in tree(person).items() if not path.endswith(config_files.BACKUP))
    assert "YIKU_LANGUAGE" in changed and "/家\\\\" in changed
    assert ("say done" in changed) == any(
        "hooks" in file.holds and file.form == "json" for file in wanted.agent.files("user", person)
    )


def test_what_codex_adds_between_our_marks_stays(person):
    """It writes a new table before the last comment of the file, which is our mark."""
    (config := person / ".codex" / "config.toml").parent.mkdir()
    carried_out(wanted := Installation(install.agent("codex")))
    config.write_text(
        config.read_text().replace(config_files.END, f'\n[projects."/x"]\ntrust_level = "trusted"\n{config_files.END}')
    )
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    assert '\n[projects."/x"]\ntrust_level = "trusted"\n' == config.read_text()


@pytest.mark.parametrize(
    "written",
    [
        'mcp_servers.yiku.command = "yiku"\nmcp_servers.yiku.args = ["mcp"]\n',
        '[mcp_servers]\nyiku = { command = "yiku", args = ["mcp"] }\n',
    ],
)
def test_our_server_written_in_a_way_that_cannot_be_changed_is_left(person, written):
    """A typed error that names file and table; nothing is changed."""
    (config := person / ".codex" / "config.toml").parent.mkdir()
    config.write_text(written)
    wanted, before = Installation(install.agent("codex"), home="/h"), tree(person)
    for plan in (install.plan, install.plan_removal):
        with pytest.raises(UnreadableConfig, match=r"config\.toml: mcp_servers is written"):
            install.carry_out(plan(wanted), keep_backup=True)

    assert before == tree(person)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "written",
    [
        '[mcp_servers.yiku]\ncommand = "yiku" # 我的\nargs = [\n  "mcp", # mine\n]\nenv = { A = "b" }\n',
        '[mcp_servers."yiku"]\ncommand = "yiku"\nargs = ["mcp"]\nenv.A = "b"\n',
        '["mcp_servers" . "yiku"] # mine\n"args" = ["mcp"]\n\'command\' = "yiku"\nenv = { A = "b" }\n',
        '[mcp_servers.yiku.env]\nA = "b"\n\n[mcp_servers.yiku]\ncommand = "yiku"\nargs = ["mcp"]\n',
        '[mcp_servers.yiku]\ncommand = "yiku"\nargs = ["mcp"]\nenv = { A = "b" }\n  [mcp_servers.other]\n  command = "a"\n',
        '[mcp_servers.yiku]\nenv = { A = "b" }\ncommand = """yi\\\n  ku"""\nargs = [\n"mcp"]\n',
        f'{config_files.BEGIN}\n[mcp_servers.yiku]\ncommand = "yiku"\nargs = ["mcp"]\nenv = {{ A = "b" }}\n{config_files.END}\n',
    ],
)
def test_our_table_is_changed_however_a_program_has_written_it(person, written, ending):
    """The command is another one, all else is as it was, and the lines end as they did; an uninstallation finds the table, too."""
    (config := person / ".codex" / "config.toml").parent.mkdir()
    config.write_bytes(f"x = nan\n{written}\n# after 之后\n[tui]\ny = [1.5, inf]\n".replace("\n", ending).encode())
    before = tomllib.loads(config.read_bytes().decode())
    carried_out(wanted := Installation(install.agent("codex"), home="/家"))

    text = config.read_bytes().decode()
    entry = tomllib.loads(text)["mcp_servers"].pop("yiku")
    assert (wanted.server(), {"A": "b"}) == ([entry["command"], *entry["args"]], entry["env"])
    assert [] == [change for change in install.plan(wanted) if change.changes]
    assert (text.count("\n") if ending == "\r\n" else 0) == text.count("\r\n")
    assert f"{ending}# after 之后{ending}[tui]{ending}" in text
    (config.parent / f"config.toml{config_files.BACKUP}").unlink()
    install.carry_out(install.plan_removal(wanted), keep_backup=False)
    left = config.read_bytes().decode()
    assert not {config_files.BEGIN, config_files.END} & {*left.splitlines()} and before["tui"] == tomllib.loads(left)["tui"]
    assert "yiku" not in tomllib.loads(left).get("mcp_servers", {})


def test_an_installation_ends_its_lines_as_the_file_does(person):
    """Taken back, the file is as it was, also without the copy."""
    (config := person / ".codex" / "config.toml").parent.mkdir()
    config.write_bytes(TOML.replace("\n", "\r\n").encode())
    carried_out(wanted := Installation(install.agent("codex")))
    installed = config.read_bytes()
    (config.parent / f"config.toml{config_files.BACKUP}").unlink()
    install.carry_out(install.plan_removal(wanted), keep_backup=False)

    assert (installed.count(b"\n"), TOML.replace("\n", "\r\n").encode()) == (installed.count(b"\r\n"), config.read_bytes())


def test_a_table_without_one_of_the_keys_gets_it(person):
    """At its head, before what belongs to another table."""
    written = b'[mcp_servers.yiku]\ncommand = "yiku"\n# note\n[tui]\nargs = 1\n'
    changed = config_files.with_table(person / "config.toml", written, {"command": "yiku", "args": ["mcp"]})

    assert written.replace(b"]\n", b']\nargs = ["mcp"]\n', 1) == changed


@pytest.mark.parametrize("name", [*AGENTS])
def test_a_home_whose_name_is_not_utf8_is_refused_before_anything_is_written(person, name):
    """Configurations are UTF-8, and could not name it."""
    before = tree(person)
    for where in ("user", "project"):
        with pytest.raises(InvalidInput, match=r"/tmp/h.* is not UTF-8"):
            install.plan(Installation(install.agent(name), where, person, home=os.fsdecode(b"/tmp/h\xe9")))

    assert before == tree(person)


def test_the_command_line_says_that_a_home_is_not_utf8(tmp_path):
    """One line, no traceback."""
    command = [sys.executable, "-m", "yiku", "install", "codex", "--home", os.fsdecode(b"h\xe9")]
    done = subprocess.run(
        command, capture_output=True, timeout=60, check=False, cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip

    assert (True, True, False) == (done.returncode != 0, b"UTF-8" in done.stderr, b"Traceback" in done.stderr)
    assert {} == tree(tmp_path)
