"""Architecture rules that import contracts cannot check; trends are in `make structure`."""

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
from yiku.rules.privacy import private
from yiku.rules.text import chunk

ROOT = Path(__file__).resolve().parent.parent

IMPURE_MODULES = set("apsw os pathlib random secrets socket sqlite3 subprocess threading time uuid".split())
IMPURE_CALLS = {"open", "now", "today", "utcnow"}  # by the last word: datetime.now(), date.today()
FOREIGN = {"src/yiku/models/given.py"}  # calls code that was handed in, which raises errors of any class
HEAVY_MODULES = {"apsw", "numpy", "typer", "rich", "Stemmer"}


@pytest.fixture(scope="module")
def structure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("structure", ROOT / "bench" / "structure.py")
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
def test_modules_do_not_import_each_other_in_a_ring(structure):
    """Any module can be imported first; the compiled lexicon is the one that is loaded by what it is made of."""
    lexicon = "yiku.rules.lexicon"

    assert [[lexicon, f"{lexicon}.compiled", lexicon]] == structure.import_cycles()


@pytest.mark.long
def test_rules_are_pure(structure):
    """No rule reads a clock, a disk, the network or chance: `now` and seeds are arguments."""
    found = {path: impurities(tree) for path, _, tree in structure.sources(structure.PACKAGE / "rules")}

    assert found
    assert {} == {path: impure for path, impure in found.items() if impure}


@pytest.mark.long
def test_only_interfaces_catch_any_error_and_they_say_so(structure):
    """An unexpected error is caught in an interface alone, and there it is logged or told to the person; or raised as one of ours."""
    silent = [
        f"{path}:{handler.lineno}"
        for path, _, tree in structure.sources()
        for handler in structure.broad_excepts(tree)
        if not (path.startswith("src/yiku/interfaces/") and tells(handler)) and not (path in FOREIGN and raises(handler))
    ]

    assert [] == silent


def raises(handler: ast.ExceptHandler) -> bool:
    """Whether a handler raises another error from the one that it caught, and does nothing else."""
    return len(handler.body) == 1 and isinstance(handler.body[0], ast.Raise) and handler.body[0].cause is not None


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


def test_a_call_path_goes_down_and_stays_within_its_limits(structure):
    """No call of the five verbs goes up to a higher layer, and none runs through more than it did."""
    paths = structure.paths()

    assert [*structure.PATHS] == [path.verb for path in paths]
    assert [] == [call for path in paths for call in path.upward]
    assert [] == [line for path in paths for line in structure.over_limits(path)]


def test_functions_and_files_count_once_and_jumps_each_time(structure):
    """Cutting a text twice runs the same functions of the same files, with twice the calls from file to file."""
    text = "One thing. Another thing. 一件事。" * 300
    alone = structure.traced("recall", lambda: chunk.tokens(text))
    once = structure.traced("recall", lambda: chunk.windows(text))
    twice = structure.traced("recall", lambda: (chunk.windows(text), chunk.windows(text)))

    assert (2, 1, 0) == alone.figures
    assert {"rules.text.chunk", "rules.text.sentences"} < {*once.functions}
    assert (*once.figures[:2], 2 * once.jumps) == twice.figures


def test_values_drawn_from_a_generator_are_one_jump(structure):
    """However many tags a text has, they are read from another file once."""
    texts = ["<private>金橘</private> stays", "<private>金橘</private> stays, <private>kumquat</private> goes"]
    for text in texts:
        private.without(text)  # what it remembers of tags it has now
    one, more = (structure.traced("remember", lambda text=text: private.without(text)) for text in texts)

    assert one.jumps == more.jumps > 0


def test_what_a_call_passes_through_can_be_left_aside(structure):
    """Without the sentences' module, what it calls is called by who called it."""
    text = "One thing. Another thing. 一件事。" * 300
    path = structure.traced("recall", lambda: chunk.windows(text), ("rules.text.sentences",))

    assert "rules.text.sentences" not in path.functions
    assert {"rules.text.folding", "rules.lexicon"} <= {*path.functions}


def test_the_compatible_interfaces_are_counted_apart_from_the_core(structure):
    """`make structure` has a line for each, and none of their files among those of the core."""
    names = [line.split()[0] for line in structure.compatible_interfaces()]

    assert ["bitwise", "memory_system", "openakita", "simple_memory"] == names
    assert [] == [path for _, path in (*structure.file_lengths(), *structure.function_lengths()) if "yiku_compat" in path]
    assert structure.file_lengths(structure.COMPAT)[0][0] <= structure.COMPAT_LINES
