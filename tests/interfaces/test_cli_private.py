"""Secrets, pauses and switched-off folders on the command line, and the messages about them."""

import commands
import pytest

KEY = "gh" + "p_" + "aB3dE9fG1hJ5kL7mN2pQ4rS6tU8vW0xY1zA3"
OTHER = "e2" + "b_" + "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"


@pytest.fixture
def yiku(tmp_path):
    """Runs a verb in a folder of its own, on one home."""
    (folder := tmp_path / "工作").mkdir()

    def run(*words: str, below: str = ".") -> commands.Ran:
        (here := folder / below).mkdir(parents=True, exist_ok=True)
        return commands.run(*words, cwd=here, YIKU_HOME=tmp_path / "home")

    run("status")
    run.folder = folder
    return run


@pytest.mark.parametrize("verb", ["record", "remember"])
def test_what_was_masked_is_told(yiku, verb):
    """One line on stderr names the kinds, and the secret is in no answer; a mark that was typed is none."""
    done = yiku(verb, f"部署用 {KEY}，还有 {OTHER}")
    again = yiku(verb, "这是 [secret github-token 3f9a1c2e]")

    assert (0, "2 secrets were masked: e2b-key, github-token\n") == (done.code, done.err)
    assert KEY not in done.out
    assert (0, "") == (again.code, again.err)


def test_what_was_masked_in_a_kept_file_is_told(yiku):
    """The copy in the home has the marks, the file stays as it is; a file without a secret is told nothing of."""
    (yiku.folder / "deploy.env").write_text(f"# 部署\nTOKEN={KEY}\n", encoding="utf-8")
    (yiku.folder / "早.txt").write_text("早", encoding="utf-8")
    kept = [yiku("attach", name, "--session", "s", "--keep") for name in ("deploy.env", "早.txt")]

    assert [(0, "1 secret was masked: github-token\n"), (0, "")] == [(done.code, done.err) for done in kept]
    assert KEY in (yiku.folder / "deploy.env").read_text(encoding="utf-8")


def test_a_pause_has_a_length_or_an_end(yiku):
    """`--for 2h`, `--until`, or until `yiku resume`; what is neither is asked wrongly."""
    for given in (["--for", "1h30m"], ["--until", "2999-01-01"], []):
        assert yiku("pause", *given, "--json").json["paused"] is True
        assert (1, "paused") == ((done := yiku("remember", "早")).code, done.err[done.err.index("paused") :][:6])
    assert [2, 2, 2] == [
        yiku("pause", *bad).code for bad in (["--for", "soon"], ["--for", ""], ["--for", "1h", "--until", "2999-01-01"])
    ]
    assert ["resumed", "memory was not paused"] == [yiku("resume").out.strip() for _ in range(2)]
    assert 0 == yiku("remember", "早").code


@pytest.mark.parametrize("verb", ["record", "remember"])
def test_in_a_folder_that_is_off_nothing_is_kept(yiku, verb):
    """A file `.yiku-off` in it or above it; the answer names it, and looking goes on."""
    assert 0 == yiku(verb, "早").code
    (yiku.folder / ".yiku-off").touch()
    done = yiku(verb, "我们周三见", below="a/b")

    assert (1, True) == (done.code, ".yiku-off excludes this folder" in " ".join(done.err.split()))
    assert 0 == yiku("recall", "早").code
    assert "周三" not in yiku("timeline").out
