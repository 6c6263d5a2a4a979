"""
The texts that models are asked with: one file a language beside each other in `yiku/prompts`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def text(name: str, language: str) -> str:
    """A prompt in a language, en or zh."""
    return files("yiku.prompts").joinpath(f"{name}.{language}.md").read_text(encoding="utf-8")
