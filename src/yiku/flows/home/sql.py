"""
Run a caller's read-only SELECT with views, limit and timeout, on the rows of the scopes that may be read.

The statement is anybody's: what it may read, and how much time and memory it may take, the store decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from yiku.errors import InvalidInput
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.types import SqlRows

VIEWS_AT_MOST = 100
SECONDS_AT_MOST = 600.0
RESERVED = ("yiku_", "sqlite_")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def sql(
    handle: Handle,
    sql: str,
    values: Sequence[Any] | Mapping[str, Any],
    *,
    views: Mapping[str, str] | None,
    limit: int,
    timeout_s: float,
) -> SqlRows:
    """Check the arguments and run the statement."""
    checks.text(sql, "sql")
    checks.integer(limit, "limit", at_least=1)
    checks.optional_seconds(timeout_s, "timeout_s")
    if timeout_s is None or not 0 < timeout_s <= SECONDS_AT_MOST:
        checks.refuse("timeout_s", f"must be a number of seconds up to {SECONDS_AT_MOST:g}")
    given, bound = _views(views), _values(values)
    among, vectors = handle.reads() or [0], handle.paths.vectors
    return handle.store.upkeep.sql(
        among, sql, bound, views=given, limit=limit, timeout_s=timeout_s, now=handle.now(), vectors=vectors
    )


def _views(views: object) -> dict[str, str]:
    """Check temporary views: select statements by plain names."""
    if views is None:
        return {}
    if not isinstance(views, Mapping) or len(views) > VIEWS_AT_MOST:
        checks.refuse("views", f"must be at most {VIEWS_AT_MOST} select statements by name")
    for name in views:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name.casefold().startswith(RESERVED):
            checks.refuse(
                "views", f"has the name {checks.shown(name)}; letters, digits and _, and not {' or '.join(RESERVED)} in front"
            )
    if len({name.casefold() for name in views}) < len(views):
        raise InvalidInput("two views have the same name")
    return {name: checks.text(text, f"the view {name}") for name, text in views.items()}


def _values(values: object) -> Sequence[Any] | Mapping[str, Any]:
    """Check what is bound: texts, numbers, bytes, None."""
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, Mapping)):
        checks.refuse("values", "must be a list, or a mapping of names to values")
    for each in values.values() if isinstance(values, Mapping) else values:
        if isinstance(each, str):
            checks.text(each, "a value", at_most=checks.CONTENT_BYTES, empty=True)
        elif each is not None and not isinstance(each, (int, float, bytes)):
            checks.refuse("values", f"has a {type(each).__name__}; texts, numbers, bytes and None can be bound")
        elif isinstance(each, int) and not -(1 << 63) <= each < 1 << 63:
            checks.refuse("values", "has a number of more than 64 bits")
    return values
