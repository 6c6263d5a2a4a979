"""
Parse and format `.compiled_at`: the digests of the source and summary of each compiled identity file.

    2026-03-01T09:00:00+01:00
    soul.summary.md 5f6e7d8c90ab12cd34ef5f6e7d8c90ab 90ab12cd34ef5f6e7d8c90ab12cd34ef model

A summary is up to date while its source and the summary itself have the digests that stand here. A file's time says less: a copy or
a checkout makes an old file new. The digests are keyed, so they reveal nothing of the words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

NAME = ".compiled_at"
By = Literal["model", "rules"]
_LINE = re.compile(r"([\w.-]{1,64}) ([0-9a-f]{32}) ([0-9a-f]{32}) ([a-z]{5})")


class Made(NamedTuple):
    """What a summary was made of: the digests of its source and of itself, and who made it."""

    source: str
    summary: str
    by: By


def parse(text: str) -> dict[str, Made]:
    """Return what is known, by the name of the summary; a line that cannot be read says nothing."""
    found = (_LINE.fullmatch(line.strip()) for line in text.splitlines())
    return {
        match[1]: Made(match[2], match[3], "model" if match[4] == "model" else "rules")
        for match in found
        if match and match[4] in get_args(By)
    }


def to_text(at: str, made: Mapping[str, Made]) -> str:
    """Return the file: the time of the last compilation, then a line for each summary."""
    return "".join(f"{line}\n" for line in (at, *(" ".join((name, *one)) for name, one in sorted(made.items()))))
