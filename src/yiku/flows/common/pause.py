"""
Pause and resume writing, and find folders in which recording is switched off.

The file `paused` in the home says until when, or nothing: then until `resume`. Every process looks for it at each
call, so a pause holds for all of them at once. Looking, forgetting and restoring go on. A folder is switched off
by the setting `private_folders`, or by a file `.yiku-off` in it or above it, for those who know where a turn was said.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from yiku.errors import Paused
from yiku.files.vault import as_store_error, content_of, flush_folder, write_atomically
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle

FILE = "paused"  # in the home
SWITCH = ".yiku-off"  # in a folder


def pause(handle: Handle, until: datetime | str | None = None) -> datetime | None:
    """Pause writing until a time or `resume`; a second pause replaces the first."""
    handle.store.upkeep.ensure_open()
    end = checks.optional_time(until, "until", now=handle.now())
    if end is not None and end <= handle.now():
        checks.refuse("until", f"{end.isoformat()} has passed")
    write_atomically(_file(handle), f"{end.isoformat() if end else ''}\n".encode())
    return end


def resume(handle: Handle) -> bool:
    """End a pause; return whether there was one."""
    handle.store.upkeep.ensure_open()
    was_paused, _ = paused(handle)
    try:
        _file(handle).unlink(missing_ok=True)
        flush_folder(Path(handle.home))
    except OSError as error:
        raise as_store_error(error, _file(handle)) from error
    return was_paused


def paused(handle: Handle) -> tuple[bool, datetime | None]:
    """Return whether memory is paused, and until when; an unreadable pause file counts as one."""
    try:
        text = content_of(_file(handle)).decode("ascii").strip()
        end = datetime.fromisoformat(text) if text else None
    except FileNotFoundError:
        return False, None
    except (OSError, ValueError):
        end = None
    end = end.replace(tzinfo=UTC) if end and end.tzinfo is None else end
    return end is None or handle.now() < end, end


def raise_if_paused(handle: Handle) -> None:
    """Raise Paused while memory is paused."""
    if not os.access(f"{handle.home}/{FILE}", os.F_OK):
        return
    is_paused, until = paused(handle)
    if is_paused:
        raise Paused(f"until {until.isoformat(timespec='minutes')}" if until else "until `yiku resume`")


def _file(handle: Handle) -> Path:
    return Path(handle.home) / FILE


# ------------------------------------------------------------------ folders


def folders_of(said: Mapping[str, Any]) -> list[str]:
    """Return the folders in which something was said: its project, if that is a path, and `cwd` in its metadata."""
    metadata = said.get("metadata")
    candidates = (said.get("project"), metadata.get("cwd") if isinstance(metadata, Mapping) else None)
    return [path for path in candidates if isinstance(path, str) and path.startswith(("/", "~"))]


def private_folder(path: str, folders: Sequence[str]) -> str | None:
    """Return the private folder that a path is in, if any."""
    here = Path(_real(path))
    return next((folder for folder in folders if here.is_relative_to(_real(folder))), None)


def switched_off(path: str, folders: Sequence[str]) -> str | None:
    """Return the setting or file that switches a folder off."""
    here = Path(_real(path))
    switches = (folder / SWITCH for folder in (here, *here.parents))
    return private_folder(path, folders) or next((str(switch) for switch in switches if os.path.lexists(switch)), None)


def in_private_folder(handle: Handle, said: Mapping[str, Any]) -> bool:
    """Tell whether something was said in a folder of `private_folders`."""
    folders = handle.settings.private_folders
    return bool(folders) and any(private_folder(path, folders) for path in folders_of(said))


def _real(path: str) -> str:
    try:
        return os.path.realpath(os.path.expanduser(path))
    except (OSError, ValueError):  # a NUL, a loop of links
        return os.path.normpath(path)
