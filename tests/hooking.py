"""Run hooks as agents do, and read what they leave in the inbox of a home."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yiku
from yiku import Memory
from yiku.errors import StoreBusy
from yiku.files import inbox, inbox_append
from yiku.files.vault import Home

LAUNCHER = Path(yiku.__file__).parent / "interfaces" / "hooks" / "__main__.py"
PROMPT = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "I live in Oslo.\n我住在奥斯陆。"}


def run(home, event="prompt", payload=PROMPT, *more, cwd=None, **environment):
    """Run the hook as it is installed: without `site`, from any folder."""
    given = payload if isinstance(payload, bytes) else json.dumps(payload, ensure_ascii=False).encode(errors="backslashreplace")
    return subprocess.run(
        [sys.executable, "-E", "-P", "-S", str(LAUNCHER), event, "--agent", "claude-code", *more],
        input=given,
        capture_output=True,
        timeout=60,
        cwd=cwd,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(Path(home).parent), "YIKU_HOME": str(home), **environment},
    )


def capture(home, hook, agent="claude-code", session="s1", **payload):
    """Append an event in this process."""
    inbox_append.append(str(home), json.dumps({"session_id": session, **payload}).encode(), hook=hook, agent=agent)


def captured(home):
    """What waits in the inbox."""
    return [item for path in inbox.every_file(Home(home)) for item in inbox.events(path)]


# ------------------------------------------------------------------ in processes of their own


def append_or_record(kind, home, session, count):
    """Append so many prompts of a session, or record the inbox so many times; how many turns that made."""
    if kind == "append":
        for number in range(count):
            capture(home, "prompt", session=session, prompt=f"{session} {number}")
        return 0
    return sum(map(record_once, [home] * count))


def record_once(home):
    """Record the inbox, unless another process does."""
    with Memory(home) as memory:
        try:
            return memory.admin.ingest().turns
        except StoreBusy:
            return 0
