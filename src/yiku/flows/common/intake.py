"""
Sanitize input before it is hashed, indexed or stored: drop private parts, mask secrets.

A flow cleans each value once it has been checked, so that what is nested is known to be small and plain.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar, cast

from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.rules.privacy import private, secrets

T = TypeVar("T")

SHORT = 4_096  # characters; of a longer text they cost as much as looking for what they hint at
SHORTEST = 4  # characters, of a text with a tag in it; names are often shorter
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def clean(handle: Handle, value: T) -> T:
    """Return the value with every text in it cleaned, including keys."""
    if isinstance(value, str):
        return cast(T, _text(handle, value))
    if isinstance(value, Mapping):
        return cast(T, {_text(handle, key): clean(handle, entry) for key, entry in value.items()})
    if isinstance(value, (list, tuple)):
        return cast(T, type(value)(clean(handle, entry) for entry in value))
    return value


def name(handle: Handle, value: object, what: str) -> str:
    """Check and clean a name."""
    return clean(handle, checks.name(value, what))


def clean_page(handle: Handle, text: str) -> str:
    """A text of many lines, cleaned; what is left of it stands in the lines in which it stood."""
    text = private.without(text, keep_lines=True)
    return text if handle.settings.secrets == "keep" else secrets.mask_secrets(text, handle.seal, keep_lines=True)[0]


def clean_file(handle: Handle, content: bytes) -> bytes:
    """Clean the content of a file if it is text in UTF-8, UTF-16 or GB 18030."""
    for encoding in ("utf-16",) if content.startswith(_UTF_16) else ("utf-8", "gb18030", "latin-1"):
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
            if encoding != "utf-16" and "\0" in text:
                return content
            cleaned = _text(handle, text)
            if cleaned == text:
                return content
            if encoding == "utf-8" or text.encode(encoding) == content:  # nothing else may change
                return cleaned.encode(encoding)
    return content


def _text(handle: Handle, text: str) -> str:
    if len(text) < SHORTEST:
        return text
    text = private.without(text)
    if handle.settings.secrets == "keep" or (len(text) <= SHORT and not any(pattern.search(text) for pattern in secrets.SUSPECT)):
        return text
    return secrets.mask_secrets(text, handle.seal)[0]
