"""What every test shares: a home, a clock that stands where it is set, and a memory on both."""

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import integrity
import pytest

from yiku import Memory

pytest_plugins = ["spec_report"]


class Clock:
    """The time that a test says it is: 09:00 on the first of March, until it is advanced."""

    def __init__(self) -> None:
        self.now = datetime.fromisoformat("2026-03-01T09:00:00+01:00")

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **step: float) -> datetime:
        """Let time pass, by days, hours, minutes; the time it is then."""
        self.now += timedelta(**step)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for a home on what counts as a local disk, and no settings from the environment."""
    monkeypatch.setattr("yiku.files.mounts.MOUNTINFO", tmp_path / "no mounts")
    for name in [name for name in os.environ if name.startswith("YIKU_")]:
        monkeypatch.delenv(name)
    return tmp_path / "home"


@pytest.fixture
def memory(home: Path, clock: Clock) -> Iterator[Memory]:
    """A memory of Mei's. When the test is over, its store is whole."""
    with Memory(home, owner="user:mei", names=["Mei"], clock=clock) as memory:
        yield memory
    integrity.check(home / "yiku.db")
