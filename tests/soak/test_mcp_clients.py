"""
Other programs' clients against the MCP server: the protocol's conformance scenarios, the Inspector, and mcporter.

    npm --prefix DIR i node@24 @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 mcporter
    MCP_CLIENTS=DIR/node_modules python -m pytest tests/soak/test_mcp_clients.py -s

They need Node 22.19 or newer, which the first package brings. Without MCP_CLIENTS this file is left out (conftest.py).
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from soak.token_proxy import token_proxy

from yiku import Memory
from yiku.interfaces.tools import Tools

MODULES = Path(os.environ["MCP_CLIENTS"]).resolve()
BIN = Path(sys.executable).parent
WITHIN_S = 120
OLD, NEW = "2025-11-25", "2026-07-28"
BOTH = "tools-list tools-call-error resources-list prompts-list dns-rebinding-protection server-sse-multiple-streams".split()
SCENARIOS = [
    *((name, version) for version in (OLD, NEW) for name in BOTH),
    *((name, OLD) for name in ("server-initialize", "ping", "server-session-lifecycle")),
    *((name, NEW) for name in ("sep-2164-resource-not-found", "caching", "http-header-validation", "server-stateless")),
]
NEED_A_TOOL = {  # of the test's own server, to be tried at all
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
}
FACT = "The staging server listens on port 4321. 测试服务器监听 4321 端口。"


def environment(home: Path) -> dict[str, str]:
    path = [BIN, MODULES / "node" / "bin", MODULES / ".bin", "/usr/bin", "/bin"]
    return {"PATH": ":".join(map(str, path)), "HOME": str(home.parent), "YIKU_HOME": str(home), "NO_COLOR": "1"}


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, env=environment(home), cwd=home.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=WITHIN_S, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("clients") / "memory"
    with Memory(home, owner="user:mei") as memory:
        memory.remember(FACT)
    return home


@pytest.fixture(scope="module")
def port(known: Path):
    """A server over HTTP, behind a proxy that has its token."""
    token = run(known, "yiku", "mcp", "--token").stdout.strip()
    with subprocess.Popen(["yiku", "mcp", "--http", "--port", "0"], env=environment(known), stderr=subprocess.PIPE) as server:
        for line in server.stderr:
            if found := re.search(rb"127\.0\.0\.1:(\d+)", line):
                break
        with token_proxy(int(found[1]), token) as here:
            yield here
        server.terminate()


@pytest.mark.parametrize(("name", "version"), SCENARIOS)
def test_R35_the_scenarios_of_the_protocol(known, tmp_path, port, name, version):
    """Each check passes; of one scenario two checks need a tool that only the test's own server has."""
    url = f"http://127.0.0.1:{port}/mcp"
    done = run(known, "conformance", "server", "--url", url, "--scenario", name, "--spec-version", version, "-o", str(tmp_path))
    (file,) = tmp_path.rglob("checks.json")
    checks = json.loads(file.read_text())
    failed = {check["id"] for check in checks if check["status"] not in ("SUCCESS", "INFO", "SKIPPED")}

    assert failed == (NEED_A_TOOL if name == "server-stateless" else set()), done.stdout[-3_000:]
    assert [check for check in checks if check["status"] == "SUCCESS"]


def inspector(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(home, "mcp-inspector", "--cli", *words, "-e", f"YIKU_HOME={home}", "--", "yiku", "mcp")


def test_R35_the_inspector_lists_and_calls_every_tool(known):
    """Every schema is portable (`--strict`), and each tool answers with what it promised."""
    listed = inspector(known, "--method", "tools/list", "--strict")
    assert 0 == listed.returncode, listed.stderr
    assert {tool["name"] for tool in Tools(learning=True).mcp()} == {*re.findall(r'"name": ?"(memory_\w+)"', listed.stdout)}

    with Memory(known) as memory:
        (kept,) = memory.get_all(where={"state": "active"})
        memory.record_turn("user", "The lamp is in the north room.", session="s1")
    given = {
        "memory_search": ["query=staging port"],
        "memory_get": [f"id={kept.id}"],
        "memory_add": ["text=The chair is in the south room."],
        "memory_update": [f"id={kept.id}", 'tags=["port"]'],
        "memory_traces": ["query=lamp"],
        "memory_learn": [],
        "memory_learned": ["excerpt=none", "statements=[]"],
        "memory_list": [],
        "memory_timeline": [],
        "memory_status": [],
    }
    assert {"memory_delete", *given} == {tool["name"] for tool in Tools(learning=True).mcp()}
    for name, arguments in [*given.items(), ("memory_delete", [f"id={kept.id}"])]:
        each = [word for one in arguments for word in ("--tool-arg", one)]
        done = inspector(known, "--method", "tools/call", "--tool-name", name, *each, "--format", "json")
        result = json.loads(done.stdout)["result"]
        assert (name == "memory_learned") == bool(result.get("isError")), (name, result)  # there is no such excerpt
        if not result.get("isError"):
            assert result["structuredContent"]
    with Memory(known) as memory:
        assert kept.id not in {one.id for one in memory.get_all(where={"state": "active"})}
        assert FACT not in memory.recall("staging port").text


def test_R35_a_second_client_lists_and_calls(known):
    """mcporter: the same tools, and an answer."""
    listed = run(known, "mcporter", "list", "--stdio", "yiku mcp", "--env", f"YIKU_HOME={known}", "--schema")
    assert 0 == listed.returncode, listed.stderr
    assert all(tool["name"] in listed.stdout for tool in Tools(learning=True).mcp())

    found = run(known, "mcporter", "call", "--stdio", "yiku mcp", "--env", f"YIKU_HOME={known}", "memory_search", "query=chair")
    assert "south room" in found.stdout, found
