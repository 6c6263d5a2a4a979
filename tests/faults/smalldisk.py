"""
A real disk of a few MB that a test may fill or make read-only, without being root.

A child process takes user and mount namespaces of its own (unshare(2)), in which it may mount a tmpfs that
nobody else sees and that is gone with the child. `on_a_disk(size, function, …)` runs a function there, with
the folder of the disk before the other arguments. Where that is refused (a hardened kernel, a container,
macOS), `quota` stands between us and the system's disk and says "full" by counting.
"""

import contextlib
import ctypes
import os
import pickle
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from faults import disk
from workers import PATIENCE_S, READY

from yiku.store import pages

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000  # sched.h
MS_RDONLY, MS_REMOUNT, MNT_DETACH = 1, 32, 2  # sys/mount.h
MiB = 1024 * 1024


def on_a_disk(size_bytes: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a disk's folder returns or raises, run in a process of its own with a disk of that size."""
    hear, tell = READY.Pipe(duplex=False)
    # as bytes, because a process that imports numpy has threads, and may not change its namespaces any more
    work = pickle.dumps((function, arguments))
    process = READY.Process(target=_run, args=(size_bytes, work, tell))
    process.start()
    tell.close()
    try:
        result = hear.recv() if hear.poll(PATIENCE_S) else TimeoutError("nothing was heard from the small disk")
    except EOFError:
        process.join()
        result = ChildProcessError(f"the process on the small disk died, exit code {process.exitcode}")
    process.join()
    if isinstance(result, PermissionError):
        pytest.skip(f"this machine lets nobody mount a disk of his own: {result}")
    if isinstance(result, BaseException):
        raise result
    return result


def _run(size_bytes: int, work: bytes, tell: Connection) -> None:
    folder = Path(tempfile.mkdtemp(prefix="yiku-disk-"))
    try:
        try:
            _enter_namespaces()
            _called(_libc().mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"size=%d,mode=0700" % size_bytes), "mount")
        except OSError as error:
            return tell.send(PermissionError(str(error)))
        function, arguments = pickle.loads(work)
        tell.send(function(folder, *arguments))
        _called(_libc().umount2(os.fsencode(folder), MNT_DETACH), "umount")
    except BaseException as error:  # whatever it is, it belongs to the test that asked
        tell.send(AssertionError("on the small disk: " + "".join(traceback.format_exception(error))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _enter_namespaces() -> None:
    """From here on this process is root of its own mounts, and nobody elsewhere."""
    user, group = os.geteuid(), os.getegid()
    _called(_libc().unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def remount(folder: Path, *, read_only: bool) -> None:
    """The disk at this folder can only be read from now on, or be written again."""
    flags = MS_REMOUNT | (MS_RDONLY if read_only else 0)
    _called(_libc().mount(b"none", os.fsencode(folder), None, ctypes.c_ulong(flags), None), "remount")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _called(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


# ------------------------------------------------------------------ filling


@dataclass(frozen=True)
class Space:
    """A folder in which only so much fits: a disk of its own, or with `quota_bytes` what `quota` watches over."""

    folder: Path
    quota_bytes: int | None = None

    def fill(self) -> None:
        """A file takes every byte that is left."""
        with (self.folder / "filler").open("ab", buffering=0) as file:
            if self.quota_bytes is not None:
                file.truncate(max(0, self.quota_bytes - used(self.folder)) + file.tell())
                return
            for size in (MiB, 4096, 1):
                with contextlib.suppress(OSError):
                    while file.write(b"\0" * size) == size:
                        pass

    def free(self) -> None:
        """That file is gone."""
        (self.folder / "filler").unlink(missing_ok=True)


def used(folder: Path) -> int:
    return sum(os.stat(os.path.join(place, name)).st_size for place, _, names in os.walk(folder) for name in names)


@contextlib.contextmanager
def quota(space: Space) -> Iterator[None]:
    """Meanwhile the files of a space with a quota do not grow over it: writing is then ENOSPC, deleting is not."""

    class Quota(disk.Disk):
        """Counts bytes in place of operations."""

        def step(self, what: str, fail: Callable[[disk.Failure], Exception]) -> None:
            takes_space = what.startswith(("write ", "open ", "os.mkdir "))
            if takes_space and not what.endswith("/filler") and used(space.folder) >= (space.quota_bytes or 0):
                raise fail(disk.FULL)

    pages.enabled()  # its layer stays for good, so it must not come to lie on ours
    with disk.failing(space.folder) as watched:
        watched.__class__ = Quota
        yield


KINDS = ["a small disk", "a quota"]  # the second is a stand-in, and runs everywhere


def in_little_space(kind: str, size_bytes: int, folder: Path, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function of a Space: on a small disk of its own, or under a quota in this process and this folder."""
    if kind == KINDS[0]:
        return on_a_disk(size_bytes, _in_space, function, *arguments)
    space = Space(folder, size_bytes)
    with quota(space):
        return function(space, *arguments)


def _in_space(folder: Path, function: Callable[..., Any], *arguments: Any) -> Any:
    return function(Space(folder), *arguments)
