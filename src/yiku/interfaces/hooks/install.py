"""
Install Yiku into a coding agent and uninstall it: its MCP server and its hooks.

A plan says what every file holds before and after; nothing is written before all files could be read and parsed. What is ours is
recognized by its command, so a second installation changes nothing, one of another version replaces the first, and an
uninstallation leaves everything else. `agents.json` in the home lists what was installed where.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from yiku.errors import InvalidInput, UnreadableConfig
from yiku.files.vault import content_of, write_atomically
from yiku.interfaces import hooks
from yiku.interfaces.hooks import config_files
from yiku.interfaces.hooks.agents import AGENTS, Agent, ConfigFile, Where
from yiku.interfaces.hooks.config_files import SERVER, FileChange

MANIFEST = "agents.json"
_OURS = re.compile(r"yiku/interfaces/hooks/__main__\.py|(?:^|[\s/'\"])yiku(?:['\"])? hook ")


@dataclass(frozen=True, slots=True)
class Installation:
    """
    What is to be installed where.

    home, scope: that hooks and server are told, where they are not the usual ones
    folder:      of the project
    """

    agent: Agent
    where: Where = "user"
    folder: Path = field(default_factory=Path.cwd)
    home: str | None = None
    scope: str | None = None

    def options(self) -> list[str]:
        """The options of the commands."""
        return [*(["--home", self.home] if self.home else []), *(["--scope", self.scope] if self.scope else [])]

    def server(self) -> list[str]:
        """The command of the MCP server; by its path for one user, since agents have other paths than a shell."""
        script = Path(sys.executable).with_name("yiku")
        command = ["yiku"] if self.where == "project" else [str(script)] if script.exists() else [sys.executable, "-m", "yiku"]
        return [*command, "mcp", *self.options()]

    def hook(self, event: str) -> str:
        """The command of a hook. It ends well even if Yiku is gone: an exit code of 2 would stop the agent."""
        launcher = Path(hooks.__file__).with_name("__main__.py")
        fast = [sys.executable, "-E", "-P", "-S", str(launcher)]
        command = ["yiku", "hook"] if self.where == "project" else fast
        return f"{shlex.join([*command, event, '--agent', self.agent.name, *self.options()])} || true"


def agent(name: str) -> Agent:
    """The agent of a name. Raises InvalidInput."""
    known = {"claude": "claude-code", "gemini": "gemini-cli"}
    if (found := AGENTS.get(known.get(name, name))) is None:
        raise InvalidInput(f"there is no agent {name[:40]!r}; known are {', '.join(AGENTS)}")
    return found


# ------------------------------------------------------------------ plans


def plan(wanted: Installation) -> list[FileChange]:
    """What an installation changes. Raises UnreadableConfig, InvalidInput."""
    for word in (*wanted.server(), wanted.hook("prompt")):
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(f"{word} cannot be written in a configuration: a name in it is not UTF-8") from error
    return [_changed(file, wanted) for file in wanted.agent.files(wanted.where, wanted.folder)]


def plan_removal(wanted: Installation) -> list[FileChange]:
    """What an uninstallation changes. Raises UnreadableConfig."""
    found = []
    for file in wanted.agent.files(wanted.where, wanted.folder):
        before = config_files.read(file.path)
        found.append(FileChange(file.path, before, None if before is None else _removed(file, wanted.agent, before)))
    return found


def _changed(file: ConfigFile, wanted: Installation) -> FileChange:
    before = config_files.read(file.path)
    match file.form:
        case "plugin":
            return FileChange(file.path, before, _plugin(wanted).encode())
        case "toml":
            _refuse_other_server(file.path, config_files.parse_toml(file.path, before).get(config_files.SERVERS))
            command, *arguments = wanted.server()
            return FileChange(
                file.path, before, config_files.with_table(file.path, before or b"", {"command": command, "args": arguments})
            )
        case "json":
            config = given = config_files.parse_json(file.path, before)
            if "server" in file.holds:
                servers = _object(file.path, given, wanted.agent.servers)
                _refuse_other_server(file.path, servers)
                entry = _server_entry(wanted, servers.get(SERVER, {}))
                config = {**config, wanted.agent.servers: {**servers, SERVER: entry}}
            if "hooks" in file.holds:
                config = {**config, "hooks": _with_hooks(file.path, _object(file.path, given, "hooks"), wanted)}
            return FileChange(file.path, before, before if config == given else config_files.write_json(config, before))


def _server_entry(wanted: Installation, there: Mapping[str, Any]) -> dict[str, Any]:
    """Our server, with what somebody has added to its entry since (`env`, `enabled`)."""
    command, *arguments = wanted.server()
    if wanted.agent.name == "opencode":
        return {"type": "local", "enabled": True, **there, "command": [command, *arguments]}
    kind = {"type": "stdio"} if wanted.agent.name == "claude-code" else {}
    return {**kind, **there, "command": command, "args": arguments}


def _with_hooks(path: Path, config: Mapping[str, Any], wanted: Installation) -> dict[str, Any]:
    found = _foreign_hooks(config)
    for event, ours in wanted.agent.events.items():
        groups = found.get(event, [])
        if not isinstance(groups, list):
            raise UnreadableConfig(f"{path}: hooks.{event} is not a list")
        name = {"name": SERVER} if wanted.agent.name == "gemini-cli" else {}
        entry = {**name, "type": "command", "command": wanted.hook(ours), "timeout": wanted.agent.timeout}
        group = {**({"matcher": "*"} if ours == "tool" else {}), "hooks": [entry]}
        there = config.get(event, [])
        found[event] = there if [one for one in there if one not in groups] == [group] else [*groups, group]
    return found


def _plugin(wanted: Installation) -> str:
    text = resources(hooks).joinpath("opencode.js").read_text("utf-8")
    commands = {event: wanted.hook(event) for event in ("prompt", "delegate", "tool", "reply", "compress", "end")}
    return text.replace("/* COMMANDS */ {}", json.dumps(commands, indent=2))


def _object(path: Path, config: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = config.get(key, {})
    if not isinstance(found, dict):
        raise UnreadableConfig(f"{path}: {key} is not an object")
    return found


def _refuse_other_server(path: Path, servers: Any) -> None:
    """Refuse to replace a server of somebody else's that has our name."""
    if isinstance(servers, dict) and SERVER in servers and not _is_ours(servers[SERVER]):
        raise InvalidInput(f"{path} has another MCP server named {SERVER}: rename or remove it")


