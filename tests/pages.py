"""
Extract the code blocks of a documentation page and run them.

A page tells one story: its Python blocks share a namespace, its shell blocks share a shell, and both
share a fresh home. A block ```text right behind a block is what that prints. What differs from run to
run is put aside first: ids, times of the day of the run, milliseconds, the folder of the home.
"""

import contextlib
import io
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import commands

ROOT = Path(__file__).resolve().parent.parent
STORY_ENDS = "2026-06-30"  # the examples say nothing later, so a later date is that of the run
LANGUAGES = {"python", "sh", "text", "toml", "json", ""}
BETWEEN = "\x1e"  # printed by the shell between two blocks

_BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_VARYING = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "‹id›"),
    (re.compile(r"#[0-9a-f]{8}\b"), "#‹id›"),
    (re.compile(r'seal="[0-9a-f]{12}"'), 'seal="‹seal›"'),
    (re.compile(r"\buser:[a-z0-9._@-]+"), "user:‹login›"),
    (re.compile(r"yiku undo \d+"), "yiku undo ‹n›"),
    (re.compile(r"\d+(\.\d+)? ?ms\b"), "‹ms›"),
    (re.compile(r"\d+(\.\d+)? [KM]B\b"), "‹size›"),
]
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?[+-]\d\d:\d\d)?)?")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text and line, and what it prints, if the page says so."""

    language: str
    text: str
    line: int
    output: str | None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = list(_BLOCK.finditer(text))
    following = {match.start(): match[2] for match in found if match[1] == "text"}
    return [Block(match[1], match[2], text.count("\n", 0, match.start()) + 2, following.get(match.end() + 1)) for match in found]


def comparable(text: str, home: Path) -> str:
    """The text without what differs from run to run."""
    text = text.replace(str(home), "~")
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return _TIME.sub(lambda match: match[0] if match[1] <= STORY_ENDS else "‹now›", text).rstrip()


def run_python(page: Path) -> list[tuple[int, str]]:
    """The line of each Python block, and what it printed."""
    namespace: dict[str, object] = {"__name__": page.stem}
    printed = []
    for block in blocks(page):
        if block.language == "python":
            source = "\n" * (block.line - 1) + block.text  # so that an error names the line of the page
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(source, page.name, "exec"), namespace)
            printed.append((block.line, out.getvalue()))
    return printed


def run_shell(page: Path, folder: Path) -> list[tuple[int, str]]:
    """The line of each shell block, and what it printed."""
    found = [block for block in blocks(page) if block.language == "sh"]
    if not found:
        return []
    path = os.pathsep.join([str(commands.on_path(folder / ".bin")), os.environ["PATH"]])
    script = "set -eu\n" + "".join(f"{block.text}\nprintf '{BETWEEN}'\n" for block in found)
    ended = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "YIKU_HOME": str(folder / ".yiku"), "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    printed = ended.stdout.split(BETWEEN)
    assert ended.returncode == 0, f"{page.name}, block at line {found[len(printed) - 1].line}:\n{ended.stderr}"
    return [(block.line, out) for block, out in zip(found, printed, strict=False)]
