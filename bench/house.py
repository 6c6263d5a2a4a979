"""
How the house stands: what grew, what a call runs through, what an import costs.

    python bench/house.py            print the trends
    python bench/house.py --check    and end with status 1 when a limit is passed

A walk is one call of a public verb on a fresh home, followed frame by frame: the modules it enters,
in order, and every call from a lower floor into a higher one (there should be none). `types` and
`errors` are words, not rooms, so they are left aside. A generator handed down is no jump either: to
draw its next value is to read data, not to call up.
"""

import ast
import gc
import graphlib
import inspect
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "yiku"
sys.path.insert(0, str(ROOT / "src"))  # this checkout, installed or not

# Limits: docs/style.md has the reasons.
FILE_LINES = 600
FUNCTION_LINES = 60
PARAMETERS = 12  # of a public verb, beside self; **details counts as one
# of a statement about somebody, who may be known by another name; a recall reads its hits
WALK_MODULES = {"remember": 22, "recall": 26}
ONE_READER = ("rules.text", "rules.statements")  # packages of which a walk sees `read` and `split`

FLOORS = {"__main__": 6, "interfaces": 5, "memory": 4, "admin": 4, "settings": 3, "flows": 2}
FLOORS |= dict.fromkeys(["rules", "store", "models", "files"], 1)
WORDS = {"types", "errors"}


# ------------------------------------------------------------------ read from the source


def parsed(text: str) -> ast.Module:
    """The tree of a text. CPython 3.11 loses count of its depth when a collection that others watch falls into it."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if collecting:
            gc.enable()


def sources(folder: Path = PACKAGE) -> Iterator[tuple[str, str, ast.Module]]:
    """Each module below the folder: its path from the root, its text, its tree."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path.relative_to(ROOT).as_posix(), text, parsed(text)


def file_lengths() -> list[tuple[int, str]]:
    return sorted(((text.count("\n"), path) for path, text, _ in sources()), reverse=True)


def function_lengths() -> list[tuple[int, str]]:
    return sorted(
        (
            (node.end_lineno - node.lineno + 1, f"{path}:{node.lineno} {node.name}")
            for path, _, tree in sources()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        reverse=True,
    )


def broad_excepts(tree: ast.AST) -> Iterator[ast.ExceptHandler]:
    """The handlers that take any error, but for those that clean up after any error and raise it again."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = re.findall(r"\w+", ast.unparse(node.type)) if node.type else ["BaseException"]
            cleans_up = caught == ["BaseException"] and ast.unparse(node.body[-1]) == "raise"
            if {"Exception", "BaseException"} & {*caught} and not cleans_up:
                yield node


def mocks_and_tests() -> tuple[int, int]:
    """How often the tests put a mock in place of something, and how many tests there are."""
    texts = [text for _, text, _ in sources(ROOT / "tests")]
    mocked = (re.findall(r"\b(?:\w*Mock|patch(?:\.\w+)?|create_autospec)\(", t) for t in texts if "unittest.mock" in t)
    return sum(map(len, mocked)), sum(len(re.findall(r"^ *(?:async )?def test_", t, re.MULTILINE)) for t in texts)


def import_cycles() -> list[list[str]]:
    """The rings in which modules import each other; late imports and those for types count too: a reader meets them."""
    trees = {
        ".".join(Path(path).relative_to("src").with_suffix("").parts).removesuffix(".__init__"): tree for path, _, tree in sources()
    }
    graph = {name: {*imported(tree, trees)} - {name} for name, tree in trees.items()}
    rings: list[list[str]] = []
    while True:
        try:
            graphlib.TopologicalSorter(graph).prepare()
            return rings
        except graphlib.CycleError as error:
            ring = error.args[1]
            rings.append(ring[::-1])
            graph[ring[1]].discard(ring[0])


def imported(tree: ast.AST, modules: Container[str]) -> Iterator[str]:
    """Which of the modules are imported in this one (by absolute imports: we write no others)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else node.module for name in names if node.module in modules)


# ------------------------------------------------------------------ seen at work


@dataclass
class Walk:
    """What one call of a verb ran through."""

    verb: str
    modules: list[str] = field(default_factory=list)  # in the order of entering
    jumps: list[str] = field(default_factory=list)  # calls from a lower floor into a higher one


def floor(module: str) -> int:
    return FLOORS[module.partition(".")[0]]


def module_of(frame: FrameType) -> str | None:
    """The module of a frame, without `yiku.`, or the package that is one reader; None for other packages, types, errors and yiku."""
    package, _, module = frame.f_globals.get("__name__", "").partition(".")
    module = next((reader for reader in ONE_READER if module.startswith(reader)), module)
    return module if package == "yiku" and module and module.partition(".")[0] not in WORDS else None


