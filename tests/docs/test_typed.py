"""Type checking of a user's program: mypy and pyright accept the sound one and find every planted mistake in the other."""

import inspect
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from yiku import Memory, types
from yiku.admin import Admin
from yiku.agent import Agent
from yiku.flows.common import checks
from yiku.flows.keep import messages
from yiku.notes import Notes
from yiku.prompt import Prompts
from yiku.sessions import Sessions

HERE = Path(__file__).parent / "typed"
ROOT = HERE.parents[2]
CHECKERS = {
    "mypy": [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", "--no-pretty"],
    "pyright": [sys.executable, "-m", "pyright"],
}


def said(checker: str, program: str) -> str:
    command = [*CHECKERS[checker], str(HERE / program)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def errors(output: str, program: str) -> set[int]:
    """The lines of a program in which a checker found an error."""
    return {int(line) for line in re.findall(rf"{re.escape(program)}:(\d+)(?::\d+)?(?: -)?:? error", output)}


@pytest.mark.parametrize("checker", CHECKERS)
def test_every_planted_mistake_is_found(checker):
    """
    And nothing else is: misspelt settings, roles, types, kinds, details, feedback, a turn without content, a missing field;
    and in the types of nights, audits, prompts and the agent's side.
    """
    lines = (HERE / "mistaken.py").read_text().splitlines()
    planted = {number for number, line in enumerate(lines, 1) if line.endswith("# mistake")}

    assert 18 == len(planted)
    assert planted == errors(said(checker, "mistaken.py"), "mistaken.py")


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_sound_program_passes(checker):
    """Under mypy's strict rules, and pyright's."""
    assert set() == errors(output := said(checker, "sound.py"), "sound.py"), output


def test_the_sound_program_runs(tmp_path_factory):
    """What the checkers let pass works."""
    home = tmp_path_factory.mktemp("typed") / "home"
    done = subprocess.run([sys.executable, HERE / "sound.py", home], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("Ann prefers tea.\n<memory #")


def test_the_types_say_what_the_checks_take():
    """The closed sets are those that are accepted at run time, and every setting is in the TypedDict of arguments."""
    settings = {field.name for field in fields(types.Settings)} - {"home", "scope", "origins", "unknown_variables"}

    assert settings == {*get_type_hints(types.SettingsArguments)}
    assert [*types.Kind] == [*get_args(types.KindName)]
    assert [*types.Origin] == [*get_args(types.OriginName)]
    assert {*messages.ROLES, "developer", "function"} == {*get_args(types.Role)}
    assert checks.LIST_AT_MOST > 0


@pytest.mark.parametrize("owner", [Memory, Sessions, Admin, Agent, Notes, Prompts])
def test_each_verb_names_its_errors(owner):
    """`help()` of a verb says what it raises."""
    verbs = inspect.getmembers(owner, inspect.isfunction)

    assert [] == [
        name for name, verb in verbs if not name.startswith("_") and name != "close" and "Raises" not in (verb.__doc__ or "")
    ]


def test_a_hit_fits_a_line(tmp_path_factory):
    """However long what it says is."""
    with Memory(tmp_path_factory.mktemp("typed") / "home") as memory:
        memory.remember("I live in Oslo, " + "and it rains there, 那里下雨, " * 50)
        hits = memory.recall("rain 下雨")

    assert len(repr(hits[0])) < 120 and "\n" not in repr(hits[0])
    assert repr(hits).startswith("<1 hits") or len(repr(hits)) < 60
