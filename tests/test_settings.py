"""Settings: argument, then YIKU_*, then yiku.toml, then default; and where each came from."""

import os
import pwd
from pathlib import Path

import commands
import pytest

from yiku import Memory, settings
from yiku.errors import InvalidScope, SettingsError
from yiku.files.vault import Home
from yiku.flows.common import checks
from yiku.models import prepare
from yiku.types import Secret


@pytest.fixture
def place(home):
    home.mkdir()
    return Home(home)


VALUES = {  # setting: argument, as text in the environment, in the file
    "owner": ("user:a", "user:b", "user:c"),
    "scope": ("team:a", "team:b", "team:c"),
    "reads": (("a", "b"), "c, d ,", ["e"]),
    "names": (("Mei", "梅"), "Mei Ling, 梅", ["M"]),
    "agent": ("a", "b", "c"),
    "learn": ("later", "off", "at_once"),
    "learn_calls": (3, "4", 6),
    "transcripts": ("off", "on", "off"),
    "transcript_days": (3, "4", 6),
    "daily_days": (30, "14", 3),
    "watch_debounce_s": (2, "0.5", 3),
    "project": ("阿特拉斯", "b", "c"),
    "actor": ("a", "b", "c"),
    "language": ("en", "zh", "auto"),
    "secrets": ("keep", "mask", "keep"),
    "private_folders": (("/a", "~/b"), "/c, ~/日记 ,", ["/e"]),
    "vaults": (("team:atlas",), "team:a, 张伟", ["team:b"]),
    "backups": ("off", "nightly", "off"),
    "nights": ("off", "auto", "off"),
    "durability": ("full", "fast", "full"),
    "busy_timeout_s": (1, "2.5", 3),
    "limit": (1, "2", 3),
    "context_tokens": (100, "200", 300),
    "prompt_tokens": (100, "200", 300),
    "auto_recall": ("off", "always", "gated"),
    "persona": ("jarvis", "tech_expert", "贾维斯"),
    "search": ("words", "local", "api"),
    "local_vocab": ("full", "en+zh", "full"),
    "embed_url": ("http://localhost:11434/v1", "https://b.example/v1", "https://c.example"),
    "embed_model": ("a", "嵌入", "c"),
    "embed_key": (Secret("sk-argument"), "sk-environment", "sk-file"),
    "embed_dimensions": (256, "512", 1024),
    "embed_query_prefix": ("query: ", "问： ", "c"),
    "embed_passage_prefix": ("passage: ", "文： ", "c"),
    "embed_batch": (10, "20", 30),
    "embed_timeout_s": (1, "2.5", 3),
    "rerank": ("api", "off", "api"),
    "rerank_url": ("http://localhost:11434/v1", "https://b.example/v1", "https://c.example/rerank"),
    "rerank_model": ("a", "重排", "c"),
    "rerank_key": (Secret("sk-argument"), "sk-environment", "sk-file"),
    "rerank_timeout_s": (1, "2.5", 3),
    "chat_url": ("http://localhost:11434/v1", "https://b.example/v1", "https://c.example"),
    "chat_model": ("a", "对话", "c"),
    "chat_key": (Secret("sk-argument"), "sk-environment", "sk-file"),
    "chat_timeout_s": (1, "2.5", 3),
    "chat_max_tokens": (100, "200", 300),
}
EXPECTED = {
    "reads": ("c", "d"),
    "names": ("Mei Ling", "梅"),
    "private_folders": ("/c", "~/日记"),
    "vaults": ("team:a", "张伟"),
    "busy_timeout_s": 2.5,
    "limit": 2,
    "learn_calls": 4,
    "transcript_days": 4,
    "daily_days": 14,
    "watch_debounce_s": 0.5,
    "context_tokens": 200,
    "prompt_tokens": 200,
    "embed_key": Secret("sk-environment"),
    "embed_dimensions": 512,
    "embed_batch": 20,
    "embed_timeout_s": 2.5,
    "rerank_key": Secret("sk-environment"),
    "rerank_timeout_s": 2.5,
    "chat_key": Secret("sk-environment"),
    "chat_timeout_s": 2.5,
    "chat_max_tokens": 200,
}
KEYS = ("embed_key", "rerank_key", "chat_key")


