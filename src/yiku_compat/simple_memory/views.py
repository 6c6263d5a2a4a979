"""
SimpleMemory's tables as SQL select statements on Yiku's tables.

A row is a live statement under its first id, or under its old one where it was migrated; times are seconds, types Chinese words.
"""

from __future__ import annotations

from collections.abc import Mapping

OLD_ID = "s1:"  # in front of the ids of an old home
ID = f"case when m.external_id like '{OLD_ID}%' then substr(m.external_id, {len(OLD_ID) + 1}) else m.line end"
TYPE = "case m.kind when 'event' then '事件' when 'skill' then '技能' when 'task' then '任务' when 'emotion' then '情感' else '知识' end"
LIVE = "m.state = 'active' and m.superseded_by is null and coalesce(m.expires_at > memory_now(), 1)"

VIEWS: Mapping[str, Mapping[str, str]] = {
    "s1": {
        "memory_records": (
            f"select {ID} as id, {TYPE} as memory_type, m.content as judgment, coalesce(m.basis, '') as reasoning, m.strength as strength,"
            " m.pinned as is_active, s.name as memory_scope, m.said_at / 1000000.0 as created_at, m.updated_at / 1000000.0 as updated_at"
            f" from yiku_memories m join yiku_scopes s on s.id = m.scope_id where {LIVE}"
        ),
        "memory_tags": "select min(t.id) as id, t.name as name from yiku_memory_tags t group by t.name",
        "memory_tag_rel": (
            f"select distinct {ID} as memory_id, (select min(x.id) from yiku_memory_tags x where x.name = t.name) as tag_id"
            " from yiku_memory_tag_rel r join yiku_memory_tags t on t.id = r.tag_id join yiku_memories m on m.n = r.memory_n"
            f" where {LIVE}"
        ),
    }
}
