"""
S13 to S15, S24: path traversal, links, special files, and the permissions of a home.

Whoever can put a link, a pipe or a device into a home, or names things like paths, gets an error of ours:
soon, and without a byte outside.
"""

import hashlib
import os
import shutil
import signal
import stat
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import commands
import integrity
import pytest
from sampling import Choice

from yiku import Memory
from yiku.errors import Damaged, InvalidInput, StoreError, YikuError
from yiku.files import blobs, vault
from yiku.files.vault import Home
from yiku.interfaces import importers
from yiku.interfaces.importers import claude_code, jsonl

LONG = "首 outside " * 10_000  # goes into a blob
SOON_S = 5
OUTSIDE = b'{"role": "user", "content": "not yours \xe5\xa4\x96\xe9\x9d\xa2"}\n'

NAMES = (
    "..", "../x", "../../../../../../tmp/x", "a/../../x", "./x", ".", "a/b", "/x", "//server/share/x", "/etc/passwd",
    "/dev/zero", "/proc/self/mem", "~", "~/x", "~root/x", "$HOME/x", "C:\\x", "C:x", "\\\\server\\share\\x", "\\\\?\\C:\\x",
    "a\\..\\..\\x", "NUL", "file:///etc/passwd", "%2e%2e/x", "%2e%2e%2fx", "..%252f..%252fx", "%c0%ae%c0%ae/x", "．．／x",
    "‥/x", "..\u2215x", "..\0/x", "x\n../y", "x\r", "x\ud800", "yiku.db", "yiku.toml", "key", "locks/write.lock",
    "blobs/../../x", "0" * 64 + "/../x", "-rf", "x" * 5_000, "家/../../外",
)  # fmt: skip

serial = count()
# What takes a name, and must never make a path of it.
DOORS: dict[str, Callable[[Memory, str], object]] = {
    "session": lambda m, t: m.record_turn("user", f"早 {next(serial)}", session=t),
    "external id": lambda m, t: m.record_turn("user", LONG, external_id=t),
    "project": lambda m, t: m.record_turn("user", "早", project=t, agent=t, actor=t, speaker=t, parent=t),
    "metadata": lambda m, t: m.record_turn("user", "早", metadata={"cwd": t, t: t}),
    "tool": lambda m, t: m.record_turn("tool", "", tool_calls=[{"name": t, "input": {"path": t}}], tool_results=[{"blob": t}]),
    "tags": lambda m, t: m.remember(f"Tag {next(serial)}", tags=[t], entities=[t], project=t),
    "key": lambda m, t: m.record_turn("user", "早", idempotency_key=t),
    "reason": lambda m, t: m.forget(m.remember(f"Gone {next(serial)}").memory.id, reason=t),
    "source": lambda m, t: m.admin.import_([], source=t),
    "blob": lambda m, t: m.admin.blob(t),
    "id": lambda m, t: m.get(t),
    "scope": lambda m, t: Memory(m.settings.home, scope=t).record_turn("user", "早"),
    "reads": lambda m, t: Memory(m.settings.home, reads=[t]).recall("早"),
    "actor": lambda m, t: Memory(m.settings.home, actor=t, agent=t, project=t, names=[t or "x"]).record_turn("user", "早"),
}  # fmt: skip


class Hanging(BaseException):
    """Raised out of an endless wait; nothing catches it on the way."""


