"""
Settings resolution: arguments, then YIKU_*, then yiku.toml, then defaults.

The only reader of the three. A value that Yiku does not know, a key in yiku.toml, or a YIKU_ variable that is a
setting misspelt, is an error that names it; other variables that begin so are named by `yiku status` and
`yiku config`. Nothing is passed over in silence. docs/settings.md has a line for each.
"""

from __future__ import annotations

import getpass
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from yiku.errors import HomeMissing, InvalidInput, InvalidScope, ScopeRequired, SettingsError, StoreMismatch
from yiku.files.vault import Home, content_of
from yiku.flows.common import checks, pause
from yiku.flows.common.checks import shown
from yiku.rules.privacy import scopes
from yiku.types import Secret, Settings

DEFAULT_HOME = "~/.yiku"
DEFAULTS: Mapping[str, Any] = {
    f.name: f.default for f in fields(Settings) if f.name not in ("home", "origins", "unknown_variables")
}
_CHOICES = {
    "language": ("en", "zh", "auto"),
    "durability": ("full", "fast"),
    "secrets": ("mask", "keep"),
    "backups": ("nightly", "off"),
    "nights": ("auto", "off"),
    "search": ("auto", "words", "local", "api"),
    "rerank": ("off", "api"),
    "local_vocab": ("en+zh", "full"),
    "learn": ("at_once", "later", "off"),
    "transcripts": ("on", "off"),
    "auto_recall": ("off", "gated", "always"),
}
_BOUNDS = {
    "limit": (1, 10_000),
    "context_tokens": (50, 100_000),
    "prompt_tokens": (50, 100_000),
    "busy_timeout_s": (0.0, 3600.0),
    "embed_dimensions": (1, 16_384),
    "embed_batch": (1, 2_048),
    "embed_timeout_s": (0.1, 3600.0),
    "rerank_timeout_s": (0.1, 3600.0),
    "chat_timeout_s": (0.1, 3600.0),
    "chat_max_tokens": (64, 131_072),
    "learn_calls": (0, 1_000),
    "transcript_days": (1, 36_500),
    "daily_days": (0, 36_500),
    "watch_debounce_s": (0.05, 60.0),
}
MISSPELT = 0.75  # how much of a name agrees with a setting, of 1, to be taken for it misspelt (difflib)
_ADDRESSES = ("embed_url", "rerank_url", "chat_url")
_KEYS = ("embed_key", "rerank_key", "chat_key")
_PREFIXES = ("embed_query_prefix", "embed_passage_prefix")  # a space at their end belongs to them
_LISTS = ("reads", "names", "private_folders", "vaults")


def home(path: str | os.PathLike[str] | None, environment: Mapping[str, str] | None = None) -> Home:
    """Return the home of an argument, YIKU_HOME or the default."""
    environment = os.environ if environment is None else environment
    if path is not None:
        return Home(path, "argument")
    if not (named := environment.get("YIKU_HOME")):
        _unknown_variables(environment)  # else one that means it would lead to another home
    return Home(named, "YIKU_HOME") if named else Home(DEFAULT_HOME, "default")


def opened(
    place: Home, arguments: Mapping[str, Any], *, create: bool, environment: Mapping[str, str] | None = None
) -> tuple[Settings, bool]:
    """
    Load a home's settings; return them and whether the home was just created.

    Raises HomeMissing without `create`, and SettingsError before anything is made; StoreMismatch where the home
    remains and its database is gone: an empty one in its place would look as if nothing had ever been said.
    """
    existed = place.exists()  # looked at first: what another process writes meanwhile is loaded below
    settings = load(place, arguments, environment)
    if (lost := place.lost()) is not None:
        raise StoreMismatch(lost)
    if existed:
        place.prepare()
        return settings, False
    if not create:
        raise HomeMissing(str(place.root))
    name = settings.owner or f"user:{scopes.from_login(_login()) or 'me'}"
    made = place.make(
        f'# The settings of this home; `yiku config` shows them all, docs/settings.md says what each does.\nowner = "{name}"\n'
    )
    return load(place, arguments, environment), made


