"""
Collect every regular expression of the code, also the lazily compiled ones.

Three places are looked at: what the modules hold, in whatever it is nested, compiled or as text; the first argument of each
call of `re` and of the helpers that compile and remember; and what functions without arguments, or with switches alone, make
and cache. A text that may be a pattern counts as one: parts of patterns are checked by themselves, too.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import yiku
from yiku.rules.text.lazy import Lazy

_CALLS = {"compile", "sub", "subn", "search", "match", "split", "findall", "finditer", "fullmatch"}
_COMPILERS = {"compiled", "_compiled", "_pattern"}


def modules() -> Iterator[ModuleType]:
    """Every module of Yiku."""
    for info in pkgutil.walk_packages(yiku.__path__, "yiku."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


@cache
def patterns() -> dict[str, re.Pattern[Any]]:
    """Each pattern once, by the place that has it."""
    found: dict[tuple[Any, int], str] = {}
    for module in modules():
        places = [*_held(module), *_called(module), *_made(module)]
        for number, (place, pattern) in enumerate(places):
            found.setdefault((pattern.pattern, pattern.flags), f"{place} {number}")
    return {place: re.compile(*pattern) for pattern, place in found.items()}


def _held(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield from ((f"{module.__name__}.{name}", pattern) for pattern in _inside(value))


def _inside(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, Lazy):
        value = value.compiled()
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, str):
        if pattern := _read(value):
            yield pattern
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _inside(pair)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from _inside(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _inside(getattr(value, field.name))


def _read(text: str) -> re.Pattern[str] | None:
    """A text as a pattern, if it repeats something and can be compiled."""
    if not any(sign in text for sign in "*+{?") or not any(sign in text for sign in "([\\|"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(text)
        except (re.error, OverflowError):
            return None


def _called(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns that stand in calls, as far as the names of the module give them."""
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and _compiles(node.func):
            try:
                said = eval(compile(ast.Expression(node.args[0]), "pattern", "eval"), dict(vars(module)))
            except (NameError, AttributeError):
                continue  # a value that is handed in: it comes from what a module holds
            if isinstance(said, (str, bytes)):
                yield f"{module.__name__}:{node.lineno}", re.compile(said)


def _compiles(called: ast.expr) -> bool:
    match called:
        case ast.Attribute(ast.Name("re" | "lazy"), name):
            return name in _CALLS
        case ast.Name(name) | ast.Attribute(_, name):
            return name in _COMPILERS
    return False


def _made(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """What cached functions make that need nothing, or a switch."""
    for name, function in [*vars(module).items()]:  # to make one may load a module
        if hasattr(function, "cache_info") and getattr(function, "__module__", "") == module.__name__:
            kinds = [parameter.annotation for parameter in inspect.signature(function).parameters.values()]
            if all(kind == "bool" for kind in kinds):
                for switches in product((True, False), repeat=len(kinds)):
                    yield from ((f"{module.__name__}.{name}", one) for one in _inside(function(*switches)))