def toml(value):
    return (
        f'"{value}"' if isinstance(value, str) else str([*value] if isinstance(value, (list, tuple)) else value).replace("'", '"')
    )


def test_every_setting_is_tried_here():
    """A setting that is added comes into the table above."""
    assert {*settings.DEFAULTS} == {*VALUES}


@pytest.mark.parametrize("name", VALUES)
def test_an_argument_wins_then_the_environment_then_the_file(place, name):
    """Taken away one by one, the next in line holds; each says where it came from."""
    argument, text, in_file = VALUES[name]
    arguments, environment = {name: argument}, {f"YIKU_{name.upper()}": text}
    place.settings.write_text(f"{name} = {toml(in_file)}", encoding="utf-8")
    found = [settings.load(place, arguments, environment), settings.load(place, {}, environment), settings.load(place, {}, {})]
    place.settings.unlink()
    found.append(settings.load(place, {name: None}, {f"YIKU_{name.upper()}": ""}))

    file_value = tuple(in_file) if isinstance(in_file, list) else Secret(in_file) if name in KEYS else in_file
    assert [argument, EXPECTED.get(name, text), file_value, settings.DEFAULTS[name]] == [getattr(s, name) for s in found]
    assert ["argument", f"YIKU_{name.upper()}", "yiku.toml", "default"] == [s.origins[name] for s in found]


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("language", "fr", "one of en, zh, auto"),
        ("language", 5, "one of en, zh, auto"),
        ("durability", "FULL", "one of full, fast"),
        ("limit", 0, "a whole number from 1 to 10000, not 0"),
        ("limit", 2.5, "whole number"),
        ("limit", True, "whole number"),
        ("limit", "many", "not 'many'"),
        pytest.param("limit", 10**5000, "type int", id="limit-huge"),
        ("context_tokens", 49, "from 50 to 100000"),
        ("busy_timeout_s", -1, "a number from 0.0 to 3600.0"),
        ("busy_timeout_s", float("nan"), "not nan"),
        ("busy_timeout_s", "soon", "not 'soon'"),
        ("reads", 5, "a list of names"),
        ("reads", ["a", 5], "a list of names"),
        ("reads", ["A "], "names of scopes"),
        ("reads", [*"abcdefg"], "at most 6"),
        ("names", [""], "a list of names"),
        ("agent", 5, "must be text, not 5"),
        ("actor", b"x", "type bytes"),
        ("search", "hybrid", "one of auto, words, local, api"),
        ("local_vocab", "de", r"one of en\+zh, full"),
        ("embed_url", "localhost:11434", "an address, http"),
        ("embed_url", "ftp://a/v1", "an address, http"),
        ("embed_url", "https://a b/v1", "an address, http"),
        ("embed_url", "https://a:99999/v1", "an address, http"),
        ("embed_dimensions", 0, "from 1 to 16384"),
        ("embed_batch", 0, "from 1 to 2048"),
        ("embed_timeout_s", 0, "from 0.1 to 3600"),
        ("embed_key", "钥匙", "on one line"),
        ("rerank", "local", "one of off, api"),
        ("rerank_url", "localhost:11434", "an address, http"),
        ("rerank_key", "钥匙", "on one line"),
        ("rerank_timeout_s", 0, "from 0.1 to 3600"),
        ("chat_url", "localhost:11434", "an address, http"),
        ("chat_key", "钥匙", "on one line"),
        ("chat_timeout_s", 0, "from 0.1 to 3600"),
        ("chat_max_tokens", 63, "from 64 to 131072"),
    ],
)
def test_a_bad_value_is_named_with_its_place(place, name, value, why):
    """The error says which setting, where it stands and what it may be; in an argument, in the environment, in the file."""
    with pytest.raises(SettingsError, match=rf"argument: {name} .*{why}"):
        settings.load(place, {name: value}, {})
    if isinstance(value, str):
        with pytest.raises(SettingsError, match=f"YIKU_{name.upper()}: {name}"):
            settings.load(place, {}, {f"YIKU_{name.upper()}": value})
    if isinstance(value, (str, int, list)) and not isinstance(value, bool) and value != 10**5000:
        place.settings.write_text(f"{name} = {toml(value)}")
        with pytest.raises(SettingsError, match=rf"yiku\.toml: {name}"):
            settings.load(place, {}, {})