def load(place: Home, arguments: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Settings:
    """Load the settings of a home. Raises SettingsError, naming the setting and its place."""
    environment = os.environ if environment is None else environment
    if unknown := sorted(set(arguments) - set(DEFAULTS)):
        raise SettingsError(f"there is no setting {_unknown(unknown)}")
    unknown_variables = _unknown_variables(environment)
    file = _file(place.settings)
    values: dict[str, Any] = {}
    origins = {"home": place.origin}
    for name, default in DEFAULTS.items():
        variable = f"YIKU_{name.upper()}"
        if arguments.get(name) is not None:
            values[name], origins[name] = _checked(name, arguments[name], "argument"), "argument"
        elif environment.get(variable):
            values[name], origins[name] = _checked(name, _typed(name, environment[variable]), variable), variable
        elif name in file:
            values[name], origins[name] = _checked(name, file[name], str(place.settings)), "yiku.toml"
        else:
            values[name], origins[name] = default, "default"
    return Settings(home=str(place.root), origins=origins, unknown_variables=unknown_variables, **values)


def of_arguments(arguments: Mapping[str, Any]) -> Settings:
    """Return settings that arguments alone give, of no home. Raises SettingsError."""
    if unknown := sorted(set(arguments) - set(DEFAULTS)):
        raise SettingsError(f"there is no setting {_unknown(unknown)}")
    given = {name: _checked(name, value, "argument") for name, value in arguments.items() if value is not None}
    return Settings(home="", **given)


def scope(settings: Settings) -> str:
    """Return the scope that these settings write. Raises ScopeRequired."""
    name = settings.scope or settings.owner
    if name is None:
        raise ScopeRequired(settings.home)
    return name


def switched_off(settings: Settings, folder: str | os.PathLike[str]) -> str | None:
    """Return what keeps a folder out of memory: an entry of `private_folders`, or a `.yiku-off` file."""
    return pause.switched_off(os.fspath(folder), settings.private_folders)


def backup_due(place: Home) -> bool:
    """Tell whether a nightly backup is due and quick."""
    from yiku.flows.home import backup

    return backup.quick_backup_due(place) and load(place, {}).backups != "off"


def _file(path: Path) -> Mapping[str, Any]:
    try:
        found = tomllib.loads(content_of(path).decode("utf-8-sig"))  # an editor may have put a BOM before it
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    if unknown := sorted(set(found) - set(DEFAULTS)):
        raise SettingsError(f"{path} has {_unknown(unknown)}")
    return found


def _unknown(names: Sequence[str]) -> str:
    """Describe unknown settings, with suggestions."""
    meant = [near for name in names if (near := _nearest(name, DEFAULTS)) is not None]
    return f"{', '.join(names)}{_did_you_mean(meant)}; known are {', '.join(sorted(DEFAULTS))}"


def _unknown_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return unknown YIKU_* variables. Raises SettingsError for a likely misspelling."""
    known = {"YIKU_HOME", *(f"YIKU_{name.upper()}" for name in DEFAULTS)}
    unknown = [name for name in environment if name.startswith("YIKU_") and environment[name] and name not in known]
    misspelt = {name: near for name in sorted(unknown) if (near := _nearest(name, known)) is not None}
    if misspelt:
        raise SettingsError(f"no setting is read from {', '.join(misspelt)}{_did_you_mean([*misspelt.values()])}")
    return tuple(sorted(unknown))


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant."""
    import difflib  # only a mistake needs it

    plain = {one.casefold().removeprefix("yiku_").replace("_", ""): one for one in known}
    near = difflib.get_close_matches(name.casefold().removeprefix("yiku_").replace("_", ""), plain, 1, MISSPELT)
    return plain[near[0]] if near else None


def _did_you_mean(names: Sequence[str]) -> str:
    return f" (did you mean {', '.join(names)}?)" if names else ""


def _typed(name: str, text: str) -> Any:
    """Convert an environment variable to the setting's type."""
    if name in _LISTS:
        return [part.strip() for part in text.split(",") if part.strip()]
    if name in _BOUNDS:
        try:
            return type(_BOUNDS[name][0])(text)
        except ValueError:
            return text
    return text


def _checked(name: str, value: Any, place: str) -> Any:
    if name in ("owner", "scope"):
        if not scopes.is_valid(value):
            raise InvalidScope(
                f"{name} {shown(value)} is not valid" if place == "argument" else f"{place}: {name} = {shown(value)}"
            )
        return value
    if name in _KEYS:
        return _key(name, value, place)
    if name in _LISTS:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) and item.strip() for item in items):
            raise SettingsError(f"{place}: {name} must be a list of names")
        if name == "reads" and (len(items) > scopes.READS_AT_MOST or not all(map(scopes.is_valid, items))):
            raise SettingsError(f"{place}: reads must be at most {scopes.READS_AT_MOST} names of scopes")
        if name == "vaults" and not all(map(scopes.is_valid, items)):
            raise SettingsError(f"{place}: vaults must be names of scopes")
        if name == "private_folders" and not all(item.startswith(("/", "~")) for item in items):
            raise SettingsError(f"{place}: private_folders must be whole paths, from / or ~")
        return tuple(_line(name, item, place) for item in items)
    if name in _BOUNDS:
        low, high = _BOUNDS[name]
        whole = isinstance(low, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not low <= value <= high:
            sort = "whole number" if whole else "number"
            raise SettingsError(f"{place}: {name} must be a {sort} from {low} to {high}, not {shown(value)}")
        return type(low)(value)
    if not isinstance(value, str) or (name in _CHOICES and value not in _CHOICES[name]):
        wanted = f"one of {', '.join(_CHOICES[name])}" if name in _CHOICES else "text"
        raise SettingsError(f"{place}: {name} must be {wanted}, not {shown(value)}")
    if name in _ADDRESSES:
        return _address(name, value, place)
    if name in _PREFIXES:
        return value[: len(value) - len(value.lstrip())] + _line(name, value, place) + value[len(value.rstrip()) :]
    return _line(name, value, place)


def _key(name: str, value: object, place: str) -> Secret:
    """Check an API key, never quoting it."""
    text = value.reveal() if isinstance(value, Secret) else value
    if not isinstance(text, str) or not text.strip() or not (text.isascii() and text.strip().isprintable()):
        raise SettingsError(f"{place}: {name} must be a key, as text on one line")
    return value if isinstance(value, Secret) else Secret(text.strip())


def _address(name: str, value: str, place: str) -> str:
    """Check an endpoint's address; it is shown, so it may contain no secret."""
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound or not value.isascii() or not value.isprintable() or " " in value:
        raise SettingsError(f"{place}: {name} must be an address, http://… or https://…")
    if "@" in parts.netloc or parts.query or parts.fragment:
        key = name.replace("url", "key")
        raise SettingsError(f"{place}: {name} must not contain a password, or anything after ? or #; put a key into {key}")
    return value


def _line(name: str, value: str, place: str) -> str:
    """Check a text: one line, no lone surrogates."""
    try:
        return checks.name(value, name)
    except InvalidInput as error:
        raise SettingsError(f"{place}: {error.detail}") from error


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "me"
