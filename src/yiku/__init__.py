"""Yiku (忆库): memory for AI agents in one SQLite file and Markdown: store, search, correct and erase what was said."""

TYPE_CHECKING = False  # as typing has it, which takes longer to load than the hook of an agent may run

if TYPE_CHECKING:
    from yiku.errors import YikuError as YikuError
    from yiku.maintenance import check as check
    from yiku.maintenance import repair as repair
    from yiku.maintenance import restore_backup as restore_backup
    from yiku.memory import Memory as Memory
    from yiku.standalone import embedder as embedder
    from yiku.standalone import passages as passages
    from yiku.types import Context as Context
    from yiku.types import Hit as Hit
    from yiku.types import Hits as Hits
    from yiku.types import Kind as Kind
    from yiku.types import Outcome as Outcome
    from yiku.types import SemanticMemory as SemanticMemory
    from yiku.types import Turn as Turn

del TYPE_CHECKING  # it is no name of ours

__version__ = "0.1.0"
__all__ = [
    "Context",
    "Hit",
    "Hits",
    "Kind",
    "Memory",
    "Outcome",
    "SemanticMemory",
    "Turn",
    "YikuError",
    "check",
    "embedder",
    "passages",
    "repair",
    "restore_backup",
]

_HOMES = {
    "Memory": "yiku.memory",
    "check": "yiku.maintenance",
    "repair": "yiku.maintenance",
    "restore_backup": "yiku.maintenance",
    "YikuError": "yiku.errors",
    "embedder": "yiku.standalone",
    "passages": "yiku.standalone",
}


def __getattr__(name: str) -> object:
    """The public names, loaded when they are first used: importing yiku costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'yiku' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "yiku.types")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