@pytest.mark.parametrize("sort", ["embed", "rerank", "chat"])
@pytest.mark.parametrize("url", ["https://me:hunter2@a/v1", "https://a/v1?key=hunter2", "https://a/v1#hunter2"])
def test_an_address_holds_nothing_secret(place, sort, url):
    """It is shown everywhere, so a password or key in it is refused, and not repeated."""
    with pytest.raises(SettingsError, match=f"put a key into {sort}_key") as raised:
        settings.load(place, {f"{sort}_url": url}, {})
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("value", [4711_4711_4711_4711, "钥匙 4711471147114711", ["4711471147114711"]])
def test_a_bad_key_is_not_shown(place, name, value):
    """The message says what is wrong with a key without its value."""
    with pytest.raises(SettingsError, match=f"argument: {name} must be a key") as raised:
        settings.load(place, {name: value}, {})
    assert "4711" not in str(raised.value)


@pytest.mark.parametrize("name", KEYS)
def test_a_key_shows_itself_to_nobody(place, capsys, name):
    """Printed, formatted, logged, made JSON or text of any kind, by `yiku config` too: its last four characters at most."""
    from yiku.interfaces.cli import app, json_output

    key = "sk-live-4f5e6d7c8b9a0123"
    place.settings.write_text(f'{name} = "{key}"\n')
    found = settings.load(place, {}, {})
    for options in ([], ["--json"]):
        assert 0 == app.main(["config", "--home", str(place.root), *options])
    texts = [str(found), repr(found), f"{getattr(found, name)}", str(json_output.plain(found))]

    assert key == getattr(found, name).reveal()
    assert "…" == str(Secret("short"))
    for text in (*texts, capsys.readouterr().out):
        assert key[:-4] not in text
        assert "…0123" in text


@pytest.mark.parametrize("content", ["limit = ", "= 5", "[limit", "limit = 5\nlimit = 6", b"owner = '\xff'"])
def test_a_broken_file_is_named(place, content):
    """Its path and what is wrong."""
    place.settings.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SettingsError, match=r"yiku\.toml cannot be read"):
        settings.load(place, {}, {})


@pytest.mark.parametrize("name", ["durabilty", "home", "origins", "限制"])
def test_an_unknown_setting_is_named(place, name):
    """In the file and as an argument: nothing is passed over in silence, and the known ones are listed."""
    with pytest.raises(SettingsError, match=rf"no setting {name}( \(did you mean durability\?\))?; known are actor, agent"):
        settings.load(place, {name: "x"}, {})
    place.settings.write_text(f'"{name}" = "x"', encoding="utf-8")
    with pytest.raises(SettingsError, match=rf"has {name}( \(did you mean durability\?\))?; known are actor, agent"):
        settings.load(place, {}, {})


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("YIKU_DURABILTY", "YIKU_DURABILITY"),
        ("YIKU_EMBEDURL", "YIKU_EMBED_URL"),
        ("YIKU_BUSY_TIMEOUT", "YIKU_BUSY_TIMEOUT_S"),
        ("YIKU_NAME", "YIKU_NAMES"),
        ("YIKU_HOEM", "YIKU_HOME"),
    ],
)
def test_a_misspelt_variable_is_an_error_that_says_what_was_meant(place, variable, meant):
    """As for a setting in the file: what was chosen is not passed over. Where none names the home, no other is opened instead."""
    for read in (lambda given: settings.load(place, {}, given), lambda given: settings.home(None, given)):
        with pytest.raises(SettingsError, match=rf"{variable} \(did you mean {meant}\?\)") as raised:
            read({variable: "secret-4711"})
        assert "4711" not in str(raised.value)
        read({variable: ""})


