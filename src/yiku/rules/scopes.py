"""
Scope names: what may be one.

A scope is a privacy boundary, so its name has exactly one spelling: lower-case ASCII with no room for
other scripts' look-alikes, case, width, spaces or a wildcard. A name is never mended: what would become
another by folding or trimming is refused. `a1` and `al` differ, as their bytes do, whatever the font makes
of them. Other names (Chinese ones, say) are labels.
"""

from __future__ import annotations

import re

PUBLIC = "public"
READS_AT_MOST = 6  # further scopes that a handle may read
_NAME = re.compile(r"[a-z0-9][a-z0-9._:@-]{0,127}", re.ASCII)


def allowed(name: object) -> bool:
    """Whether this is a scope's name, exactly as it stands."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def folded(name: str) -> str:
    """The nearest allowed name to a login or title; may be empty."""
    kept = re.sub(r"[^a-z0-9._:@-]+", "-", name.lower())
    return re.sub(r"^[^a-z0-9]+", "", kept)[:100].rstrip("-")
