"""
Publish MEMORY.md and USER.md (notes/publish.py), then renew by rules the summary of USER.md for prompts.

By rules, which take a millisecond; `compile` asks a model where there is one.
"""

from __future__ import annotations

from yiku.flows.common.handle import Handle
from yiku.flows.notes import publish as pages
from yiku.flows.prompts.compile import compile_identity
from yiku.types import PublishReport


def publish(handle: Handle, *, keep: pages.Keep | None = None) -> PublishReport:
    """Publish as notes.publish does; then the summary of USER.md is that of the page as it is."""
    done = pages.publish(handle, keep=keep)
    compile_identity(handle, only=("user",), strategy="rules")
    return done