def test_other_variables_of_our_name_are_told_and_harmless(home, monkeypatch):
    """What some other program, or a later Yiku, reads is named in `status`, and changes nothing."""
    assert () == settings.load(Home(home), {}, {"YIKU_HOME": "/a", "YIKU_LIMIT": "5", "PATH": "/bin"}).unknown_variables
    monkeypatch.setenv("YIKU_PLUGIN_PORT", "8080")
    with Memory(home, owner="user:mei") as memory:
        assert ("no setting is read from YIKU_PLUGIN_PORT: docs/settings.md has the names",) == memory.status().troubles


@pytest.mark.parametrize("variables", [{"YIKU_LIMITS": "5"}, {"YIKU_HOEM": "/tmp/elsewhere"}])
def test_the_command_line_names_a_misspelt_variable(home, variables):
    """Each verb ends with 2, and makes no home."""
    for words in (["status"], ["record", "早"], ["check"], ["repair"], ["config"]):
        ran = commands.run(*words, HOME=str(home), **variables)
        assert (2, True) == (ran.code, "did you mean YIKU_" in ran.err), words
    assert not home.exists()


def test_a_file_with_a_byte_order_mark_is_read(place):
    """Some editors begin a file with one."""
    place.settings.write_text("limit = 7\n", encoding="utf-8-sig")

    assert 7 == settings.load(place, {}, {}).limit


@pytest.mark.parametrize("given", ["", None])
def test_an_empty_home_of_the_user_is_none(monkeypatch, tmp_path, given):
    """`HOME=""` is as if it were not set: the user's own folder counts, and never the root of the disk."""
    known = pwd.getpwuid(os.getuid()).pw_dir
    if given is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", given)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    assert Path(known, ".yiku") == settings.home(None, {}).root
    assert Path(known) == Home("~").root
    assert Path(known, ".cache") in prepare.cache().parents
    assert Path(known, "茶") == checks.path("~/茶", "to")


def test_the_home_is_an_argument_or_yiku_home_or_the_default(home, monkeypatch):
    """In this order, with ~ as the user's folder."""
    monkeypatch.setenv("HOME", str(home))

    assert [home / "a", home / "b", home / ".yiku", home / "c"] == [
        settings.home(home / "a", {"YIKU_HOME": "b"}).root,
        settings.home(None, {"YIKU_HOME": str(home / "b")}).root,
        settings.home(None, {}).root,
        settings.home("~/c", {}).root,
    ]


def test_the_scope_is_the_one_named_or_the_owner(place):
    """A scope wins over the owner."""
    assert ["team:x", "user:mei"] == [
        settings.scope(settings.load(place, arguments, {}))
        for arguments in ({"scope": "team:x", "owner": "user:mei"}, {"owner": "user:mei"})
    ]


def test_a_home_that_another_process_makes_meanwhile_has_its_owner(place, monkeypatch):
    """Whoever looked before yiku.toml was there reads it once it is, and takes the home as it was made."""
    load = settings.load

    def overtaken(*arguments):
        found = load(*arguments)
        place.make('owner = "user:first"\n')
        return found

    monkeypatch.setattr(settings, "load", overtaken)
    found, made = settings.opened(place, {}, create=True, environment={})

    assert ("user:first", False) == (found.owner, made)


def test_an_illegal_scope_is_an_invalid_scope(place):
    """Not just a bad setting: its own error, with the grammar."""
    with pytest.raises(InvalidScope, match="without spaces"):
        settings.load(place, {"owner": "Mei Ling"}, {})
