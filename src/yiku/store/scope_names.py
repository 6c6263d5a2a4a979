"""
Reversible ASCII encoding of scope names, so that no comparison can confuse two of them.

Letters a-z, digits and . _ : @ - stand for themselves, as they did in every store so far; each other byte of the name in
UTF-8 is % and two hexadecimal digits, a capital letter and % itself, too (`auth0|Ab12` is `auth0%7c%41b12`). So two names
never have one writing, and one writing is read back as the name that was given.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._:@-")


@lru_cache(1_024)
def encode(name: str) -> str:
    """Encode a scope name for the table."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in name.encode())


@lru_cache(1_024)
def decode(name: str) -> str:
    """Decode a scope name from the table."""
    return unquote(name) if name and "%" in name else name  # a damaged row may have no scope
