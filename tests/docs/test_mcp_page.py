"""docs/mcp.md matches the code: its table of tools, its limits and its examples."""

import importlib.util

import pytest
from pages import ROOT, blocks, comparable, run_python

from yiku.interfaces.mcp import server

PAGE = ROOT / "docs" / "mcp.md"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("tools_table", ROOT / "scripts" / "tools_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_tools_is_that_of_the_code(script):
    """Every tool has its row with its arguments and its description; `python scripts/tools_table.py --write` makes them."""
    assert script.table() in PAGE.read_text(encoding="utf-8")


def test_the_resources_and_prompts_are_those_of_the_code():
    """Each resource and prompt has its row."""
    text = PAGE.read_text(encoding="utf-8")

    assert [] == [name for name in (server.INDEX, f"{server.ITEM}{{id}}", f"{server.NOTE}{{path}}") if f"| `{name}` |" not in text]
    assert [] == [
        name for name, argument in server.PROMPTS.items() if f"| `{name}` | {f'`{argument}`' if argument else 'none'} |" not in text
    ]


def test_the_examples_run(home):
    """The examples in Python are run from top to bottom; each output stands below its block."""
    said = {block.line: block.output for block in blocks(PAGE)}
    printed = run_python(PAGE)

    assert printed
    for line, out in printed:
        assert comparable(said[line] or "", home) == comparable(out, home), f"docs/mcp.md:{line}"
