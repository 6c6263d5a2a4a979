"""
Open a file, or a file inside a zip archive without unpacking it, as the source of an importer.

An archive may hold at most 10,000 files and be packed at most a hundredfold, and what is read of it may be 2 GiB unpacked: an
export of years of chats is far below that, and a small file cannot fill the memory or the disk. Files that are not packed may have
any size.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from yiku.errors import InvalidInput

try:
    from lzma import LZMAError
except ImportError:  # this Python was built without it, and unpacks nothing that was packed by it
    LZMAError = zlib.error  # type: ignore[misc,assignment]

ENTRIES = 10_000
RATIO = 100
UNPACKED_BYTES = 2 << 30
SMALL_BYTES = 1 << 20  # of a file whose ratio does not matter
ZIP_HEAD = b"PK\x03\x04"
DAMAGED = (BadZipFile, zlib.error, LZMAError, EOFError, OSError)  # what reading a file raises that is not as it was packed
ENCRYPTED = 1  # of the flags of a file in an archive
AGAIN, UNPACK = "download or make the archive again", "unpack the archive, and import the folder"
PIECE_BYTES = 1 << 12  # of a file, which a damaged archive may still give


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a zip archive."""

    archive: Path
    inside: str
    size: int
    info: ZipInfo = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.archive}/{self.inside}"

    @property
    def name(self) -> str:
        """The last part of its path."""
        return PurePosixPath(self.inside).name

    @property
    def stem(self) -> str:
        """Its name without the ending."""
        return PurePosixPath(self.inside).stem

    def stat(self) -> os.stat_result:
        """Return the status of the archive: a member has none that matters here."""
        return self.archive.stat()

    def open(self) -> IO[bytes]:
        """Open it for reading. Raises InvalidInput where it is encrypted, or packed in a way that Python does not read."""
        with ZipFile(self.archive) as archive:  # its file stays open for as long as the member is
            try:
                return archive.open(self.info)
            except (RuntimeError, NotImplementedError) as error:
                why = "it is encrypted" if self.info.flag_bits & ENCRYPTED else error
                raise InvalidInput(f"{self} cannot be read: {why}; {UNPACK}") from error


Place = Path | Member


def opened(place: Place) -> IO[bytes]:
    """Open a file or a member of an archive. Raises InvalidInput, OSError, BadZipFile."""
    return place.open() if isinstance(place, Member) else open(place, "rb", opener=regular)


def size_of(place: Place) -> int:
    """Return the bytes of a file, unpacked."""
    return place.size if isinstance(place, Member) else place.stat().st_size


def regular(path: str, flags: int) -> int:
    """Open a regular file; pipes and devices are refused."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidInput(f"{path}: not a file")
    return descriptor


def head_of(place: Place, at_most: int) -> bytes:
    """Return the beginning of a file, as far as it can be read."""
    head = bytearray()
    with suppress(InvalidInput, *DAMAGED), opened(place) as file:
        while piece := file.read(min(PIECE_BYTES, at_most - len(head))):
            head += piece
    return bytes(head)


def damage_of(place: Place) -> str:
    """Return why the beginning of a file in an archive cannot be read, and what to do; empty where it can."""
    if isinstance(place, Member):
        try:
            with place.open() as file:
                file.read(PIECE_BYTES)
        except InvalidInput as error:
            return str(error).removeprefix(f"{place} cannot be read: ")
        except DAMAGED as error:
            return f"{error}; {AGAIN}"
    return ""


def is_archive(path: Path) -> bool:
    """Tell whether a file is a zip archive, by its beginning."""
    return head_of(path, len(ZIP_HEAD)) == ZIP_HEAD


def members(path: Path, wanted: Callable[[str], bool]) -> list[Member]:
    """Return the files of an archive whose names are wanted, sorted. Raises InvalidInput where it cannot or should not be read."""
    try:
        with open(path, "rb", opener=regular) as file, ZipFile(file) as archive:
            every = archive.infolist()
    except (BadZipFile, EOFError, ValueError, NotImplementedError) as error:
        raise InvalidInput(f"{path} is not a whole zip archive: {error}; download it again") from error
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}") from error
    if len(every) > ENTRIES:
        raise InvalidInput(f"{path} has {len(every):,} files; at most {ENTRIES:,}: unpack it, and import the folder")
    found = [
        Member(path, info.filename, info.file_size, info)
        for info in every
        if not info.is_dir() and "__MACOSX/" not in info.filename and wanted(info.filename)
    ]
    total = sum(member.size for member in found)
    packed = any(one.size > SMALL_BYTES and one.size > RATIO * max(1, one.info.compress_size) for one in found)
    if packed or total > UNPACKED_BYTES:
        what = f"is packed more than {RATIO}-fold" if packed else f"has {total:,} bytes unpacked; at most {UNPACKED_BYTES:,}"
        raise InvalidInput(f"{path} {what}: unpack it, and import the folder")
    return sorted(found, key=lambda member: member.inside)
