"""Detecting a home's database or key in a git repository, and what .gitignore excludes."""

import shutil
import subprocess

import pytest

from yiku import Memory
from yiku.files import git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def run(folder, *words):
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    run(tmp_path, "init", "-q")
    return tmp_path


def test_a_new_home_is_kept_out_of_git_but_for_what_people_read(repository, home):
    """With all that a session leaves there, and the pages of its owner."""
    Memory(home, owner="user:mei").close()
    for name in ("MEMORY.md", "documents/plan.md", "documents/key", "transcripts/1/s.jsonl", "scopes/2/transcripts/s.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("a")
    run(repository, "add", "-A")
    kept = subprocess.run(["git", "-C", str(repository), "ls-files", home.name], capture_output=True, text=True, check=True).stdout

    assert kept.split() == [
        f"{home.name}/{name}" for name in (".gitignore", "MEMORY.md", "documents/key", "documents/plan.md", "yiku.toml")
    ]
    assert git.tracked(home) == []


@pytest.mark.parametrize("version", [2, 4])
@pytest.mark.parametrize("where", [".", "a/b", "数据/家"])
def test_a_database_in_git_is_noticed(repository, version, where):
    """In the root of a repository or below it, whatever form its index has."""
    home = repository / where
    home.mkdir(parents=True, exist_ok=True)
    (home / "yiku.db").write_text("a")
    (home / "yiku.toml").write_text("a")
    run(repository, "add", "-A")
    run(repository, "update-index", "--index-version", str(version))

    assert git.tracked(home) == ["yiku.db"]


def test_the_status_says_so(repository, home):
    with Memory(home, owner="user:mei") as memory:
        assert not any("git" in trouble for trouble in memory.status().troubles)
        run(repository, "add", "-f", f"{home.name}/yiku.db", f"{home.name}/key")

        assert any("git rm --cached yiku.db key" in trouble for trouble in memory.status().troubles)


def test_a_home_in_no_repository_is_tracked_by_none(tmp_path):
    assert git.tracked(tmp_path) == []


def test_an_index_that_is_none_says_nothing(repository):
    (repository / ".git" / "index").write_bytes(b"yiku.db\0" * 9)

    assert git.tracked(repository) == []