# ------------------------------------------------------------------ what is ours


def _is_ours(entry: Any) -> bool:
    """Whether a server entry starts Yiku."""
    if not isinstance(entry, dict):
        return False
    command = entry.get("command")
    arguments = entry.get("args")
    words = command if isinstance(command, list) else [command, *(arguments if isinstance(arguments, list) else [])]
    texts = [word for word in words if isinstance(word, str)]
    return "mcp" in texts and bool(texts) and (Path(texts[0]).name == "yiku" or texts[1:3] == ["-m", "yiku"])


def _without_ours(file: ConfigFile, agent: Agent, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without what is ours, nor what is empty since."""
    left = dict(config)
    if "server" in file.holds and isinstance(servers := left.get(agent.servers), dict) and _is_ours(servers.get(SERVER)):
        left = _put(left, agent.servers, {name: entry for name, entry in servers.items() if name != SERVER})
    if "hooks" in file.holds and isinstance(found := left.get("hooks"), dict):
        kept = _foreign_hooks(found)
        left = left if kept == found else _put(left, "hooks", kept)
    return left


def _put(config: Mapping[str, Any], key: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if name == key else entry for name, entry in config.items() if name != key or value}


def _foreign_hooks(found: Mapping[str, Any]) -> dict[str, Any]:
    """The hooks of others, without events that are empty since."""
    cleaned = {event: _foreign(groups) for event, groups in found.items()}
    return {event: groups for event, groups in cleaned.items() if groups or not found[event]}


def _foreign(groups: Any) -> Any:
    """The hooks of others in the groups of an event."""
    if not isinstance(groups, list):
        return groups
    found = []
    for group in groups:
        entries = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(entries, list) or not any(map(_is_our_hook, entries)):
            found.append(group)
        elif others := [entry for entry in entries if not _is_our_hook(entry)]:
            found.append({**group, "hooks": others})
    return found


def _is_our_hook(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and _OURS.search(command) is not None


def _removed(file: ConfigFile, agent: Agent, before: bytes) -> bytes | None:
    """A file without what is ours; as it was before the installation, where nothing else has changed since."""
    backup = config_files.backup_of(file.path)
    match file.form:
        case "plugin":
            return None
        case "toml":
            if not _is_ours(config_files.server(config_files.parse_toml(file.path, before))):
                return before
            after = config_files.without_table(file.path, before)
            same = backup is not None and config_files.parse_toml(file.path, backup) == config_files.parse_toml(file.path, after)
            return backup if same else after if after.strip() else None
        case "json":
            given = config_files.parse_json(file.path, before)
            left = _without_ours(file, agent, given)
            if left == given:
                return before
            if backup is not None and config_files.parse_json(file.path, backup) == left:
                return backup
            return config_files.write_json(left, before) if left else None


# ------------------------------------------------------------------ doing it


def carry_out(changes: Sequence[FileChange], *, keep_backup: bool) -> list[Path]:
    """Make changes; the copies that were kept."""
    kept = [config_files.apply(change, keep_backup=keep_backup) for change in changes if change.changes]
    if not keep_backup:
        for change in changes:
            if change.after is None or change.after == config_files.backup_of(change.path):
                config_files.drop_backup(change.path)
    return [path for path in kept if path is not None]


def manifest(home: Path) -> list[dict[str, Any]]:
    """What was installed from this home; nothing where the list cannot be read."""
    with suppress(OSError, ValueError, AttributeError):
        found = json.loads(content_of(home / MANIFEST)).get("installed")
        return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    return []


def note(home: Path, wanted: Installation, paths: Sequence[Path] | None) -> None:
    """Note in the home what was installed where; None takes an installation out."""
    place = str(wanted.folder) if wanted.where == "project" else None
    key = (wanted.agent.name, wanted.where, place)
    entries = [one for one in manifest(home) if (one.get("agent"), one.get("where"), one.get("folder")) != key]
    if paths is not None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entries.append({"agent": key[0], "where": key[1], "folder": place, "files": [*map(str, paths)], "at": now})
    write_atomically(home / MANIFEST, (json.dumps({"yiku": 1, "installed": entries}, indent=2) + "\n").encode())