def caller_of(frame: FrameType) -> str | None:
    """The nearest module of ours above a frame, through whatever foreign code lies between."""
    above = frame.f_back
    while above and module_of(above) is None:
        above = above.f_back
    return module_of(above) if above else None


def traced(verb: str, call: Callable[[], object]) -> Walk:
    walk = Walk(verb)

    def follow(frame: FrameType, event: str, _: object) -> None:
        module = module_of(frame)
        if event != "call" or module is None:
            return
        if module not in walk.modules:
            walk.modules.append(module)
        caller = caller_of(frame)
        drawn = frame.f_code.co_flags & inspect.CO_GENERATOR
        if caller and floor(module) > floor(caller) and not drawn:
            walk.jumps.append(f"{caller} → {module}.{frame.f_code.co_qualname}")

    gc.collect()
    gc.disable()  # what a finalizer calls is no part of the walk
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return walk


def walks() -> list[Walk]:
    """`remember` when it tells something new, the same again and a correction, and `recall`, on a fresh home."""
    from yiku import Memory

    with tempfile.TemporaryDirectory() as folder, Memory(f"{folder}/home") as memory:
        memory.record_turn("user", "I moved from Bergen to Oslo last week.", session="s1")

        def calls(name: str) -> dict[str, Callable[[], object]]:
            return {
                "remember": lambda: memory.remember(f"{name} lives in Bergen"),
                "remember, again": lambda: memory.remember(f"{name} lives in Bergen"),
                "remember, corrected": lambda: memory.remember(f"{name} lives in Oslo"),
                "recall": lambda: memory.recall(f"Where does {name} live?", limit=5),
            }

        for call in calls("Bob").values():
            call()  # so that late imports lie behind us
        return [traced(verb, call) for verb, call in calls("Ann").items()]


def modules_allowed(walk: Walk) -> int:
    return WALK_MODULES[walk.verb.partition(",")[0]]


def verbs() -> list[tuple[int, str]]:
    """The public verbs of Memory and the number of their parameters, most first."""
    from yiku import Memory

    methods = inspect.getmembers(Memory, inspect.isroutine)
    counted = ((len(inspect.signature(verb).parameters), name) for name, verb in methods if not name.startswith("_"))
    return sorted(((count - 1, name) for count, name in counted), reverse=True)


def import_ms() -> float:
    """What `import yiku` adds to the start of Python: the medians of five each, in turns."""
    taken = defaultdict(list)
    for statement in ["pass", "import yiku"] * 6:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        taken[statement].append(time.perf_counter() - started)
    bare, ours = (statistics.median(times[1:]) for times in taken.values())  # the first of each warms the disk cache
    return 1000 * (ours - bare)


# ------------------------------------------------------------------ printed


def main() -> int:
    over: list[str] = []

    def top(title: str, counted: list[tuple[int, str]], most: int) -> None:
        print(f"\n{title} ({most} at most)")
        for count, what in counted[:5]:
            print(f"{count:6}  {what}{'  ◄' if count > most else ''}")
        over.extend(f"{what}: {count} {title}" for count, what in counted if count > most)

    top("lines per file", file_lengths(), FILE_LINES)
    top("lines per function", function_lengths(), FUNCTION_LINES)
    parameters = verbs()
    print("\nparameters of the public verbs")
    print("  " + ", ".join(f"{name} {count}{' ◄' if count > PARAMETERS else ''}" for count, name in parameters))

    for walk in walks():
        print(f"\n{walk.verb}: {len(walk.modules)} modules ({modules_allowed(walk)} at most)")
        print("  " + " → ".join(walk.modules))
        if len(walk.modules) > modules_allowed(walk):
            over.append(f"{walk.verb}: {len(walk.modules)} modules")
        over.extend(f"{walk.verb}: jumps upward, {jump}" for jump in dict.fromkeys(walk.jumps))

    broad = [f"{path}:{node.lineno}" for path, _, tree in sources() for node in broad_excepts(tree)]
    mocks, tests = mocks_and_tests()
    rings = import_cycles()
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    print(f"\nbroad excepts   {len(broad)}  {' '.join(broad)}")
    print(f"mocks           {mocks} in {tests} tests")
    print(f"import cycles   {len(rings)}  {'; '.join(' → '.join(ring) for ring in rings)}")
    print(f"import yiku     {import_ms():.0f} ms over bare Python")
    print(f"dependencies    {len(dependencies)}")
    print("\n" + ("\n".join(["over the limits:", *over]) if over else "within all limits"))
    return 1 if over and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
