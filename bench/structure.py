"""
Structure metrics: sizes, call paths, import cost.

    python bench/structure.py            print the trends
    python bench/structure.py --check    and end with status 1 when a limit is passed
    python bench/structure.py recall     print the files that one `recall` enters, in order, with the functions it runs in each

A call path is one call of a public verb on a home that has done each once, followed frame by frame:

    functions   different functions of ours that run; comprehensions and lambdas belong to the function around them
    files       different files that these stand in
    jumps       calls from one file into another, each time they happen; drawing the next value of a generator is none

`types` and `errors` hold values, so building one is not counted. The gate of the store (the open database, its lock,
the fork guard and the mapping of errors) is between almost any two calls, so each figure is given without it, too. No
call may go from a lower layer up, but to a function that was handed down with the call; these are listed.
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
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "yiku"
COMPAT = ROOT / "src" / "yiku_compat"  # apart from the core: it is imported by nothing there, and has limits of its own
sys.path.insert(0, str(ROOT / "src"))  # this checkout, installed or not

# Limits: docs/style.md has the reasons.
FILE_LINES = 600
COMPAT_LINES = 250
FUNCTION_LINES = 60
PARAMETERS = 12  # of a public verb, beside self; **details counts as one
# Functions, files and jumps of one call; what they should come to is in docs/style.md.
PATHS = {
    "record_turn": (401, 66, 628),
    "remember": (188, 40, 135),
    "recall": (193, 38, 174),
    "learn": (407, 64, 1_200),
    "erase": (403, 66, 1_400),
}
GATE = (
    "store.database",
    "store.gate",
    "store.forks",
    "store.error_mapping",
)  # modules that a call passes through on its way to the rows

LAYERS = {"__main__": 6, "interfaces": 5, "maintenance": 4, "memory": 4, "admin": 4, "settings": 3, "flows": 2}
LAYERS |= dict.fromkeys(["rules", "store", "models", "files"], 1)
VALUES = {"types", "errors"}
DATA = "compiled.py"  # written by a command: its length says nothing


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


def file_lengths(folder: Path = PACKAGE) -> list[tuple[int, str]]:
    return sorted(((text.count("\n"), path) for path, text, _ in sources(folder) if not path.endswith(DATA)), reverse=True)


def function_lengths(folder: Path = PACKAGE) -> list[tuple[int, str]]:
    return sorted(
        (
            (node.end_lineno - node.lineno + 1, f"{path}:{node.lineno} {node.name}")
            for path, _, tree in sources(folder)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        reverse=True,
    )


def compatible_interfaces() -> Iterator[str]:
    """A line for each package of yiku_compat: its files, its lines, its longest file."""
    for folder in [path for path in sorted(COMPAT.iterdir()) if (path / "__init__.py").exists()]:
        lengths = file_lengths(folder)
        longest, name = lengths[0]
        yield f"{folder.name:14} {len(lengths):6} {sum(count for count, _ in lengths):6}  {longest} {name}"


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


def longest_pattern() -> tuple[int, str]:
    """The longest text that is given to `re.compile` as it stands, and where."""
    found = [
        (len(node.args[0].value), f"{path}:{node.lineno}")
        for path, _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile" and isinstance(node.args[0], ast.Constant)
    ]
    return max(found)


# ------------------------------------------------------------------ seen at work


@dataclass
class CallPath:
    """What one call of a verb ran through."""

    verb: str
    functions: dict[str, set[str]] = field(default_factory=dict)  # by module, in the order of entering
    jumps: int = 0
    upward: list[str] = field(default_factory=list)  # calls from a lower layer into a higher one
    back: list[str] = field(default_factory=list)  # the same, of a function that a higher one handed down

    @property
    def figures(self) -> tuple[int, int, int]:
        """Functions, files, jumps."""
        return sum(map(len, self.functions.values())), len(self.functions), self.jumps


def layer(module: str) -> int:
    return LAYERS[module.partition(".")[0]]


def module_of(frame: FrameType, passed: Container[str] = ()) -> str | None:
    """The module of a frame, without `yiku.`; None for other packages, types, errors, yiku itself and what is passed over."""
    package, _, module = frame.f_globals.get("__name__", "").partition(".")
    counts = package == "yiku" and module and module.partition(".")[0] not in VALUES and module not in passed
    return module if counts else None


def caller_of(frame: FrameType, passed: Container[str] = ()) -> FrameType | None:
    """The nearest frame of ours above a frame, through whatever foreign code lies between."""
    above = frame.f_back
    while above and module_of(above, passed) is None:
        above = above.f_back
    return above


def traced(verb: str, call: Callable[[], object], passed: Container[str] = ()) -> CallPath:
    """The path of a call, as if what these modules do were no step of it."""
    path = CallPath(verb)
    drawn: set[tuple[CodeType | None, CodeType]] = set()

    def follow(frame: FrameType, event: str, _: object) -> None:
        module = module_of(frame, passed)
        if event != "call" or module is None:
            return
        code, above = frame.f_code, caller_of(frame, passed)
        caller = above and module_of(above, passed)
        functions = path.functions.setdefault(module, set())
        if not code.co_name.startswith("<"):
            functions.add(code.co_qualname)
        if caller is None or caller == module:
            return
        if code.co_flags & inspect.CO_GENERATOR:
            pair = (above and above.f_code, code)
            path.jumps += pair not in drawn
            drawn.add(pair)
            return  # to draw a value is to read data, wherever it is drawn
        path.jumps += 1
        if layer(module) > layer(caller):
            handed_down = "<locals>" in code.co_qualname
            (path.back if handed_down else path.upward).append(f"{caller} → {module}.{code.co_qualname}")

    gc.collect()
    gc.disable()  # what a finalizer calls is no part of the path
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return path


def paths(passed: Container[str] = ()) -> list[CallPath]:
    """
    The five verbs, each with a home that has done all of them once.

    A user's turn that states one thing, read at once; a new statement; a question about it; what is learned from four turns; the
    erasure of the statement.
    """
    from yiku import Memory

    def calls(memory: Memory, later: Memory, name: str) -> Iterator[tuple[str, Callable[[], object]]]:
        yield "record_turn", lambda: memory.record_turn("user", f"My brother {name} lives in Paris.", session="s1")
        yield "remember", lambda: memory.remember(f"{name} lives in Bergen")
        yield "recall", lambda: memory.recall(f"Where does {name} live?", limit=5)
        for said in (f"My sister {name}a lives in Oslo.", "I love green tea.", "What is the capital of France?", f"{name} called."):
            later.record_turn("user", said, session=name)
        yield "learn", later.learn
        kept = memory.history(f"{name} lives in Bergen")[0]
        yield "erase", lambda: memory.admin.erase(kept.id)

    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(f"{folder}/home", search="words") as memory,
        Memory(f"{folder}/later", search="words", learn="later") as later,
    ):
        for _, call in calls(memory, later, "Bob"):
            call()  # so that late imports lie behind us
        return [traced(verb, call, passed) for verb, call in calls(memory, later, "Ann")]


def over_limits(path: CallPath) -> list[str]:
    """The figures of a path that are over its limits."""
    names = ("functions", "files", "jumps")
    found = zip(names, path.figures, PATHS[path.verb], strict=True)
    return [f"{path.verb}: {count} {name}, {most} at most" for name, count, most in found if count > most]


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


def row(path: CallPath) -> str:
    return "{:9} {:5} {:5}".format(*path.figures)


def main() -> int:
    if asked := [argument for argument in sys.argv[1:] if argument in PATHS]:
        for path in paths():
            for module, functions in path.functions.items() if path.verb in asked else ():
                print(f"{module:28} {', '.join(sorted(functions))}")
        return 0
    over: list[str] = []

    def top(title: str, counted: list[tuple[int, str]], most: int) -> None:
        print(f"\n{title} ({most} at most)")
        for count, what in counted[:5]:
            print(f"{count:6}  {what}{'  ◄' if count > most else ''}")
        over.extend(f"{what}: {count} {title}" for count, what in counted if count > most)

    top("lines per file", file_lengths(), FILE_LINES)
    top("lines per function", function_lengths(), FUNCTION_LINES)
    print(f"\ncompatible interfaces, apart from the core ({COMPAT_LINES} lines a file at most)")
    print("                files  lines  longest file")
    for line in compatible_interfaces():
        print(f"  {line}")
    top("lines per file of the compatible interfaces", file_lengths(COMPAT), COMPAT_LINES)
    parameters = verbs()
    print("\nparameters of the public verbs")
    print("  " + ", ".join(f"{name} {count}{' ◄' if count > PARAMETERS else ''}" for count, name in parameters))

    print("\nwhat one call runs through        without the gate of the store")
    print("             functions files jumps   functions files jumps")
    back: dict[str, None] = {}
    for path, inner in zip(paths(), paths(GATE), strict=True):
        exceeded = over_limits(path)
        print(f"{path.verb:12} {row(path)}   {row(inner)}{'  ◄' if exceeded else ''}")
        back |= dict.fromkeys(path.back)
        over.extend([*exceeded, *(f"{path.verb}: calls upward, {call}" for call in dict.fromkeys(path.upward))])

    print("calls back:  " + "\n             ".join(call.replace(".<locals>", "") for call in back))

    broad = [f"{path}:{node.lineno}" for path, _, tree in sources() for node in broad_excepts(tree)]
    mocks, tests = mocks_and_tests()
    rings = import_cycles()
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    print(f"\nbroad excepts   {len(broad)}  {' '.join(broad)}")
    print(f"mocks           {mocks} in {tests} tests")
    length, where = longest_pattern()
    print(f"longest pattern {length} characters  {where}")
    print(f"import cycles   {len(rings)}  {'; '.join(' → '.join(ring) for ring in rings)}")
    print(f"import yiku     {import_ms():.0f} ms over bare Python")
    print(f"dependencies    {len(dependencies)}")
    print("\n" + ("\n".join(["over the limits:", *over]) if over else "within all limits"))
    return 1 if over and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
