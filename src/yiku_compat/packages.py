"""
Registry of the compatible packages: which package implements which system (s0–s4), and loading of its modules.

A package holds up to five modules that are found by their names:

    views       VIEWS: the document's tables, by document, as select statements on Yiku's own
    migration   migrate(old, home, …) -> Migrated: brings the data of an old home in
    export      export(memory, folder) -> counts: writes a home back in the document's form
    tools       TOOLS: the tools that the document gives a model, by their names there
    command     main(arguments) -> int: the document's own commands
"""

from __future__ import annotations

from importlib import import_module, util
from types import ModuleType

PACKAGES = {"s0": "memory_system", "s1": "simple_memory", "s2": "openakita", "s3": "openakita", "s4": "bitwise"}
COMMANDS = {"ms": "memory_system"}


def part(package: str, name: str) -> ModuleType | None:
    """Return a module of a package; None where the package or the module does not exist."""
    whole = f"{__package__}.{package}"
    if util.find_spec(whole) is None or util.find_spec(f"{whole}.{name}") is None:
        return None
    return import_module(f"{whole}.{name}")


def documents(name: str) -> list[str]:
    """Return the documents whose package has this module."""
    return [document for document, package in PACKAGES.items() if part(package, name) is not None]
