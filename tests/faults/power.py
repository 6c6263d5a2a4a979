"""
Record all disk operations, and rebuild the disk as a power cut at any moment would leave it.

`record(…)` lets a script work on a real folder, in a process of its own, and writes down in which order
files were written, resized, flushed, named, renamed and deleted, with their contents. `rebuild(…)` makes
the folder anew as it may have been when the power went between two of these events:

    kept   all that was done is there: what a killed process leaves behind
    drop   of a file there is what was flushed, and nothing else
    torn   and of what was not flushed any sectors, each as any of the writes to it had left it

Names are the content of their folder and follow the same rule: until the folder is flushed a new name may
be missing, an old one still be there, a rename be done or not. The names of one folder change in their
order; those of two folders in any. A sector of 512 bytes is never half old and half new: disks promise that.

SQLite's files are watched at its own layer, below whatever Yiku lays over it; they are those named *.db,
*.db-wal and *.db-journal. Of all others the disk itself is asked what has changed, before each step that
Python takes and each flush. The shared index (*-shm) is in memory and left out; SQLite makes it anew.
"""

import os
import pickle
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Literal

import apsw
from workers import READY

SECTOR = 512  # bytes; with larger ones less is torn
ROOT = 0  # the number of the recorded folder itself
OF_SQLITE = (".db", ".db-wal", ".db-journal")
FLUSHED_WITH_ITS_FOLDER = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL  # at the first flush, when it may be new
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
STEPS = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate"}

Kind = Literal["kept", "drop", "torn"]
Id = tuple[int, int]  # device and inode


@dataclass(frozen=True, slots=True)
class Wrote:
    what: int  # files and folders have numbers, for their names change
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resized:
    what: int
    size: int


@dataclass(frozen=True, slots=True)
class Named:
    """One step of a folder: these names came or now mean another file, or went (None)."""

    what: int
    names: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Flushed:
    what: int


@dataclass(frozen=True, slots=True)
class Ignored:
    """A flush that was not done."""

    what: int


@dataclass(frozen=True, slots=True)
class Said:
    """A call returned: from here on what it did is acknowledged."""

    word: Any


Event = Wrote | Resized | Named | Flushed | Ignored | Said


@dataclass(frozen=True, slots=True)
class Recording:
    """Every event, when it happened (seconds of the monotonic clock), and which numbers are folders."""

    events: list[Event]
    times: list[float]
    folders: set[int]

    def said(self) -> list[tuple[int, Any]]:
        """Each word, with the number of events up to it."""
        return [(i + 1, event.word) for i, event in enumerate(self.events) if isinstance(event, Said)]

    def deaf(self) -> "Recording":
        """The same on a disk that says yes when SQLite flushes a file, and does nothing."""
        named = [pair for event in self.events if isinstance(event, Named) for pair in event.names.items()]
        of_sqlite = {what for name, what in named if name.endswith(OF_SQLITE)}
        events = [Ignored(e.what) if isinstance(e, Flushed) and e.what in of_sqlite else e for e in self.events]
        return replace(self, events=events)


# ------------------------------------------------------------------ rebuilding


def rebuild(recording: Recording, at: int, kind: Kind, chance: Random, into: Path) -> None:
    """Make the folder as it may be when the power goes after so many events."""
    disk = _Disk(recording.folders)
    for event in recording.events[:at]:
        disk.do(event)
    for what in [*disk.pending]:
        if kind == "kept":
            disk.settle(what)
        elif what in recording.folders:
            disk.settle(what, chance.randint(0, len(disk.pending[what])))
        elif kind == "torn":
            disk.tear(what, chance)
    disk.lay_out(ROOT, into)


