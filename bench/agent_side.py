"""
Time what a coding agent waits for: its hooks, the hook that brings memories in, and the start of the MCP server.

    python bench/agent_side.py [runs]

Whole processes, one after the other, wall time and processor time, each beside what Python alone and `import mcp` take in the same run.
On a busy machine the least of several runs is what comes nearest to a quiet one.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yiku
from yiku import Memory

LAUNCHER = str(Path(yiku.__file__).parent / "interfaces" / "hooks" / "__main__.py")
FAST = [sys.executable, "-E", "-P", "-S"]
MCP = [sys.executable, "-m", "yiku", "mcp"]
PROMPT = {
    "session_id": "s1",
    "cwd": "/",
    "hook_event_name": "UserPromptSubmit",
    "prompt": "On which port does the staging server listen?",
}
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
MESSAGES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": "staging port"}},
    },
]

Times = dict[str, list[float]]


def run(command: list[str], environment: dict[str, str], given: object = None) -> tuple[float, float]:
    """Run a process; its milliseconds, and those of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=json.dumps(given).encode(), capture_output=True, check=True, env=environment)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took * 1_000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1_000


def serve(environment: dict[str, str], during: Callable[[], None] = lambda: None) -> tuple[list[float], float]:
    """Start a server and ask it; milliseconds to each answer, and its memory in MB."""
    began, answered = time.perf_counter(), []
    with subprocess.Popen(
        MCP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{json.dumps(message)}\n" for message in MESSAGES).encode())
        process.stdin.flush()
        while len(answered) < sum("id" in message for message in MESSAGES):
            process.stdout.readline()
            answered.append((time.perf_counter() - began) * 1_000)
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii") if sys.platform == "linux" else "VmRSS: 0 kB"
        during()
        process.stdin.close()
    return answered, int(status.partition("VmRSS:")[2].split()[0]) / 1_024


def measured(runs: int, environment: dict[str, str]) -> tuple[Times, Times, list[float]]:
    """Wall and processor times by what was run, and the memory of each server."""
    wall: Times = {}
    cpu: Times = {}
    memory: list[float] = []

    def note(name: str, command: list[str], given: object = None) -> None:
        took = run(command, environment, given)
        wall.setdefault(name, []).append(took[0])
        cpu.setdefault(name, []).append(took[1])

    def by_socket() -> None:
        note("prompt hook, by the server's socket", [*FAST, LAUNCHER, "prompt", "--agent", "claude-code"], PROMPT)

    for _ in range(runs):
        note("python -c pass", [sys.executable, "-c", "pass"])
        note("python -c 'import mcp'", [sys.executable, "-c", "import mcp"])
        note(
            "capture hook",
            [*FAST, LAUNCHER, "reply", "--agent", "claude-code"],
            {"session_id": "s1", "last_assistant_message": "Yes. " * 200},
        )
        note("prompt hook, on its own", [*FAST, LAUNCHER, "prompt", "--agent", "claude-code"], PROMPT)
        answers, size = serve(environment, by_socket)
        memory.append(size)
        for name, took in zip(("initialize", "tools/list", "memory_search"), answers, strict=True):
            wall.setdefault(f"MCP server, start to {name}", []).append(took)
    return wall, cpu, memory


def main() -> None:
    """Print a line for each."""
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # an installation keeps its bytecode; else each process would compile the sources anew
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder:
        environment: dict[str, Any] = {**os.environ, "YIKU_HOME": f"{folder}/home"}
        with Memory(f"{folder}/home", owner="user:mei") as home:
            home.remember("The staging server listens on port 4321.")
        wall, cpu, memory = measured(runs, environment)
    floor, sdk = sorted(wall["python -c pass"])[runs // 2], sorted(wall["python -c 'import mcp'"])[runs // 2]
    for name, took in wall.items():
        p50, p95 = sorted(took)[runs // 2], sorted(took)[min(runs - 1, int(runs * 0.95))]
        busy = f"CPU {min(cpu[name]):4.0f} to {max(cpu[name]):4.0f} ms" if name in cpu else " " * 19
        of = f"{p50 / floor:5.1f} × python  {p50 / sdk:5.2f} × import mcp"
        print(f"{name:36} least {min(took):5.0f}  p50 {p50:5.0f}  p95 {p95:5.0f} ms  {busy}  {of}")
    print(f"{'MCP server, memory':36} {max(memory):6.0f} MB at most; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
