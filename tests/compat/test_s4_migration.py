"""Bringing an old workspace of the notes memory into a home: verified, resumable, once, and the original as it was."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from bitwise_homes import OFF, old_workspace, text_of

from yiku import Memory
from yiku.errors import InvalidInput, NotFound
from yiku_compat import console
from yiku_compat.bitwise import BitwiseAI
from yiku_compat.bitwise.export import export
from yiku_compat.bitwise.migration import migrate
from yiku_compat.migration import NotVerified

TEXTS = 65  # that the old workspace of the kills has
# at a text that is read, or, below zero, between a file that is written and its name
POINTS = random.Random(7).sample([n for n in range(2 - TEXTS, TEXTS + 1) if n], 50)
CHILD = """
import os, signal, sys
from yiku_compat.bitwise.migration import migrate
at, written, replace = int(sys.argv[3]), [], os.replace
def counting(fresh, target):
    if str(fresh).endswith(".migrating"):
        written.append(fresh)
        if len(written) == -at:
            os.kill(os.getpid(), signal.SIGKILL)
    replace(fresh, target)
os.replace = counting
migrate(sys.argv[1], sys.argv[2], progress=lambda n: n == at and os.kill(os.getpid(), signal.SIGKILL))
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def notes(home: Path) -> dict[str, bytes]:
    """What a person reads in a home."""
    return {name: text for name, text in contents(home).items() if name.endswith(".md") or name == "config.json"}


@pytest.mark.spec("S4-73", "S4-67", "T-09")
def test_everything_an_old_workspace_has_is_brought_in(tmp_path, home):
    """Notes byte by byte; documents that only the database has, put together and checked by their hash; the configuration."""
    old = old_workspace(tmp_path / "old")
    before = contents(old)
    report = migrate(old, home)

    assert before == contents(old)
    for name in ("MEMORY.md", "memory/2026-01-01.md", "memory/2026-01-03.md"):
        assert before[name] == (home / name).read_bytes()
    for n in range(3):
        assert text_of(n) == (home / "documents" / f"manual{n}.md").read_text()
    assert text_of(1_001) == (home / "documents" / "opt/docs/x/docs/outside.md").read_text()
    assert (11, 10, 0, {}) == (report.read, report.imported, report.known, report.moved)
    assert {"changed.md": False, "nohash.md": False} == {path: exact for path, exact in report.rebuilt.items() if not exact}
    assert {"lost.md", "config.json: vector_db"} == {name for name, _ in report.skipped}
    with BitwiseAI(OFF, workspace_dir=home) as ai:
        assert "documents/manual2.md" == ai.search_memory("Which instruction has opcode2x?")[0].path
        assert "MEMORY.md" in {one.path for one in ai.search_memory("Rd 和 Rm 相同吗？", min_score=0)}
        assert 10 == ai.get_memory_stats()["files"]
    config = json.loads((home / "config.json").read_text())
    assert (str(home), 5, None) == (
        config["memory"]["workspace_dir"], config["memory"]["short_term"]["retention_days"], config["llm"].get("api_key"),
    )  # fmt: skip
    assert 0o600 == (home / "config.json").stat().st_mode & 0o777


def test_a_second_run_changes_nothing_even_where_somebody_edited_or_removed(tmp_path, home):
    old = old_workspace(tmp_path / "old")
    migrate(old, home)
    (home / "memory" / "2026-01-01.md").write_text("Rewritten. 改写了。\n")
    (home / "documents" / "manual1.md").unlink()
    before = notes(home)
    report = migrate(old, home)

    assert before == notes(home)
    assert (0, 10) == (report.imported, report.known)


def test_texts_of_the_home_stay_and_old_ones_go_beside_them(tmp_path, home):
    """A note of the same name with another text takes nobody's place."""
    with Memory(home) as memory:
        memory.notes.promote("Known here already. 这里已知。")
    old = old_workspace(tmp_path / "old")
    mine = (home / "MEMORY.md").read_bytes()
    report = migrate(old, home)

    assert mine == (home / "MEMORY.md").read_bytes()
    assert {"MEMORY.md": "documents/bitwise/MEMORY.md"} == report.moved
    assert (old / "MEMORY.md").read_bytes() == (home / "documents/bitwise/MEMORY.md").read_bytes()


