"""
Describe the runtime environment for a prompt: system, folder, shell and time, and lines that the host adds.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping

from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.rules.lexicon.lists import label
from yiku.rules.privacy import quoting

LINES_AT_MOST = 50
VALUE_CHARS = 500


def lines(handle: Handle, given: bool | Mapping[str, str], language: str) -> list[str]:
    """
    Return a line for each thing that is known.

    given: True for this machine's; a mapping for lines of the host alone; False for none
    """
    if isinstance(given, Mapping):
        if len(given) > LINES_AT_MOST:
            checks.refuse("runtime", f"must have at most {LINES_AT_MOST} entries")
        entries = {checks.name(name, "runtime"): checks.text(value, "runtime", empty=True) for name, value in given.items()}
    else:
        entries = _machine(handle, language) if checks.flag(given, "runtime") else {}
    return [f"- {_flat(name)}: {_flat(value)}" for name, value in entries.items() if value.strip()]


def _machine(handle: Handle, language: str) -> dict[str, str]:
    """The system, the folder, the shell and the minute that it is."""
    known = {
        "system": f"{platform.system()} {platform.release()}",
        "folder": _folder(),
        "shell": os.path.basename(os.environ.get("SHELL", "")),
        "time": handle.now().isoformat(timespec="minutes"),
    }
    return {label(f"prompt.{name}", language): value for name, value in known.items()}


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _flat(text: str) -> str:
    return " ".join(quoting.visible(text)[:VALUE_CHARS].split())
