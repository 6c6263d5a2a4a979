"""Privileges that tests need: a disk that is read-only even for root, and a database out of reach."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2  # capabilities(7): with them, root ignores the permissions of files
VERSION_3 = 0x20080522


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextmanager
def permissions_hold() -> Iterator[None]:
    """Permissions of files mean us too, in this thread, also when the tests run as root."""
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    libc, header, data = ctypes.CDLL(None, use_errno=True), _Header(VERSION_3, 0), (_Data * 2)()
    assert libc.capget(ctypes.byref(header), data) == 0
    before = data[0].effective
    data[0].effective = before & ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
    assert libc.capset(ctypes.byref(header), data) == 0
    try:
        yield
    finally:
        data[0].effective = before
        assert libc.capset(ctypes.byref(header), data) == 0


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing under a folder can be written or made."""
    paths = [folder, *folder.rglob("*")]
    modes = [path.stat().st_mode for path in paths]
    for path, mode in zip(paths, modes, strict=True):
        path.chmod(mode & 0o555)
    try:
        with permissions_hold():
            yield
    finally:
        for path, mode in zip(paths, modes, strict=True):
            if path.exists():
                path.chmod(mode)
