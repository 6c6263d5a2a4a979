"""A release can be cut: one version everywhere, a section of the changelog, a page on upgrading that is tried on an old home."""

import re
import tarfile
import tomllib

import pytest
from pages import ROOT, blocks, comparable, run_shell

import yiku
from yiku.store import schema

UPGRADING = ROOT / "docs" / "upgrading.md"


def test_one_version_is_named_everywhere():
    """pyproject.toml, the package, and the newest section of the changelog, dated once it is released."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    first = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert project["version"] == yiku.__version__
    assert first is not None
    assert re.fullmatch(rf"(?:Unreleased: )?{re.escape(yiku.__version__)}(?: \(\d{{4}}-\d\d-\d\d\))?", first[1])


def test_the_newest_section_of_the_changelog_has_something_under_each_heading():
    """Added, Changed, Fixed, with a line each: what a release is announced with."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.split(r"^## ", text, flags=re.MULTILINE)[1]
    parts = dict(re.findall(r"^### (\w+)\n\n(- .*?)(?=^###|\Z)", newest, re.DOTALL | re.MULTILINE))

    assert {"Added", "Changed", "Fixed"} <= {*parts}
    assert all(entries.strip() for entries in parts.values())


def test_the_page_on_upgrading_has_each_schema():
    """Whoever adds a migration says what it means for an older home."""
    rows = [int(number) for number in re.findall(r"^\| (\d+) \|", UPGRADING.read_text(encoding="utf-8"), re.MULTILINE)]

    assert [*range(1, len(schema.MIGRATIONS) + 1)] == rows


@pytest.mark.parametrize("version", [4])
def test_the_page_on_upgrading_runs_on_an_old_home(home, version):
    """From top to bottom, on a home of an earlier version; each output stands below its block."""
    with tarfile.open(ROOT / "tests" / "homes" / f"schema-{version}.tar.xz") as found:
        found.extractall(home / ".yiku", filter="data")
    said = {block.line: block.output for block in blocks(UPGRADING)}
    printed = run_shell(UPGRADING, home)

    assert len(printed) > 1
    for line, out in printed:
        assert versionless(comparable(said[line] or "", home)) == versionless(comparable(out, home)), f"upgrading.md:{line}"


def versionless(text: str) -> str:
    """A text without the versions of other programs."""
    return re.sub(r"SQLite [\d.]+", "SQLite", text)
