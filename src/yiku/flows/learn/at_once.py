"""
`Memory.record_turn`: store a turn and, if `learn = at_once`, learn from it before returning.

The turn is stored first, so this cannot fail: if learning fails, the turn stays pending for `learn`, and so does a long turn.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from yiku.errors import YikuError
from yiku.flows.common.handle import Handle
from yiku.flows.keep import record
from yiku.types import Turn

INLINE_CHARS = 4_000  # of a turn that is learned from before `record_turn` returns: some 2 ms
# What the data or the disk can bring about; a mistake of ours (TypeError, AttributeError …) is raised.
FAILURES = (YikuError, OSError, ArithmeticError, LookupError, RecursionError, ValueError)

_log = logging.getLogger(__name__)


def record_turn(handle: Handle, draft: Mapping[str, Any], *, idempotency_key: str | None = None) -> Turn:
    """Store one turn, and learn from it where `learn = at_once`. See Memory.record_turn."""
    turn = record.record_turn(handle, draft, idempotency_key=idempotency_key)
    if handle.settings.learn != "at_once":
        return turn
    if turn.role == "user":
        from yiku.flows.learn import by_rules  # loaded when somebody says something, not for each line of a log

        with _defer_on_failure(handle):
            if by_rules.said_by_person(turn) and turn.n > handle.store.learning.upto(handle.writes()):  # else it was known already
                learn_from(handle, turn)
                by_rules.update_scratchpad(handle, turn)
                if turn.id in handle.learned:  # else it is long, and waits
                    record.mark_read(handle, turn)
    elif not (turn.tool_calls or turn.tool_results):
        record.mark_read(handle, turn)
    return turn


def learn_from(handle: Handle, turn: Turn) -> Counter[str]:
    """Learn from a turn just recorded; return outcome counts."""
    from yiku.flows.learn import by_rules
    from yiku.flows.learn.store_draft import counted

    outcomes, scope = Counter[str](), handle.writes()
    if handle.settings.learn != "off" and by_rules.said_by_person(turn) and len(turn.content) <= INLINE_CHARS:
        with _defer_on_failure(handle):
            for result in by_rules.from_user(handle, scope, turn):
                outcomes += counted([result])
    return outcomes


@contextmanager
def _defer_on_failure(handle: Handle) -> Iterator[None]:
    """Leave a failed turn to `learn`, with a note in log and `status`."""
    try:
        yield
    except FAILURES as error:
        why = f"{type(error).__name__}: {error.detail if isinstance(error, YikuError) else error}"
        handle.put_off = why
        _log.warning("what was said is stored, but could not be learned from (%s); `yiku learn` tries again", why)
