"""
Load model prompts from `yiku/prompts`, one file per language.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def text(name: str, language: str) -> str:
    """Return a prompt in a language, en or zh."""
    return files("yiku.prompts").joinpath(f"{name}.{language}.md").read_text(encoding="utf-8")
