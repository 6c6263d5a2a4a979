-- What part 4 adds: what is learned from turns and when, and what grows out of sessions.

-- What became of a turn besides: when learning had dealt with it, when a host compressed it, and into which episode.
create table turn_work (
    turn_n integer primary key references conversation_turns (n),
    scope_id integer not null,
    extracted_at integer,
    compressed_at integer,
    episode text
) strict;

-- What a host keeps for a running session, the task it is at, and when it was ended.
create table session_state (
    scope_id integer not null,
    id text not null,
    variables text,
    task text,
    closed_at integer,
    primary key (scope_id, id)
) strict, without rowid;

-- How far learning is in a scope: every turn up to this number was dealt with, or stands in the queue.
create table learned (
    scope_id integer primary key,
    upto integer not null
) strict;

-- Work that waits for a model, and what failed. A row is taken under a lease; who comes late has an older fence.
create table extraction_queue (
    n integer primary key autoincrement,
    scope_id integer not null,
    kind text not null,
    session text not null,
    turn_n integer not null default 0,
    content_hash blob not null,
    state text not null default 'waiting' check (state in ('waiting', 'dead')),
    tries integer not null default 0,
    due_at integer not null,
    lease_until integer not null default 0,
    fence integer not null default 0,
    error text,
    reply text,
    created_at integer not null,
    unique (scope_id, kind, session, turn_n, content_hash)
) strict;
create index queue_by_due on extraction_queue (scope_id, state, due_at);

-- What models were asked for, and what that took.
create table model_calls (
    n integer primary key autoincrement,
    scope_id integer not null,
    at integer not null,
    purpose text not null,
    session text,
    model text not null,
    prompt_tokens integer,
    completion_tokens integer,
    seconds real not null,
    outcome text not null
) strict;
create index calls_by_time on model_calls (scope_id, at);

-- Records: the newest form of each, whole, with the tokens that it is indexed with (store/records.py).
create table episodes (
    n integer primary key autoincrement,
    scope_id integer not null,
    id text not null,
    session text not null,
    summary text not null,
    goal text not null,
    outcome text not null check (outcome in ('success', 'partial', 'failed', 'ongoing')),
    outcome_reason text,
    started_at integer not null,
    ended_at integer not null,
    first_turn text,
    last_turn text,
    action_nodes text,
    entities text,
    tools_used text,
    decisions text,
    linked_memory_ids text,
    tags text,
    importance_score real not null,
    access_count integer not null,
    source text not null,
    method text not null,
    created_at integer not null,
    updated_at integer not null,
    offset_min integer not null,
    tokens text,
    changed integer not null,
    digest blob not null
) strict;
create unique index episodes_by_id on episodes (scope_id, id);
create index episodes_by_session on episodes (scope_id, session);
create index episodes_by_time on episodes (scope_id, ended_at);

create table scratchpad (
    n integer primary key autoincrement,
    scope_id integer not null,
    id text not null,
    user_id text not null,
    current_focus text not null,
    active_projects text,
    recent text,
    open_questions text,
    next_steps text,
    overrides text,
    focus_since integer,
    updated_at integer not null,
    offset_min integer not null,
    tokens text,
    changed integer not null,
    digest blob not null
) strict;
create unique index scratchpad_by_id on scratchpad (scope_id, id);
create unique index scratchpad_by_user on scratchpad (scope_id, user_id);

create table attachments (
    n integer primary key autoincrement,
    scope_id integer not null,
    id text not null,
    session text not null,
    turn text,
    episode_id text,
    direction text not null check (direction in ('inbound', 'outbound')),
    filename text not null,
    original_filename text,
    mime_type text,
    file_size integer,
    local_path text,
    url text,
    blob text,
    missing integer not null,
    description text,
    transcription text,
    extracted_text text,
    tags text,
    linked_memory_ids text,
    said_at integer not null,
    created_at integer not null,
    updated_at integer not null,
    offset_min integer not null,
    tokens text,
    changed integer not null,
    digest blob not null
) strict;
create unique index attachments_by_id on attachments (scope_id, id);
create index attachments_by_turn on attachments (scope_id, turn) where turn is not null;
create index attachments_by_time on attachments (scope_id, said_at);

-- The search indexes of episodes and attachments, as those of part 1.
create virtual table episode_index using fts5 (
    tokens, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '._-@/:+#'"
);
create virtual table attachment_index using fts5 (
    tokens, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '._-@/:+#'"
);
insert into episode_index (episode_index, rank) values ('secure-delete', 1);
insert into attachment_index (attachment_index, rank) values ('secure-delete', 1);