class _Disk:
    """What is certainly on the disk, and what was done since."""

    def __init__(self, folders: set[int]) -> None:
        self.files: dict[int, bytearray] = defaultdict(bytearray)
        self.names: dict[int, dict[str, int | None]] = {folder: {} for folder in folders}
        self.pending: dict[int, list[Event]] = defaultdict(list)

    def do(self, event: Event) -> None:
        match event:
            case Flushed(what):
                self.settle(what)
            case Wrote() | Resized() | Named():
                self.pending[event.what].append(event)

    def settle(self, what: int, steps: int | None = None) -> None:
        """All that was done to a file or folder is on the disk, or so many steps of it."""
        for event in self.pending.pop(what, [])[:steps]:
            match event:
                case Wrote():
                    _write(self.files[what], event.offset, event.data)
                case Resized():
                    _resize(self.files[what], event.size)
                case Named():
                    self.names[what].update(event.names)

    def tear(self, what: int, chance: Random) -> None:
        """Some share of the sectors that were written made it, each as one of its writes left it."""
        share, events = chance.random(), self.pending.pop(what)
        writes: dict[int, list[int]] = defaultdict(list)
        for i, event in enumerate(events):
            for sector, _, _ in _sectors(event):
                writes[sector].append(i)
        last = {sector: chance.choice(there) if chance.random() < share else -1 for sector, there in writes.items()}
        for i, event in enumerate(events):
            if isinstance(event, Resized) and chance.random() < share:
                _resize(self.files[what], event.size)
            for sector, offset, data in _sectors(event):
                if i <= last[sector]:
                    _write(self.files[what], offset, data)

    def lay_out(self, folder: int, into: Path) -> None:
        into.mkdir(mode=0o700)
        for name, what in self.names[folder].items():
            if what in self.names:
                self.lay_out(what, into / name)
            elif what is not None:
                (into / name).write_bytes(self.files[what])


