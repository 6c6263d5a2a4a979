"""
Load the tools' descriptions, notes and error messages for a model, in English or Chinese.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "zh")
_NAMED = re.compile(r"\[(memory_[a-z]+)\]")


@cache
def every(language: str) -> Mapping[str, Any]:
    """Return all texts of a language."""
    return tomllib.loads(files("yiku.prompts").joinpath(f"tools.{language}.toml").read_text(encoding="utf-8"))


def named(text: str, names: Mapping[str, str]) -> str:
    """Return a text with the names of tools as the caller has them."""
    return _NAMED.sub(lambda found: names.get(found[1], found[1]), text)
