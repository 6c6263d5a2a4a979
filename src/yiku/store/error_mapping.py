"""
Map errors of SQLite and the operating system to those of `yiku.errors`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from yiku.errors import Closed, Damaged, ForeignStore, ReadOnly, StorageFull, StoreBusy, StoreError
from yiku.store.forks import inside


def from_os_error(error: OSError, what: str) -> StoreError:
    """What the system refused, as our error."""
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ReadOnly(what)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(what)
    return StoreError(f"{what}: {error.strerror or error}")


def means_full(error: apsw.Error) -> bool:
    """Whether the disk is full: some of SQLite's errors say so in words only."""
    return isinstance(error, apsw.FullError) or "full" in str(error).lower()


@contextmanager
def mapped_errors(what: str) -> Iterator[None]:
    """Map SQLite and OS errors to Yiku's, and make forks wait."""
    try:
        with inside():
            yield
    except (apsw.ConnectionClosedError, apsw.CursorClosedError) as error:
        raise Closed from error
    except apsw.BusyError as error:
        raise StoreBusy(what) from error
    except apsw.FullError as error:
        raise StorageFull(what) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise ReadOnly(what) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise (ForeignStore if isinstance(error, apsw.NotADBError) else Damaged)(what) from error
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            raise Damaged(f"{what}: a page is not what was written") from error
        raise (StorageFull if means_full(error) else StoreError)(f"{what}: {error}") from error
    except UnicodeDecodeError as error:
        raise Damaged(f"{what}: a text is not UTF-8") from error
    except apsw.Error as error:
        raise (Damaged if "unsupported file format" in str(error) else StoreError)(f"{what}: {error}") from error
    except OSError as error:
        raise from_os_error(error, what) from error
