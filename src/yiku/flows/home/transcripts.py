"""
After a restore or repair, open the store, and discard transcripts or set aside those newer than the database.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from yiku.errors import StoreError
from yiku.files import transcripts
from yiku.files.transcripts import Folder
from yiku.files.vault import Home
from yiku.flows.common.handle import Handle, local_time
from yiku.flows.keep.transcripts import lock, reconcile
from yiku.rules.privacy import scopes
from yiku.rules.text import analyze
from yiku.store.api import SqliteStore, Vectors
from yiku.types import Settings

_log = logging.getLogger(__name__)


@contextmanager
def open_store(home: Home, settings: Settings | None = None) -> Iterator[Handle]:
    """The store of a home that a repair has just made whole, with whatever settings can be read."""
    store = SqliteStore(home.database, gate=home.write_lock, analyzer=analyze.VERSION, key=home.key())
    vectors = Vectors(home.vectors)
    try:
        yield Handle(
            store, settings or Settings(home=str(home.root)), scopes.PUBLIC, local_time, str(home.root), vectors, store.key
        )
    finally:
        vectors.close()
        store.close()


def discard(home: Home) -> None:
    """The store was set back on purpose, and what it was is a backup: transcripts are made again from what it is now."""
    try:
        with lock(home):
            for path in transcripts.files(home):
                if path.parent.name != transcripts.LOST:
                    path.unlink(missing_ok=True)
            for mark in home.transcripts.glob("*/mark"):
                mark.unlink(missing_ok=True)
    except (StoreError, OSError) as error:
        _log.warning("transcripts are of before the backup: %s", error)


def set_aside_newer(home: Home) -> int:
    """The store was set back by need: files that hold more than it now does are put aside. How many there are."""
    if not home.transcripts.is_dir() or home.transcripts.is_symlink():
        return 0
    with lock(home), open_store(home) as handle:
        names = {str(number): name for number, name, _ in handle.store.scopes()}
        for path in home.transcripts.iterdir():
            if path.name == transcripts.LOST or not path.name.isdecimal() or path.is_symlink():
                continue
            folder = Folder(home, int(path.name))
            folder.reset()
            if path.name in names:
                reconcile(replace(handle, scope=names[path.name]), folder)
                continue
            for each in folder.files():
                folder.put_aside(each, handle.now())
    return len(transcripts.lost(home))