@contextmanager
def soon() -> Iterator[None]:
    """An endless wait inside, for the other end of a pipe say, ends in an error."""

    def too_long(*_: object) -> None:
        raise Hanging(f"over {SOON_S} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SOON_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def everything(folder: Path) -> dict[str, object]:
    """Each name below a folder, with what a file holds and where a link points."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        content = os.readlink(path) if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else None
        found[str(path.relative_to(folder))] = (stat.S_IFMT(mode), content)
    return found


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What lies outside the home and must stay as it is; the working folder is there too."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "precious.jsonl").write_bytes(OUTSIDE)
    (folder / "folder").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    return folder


# ------------------------------------------------------------------ names


@pytest.mark.parametrize("door", DOORS)
def test_S13_a_name_never_becomes_a_path(memory: Memory, outside: Path, door: str, some: Choice) -> None:
    """Absolute, with drives, with dots encoded once and twice: kept as a name or refused; no file anywhere is called so."""
    named(memory, outside, door, some)


def named(memory: Memory, outside: Path, door: str, choose: Choice) -> None:
    """Give names like these at one door; what lies in the home and beside it then has none of them."""
    before = everything(outside)
    for name in choose(NAMES, 6):
        with soon(), suppress(YikuError):
            DOORS[door](memory, name)

    assert before == everything(outside)
    assert ["home", "outside"] == sorted(path.name for path in outside.parent.iterdir())
    files = [path.relative_to(memory.settings.home).parts for path in Path(memory.settings.home).rglob("*")]
    assert [] == [parts for parts in files if len(parts) > 1 and parts[0] not in ("blobs", "locks")]
    assert all(
        len(parts) == 1 or blobs._NAME.fullmatch(parts[-1].removesuffix(".z"))
        for parts in files
        if parts[0] == "blobs" and len(parts) == 3
    )


def test_S13_there_are_over_300_attempts() -> None:
    """As many as the goal asks for, by every door that takes a name."""
    assert len(NAMES) * len(DOORS) >= 300


@pytest.mark.parametrize("name", NAMES)
def test_S13_a_home_that_is_no_folder_of_ours_is_refused(outside: Path, name: str) -> None:
    """A path that names no home: said so, and nothing is made or read."""
    before = everything(outside)
    with soon(), pytest.raises(YikuError):
        Memory(name, create=False)

    assert before == everything(outside)


# ------------------------------------------------------------------ links, pipes, devices


def in_the_way(outside: Path) -> dict[str, Callable[[Path], None]]:
    """What somebody may put into the place of a file or folder of the home."""
    return {
        "a link to a file": lambda path: path.symlink_to(outside / "precious.jsonl"),
        "a link to a folder": lambda path: path.symlink_to(outside / "folder"),
        "a link to nothing": lambda path: path.symlink_to(outside / "new"),
        "a link to itself": lambda path: path.symlink_to(path),
        "a link to an endless device": lambda path: path.symlink_to("/dev/zero"),
        "a link to a terminal": lambda path: path.symlink_to("/dev/tty"),
        "a pipe": os.mkfifo,
        "a folder": lambda path: path.mkdir(),
    }


PLACES = (
    "yiku.db", "yiku.db-wal", "yiku.db-shm", "yiku.db-journal", "yiku.toml", "key", "store.id", "reserve", "paused",
    "blobs", "blobs/*", "blobs/*/*.z", "locks", "locks/write.lock", "backups", "vectors",
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.long
def test_S14_what_is_put_into_a_home_leads_nowhere(tmp_path: Path, outside: Path, place: str, some: Choice) -> None:
    """A link, a pipe, a device or a folder under any name of ours: an error of ours or none, soon, and outside nothing changed."""
    put_in_the_way(tmp_path, outside, place, some)


def put_in_the_way(tmp_path: Path, outside: Path, place: str, choose: Choice) -> None:
    """Put some of these things in that place of a home, and use the home."""
    before, template = everything(outside), tmp_path / "template"
    with Memory(template, owner="user:mei") as memory:
        name = memory.record_turn("user", LONG).blob
        memory.remember("I live in Oslo 奥斯陆")
    for i, put in enumerate(choose([*in_the_way(outside).values()], 2)):
        home = Path(shutil.copytree(template, tmp_path / f"home{i}"))
        for path in list(home.glob(place)) or [home / place]:
            with suppress(FileNotFoundError):
                path.rename(tmp_path / f"aside{next(serial)}")
            put(path)
        with soon(), suppress(YikuError), Memory(home, owner="user:mei") as memory:
            for verb in (
                lambda m=memory: m.recall("where do I live?"),
                lambda m=memory: m.record_turn("user", LONG),
                lambda m=memory: m.record_turn("user", f"{LONG} again"),
                lambda m=memory: m.remember("I live in Bergen"),
                lambda m=memory, name=name: m.admin.blob(name),
                lambda m=memory: m.admin.stats(),
                lambda m=memory: m.status(),
            ):
                with suppress(YikuError):
                    verb()
    assert before == everything(outside)


@pytest.mark.parametrize("level", ["blobs", "blobs/ab"])
def test_S14_a_link_swapped_in_while_we_write_catches_nothing(tmp_path: Path, level: str) -> None:
    """Whatever the moment: not a byte outside, and what was acknowledged can be read."""
    swapped_while_writing(tmp_path, level, swaps=100)


def swapped_while_writing(tmp_path: Path, level: str, swaps: int) -> None:
    """One thread swaps a folder for a link and back, another writes blobs into it, all of the folder `ab`."""
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    (home / "blobs" / "ab").mkdir(parents=True)
    attacker = threading.Thread(target=swap, args=(home / level, outside, swaps))
    attacker.start()
    kept: set[str] = set()
    texts = (f"字 {i}" for i in count())
    while attacker.is_alive() or not kept:  # on a busy machine the attacker may be done before the first text is kept
        text = next(text for text in texts if hashlib.blake2b(text.encode(), digest_size=32).hexdigest().startswith("ab"))
        with suppress(StoreError):
            kept.add(blobs.put(home / "blobs", text))
    attacker.join()

    assert {} == everything(outside)
    assert kept
    assert kept <= {path.name.removesuffix(".z") for path in home.rglob("*.z")}


def swap(folder: Path, outside: Path, times: int) -> None:
    """Put a link into the place of a folder, and take it away again, so many times; no folder is lost."""
    link = folder.parent / "link"
    link.symlink_to(outside)
    for i in range(times):
        folder.rename(folder.with_name(f"aside{i}"))
        while not _moved(link, folder):  # the writer may have made a new one
            folder.rename(folder.with_name(f"made{i}-{next(serial)}"))
        time.sleep(0)
        folder.rename(link)
        _moved(folder.with_name(f"aside{i}"), folder)  # or the writer has made one


def _moved(what: Path, to: Path) -> bool:
    try:
        what.rename(to)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("what", ["a link to a file", "a link to an endless device", "a pipe", "a folder"])
def test_S15_what_is_no_file_is_no_blob(tmp_path: Path, outside: Path, what: str) -> None:
    """In the place of one: refused at once, and written anew by the next who has that text."""
    (tmp_path / "home").mkdir()
    name = blobs.put(tmp_path / "home" / "blobs", "字 x")
    (path,) = (tmp_path / "home").glob("*/*/*.z")
    path.unlink()
    in_the_way(outside)[what](path)
    with soon(), pytest.raises(Damaged, match=name[:8]):
        blobs.get(tmp_path / "home" / "blobs", name)
    if what != "a folder":
        assert name == blobs.put(tmp_path / "home" / "blobs", "字 x")
        assert "字 x" == blobs.get(tmp_path / "home" / "blobs", name)


@pytest.mark.long
def test_S15_a_blob_is_trusted_as_far_as_its_hash(tmp_path: Path) -> None:
    """Few bytes that would unpack to 200 MB are refused, and never lie in memory as a whole."""
    packer = zlib.compressobj(1)
    bomb = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(200)), packer.flush()])
    name = blobs.put(tmp_path / "blobs", "x")
    (path,) = (tmp_path / "blobs").glob("*/*.z")
    path.write_bytes(bomb)
    tracemalloc.start()
    try:
        with soon(), pytest.raises(Damaged, match=name[:8]):
            blobs.get(tmp_path / "blobs", name)
        assert tracemalloc.get_traced_memory()[1] < 2.5 * blobs.LONGEST_BYTES
    finally:
        tracemalloc.stop()


# ------------------------------------------------------------------ importers


@pytest.mark.parametrize("importer", [jsonl, claude_code])
def test_S13_an_importer_reads_files_alone(tmp_path: Path, outside: Path, importer: object) -> None:
    """A pipe or a device is refused at once; below a folder no link is followed, neither to a file nor to a folder."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "good.jsonl").write_bytes(OUTSIDE)
    (source / "link.jsonl").symlink_to(outside / "precious.jsonl")
    (source / "folder").symlink_to(outside)
    os.mkfifo(source / "pipe.jsonl")
    with soon():
        assert [source / "good.jsonl"] == importer.files(source)
        for path in (source / "pipe.jsonl", Path("/dev/zero"), Path("/dev/tty"), source / "none"):
            with pytest.raises(InvalidInput):
                importer.files(path)
            with pytest.raises(InvalidInput):
                list(importer.read(path))
        assert [outside / "precious.jsonl"] == [path.resolve() for path in importer.files(source / "link.jsonl")]


def test_S13_a_pipe_that_takes_the_place_of_a_file_is_noticed_when_it_is_opened(tmp_path: Path) -> None:
    """Between looking for files and reading one of them."""
    path = tmp_path / "turns.jsonl"
    path.write_bytes(OUTSIDE)
    (found,) = jsonl.files(tmp_path)
    path.unlink()
    os.mkfifo(path)
    with soon(), pytest.raises(InvalidInput, match="not a file"):
        list(importers.objects(found))


# ------------------------------------------------------------------ folders and their descriptors


def test_a_folder_below_a_root_is_made_and_entered_step_by_step(tmp_path: Path) -> None:
    """Made where it is missing, for its owner alone; a link on the way is refused, one at the root is followed."""
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "real")
    with vault.open_folder(tmp_path / "root", "一", "two") as folder:
        assert os.path.samestat(os.fstat(folder), (tmp_path / "real" / "一" / "two").stat())
    assert [0o700, 0o700] == [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "real").rglob("*")]
    (tmp_path / "real" / "link").symlink_to(tmp_path)
    with pytest.raises(OSError, match="link"), vault.open_folder(tmp_path / "root", "link", "two"):
        pass
    assert not (tmp_path / "two").exists()