def test_a_workspace_can_be_its_own_home(tmp_path):
    """Opened where it lies, its notes are found at once; the migration adds what only the database has."""
    old = old_workspace(tmp_path / "old")
    before = contents(old)
    with BitwiseAI(OFF, workspace_dir=old) as ai:
        assert "MEMORY.md" == ai.search_memory("Which registers must differ? Rd 和 Rm")[0].path
    report = migrate(old / "memory.db", old)
    again = migrate(old, old)

    assert before.items() <= contents(old).items()
    assert text_of(0) == (old / "documents" / "manual0.md").read_text()
    assert (6, 0) == (report.imported, again.imported)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An old workspace, and the notes of a home that it was brought into without a kill."""
    folder = tmp_path_factory.mktemp("whole")
    old = old_workspace(folder / "old", days=20, documents=40)
    migrate(old, folder / "home")
    return old, contents(old), {name: text for name, text in notes(folder / "home").items() if name != "config.json"}


@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"at {point}")
def test_a_killed_migration_goes_on(tmp_path, home, whole, point):
    """Wherever it is killed, the next run brings in the rest, and what is there is the same as without a kill."""
    old, before, wanted = whole
    done = subprocess.run([sys.executable, "-c", CHILD, str(old), str(home), str(point)], check=False)
    assert -signal.SIGKILL == done.returncode
    migrate(old, home)

    assert wanted == {name: text for name, text in notes(home).items() if name != "config.json"}
    assert (home / "config.json").exists()
    assert 0 == migrate(old, home).imported
    assert before == contents(old)


@pytest.mark.long
def test_a_large_old_workspace(tmp_path, home):
    """Thousands of chunks, their documents whole, and the original as it was."""
    old = old_workspace(tmp_path / "old", days=300, documents=700)
    before = contents(old)
    report = migrate(old, home)

    assert before == contents(old)
    assert (1_004, 2, 1) == (report.imported, sum(not exact for exact in report.rebuilt.values()), len(report.skipped) - 1)
    assert all(text_of(n) == (home / "documents" / f"manual{n}.md").read_text() for n in range(700))
    with Memory(home) as memory:
        assert 1_004 == memory.admin.sql("select count(*) from files where status = 'indexed'").rows[0][0]


def test_what_is_no_old_workspace_is_refused(tmp_path, home):
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "memory.db").write_bytes(b"not a database at all, whatever its name says")
    with pytest.raises(NotFound):
        migrate(tmp_path / "none", home)
    with pytest.raises(NotFound):
        migrate(tmp_path / "empty", home)
    with pytest.raises(InvalidInput):
        migrate(tmp_path / "other", home)
    with pytest.raises(InvalidInput):
        migrate(old_workspace(tmp_path / "old"), home, scope="other")


def test_an_original_that_changes_meanwhile_is_told(tmp_path, home):
    old = old_workspace(tmp_path / "old")
    with pytest.raises(NotVerified):
        migrate(old, home, progress=lambda n: n == 1 and (old / "MEMORY.md").write_text("edited now"))


def test_the_command_brings_a_workspace_in(tmp_path, home, capsys):
    old = old_workspace(tmp_path / "old")

    assert 0 == console.run(["migrate", "s4", str(old), "--home", str(home)])
    report = json.loads(capsys.readouterr().out)
    assert (10, True) == (report["imported"], report["rebuilt"]["manual0.md"])


@pytest.mark.spec("S4-54", "S4-55", "S4-56")
def test_what_is_written_back_is_the_workspace_again(tmp_path, home):
    """Every note byte by byte, the configuration, and a database whose hashes are those of the files; it can be migrated again."""
    old = old_workspace(tmp_path / "old")
    migrate(old, home)
    (home / "memory" / "2026-01-03.md").unlink()
    with Memory(home) as memory:
        counts = export(memory, tmp_path / "back")
        with pytest.raises(InvalidInput):
            export(memory, tmp_path / "back")
    mine = {name: text for name, text in notes(home).items() if not name.startswith("reports/")}

    assert mine == notes(tmp_path / "back")
    with sqlite3.connect(tmp_path / "back" / "memory.db") as database:
        listed = dict(database.execute("select path, hash from files"))
        chunks = database.execute("select count(*), count(distinct path) from chunks").fetchone()
        assert [("1.0.0",)] == database.execute("select value from meta where key = 'schema_version'").fetchall()
    database.close()
    assert {name: sha256(text).hexdigest() for name, text in mine.items() if name != "config.json"} == listed
    assert (counts["chunks"], counts["files"]) == chunks == (chunks[0], counts["written"])
    again = migrate(tmp_path / "back", tmp_path / "second")
    assert (counts["written"], 0) == (again.imported, len(again.moved))
    assert mine.keys() == {name for name in notes(tmp_path / "second") if not name.startswith("reports/")}


def test_the_command_writes_a_workspace_back(tmp_path, home, capsys):
    """`yiku-compat export s4 FOLDER`, and `s0` and `s3` beside it."""
    with Memory(home) as memory:
        memory.notes.promote("Rd and Rm differ. 二者不同。")
        memory.remember("Ann drinks tea. 安喝茶。")

    for document in ("s0", "s3", "s4"):
        assert 0 == console.run(["export", document, str(tmp_path / document), "--home", str(home)])
        assert sum(json.loads(capsys.readouterr().out).values())
    assert "Rd and Rm differ" in (tmp_path / "s4" / "MEMORY.md").read_text()
    assert "安喝茶" in (tmp_path / "s0" / "layer2" / "active" / "facts.jsonl").read_text()
    assert (tmp_path / "s3" / "openakita.db").exists()
    assert 1 == console.run(["export", "s0", str(home / "inside"), "--home", str(home)])
    assert "in the home" in capsys.readouterr().err
