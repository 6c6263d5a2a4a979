"""Every setting comes from an argument, then YIKU_*, then yiku.toml, then the default; and says from where."""

import pytest

from yiku import settings
from yiku.errors import InvalidScope, SettingsError
from yiku.files.vault import Home


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
    "project": ("阿特拉斯", "b", "c"),
    "actor": ("a", "b", "c"),
    "language": ("en", "zh", "auto"),
    "secrets": ("keep", "mask", "keep"),
    "private_folders": (("/a", "~/b"), "/c, ~/日记 ,", ["/e"]),
    "backups": ("off", "nightly", "off"),
    "durability": ("full", "fast", "full"),
    "busy_timeout_s": (1, "2.5", 3),
    "limit": (1, "2", 3),
    "context_tokens": (100, "200", 300),
}
EXPECTED = {
    "reads": ("c", "d"),
    "names": ("Mei Ling", "梅"),
    "private_folders": ("/c", "~/日记"),
    "busy_timeout_s": 2.5,
    "limit": 2,
    "context_tokens": 200,
}


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

    file_value = tuple(in_file) if isinstance(in_file, list) else in_file
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
        ("reads", ["A"], "names of scopes"),
        ("reads", [*"abcdefg"], "at most 6"),
        ("names", [""], "a list of names"),
        ("agent", 5, "must be text, not 5"),
        ("actor", b"x", "type bytes"),
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


@pytest.mark.parametrize("content", ["limit = ", "= 5", "[limit", "limit = 5\nlimit = 6", b"owner = '\xff'"])
def test_a_broken_file_is_named(place, content):
    """Its path and what is wrong."""
    place.settings.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SettingsError, match=r"yiku\.toml cannot be read"):
        settings.load(place, {}, {})


@pytest.mark.parametrize("name", ["durabilty", "home", "origins", "限制"])
def test_an_unknown_setting_is_named(place, name):
    """In the file and as an argument: nothing is passed over in silence, and the known ones are listed."""
    with pytest.raises(SettingsError, match=f"{name}; known are actor, agent"):
        settings.load(place, {name: "x"}, {})
    place.settings.write_text(f'"{name}" = "x"', encoding="utf-8")
    with pytest.raises(SettingsError, match=f"has {name}; known are actor, agent"):
        settings.load(place, {}, {})


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


def test_an_illegal_scope_is_an_invalid_scope(place):
    """Not just a bad setting: its own error, with the grammar."""
    with pytest.raises(InvalidScope, match="begins with a letter or digit"):
        settings.load(place, {"owner": "Mei"}, {})