def test_a_home_may_itself_be_reached_by_a_link(tmp_path: Path) -> None:
    """A person who keeps his home on another disk puts a link in its place; that is his to do."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    with Memory(tmp_path / "home", owner="user:mei") as memory:
        name = memory.record_turn("user", LONG).blob
        assert LONG == memory.admin.blob(name)
    assert Home(tmp_path / "disk").exists()


# ------------------------------------------------------------------ S24: modes


def modes(home: Path) -> dict[str, int]:
    """The permissions of the home and all in it."""
    return {str(path.relative_to(home)): stat.S_IMODE(path.lstat().st_mode) for path in (home, *home.rglob("*"))}


def wrong(home: Path) -> dict[str, str]:
    """What others than the owner may see, or he may not."""
    wanted = {name: 0o700 if (home / name).is_dir() else 0o600 for name in modes(home)}
    return {name: f"{mode:o}" for name, mode in modes(home).items() if mode != wanted[name]}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_S24_folders_are_0700_and_files_0600(tmp_path: Path, umask: int) -> None:
    """Database, WAL, its index, lock, settings, blobs and whatever else a home holds, while it is open and after."""
    home, before = tmp_path / "home", os.umask(umask)
    try:
        with Memory(home, owner="user:mei") as memory:
            memory.record_turn("user", LONG)
            memory.remember("I live in Oslo 奥斯陆")
            names = {*modes(home)}
            assert {} == wrong(home)
        with Memory(home) as memory:  # what is made anew by the second opening
            memory.record_turn("user", "早")
            assert {} == wrong(home)
        assert {} == wrong(home)
    finally:
        os.umask(before)
    assert {"yiku.db", "yiku.db-wal", "yiku.db-shm", "yiku.toml", "locks/write.lock"} < names
    assert any(name.endswith(".z") for name in names)


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_S24_a_home_made_by_the_command_line_is_the_owner_s_alone(tmp_path: Path, umask: int) -> None:
    """The same modes, whatever the shell's umask was."""
    home = tmp_path / "home"
    done = commands.run("record", "-", stdin=LONG.encode(), umask=umask, YIKU_HOME=home)
    assert 0 == done.code, done.err
    assert {} == wrong(home)
    assert len(modes(home)) > 6
    integrity.check(home / "yiku.db")


def test_S24_folders_that_were_taken_away_come_back_closed(tmp_path: Path) -> None:
    """A home that was copied without its empty folders, under a careless umask."""
    home, before = tmp_path / "home", os.umask(0)
    try:
        with Memory(home, owner="user:mei") as memory:
            (home / "blobs").rmdir()
            memory.record_turn("user", LONG)
            assert {} == wrong(home)
    finally:
        os.umask(before)
