"""The system's tables over Yiku's own, for `memory.admin.sql(…, views=VIEWS["s4"])` and `yiku-compat sql s4 "select …"`."""

from __future__ import annotations

from collections.abc import Mapping

from yiku_compat.bitwise.core.memory.schema import TABLES

VIEWS: Mapping[str, Mapping[str, str]] = {"s4": TABLES}
