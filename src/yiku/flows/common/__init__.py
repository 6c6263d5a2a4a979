"""Shared by all flows: the handle, argument checks, cleaning, id lookup, tombstones."""
