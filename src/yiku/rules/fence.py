"""
The fence around recalled memories, and how it is taken out of what is recorded.

What Yiku puts into a prompt stands between two marks, so that it is known again when a host hands the
prompt back: memory must not learn from its own recall. Escaped marks (a host may escape HTML) count too.
"""

from __future__ import annotations

OPEN, CLOSE = "<yiku-memory>", "</yiku-memory>"
_PAIRS = ((OPEN, CLOSE), ("&lt;yiku-memory&gt;", "&lt;/yiku-memory&gt;"))


def wrap(text: str) -> str:
    """The text inside a fence that it cannot close itself, neither as it stands nor escaped."""
    for sign in ("<", "&lt;"):
        text = text.replace(f"{sign}yiku-", "‹yiku-").replace(f"{sign}/yiku-", "‹/yiku-")
    return f"{OPEN}\n{text}\n{CLOSE}"


def strip(text: str) -> str:
    """The text without anything fenced; what follows an opening mark that is never closed stays."""
    for start, end in _PAIRS:
        if start not in text:
            continue
        kept, position = [], 0
        while (begin := text.find(start, position)) >= 0 and (stop := text.find(end, begin)) >= 0:
            kept.append(text[position:begin])
            position = stop + len(end)
        text = "".join([*kept, text[position:]])
    return text
