"""Shared fixtures: a home, a clock that tests set, and a memory on both."""

import gc
import os
import random
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import commands
import integrity
import no_weights  # noqa: F401  (before anything looks for the local model)
import pytest
import sampling
from hypothesis import settings

from yiku import Memory

pytest_plugins = ["spec_report"]

settings.register_profile("yiku", deadline=None)  # of wall time: a busy machine would fail an example
settings.load_profile("yiku")

if sys.dont_write_bytecode:  # a tidy wish; but the tests start many processes, and each would compile every module anew
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


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
def some(request: pytest.FixtureRequest) -> sampling.Choice:
    """Takes at most so many of what the soak takes all of; others for each test and in each run."""
    return sampling.drawn_for(request.node.nodeid)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for a home on what counts as a local disk, and no settings from the environment."""
    a_plain_machine(monkeypatch, tmp_path)
    return tmp_path / "home"


def a_plain_machine(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.setattr("yiku.files.mounts.MOUNTINFO", folder / "no mounts")
    for name in [name for name in os.environ if name.startswith("YIKU_")]:
        patch.delenv(name)


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of Mei's that was made and closed: to copy it takes a tenth of the time of making it."""
    home = tmp_path_factory.mktemp("blank") / "home"
    with pytest.MonkeyPatch.context() as patch:
        a_plain_machine(patch, home)
        Memory(home, owner="user:mei", names=["Mei"], clock=Clock()).close()
    return home


@pytest.fixture
def memory(blank: Path, home: Path, clock: Clock, request: pytest.FixtureRequest) -> Iterator[Memory]:
    """A memory of Mei's. When the test is over, its store is whole: that is looked at after every fifth test, by the seed."""
    shutil.copytree(blank, home, ignore=shutil.ignore_patterns("reserve"))
    (home / "reserve").touch(0o600)
    os.truncate(home / "reserve", (blank / "reserve").stat().st_size)  # a megabyte of nothing, which takes half of the time to copy
    with Memory(home, owner="user:mei", names=["Mei"], clock=clock) as memory:
        yield memory
    looked_at = random.Random(f"{sampling.SEED} {request.node.nodeid}").randrange(5) == 0
    if looked_at and (home / "yiku.db").read_bytes() != (blank / "yiku.db").read_bytes():  # what was never written to is as it was
        integrity.check(home / "yiku.db")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a table with many cases a sample, another one each run; all of them where YIKU_WHOLE is set, or a part is asked for."""
    if os.environ.get("YIKU_WHOLE") or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    kept = sampling.of_tables(items)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def pytest_collection_finish() -> None:
    """What was collected stays to the end: whoever looks for garbage need not look through it."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Nothing that the tests started is left behind."""
    commands.stop()
