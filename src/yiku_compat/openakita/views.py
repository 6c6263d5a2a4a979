"""OpenAkita's tables as read-only SQL views of Yiku's: `yiku-compat sql s3 "select …"`."""

from __future__ import annotations

from collections.abc import Mapping

PREFIX = "s3:"


def _time(column: str) -> str:
    """ISO 8601 in UTC, as text, of microseconds."""
    return f"strftime('%Y-%m-%dT%H:%M:%S+00:00', {column} / 1000000, 'unixepoch')"


def _noted(name: str) -> str:
    return f"json_extract(m.metadata, '$.{name}')"


_ID = f"case when m.external_id like '{PREFIX}%' then substr(m.external_id, {len(PREFIX) + 1}) else m.line end"
_NEXT = (  # the version that took its place, by the id that it is shown with
    f"(select case when s.superseded_by is null then {_ID.replace('m.', 's.')} else s.id end"
    " from yiku_memories s where s.id = m.superseded_by)"
)
_TAGS = (
    "(select json_group_array(t.name) from yiku_memory_tag_rel r join yiku_memory_tags t on t.id = r.tag_id where r.memory_n = m.n)"
)

MEMORIES = f"""
    select m.n as rowid, case when m.superseded_by is null then {_ID} else m.id end as id, m.content as content,
        m.kind as type, coalesce(m.priority, 'permanent') as priority,
        coalesce({_noted("source")}, case m.method when 'told' then 'manual' else 'turn_ai' end) as source,
        m.importance as importance_score, {_TAGS} as tags,
        {_time("m.said_at")} as created_at, {_time("m.updated_at")} as updated_at, {_time("m.expires_at")} as expires_at,
        m.retrieved + m.used + m.mentioned + coalesce({_noted("access_count")}, 0) as access_count,
        coalesce(m.subject, '') as subject, coalesce(m.predicate, '') as predicate, m.confidence as confidence,
        coalesce({_noted("decay_rate")}, 0.1) as decay_rate,
        {_time("max(coalesce(m.last_retrieved, 0), coalesce(m.last_used, 0), coalesce(m.last_mentioned, 0))")} as accessed_at,
        {_NEXT} as superseded_by, {_noted("source_episode_id")} as source_episode_id, m.state as state
    from yiku_memories m where m.state in ('active', 'archived')
"""
_MEMORIES = f"""
    select rowid, id, content, type, priority, source, importance_score, tags, created_at, updated_at, expires_at, access_count,
        subject, predicate, confidence, decay_rate,
        case when accessed_at = '1970-01-01T00:00:00+00:00' then null else accessed_at end as last_accessed_at,
        superseded_by, source_episode_id
    from ({MEMORIES}) where state = 'active' or superseded_by is not null
"""
EPISODES = f"""
    select n as rowid, id, session as session_id, summary, goal, outcome, {_time("started_at")} as started_at,
        {_time("ended_at")} as ended_at, coalesce(action_nodes, '[]') as action_nodes, coalesce(entities, '[]') as entities,
        coalesce(tools_used, '[]') as tools_used, coalesce(linked_memory_ids, '[]') as linked_memory_ids,
        coalesce(tags, '[]') as tags, importance_score, access_count, source
    from yiku_episodes
"""
_FOCUS = "coalesce(trim(json_extract(p.overrides, '$.current_focus'), '- '), p.current_focus)"


def _section(title: str, column: str) -> str:
    """A section of the scratchpad as Markdown: what the user wrote, else the lines that were found."""
    lines = f"(select group_concat('- ' || value, char(10)) from json_each(p.{column}))"
    return f"coalesce('## {title}' || char(10) || coalesce(json_extract(p.overrides, '$.{column}'), {lines}) || char(10), '')"


def _lines(column: str) -> str:
    """A list of the scratchpad as JSON: what the user wrote, line by line, else what was found."""
    written = f"ltrim(json_extract(p.overrides, '$.{column}'), '- ')"
    quoted = f"""replace({written}, '"', '\\"')"""
    return f"""coalesce('["' || replace({quoted}, char(10) || '- ', '","') || '"]', p.{column}, '[]')"""


SCRATCHPAD = f"""
    select case p.user_id when (select c.name from yiku_scopes c where c.id = p.scope_id) then 'default' else p.user_id end as user_id,
        '## Current task' || char(10) || '- ' || {_FOCUS} || char(10) || {_section("Open questions", "open_questions")}
            || {_section("Next steps", "next_steps")} as content,
        {_lines("active_projects")} as active_projects, {_FOCUS} as current_focus,
        {_lines("open_questions")} as open_questions, {_lines("next_steps")} as next_steps,
        {_time("p.updated_at")} as updated_at
    from yiku_scratchpad p
"""
_WORK = "(select w.{} from yiku_turn_work w where w.turn_n = t.n)"
TURNS = f"""
    select t.n as id, s.id as session_id, t.position as turn_index, t.role as role, t.content as content,
        t.tool_calls as tool_calls, t.tool_results as tool_results, coalesce(t.tool_calls, '[]') <> '[]' as has_tool_calls,
        {_time("t.said_at")} as timestamp, cast(length(t.content) / 2.5 as integer) + 1 as token_estimate,
        {_WORK.format("episode")} as episode_id,
        t.n <= coalesce((select l.upto from yiku_learned l where l.scope_id = t.scope_id), 0)
            or {_WORK.format("extracted_at")} is not null as extracted
    from yiku_conversation_turns t
    join yiku_sessions s on s.n = t.session_n
"""
QUEUE = f"""
    select q.n as id, q.session as session_id, t.position as turn_index, coalesce(t.content, '') as content,
        t.tool_calls as tool_calls, t.tool_results as tool_results, q.tries as retry_count, 3 as max_retries,
        case when q.state = 'dead' then 'failed' when q.lease_until > 0 then 'processing' else 'pending' end as status,
        {_time("q.created_at")} as created_at, case when q.tries > 0 then {_time("q.due_at")} end as last_attempted_at
    from yiku_extraction_queue q left join yiku_conversation_turns t on t.n = q.turn_n
"""
ATTACHMENTS = f"""
    select n as rowid, id, session as session_id, coalesce(episode_id, '') as episode_id, filename,
        coalesce(original_filename, '') as original_filename, coalesce(mime_type, '') as mime_type,
        coalesce(file_size, 0) as file_size, coalesce(local_path, '') as local_path, coalesce(url, '') as url, direction,
        coalesce(description, '') as description, coalesce(transcription, '') as transcription,
        coalesce(extracted_text, '') as extracted_text, coalesce(tags, '[]') as tags,
        coalesce(linked_memory_ids, '[]') as linked_memory_ids, {_time("created_at")} as created_at
    from yiku_attachments
"""
# What is cached are vectors, which are no business of a statement: the table is there, and empty.
EMBEDDINGS = "select '' as content_hash, x'' as embedding, '' as model, 1024 as dimensions, '' as created_at where 0"

_ALL: Mapping[str, str] = {
    "memories": _MEMORIES,
    "episodes": EPISODES,
    "scratchpad": SCRATCHPAD,
    "conversation_turns": TURNS,
    "extraction_queue": QUEUE,
    "attachments": ATTACHMENTS,
    "embedding_cache": EMBEDDINGS,
}
VIEWS: Mapping[str, Mapping[str, str]] = {"s2": _ALL, "s3": _ALL}
