"""
Real coding agents against a model on loopback that says what a script says: installed by one command, captured, and told what fits.

    npm --prefix DIR i @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
    CODING_AGENTS=DIR/node_modules/.bin python -m pytest tests/soak/test_agents.py -s

Nothing outside this machine is asked; bench/agents/fake_model.py is the model. Without CODING_AGENTS this file is left out
(conftest.py), so that nothing passes that was not tried; with it, every agent in that folder is tried, and one must be there.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from yiku import Memory

BIN = Path(os.environ["CODING_AGENTS"])
PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini-cli": "gemini", "opencode": "opencode"}
INSTALLED = [agent for agent, program in PROGRAMS.items() if (BIN / program).exists()]
assert INSTALLED, f"no coding agent in {BIN}"
PROMPT = "On which port does the staging server listen?"
FACT, RULE = "The staging server listens on port 4321.", "Always write tests first."
WITHIN_S = 180

_spec = importlib.util.spec_from_file_location("fake_model", Path(__file__).parents[2] / "bench" / "agents" / "fake_model.py")
fake_model = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fake_model)


def configure(agent, person, url):
    """What a person would have in the agent's configuration: here, where the model is."""
    files = {
        "codex": (
            ".codex/config.toml",
            'model = "fake"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
            f'base_url = "{url}/v1"\nwire_api = "responses"\n',
        ),
        "gemini-cli": (
            ".gemini/settings.json",
            '{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}}',
        ),
        "opencode": (
            ".config/opencode/opencode.json",
            json.dumps(
                {
                    "model": "fake/m",
                    "provider": {
                        "fake": {
                            "npm": "@ai-sdk/openai-compatible",
                            "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
                            "models": {"m": {}},
                        }
                    },
                }
            ),
        ),
    }
    if agent in files:
        name, text = files[agent]
        (person / name).parent.mkdir(parents=True, exist_ok=True)
        (person / name).write_text(text)


def command(agent, url):
    """The command of one turn, and its environment."""
    program = str(BIN / PROGRAMS[agent])
    match agent:
        case "claude-code":
            words = [program, "-p", PROMPT, "--allowedTools", "mcp__yiku__memory_search"]
            more = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", "ENABLE_TOOL_SEARCH": "false"}
            return words, {**more, "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        case "codex":
            bypass = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]
            return [program, "exec", "--json", "--skip-git-repo-check", "-c", "mcp_servers.yiku.required=true", *bypass, PROMPT], {}
        case "gemini-cli":
            words = [program, "-p", PROMPT, "--yolo", "--output-format", "json"]
            return words, {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url}
        case _:
            return [program, "run", PROMPT], {}


@pytest.mark.parametrize("agent", INSTALLED)
def test_R34_an_agent_remembers(tmp_path, agent):
    """The tool is listed and called, the block is in the prompt once and fenced, the turn is captured and the block is not."""
    home = tmp_path / "memory"
    (work := tmp_path / "work").mkdir()
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "YIKU_HOME": str(home), "TERM": "dumb"}
    with Memory(home, owner="user:mei") as memory:
        memory.remember(FACT)
        memory.remember(RULE, kind="rule")
    with fake_model.FakeModel("staging server port") as model:
        configure(agent, tmp_path, model.url)
        subprocess.run([sys.executable, "-m", "yiku", "install", agent], env=environment, check=True, timeout=60)
        words, more = command(agent, model.url)
        done = subprocess.run(
            words, env=environment | more, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, timeout=WITHIN_S, check=False
        )
    assert 0 == done.returncode, done.stderr.decode()[-2_000:]
    asked = [body for _, body in model.requests if "memory_search" in json.dumps(body.get("tools"))]
    first, last = (json.dumps(body, ensure_ascii=False) for body in (asked[0], asked[-1]))
    assert 1 == first.count(FACT) == first.count(RULE), "brought in once"
    assert "yiku-memory seal=" in first[: first.index(FACT)] and "/yiku-memory" in first[first.index(FACT) :]
    assert 2 <= last.count(FACT), "the result of the tool came back"

    with Memory(home) as memory:
        memory.admin.ingest()
        turns = memory.search_traces(limit=100)
    said = [turn for turn in turns if turn.role == "user"]
    assert [PROMPT] == [turn.content.strip().strip(chr(34)) for turn in said]  # OpenCode quotes words of its command line
    assert fake_model.REPLY in [turn.content.strip() for turn in turns if turn.role == "assistant"]
    assert [] == [turn for turn in turns if "4321" in f"{turn.content}{turn.tool_results}"]
    assert [True] == [any(call["name"].endswith("memory_search") for turn in turns for call in turn.tool_calls)]
