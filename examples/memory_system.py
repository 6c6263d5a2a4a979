"""
A program written for the memory system's functions, over a Yiku home: old data in, accesses, search, corrections, clean-up.

    python examples/memory_system.py FOLDER
"""

import json
import sys
from pathlib import Path

from yiku_compat.memory_system import (
    add_memory,
    close,
    init_sqlite_db,
    migrate_jsonl_to_sqlite,
    resolve_relation_conflict,
    router_search_sqlite,
    ttl_cleanup,
    update_access_stats,
)

OLD = [
    {
        "id": "f_20260214_a1b2c3",
        "content": "小明住在北京朝阳区",
        "importance": 0.9,
        "created": "2026-02-14T10:00:00Z",
        "entities": ["小明"],
    },
    {"id": "f_20260214_d4e5f6", "content": "Ann prefers tea", "created": "2026-02-14T11:00:00Z", "entities": ["Ann"]},
]


def main(memory_dir: Path) -> None:
    """Show each function once."""
    old = memory_dir / "layer2" / "active"
    old.mkdir(parents=True, exist_ok=True)
    (old / "facts.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in OLD), encoding="utf-8")

    init_sqlite_db(memory_dir)
    print("migrated", migrate_jsonl_to_sqlite(memory_dir).imported, "and again", migrate_jsonl_to_sqlite(memory_dir).imported)

    update_access_stats("f_20260214_a1b2c3", "retrieval", memory_dir)
    for question in ("小明住在哪里？", "What does Ann drink?"):
        best = router_search_sqlite(question, memory_dir, top_k=1)[0]
        print(best["id"], best["content"], best["matched_entities"], best["access_count"])

    moved = add_memory(memory_dir, "小明搬到上海了", entities=["小明"])
    print(resolve_relation_conflict("小明", "住在", "北京", "f_20260214_a1b2c3", memory_dir))
    print(resolve_relation_conflict("小明", "住在", "上海", moved, memory_dir))
    print("junk", ttl_cleanup(memory_dir))
    close(memory_dir)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
