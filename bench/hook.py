"""
Time the capture hook as agents start it: whole processes, beside the start of Python alone.

    python bench/hook.py [runs]
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yiku

LAUNCHER = str(Path(yiku.__file__).parent / "interfaces" / "hooks" / "__main__.py")
FAST = [sys.executable, "-E", "-P", "-S"]
WAYS = {
    "python, nothing else": [*FAST, "-c", "pass"],
    "the launcher": [*FAST, LAUNCHER, "prompt", "--agent", "claude-code"],
    "python -m yiku hook": [sys.executable, "-m", "yiku", "hook", "prompt", "--agent", "claude-code"],
}
PAYLOAD = json.dumps({"session_id": "s1", "cwd": "/work/atlas", "prompt": "Where do we deploy? 部署到哪里？ " * 20}).encode()


def milliseconds(command: list[str], home: str, runs: int) -> list[float]:
    """The time of each run, sorted."""
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(command, input=PAYLOAD, check=True, env={**os.environ, "YIKU_HOME": home})
        took.append((time.perf_counter() - began) * 1_000)
    return sorted(took)


def main() -> None:
    """Print a line for each way to start it."""
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # an installation keeps its bytecode; else each process would compile the sources anew
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with tempfile.TemporaryDirectory() as home:
        for name, command in WAYS.items():
            took = milliseconds(command, home, runs)
            print(f"{name:24} p50 {took[runs // 2]:6.1f} ms   p95 {took[int(runs * 0.95)]:6.1f} ms   load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
