"""
Memory System's functions on Yiku: add, search, pending buffer, JSON Lines migration, snapshot, search by QMD.
"""

from yiku_compat.memory_system.homes import close
from yiku_compat.memory_system.layout import snapshot, write_memory_dir
from yiku_compat.memory_system.migration import migrate_jsonl_to_sqlite
from yiku_compat.memory_system.pending import add_pending, mini_consolidate, view_pending
from yiku_compat.memory_system.qmd import export_for_qmd, qmd_available, qmd_search
from yiku_compat.memory_system.search import extract_entities, router_search_sqlite
from yiku_compat.memory_system.sqlite_backend import (
    add_memory,
    delete_memory,
    get_memory,
    init_sqlite_db,
    resolve_relation_conflict,
    ttl_cleanup,
    update_access_stats,
    update_memory,
)

__all__ = [
    "add_memory",
    "add_pending",
    "close",
    "delete_memory",
    "export_for_qmd",
    "extract_entities",
    "get_memory",
    "init_sqlite_db",
    "migrate_jsonl_to_sqlite",
    "mini_consolidate",
    "qmd_available",
    "qmd_search",
    "resolve_relation_conflict",
    "router_search_sqlite",
    "snapshot",
    "ttl_cleanup",
    "update_access_stats",
    "update_memory",
    "view_pending",
    "write_memory_dir",
]
