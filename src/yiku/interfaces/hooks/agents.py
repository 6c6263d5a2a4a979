"""
Table of the supported coding agents: where each keeps its configuration, and which hooks it has.

The paths, events and units are those of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61 and OpenCode 1.18. OpenCode has no hooks but
plugins: ours (opencode.js) starts the same command.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Where = Literal["user", "project"]
Form = Literal["json", "toml", "plugin"]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file of an agent's configuration, and what of ours belongs into it."""

    path: Path
    form: Form
    holds: tuple[Literal["server", "hooks", "plugin"], ...]


@dataclass(frozen=True, slots=True)
class Agent:
    """
    An agent.

    events:   its hooks, and which of ours each starts
    timeout:  of a hook, in the agent's unit
    servers:  the key under which MCP servers stand
    hint:     what one has to do after an installation
    """

    name: str
    title: str
    events: Mapping[str, str] = field(default_factory=dict)
    timeout: int = 10
    servers: str = "mcpServers"
    hint: str = ""

    def files(self, where: Where, folder: Path) -> tuple[ConfigFile, ...]:
        """The files of a user, or of a project in a folder."""
        user = where == "user"
        match self.name:
            case "claude-code":
                given = os.environ.get("CLAUDE_CONFIG_DIR")
                settings = _user(given or "~/.claude") if user else folder / ".claude"
                server = (_user(given) if given else _user("~")) / ".claude.json" if user else folder / ".mcp.json"
                return (ConfigFile(server, "json", ("server",)), ConfigFile(settings / "settings.json", "json", ("hooks",)))
            case "codex":
                base = _user(os.environ.get("CODEX_HOME") or "~/.codex") if user else folder / ".codex"
                return (ConfigFile(base / "config.toml", "toml", ("server",)), ConfigFile(base / "hooks.json", "json", ("hooks",)))
            case "gemini-cli":
                base = (_user(os.environ.get("GEMINI_CLI_HOME") or "~") if user else folder) / ".gemini"
                return (ConfigFile(base / "settings.json", "json", ("server", "hooks")),)
            case _:
                config = _user(os.environ.get("XDG_CONFIG_HOME") or "~/.config") / "opencode"
                server = config / "opencode.json" if user else folder / "opencode.json"
                plugins = config if user else folder / ".opencode"
                return (ConfigFile(server, "json", ("server",)), ConfigFile(plugins / "plugin" / "yiku.js", "plugin", ("plugin",)))


def _user(path: str) -> Path:
    return Path(path).expanduser()


AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "claude-code",
            "Claude Code",
            {
                "SessionStart": "start",
                "UserPromptSubmit": "prompt",
                "PostToolUse": "tool",
                "PreCompact": "compress",
                "PostCompact": "compressed",
                "Stop": "reply",
                "SessionEnd": "end",
            },
            hint="Sessions that run already have to be started again.",
        ),
        Agent(
            "codex",
            "Codex",
            {
                "SessionStart": "start",
                "UserPromptSubmit": "prompt",
                "PostToolUse": "tool",
                "PreCompact": "compress",
                "Stop": "reply",
            },
            hint="Codex asks once whether you trust these hooks; until you do, nothing is captured.",
        ),
        Agent(
            "gemini-cli",
            "Gemini CLI",
            {
                "SessionStart": "start",
                "BeforeAgent": "prompt",
                "AfterTool": "tool",
                "AfterAgent": "reply",
                "SessionEnd": "end",
            },
            timeout=10_000,
            hint="Sessions that run already have to be started again.",
        ),
        Agent("opencode", "OpenCode", servers="mcp", hint="Sessions that run already have to be started again."),
    )
}