def _sectors(event: Event) -> Iterator[tuple[int, int, bytes]]:
    """A write in parts that lie in one sector each: number of the sector, offset, data."""
    if isinstance(event, Wrote):
        end = event.offset + len(event.data)
        for sector in range(event.offset // SECTOR, (end + SECTOR - 1) // SECTOR):
            start = max(sector * SECTOR, event.offset)
            yield sector, start, event.data[start - event.offset : min((sector + 1) * SECTOR, end) - event.offset]


def _sector(content: bytes, offset: int) -> bytes:
    return content[offset : offset + SECTOR]


def _write(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        _resize(content, offset)
    content[offset : offset + len(data)] = data


def _resize(content: bytearray, size: int) -> None:
    content[size:] = bytes(max(0, size - len(content)))


@contextmanager
def in_memory(otherwise: Path) -> Iterator[Path]:
    """A folder on tmpfs where there is one: what is rebuilt thousands of times needs no real disk."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else otherwise
    with TemporaryDirectory(prefix="yiku-power.", dir=place) as folder:
        yield Path(folder)


# ------------------------------------------------------------------ recording


def record(folder: Path, script: Callable[..., None], **how: Any) -> Recording:
    """What `script(home, say, **how)` does in a new folder, in a fresh process; it says what is acknowledged."""
    hear, tell = READY.Pipe(duplex=False)
    # the script travels packed: what it imports must come after the recorder, which is below all others
    process = READY.Process(target=_record, args=(tell, folder, pickle.dumps((script, how))))
    process.start()
    tell.close()
    try:
        found = hear.recv()
    finally:
        process.join()
    if isinstance(found, str):
        raise RuntimeError(f"the recorded script failed:\n{found}")
    return found


def _record(tell: Connection, folder: Path, packed: bytes) -> None:
    try:
        recorder = _Recorder(folder)
        recorder.vfs = _Files(recorder)  # for as long as the process lives: others may lie over it
        script, how = pickle.loads(packed)
        script(folder / "home", recorder.say, **how)
        recorder.look()
        tell.send(Recording(recorder.events, recorder.times, {*recorder.names}))
    except BaseException:
        tell.send(traceback.format_exc())


class _Recorder:
    """Writes down what is done under a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.events: list[Event] = []
        self.times: list[float] = []
        self.numbers: dict[Id, int] = {_id(folder): ROOT}
        self.names: dict[int, dict[str, int | None]] = {ROOT: {}}
        self.contents: dict[int, bytes] = {}  # of what SQLite does not write
        self.nameless: set[Id] = set()  # flushed, and not linked to a name yet
        self.next = ROOT + 1
        self.lock = threading.RLock()  # a step and its note are one
        self._fsync, self._fdatasync = os.fsync, os.fdatasync
        os.fsync = lambda file: self._flush(self._fsync, file)
        os.fdatasync = lambda file: self._flush(self._fdatasync, file)
        sys.addaudithook(self._audit)

    def note(self, *events: Event) -> None:
        with self.lock:
            self.events += events
            self.times += [time.monotonic()] * len(events)

    def say(self, word: Any) -> None:
        self.look()
        self.note(Said(word))

    def number(self, path: str | int) -> int | None:
        """The number of a file or folder, by path or descriptor; None for what lies elsewhere."""
        return self.numbers.get(_id(path))

    def _flush(self, flush: Callable[[Any], None], file: Any) -> None:
        with self.lock:
            self.look()
            flush(file)
            descriptor = file if isinstance(file, int) else file.fileno()
            self._meet(descriptor)
            what = self.number(descriptor)
            if what is not None:
                self.note(Flushed(what))

    def _meet(self, descriptor: int) -> None:
        """A file under the folder that has no name yet (O_TMPFILE) is known by what is in it."""
        there = os.readlink(f"/proc/self/fd/{descriptor}")
        if there.startswith(str(self.folder)) and os.fstat(descriptor).st_nlink == 0:
            self.nameless.add(_id(descriptor))
            self.numbers[_id(descriptor)], self.next = self.next, self.next + 1
            self._compare(self.next - 1, Path(f"/proc/self/fd/{descriptor}").read_bytes())

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Python is about to change something: what it did before can be told apart from it."""
        if event in STEPS or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING):
            self.look()

    def look(self) -> None:
        """Note what has changed since the last look: names and, of files that SQLite does not write, contents."""
        with self.lock:
            seen: set[Id] = {_id(self.folder), *self.nameless}
            self._look_into(ROOT, self.folder, seen)
            self.numbers = {id: number for id, number in self.numbers.items() if id in seen}  # the system uses inodes again

    def _look_into(self, folder: int, path: Path, seen: set[Id]) -> None:
        entries = [entry for entry in os.scandir(path) if not entry.name.endswith("-shm")]
        found: dict[str, int | None] = {}
        for entry in entries:
            id = _id(entry.path)
            seen.add(id)
            self.nameless.discard(id)
            if id not in self.numbers:
                self.numbers[id], self.next = self.next, self.next + 1
            found[entry.name] = self.numbers[id]
            if entry.is_dir(follow_symlinks=False):
                self.names.setdefault(self.numbers[id], {})
        if found != (before := self.names[folder]):
            gone = dict.fromkeys(before.keys() - found.keys())
            self.note(Named(folder, {**gone, **dict(found.items() - before.items())}))
            self.names[folder] = found
        for entry in entries:
            number = found[entry.name]
            if number in self.names:
                self._look_into(number, Path(entry.path), seen)
            elif not entry.name.endswith(OF_SQLITE):
                self._compare(number, Path(entry.path).read_bytes())

    def _compare(self, file: int, content: bytes) -> None:
        before = self.contents.get(file, b"")
        if content != before:
            if len(content) < len(before):
                self.note(Resized(file, len(content)))
            other = [offset for offset in range(0, len(content), SECTOR) if _sector(content, offset) != _sector(before, offset)]
            if other:
                self.note(Wrote(file, other[0], content[other[0] : other[-1] + SECTOR]))
            self.contents[file] = content


class _File(apsw.VFSFile):
    """A file as SQLite writes it."""

    def __init__(self, recorder: _Recorder, base: str, name: Any, flags: list[int]) -> None:
        super().__init__(base, name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.recorder, self.number, self.folder = recorder, None, None
        if path and not path.endswith("-shm"):
            recorder.look()
            self.number = recorder.number(path)
            if flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & FLUSHED_WITH_ITS_FOLDER:
                self.folder = recorder.number(os.path.dirname(path))

    def xWrite(self, data: bytes, offset: int) -> None:
        with self.recorder.lock:
            super().xWrite(data, offset)
            if self.number is not None:
                self.recorder.note(Wrote(self.number, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        with self.recorder.lock:
            super().xTruncate(size)
            if self.number is not None:
                self.recorder.note(Resized(self.number, size))

    def xSync(self, flags: int) -> None:
        with self.recorder.lock:
            self.recorder.look()
            super().xSync(flags)
            self.recorder.note(*(Flushed(what) for what in (self.number, self.folder) if what is not None))
            self.folder = None


class _Files(apsw.VFS):
    def __init__(self, recorder: _Recorder) -> None:
        self.recorder, self.base = recorder, apsw.vfs_names()[0]
        super().__init__("recording", self.base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self.recorder, self.base, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        with self.recorder.lock:
            self.recorder.look()
            super().xDelete(name, sync)
            self.recorder.look()
            if sync and (folder := self.recorder.number(os.path.dirname(name))) is not None:
                self.recorder.note(Flushed(folder))


def _id(path: Any) -> Id:
    found = os.stat(path) if isinstance(path, int) else os.lstat(path)
    return found.st_dev, found.st_ino
