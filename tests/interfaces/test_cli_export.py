"""The command `export markdown`: pages for a person; what it refuses."""

import pytest
from commands import run


@pytest.fixture
def filled_home(home):
    run("remember", "I live in Oslo. 我住在奥斯陆。", "--home", str(home))
    return home


def test_pages_are_written_and_counted(filled_home, tmp_path):
    """It names the first page; --json has the counts; a second run needs --replace."""
    words = ("export", "markdown", str(tmp_path / "out"), "--home", str(filled_home))
    done, again = run(*words), run(*words)
    replaced = run(*words, "--replace", "--json")

    assert (0, 2, 0) == (done.code, again.code, replaced.code)
    assert "README.md" in done.out and "1 statement" in done.out
    assert "not empty" in again.err
    assert {"memories": 1, "turns": 0, "forgotten": 0}.items() <= replaced.json["exported"].items()
    assert "奥斯陆" in (tmp_path / "out" / "memories" / "fact.md").read_text(encoding="utf-8")


def test_a_file_may_still_be_called_markdown(filled_home, tmp_path):
    """With a path it is JSON Lines."""
    assert 0 == run("export", str(tmp_path / "markdown"), "--home", str(filled_home)).code
    assert (tmp_path / "markdown").read_text(encoding="utf-8").startswith('{"type":"yiku-export"')


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "Missing argument 'FILE'"),
        (["markdown"], "give the folder"),
        (["markdown", ""], "give the folder"),
        (["html", "out"], "no format html"),
        (["markdown", "out", "--all"], "one scope"),
        (["markdown", "out", "--since", "2026-01-01"], "one scope"),
        (["out.jsonl", "--replace"], "is for pages"),
    ],
)
def test_what_cannot_be_meant_is_refused(filled_home, tmp_path, words, why, monkeypatch):
    """A word that is no format, no folder, or an option of the other form."""
    monkeypatch.chdir(tmp_path)
    done = run("export", *words, "--home", str(filled_home))

    assert 2 == done.code
    assert why in " ".join(done.err.split())
