"""Paths of a home, and atomic writes of its files."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from yiku.errors import InvalidInput, StoreError
from yiku.files.vault import Home, write_atomically


def test_each_thing_has_its_place(tmp_path):
    """Database, settings, blobs and locks lie inside the root."""
    place = Home(tmp_path / "梅's home")

    assert ["yiku.db", "yiku.toml", "blobs", "locks", "locks/write.lock"] == [
        str(path.relative_to(place.root)) for path in (place.database, place.settings, place.blobs, place.locks, place.write_lock)
    ]


def test_a_home_is_where_somebody_made_one(tmp_path):
    """An empty folder is none, nor one in which nobody got further than an empty database; settings or a database make it one."""
    place = Home(tmp_path)
    assert not place.exists()
    place.database.touch()
    assert not place.exists()
    place.database.write_bytes(b"something")
    assert place.exists()
    place.database.unlink()
    place.settings.touch()
    assert place.exists()


def test_a_home_is_made_once_and_for_its_owner_alone(tmp_path):
    """Folders 0700, files 0600, whatever the umask; the settings that are there are not touched."""
    umask = os.umask(0)
    try:
        place = Home(tmp_path / "a" / "b")
        assert (True, False) == (place.make("limit = 1\n"), place.make("limit = 2\n"))
    finally:
        os.umask(umask)

    assert "limit = 1\n" == place.settings.read_text()
    assert {0o700, 0o600} == {stat.S_IMODE(path.stat().st_mode) for path in (place.root, *place.root.iterdir())}


def test_missing_folders_are_made_again(tmp_path):
    """A home that was copied without its empty folders gets them back."""
    place = Home(tmp_path / "home")
    place.make("")
    place.blobs.rmdir()
    place.prepare()

    assert place.blobs.is_dir()


@pytest.mark.parametrize("path", ["", "  ", "a\0b", b"/tmp/x", 5, None, ["x"], "~nobody-has-this-name/x", "a\ud800b", "x" * 5000])
def test_what_is_no_path_is_refused(path, tmp_path, monkeypatch):
    """Wrong types, NUL, lone surrogates, an unknown user's home, a name too long: typed, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises((InvalidInput, StoreError)):
        Home(path).make("")

    assert [] == [*tmp_path.iterdir()]


def test_a_file_in_the_way_is_named(tmp_path):
    """A home below a file, and one whose folder for blobs is a file."""
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="is a file"):
        Home(tmp_path / "file" / "home").make("")
    place = Home(tmp_path)
    (tmp_path / "blobs").touch()
    with pytest.raises((InvalidInput, StoreError), match="blobs"):
        place.prepare()


def test_a_file_is_replaced_whole(tmp_path):
    """The new content stands under the name, and no temporary file stays behind."""
    path = tmp_path / "名.txt"
    for content in (b"one", b"", "三".encode() * 100_000):
        write_atomically(path, content)
        assert content == path.read_bytes()

    assert [path] == [*tmp_path.iterdir()]
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)


def test_what_cannot_be_written_leaves_what_was(tmp_path):
    """A folder in the place of the file: an error of ours with the path, and nothing is left behind."""
    (tmp_path / "there").mkdir()
    with pytest.raises(StoreError, match="there"):
        write_atomically(tmp_path / "there", b"x")
    with pytest.raises(StoreError, match="nowhere"):
        write_atomically(tmp_path / "nowhere" / "x", b"x")

    assert ["there"] == [path.name for path in tmp_path.iterdir()]


def test_a_link_in_the_place_of_the_file_is_replaced_not_followed(tmp_path):
    """The file that a link points to keeps its content."""
    (tmp_path / "other").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "other")
    write_atomically(tmp_path / "link", b"x")

    assert (b"precious", b"x") == ((tmp_path / "other").read_bytes(), (tmp_path / "link").read_bytes())


def test_a_killed_writer_leaves_the_old_file(tmp_path):
    """A process that is killed while it writes, again and again: each time the old content or the new, whole."""
    path = tmp_path / "f"
    code = (
        "import sys; from pathlib import Path; from yiku.files.vault import write_atomically\n"
        "print('go', flush=True)\n"
        "while True:\n    for c in b'ab': write_atomically(Path(sys.argv[1]), bytes([c]) * 300_000)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for i in range(3):
        with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, env=environment) as process:
            process.stdout.readline()
            while not path.exists():
                pass
            time.sleep(0.01 * i)
            process.kill()
        assert Path(path).read_bytes() in (b"a" * 300_000, b"b" * 300_000)
