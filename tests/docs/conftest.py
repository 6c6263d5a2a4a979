"""A fixture with an empty folder, like that of somebody who opens the repository for the first time."""

import os

import pytest


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home folder of a new user, without any setting of ours and with a terminal of no width."""
    for name in [name for name in os.environ if name.startswith("YIKU_") or name == "COLUMNS"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path
