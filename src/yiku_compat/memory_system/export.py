"""Export a memory to a new folder in Memory System's layout: JSON Lines, snapshot, entity index."""

from __future__ import annotations

import os

from yiku import Memory
from yiku_compat.exporting import new_folder
from yiku_compat.memory_system.layout import write_memory_dir


def export(memory: Memory, folder: str | os.PathLike[str]) -> dict[str, int]:
    """Write a new folder; return how many lines each file has. Raises InvalidInput."""
    return write_memory_dir(memory, new_folder(memory, folder))
