"""
Draw docs/terminal.svg, the picture in the README: `make picture`

Each command below is run in a fresh home on a terminal of its own, and what it printed is what stands in the picture.
A test of the documents runs them again and compares.
"""

import html
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "terminal.svg"
COLUMNS = 98
COMMANDS = [
    'yiku record "I live in Bergen." --said-at 2025-11-03',
    'yiku record "我对青霉素过敏。" --said-at 2025-11-20',
    'yiku record "I moved from Bergen to Oslo last week." --said-at 2026-03-02',
    'yiku recall "Where do I live?" --limit 1',
    'yiku recall "我对什么药过敏？" --limit 1',
    'yiku history "where I live"',
]
THEME = TerminalTheme(
    (24, 27, 32),
    (215, 220, 226),
    [
        (60, 64, 72),
        (224, 108, 117),
        (126, 200, 130),
        (222, 184, 96),
        (97, 160, 232),
        (190, 140, 220),
        (92, 190, 200),
        (215, 220, 226),
    ],
)
# rich's own page, but no font is fetched from elsewhere, and nothing is drawn round the terminal but a plain frame
PAGE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {terminal_width} {height}" role="img" aria-label="yiku in a terminal">
<style>
text {{ font-size: {char_height}px; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#181b20" width="100%" height="100%" rx="10" />
<g transform="translate(12, 22)">
{backgrounds}
{matrix}
</g>
</svg>
"""


def shown(command: str, folder: Path) -> str:
    """What a command prints on a terminal, with the colours it has there."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, COLUMNS))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("YIKU_") and name != "NO_COLOR"}
    environment |= {"HOME": str(folder), "TZ": "UTC", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
    environment.pop("COLUMNS", None)
    arguments = [sys.executable, "-m", "yiku", *shlex.split(command)[1:]]
    with subprocess.Popen(
        arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL
    ):
        os.close(theirs)
        read = b""
        try:
            while chunk := os.read(ours, 65_536):
                read += chunk
        except OSError:  # Linux says so when the other end is closed; macOS reads nothing
            pass
    os.close(ours)
    return read.decode().replace("\r\n", "\n")


def run() -> str:
    """The commands and what they print, one after the other in one home."""
    with tempfile.TemporaryDirectory() as folder:
        return "".join(f"\x1b[1m$ {command}\x1b[0m\n{shown(command, Path(folder))}" for command in COMMANDS)


def picture(printed: str) -> str:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="standard", highlight=False)
        console.print(Text.from_ansi(printed.rstrip("\n")))
        drawn = console.export_svg(theme=THEME, code_format=PAGE, unique_id="yiku")
    return re.sub(r"\s*\n\s*", "\n", drawn)


def text(svg: str) -> list[str]:
    """The lines of a picture as one reads them, each run of spaces as one."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, words in re.findall(r'<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        rows.setdefault(float(y), []).append((float(x), html.unescape(words)))
    return [" ".join(" ".join(words for _, words in sorted(row)).split()) for _, row in sorted(rows.items())]


def plain(printed: str) -> list[str]:
    """Return the lines of printed output, wrapped as a terminal wraps them."""
    return text(picture(printed))


if __name__ == "__main__":
    printed = run()
    assert all(cell_len(line) <= COLUMNS for line in plain(printed))
    PICTURE.write_text(picture(printed), "utf-8")
