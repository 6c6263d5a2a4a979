"""
Open the Yiku home in a memory folder once per process, and keep it open.

The document's functions take a folder, and each opens a database; here the folder is a Yiku home, opened by the first call.
"""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path

from yiku import Memory

MemoryDir = str | os.PathLike[str] | Memory  # a folder, or the memory that somebody has opened in it

_LOCK = threading.Lock()
_OPEN: dict[tuple[int, Path], Memory] = {}


def opened(memory_dir: MemoryDir) -> Memory:
    """Return the memory of a folder; the home is made where there is none. Raises what `Memory` raises."""
    if isinstance(memory_dir, Memory):
        return memory_dir
    key = (os.getpid(), _path(memory_dir))
    with _LOCK:
        if key not in _OPEN:
            _OPEN[key] = Memory(key[1])
        return _OPEN[key]


def folder_of(memory_dir: MemoryDir) -> Path:
    """Return the folder itself."""
    return Path(memory_dir.settings.home) if isinstance(memory_dir, Memory) else _path(memory_dir)


def close(memory_dir: str | os.PathLike[str] | None = None) -> None:
    """Close the memory of a folder, or of every folder. The next call opens it again."""
    with _LOCK:
        keys = [key for key in _OPEN if memory_dir is None or key[1] == _path(memory_dir)]
        memories = [_OPEN.pop(key) for key in keys if key[0] == os.getpid()]
    for memory in memories:
        memory.close()


def _path(memory_dir: str | os.PathLike[str]) -> Path:
    return Path(memory_dir).expanduser().absolute()


atexit.register(close)
