"""The package as a user gets it: built here, unpacked, installed into an empty folder, and run."""

import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pages import ROOT, blocks, comparable

PACKAGE = ROOT / "src" / "yiku"
PACKAGES = [PACKAGE, ROOT / "src" / "yiku_compat"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the source archive, built without a network."""
    folder = tmp_path_factory.mktemp("dist")
    for target in ("wheel", "sdist"):
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """A folder that holds what `pip install` makes of the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", folder, *built.glob("*.whl")], check=True)
    return folder


def test_the_wheel_holds_every_file_of_the_package(built):
    """SQL, prompts, the demonstration's talk, the marker of types: what lies beside the modules is there, and no test."""
    (wheel,) = built.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    there = {
        path.relative_to(package.parent).as_posix()
        for package in PACKAGES
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert there == names
    assert {".sql", ".md", ".jsonl", ".typed"} <= {Path(name).suffix or Path(name).name for name in names}


def test_the_wheel_names_its_licences_and_floors(built):
    """LICENSE and NOTICE travel with it, and so do the lowest versions and the Pythons it is tested with."""
    (wheel,) = built.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = Parser().parsestr(archive.read(name).decode())
    required = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]

    assert {"LICENSE", "NOTICE"} == {*metadata.get_all("License-File")}
    assert {*map(Requirement, PROJECT["project"]["dependencies"])} == {*map(Requirement, required)}
    assert pythons_of_the_workflow() == [
        line.rpartition(" ")[2] for line in metadata.get_all("Classifier") if re.search(r":: 3\.\d+$", line)
    ]


def test_the_source_archive_makes_the_wheel_and_holds_no_benchmark(built):
    """What is needed to build and to read is there; cases, results and tests stay in the repository."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}

    assert {"pyproject.toml", "README.md", "README.zh.md", "LICENSE", "NOTICE", "CHANGELOG.md"} <= names
    assert {path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.sql")} <= names
    assert [] == [name for name in names if name.startswith(("bench", "tests", ".github", ".ci"))]


def test_the_first_lines_of_the_readme_run_on_the_wheel(installed, home):
    """Whoever installs the wheel and pastes the first Python of the README gets the output below it."""
    first = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(installed)!r})\n{first.text}\nprint(sys.modules['yiku'].__file__)",
        ],
        cwd=home,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    *printed, used = ended.stdout.splitlines()

    assert Path(used).is_relative_to(installed)
    assert comparable(first.output, home) == comparable("\n".join(printed), home)


def test_both_commands_run_on_the_wheel(installed):
    """`yiku` and `yiku-compat` are installed, and find what they need beside themselves."""
    for command in PROJECT["project"]["scripts"]:
        package = PROJECT["project"]["scripts"][command].partition(".")[0]
        code = f"import sys, runpy; sys.path.insert(0, {str(installed)!r}); runpy.run_module({package!r}, run_name='__main__')"
        ended = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, encoding="utf-8", check=False)

        assert (installed / "bin" / command).exists()
        assert 0 == ended.returncode, ended.stderr
        assert "usage" in ended.stdout.casefold()


def test_the_readme_installs_what_is_built_here():
    """Until a release exists the install line takes the repository; the extra it names exists."""
    lines = [block.text for block in blocks(ROOT / "README.md") if "pip install" in block.text]

    assert ["pip install ."] == [line.strip() for line in lines]
    for readme in ("README.md", "README.zh.md"):
        text = (ROOT / readme).read_text(encoding="utf-8")
        assert {*re.findall(r"pip install '\.\[(\w+)\]'", text)} <= {*PROJECT["project"]["optional-dependencies"]}


def test_every_dependency_has_a_floor_that_can_be_pinned():
    """scripts/lowest_versions.py prints one pin for each dependency; `make test-lowest` runs the tests with them."""
    spec = importlib.util.spec_from_file_location("lowest_versions", ROOT / "scripts" / "lowest_versions.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    dependencies = PROJECT["project"]["dependencies"]

    assert [line.replace(">=", "==").partition(",")[0] for line in dependencies] == script.pins(dependencies)
    with pytest.raises(ValueError, match="rich has no lowest version"):
        script.pins(["rich"])


def test_the_workflow_runs_targets_that_exist_and_pins_its_actions():
    """Every action has a version with three parts, every command is a target of the Makefile, and no secret is read."""
    text = workflow()
    targets = {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)}

    assert {"test", "check", "demo", "soak-short", "test-lowest"} == {*re.findall(r"run: make ([a-z-]+)", text)}
    assert {*re.findall(r"run: make ([a-z-]+)", text)} <= targets
    assert [] == [action for action in re.findall(r"uses: (\S+)", text) if not re.search(r"@v\d+\.\d+\.\d+$", action)]
    assert "secrets." not in text
    assert re.search(r"system: \[ubuntu-[\d.]+, macos-\d+\]", text)


def test_what_was_generated_from_others_work_is_noticed():
    """Each script that takes a table of others is named in NOTICE, with what it wrote."""
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    takers = [
        path.name for path in (ROOT / "scripts").glob("*.py") if re.search(r"\((MIT|Apache License)", path.read_text("utf-8"))
    ]

    assert takers
    assert [] == [name for name in takers if f"scripts/{name}" not in notice]
    assert [] == [name for name in re.findall(r"(?:src|scripts)/[\w/.]+\.\w+", notice) if not (ROOT / name).exists()]


def workflow() -> str:
    return (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def pythons_of_the_workflow() -> list[str]:
    return re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.+)\]", workflow())[1])
