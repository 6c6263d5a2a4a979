"""
Shell completion of option values: closed sets, and names from the home.

Loaded only when a shell asks. A closed set opens nothing; sessions, scopes and backups open the home, if there is one,
and an error completes to nothing: a shell has nowhere to show it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from yiku.errors import YikuError
from yiku.types import Cardinality, Kind, Origin, Settings, Standing

if TYPE_CHECKING:
    from yiku.memory import Memory

SESSIONS_AT_MOST = 200  # the newest
_WORD = re.compile(r"[^\s\x00-\x1f\x7f'\"`$\\]+")  # what a shell takes as one word, as it stands
FORMATS = tuple(
    "chatgpt claude claude-code codex gemini-cli jsonl mem0 notes opencode server-memory specstory yiku".split()
)  # of `yiku import`
CLOSED: dict[str, tuple[str, ...]] = {
    "kind": tuple(Kind),
    "standing": tuple(Standing),
    "cardinality": tuple(Cardinality),
    "origin": tuple(Origin),
    "role": ("user", "assistant", "system", "tool"),
    "type": ("memory", "turn", "episode", "attachment", "note"),
    "access": ("retrieved", "used", "mentioned"),
    "shell": ("bash", "zsh", "fish"),
    "strategy": ("auto", "model", "rules"),
    "auto_recall": ("off", "gated", "always"),
}


def _settings() -> Iterable[str]:
    return (field.name for field in fields(Settings) if field.name not in ("origins", "unknown_variables"))


def _agents() -> Iterable[str]:
    from yiku.interfaces.hooks.agents import AGENTS

    return AGENTS


def _sessions(memory: Memory) -> Iterable[str]:
    return (one.id for one in memory.sessions.get_all(limit=SESSIONS_AT_MOST))


def _scopes(memory: Memory) -> Iterable[str]:
    from yiku.maintenance import scope_names

    return scope_names(memory)


def _backups(memory: Memory) -> Iterable[str]:
    return (one.name for one in memory.admin.backups())


LISTED: dict[tuple[str, str], Callable[[], Iterable[str]]] = {
    ("import", "source"): lambda: FORMATS,
    ("export", "file"): lambda: ("markdown",),
    ("config", "names"): _settings,
    ("install", "agent"): _agents,
    ("uninstall", "agent"): _agents,
}
HELD: dict[str, Callable[[Memory], Iterable[str]]] = {
    "session": _sessions,
    "scope": _scopes,
    "as_": _scopes,
    "restore-backup name": _backups,
}


def offering(verb: str, name: str, hint: Any) -> Any:
    """Add completion to a parameter's hint, if its values are known."""
    names_of = HELD.get(f"{verb} {name}") or HELD.get(name)
    listed = LISTED.get((verb, name)) or (CLOSED.get(name) and (lambda: CLOSED[name]))
    if get_origin(hint) is not Annotated or not (names_of or listed):
        return hint

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        found = listed() if listed else _from_home(ctx, names_of) if names_of else ()
        return [word for word in found if word.startswith(incomplete) and _WORD.fullmatch(word)]

    kind, info = get_args(hint)
    info = copy.copy(info)
    info.autocompletion = complete
    return Annotated[kind, info]


def _from_home(ctx: typer.Context, names_of: Callable[[Memory], Iterable[str]]) -> list[str]:
    """Return names from the home, without creating one."""
    from yiku.memory import Memory

    before = ctx.parent.params if ctx.parent is not None else {}
    home, scope = (ctx.params.get(name) or before.get(name) for name in ("home", "scope"))
    try:
        with Memory(home, scope=scope, create=False) as memory:
            return [*map(str, names_of(memory))]
    except (YikuError, OSError, ValueError):
        return []
