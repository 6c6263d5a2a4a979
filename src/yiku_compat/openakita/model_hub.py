"""List what each search backend still needs to be installed, and the embedding model of each known provider."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from yiku_compat.openakita.api_embedding import PROVIDERS

LIBRARIES = {"chromadb": "sqlite_vec"}  # what a local backend needs beside a model


def available_backends() -> Mapping[str, str]:
    """Return what each search backend needs that is not installed here; empty where nothing is missing."""
    missing = {name: f"pip install {module.replace('_', '-')}" for name, module in LIBRARIES.items() if not _installed(module)}
    return {"fts5": "", "chromadb": missing.get("chromadb", ""), "api_embedding": ""}


def providers() -> Mapping[str, str]:
    """Return the embedding model of each provider that is known by name."""
    return {name: model for name, (_, model) in PROVIDERS.items()}


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
