"""Print the table of tools of docs/mcp.md from the code; `--write` puts it into the page."""

import sys
from pathlib import Path

from yiku.interfaces.tools import TOOLS, texts
from yiku.interfaces.tools.table import Argument

PAGE = Path(__file__).resolve().parent.parent / "docs" / "mcp.md"
HEAD = "| tool | arguments | what it is for |\n|---|---|---|\n"


def argument(one: Argument) -> str:
    """An argument as the table shows it: bold if it is required, with its default or its choices."""
    name = f"**`{one.name}`**" if one.required else f"`{one.name}`"
    if one.default not in (None, False, 0.0):
        return f"{name} ({one.default:g})"
    return f"{name} ({', '.join(one.choice)})" if one.choice and len(one.choice) < 5 else name


def table() -> str:
    """The table, a row for each tool."""
    phrases = texts.every("en")["tool"]
    rows = [
        f"| `{tool.name}` | {', '.join(map(argument, tool.arguments)) or 'none'} | {texts.named(phrases[tool.name]['description'], {})} |"
        for tool in TOOLS
    ]
    return HEAD + "\n".join(rows) + "\n"


def main() -> None:
    """Print the table, or write it."""
    if "--write" not in sys.argv:
        print(table(), end="")
        return
    page = PAGE.read_text(encoding="utf-8")
    start = page.index(HEAD)
    end = page.index("\n\n", start) + 1
    PAGE.write_text(page[:start] + table() + page[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
