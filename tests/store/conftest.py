"""Shared fixtures of the store's tests: a store made once and copied."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from yiku.rules.text import analyze
from yiku.store.sqlite import SqliteStore


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Puts a store that was made, closed and never written to into a folder: a sixth of what it takes to make one there."""
    first = tmp_path_factory.mktemp("made")
    SqliteStore(first / "yiku.db", gate=first / "write.lock", analyzer=analyze.VERSION).close()

    def put(folder: Path) -> None:
        for name in ("yiku.db", "store.id"):
            shutil.copy(first / name, folder)

    return put
