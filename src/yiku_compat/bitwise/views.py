"""The application's tables as SQL views: `memory.admin.sql(…, views=VIEWS["s4"])`, `yiku-compat sql s4 "select …"`."""

from __future__ import annotations

from collections.abc import Mapping

from yiku_compat.bitwise.core.memory.schema import TABLES

VIEWS: Mapping[str, Mapping[str, str]] = {"s4": TABLES}
