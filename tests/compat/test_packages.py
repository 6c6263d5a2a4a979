"""The compatible interfaces as a whole: what they import, how long their files are, what the command finds."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from yiku import Memory
from yiku_compat import console, packages

ROOT = Path(__file__).resolve().parents[2]
COMPAT = ROOT / "src" / "yiku_compat"
FILES = sorted(COMPAT.rglob("*.py"))
PUBLIC = {"yiku", "yiku.errors", "yiku.types", "yiku.interfaces.tools"}
LINES = 250
NAMES = re.compile(r"yiku_compat|\b(?:memory_system|simple_?memory|openakita|bitwise(?:ai)?)\b", re.IGNORECASE)


def imports(path: Path) -> set[str]:
    """The modules of yiku that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name for name in found if name.partition(".")[0] == "yiku"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(COMPAT).as_posix())
def test_a_file_is_short_says_what_it_does_and_imports_public_names(path):
    """At most 250 lines, a docstring on top, and of yiku only what is public."""
    text = path.read_text(encoding="utf-8")

    assert text.count("\n") <= LINES
    assert ast.get_docstring(ast.parse(text))
    assert set() == imports(path) - PUBLIC


def test_the_core_names_no_document():
    """No module, text or script of yiku speaks of a compatible interface or of a system behind one."""
    files = [path for path in (ROOT / "src" / "yiku").rglob("*") if path.suffix in (".py", ".md", ".sql", ".toml", ".js")]
    naming = {str(path): found[0] for path in files if (found := NAMES.search(path.read_text(encoding="utf-8")))}

    assert len(files) > 300
    assert {} == naming


def test_each_package_is_in_the_readme_and_each_part_has_its_form():
    """README.md lists every package; what is found by its name has what is asked of it."""
    there = {path.parent.name for path in COMPAT.glob("*/__init__.py")}
    listed = {*re.findall(r"^\| S\d[^|]*\| `(\w+)` \|", (COMPAT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)}
    forms = {"views": "VIEWS", "migration": "migrate", "tools": "TOOLS", "command": "main"}

    assert {*packages.PACKAGES.values()} == listed
    assert there <= listed
    for package in there:
        for name, member in forms.items():
            module = packages.part(package, name)
            assert module is None or hasattr(module, member)
    assert packages.part("nobody", "views") is None


def test_a_wrong_command_line_says_what_is_wanted(capsys):
    """Nothing to do, or an unknown word, ends with the usage."""
    for words in ([], ["nothing"], ["migrate", "s9", "old.db"]):
        with pytest.raises(SystemExit) as ended:
            console.run(words)

        assert 2 == ended.value.code
        assert "usage: yiku-compat" in capsys.readouterr().err


@pytest.mark.parametrize("rows", [1, 9_000], ids=["flushed at the end", "in the middle"])
def test_a_reader_that_has_gone_is_no_error(tmp_path, rows):
    """`yiku-compat sql … | head` ends as `yiku` does: with the exit code of a closed pipe, and without a word."""
    with Memory(tmp_path / "home") as memory:
        memory.remember("I live in Oslo. 我住在奥斯陆。")
    statement = (
        f"with recursive c(x) as (select 1 union all select x + 1 from c where x < {rows}) select x, printf('%200d', x) from c"
    )
    words = [sys.executable, "-m", "yiku_compat", "sql", "s1", statement, "--home", tmp_path / "home"]
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)

    assert (141, b"") == (ran.returncode, ran.stderr)
