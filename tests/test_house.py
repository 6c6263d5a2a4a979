"""The walls that an import contract cannot see. The trends beside them: make house."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import yiku

ROOT = Path(__file__).resolve().parent.parent

IMPURE_MODULES = set("apsw os pathlib random secrets socket sqlite3 subprocess threading time uuid".split())
IMPURE_CALLS = {"open", "now", "today", "utcnow"}  # by the last word: datetime.now(), date.today()
HEAVY_MODULES = {"apsw", "numpy", "typer", "rich", "Stemmer"}


@pytest.fixture(scope="module")
def house() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house", ROOT / "bench" / "house.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module


def impurities(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in IMPURE_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in IMPURE_MODULES:
            found.append(node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in IMPURE_CALLS:
            found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("line", ["import os.path", "from time import monotonic", "open('a')", "dt.datetime.now(dt.UTC)"])
def test_an_impure_line_is_noticed(line):
    """The check of the rules sees a clock, a disk or chance where there is one."""
    assert impurities(ast.parse(line))


@pytest.mark.long
def test_rules_are_pure(house):
    """No rule reads a clock, a disk, the network or chance: `now` and seeds are arguments."""
    found = {path: impurities(tree) for path, _, tree in house.sources(house.PACKAGE / "rules")}

    assert found
    assert {} == {path: impure for path, impure in found.items() if impure}


@pytest.mark.long
def test_only_doors_catch_any_error_and_they_say_so(house):
    """An unexpected error is caught at a door alone, and there it is logged or told to the person."""
    silent = [
        f"{path}:{handler.lineno}"
        for path, _, tree in house.sources()
        for handler in house.broad_excepts(tree)
        if not path.startswith("src/yiku/interfaces/") or not tells(handler)
    ]

    assert [] == silent


def tells(handler: ast.ExceptHandler) -> bool:
    """Whether a handler calls a logger, or a function whose name begins with `report`."""
    calls = (ast.unparse(node.func) for node in ast.walk(handler) if isinstance(node, ast.Call))
    return any(re.search(r"\blog(ger|ging)?\.|\breport\w*$", call) for call in calls)


def test_importing_yiku_imports_nothing_heavy():
    """A fresh interpreter that imports yiku has loaded neither the database nor numbers nor the terminal."""
    code = "import json, sys, yiku; print(json.dumps([*sys.modules]))"
    loaded = json.loads(subprocess.check_output([sys.executable, "-c", code], text=True))

    assert "yiku" in loaded
    assert set() == HEAVY_MODULES & {*loaded}


def test_all_is_what_is_visible():
    """The public names are those of `__all__`, sorted; each can be had, and nothing else shows."""
    public = {name: getattr(yiku, name) for name in yiku.__all__}
    submodules = {name.removeprefix("yiku.") for name in sys.modules if name.startswith("yiku.")}
    visible = {name for name in {*dir(yiku), *vars(yiku)} - submodules if not name.startswith("_")}

    assert public
    assert sorted(public) == sorted(visible)


def test_a_walk_goes_down_and_is_short(house):
    """One `remember` and one `recall` enter few modules, and nothing calls up to a higher floor."""
    walks = house.walks()

    assert [] == [jump for walk in walks for jump in walk.jumps]
    assert [] == [(walk.verb, walk.modules) for walk in walks if len(walk.modules) > house.modules_allowed(walk)]
