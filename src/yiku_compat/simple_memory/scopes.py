"""
Determine the scope of a conversation, and validate scope names.

A conversation that the map does not name has a scope of its own; `public` is for those that the map gives it. Names are
taken as they are, in Chinese, too; Yiku refuses empty, invisible and confusable ones.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from yiku.errors import InvalidScope

PUBLIC = "public"
_log = logging.getLogger("yiku_compat.simple_memory")


def conversation_scope(conversation: str, conversation_scope_map: Mapping[str, str]) -> str:
    """Return the scope of a conversation. Raises InvalidScope."""
    return checked(conversation_scope_map.get(conversation) or "conversation:" + re.sub(r"\s+", "-", conversation.strip()))


def checked(memory_scope: object) -> str:
    """Return a scope's name, or log and raise InvalidScope where it is empty or no text; Yiku checks the rest."""
    if not isinstance(memory_scope, str) or not memory_scope.strip():
        _log.error("memory_scope is missing: nothing was done")
        raise InvalidScope(f"memory_scope is {memory_scope!r}")
    return memory_scope
