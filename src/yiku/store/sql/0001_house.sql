-- The store of part 1: scopes, sessions, turns, memories with their versions, the search index, the journal.
-- Times are integer microseconds UTC; `offset_min` is the speaker's offset, so that "yesterday" means his.
-- `scope_id` leads every key. `n` is never reused: index entries go by it.

-- Facts about this store: its id, the analyzer of its index. The schema's number is `pragma user_version`.
create table meta (
    key text primary key,
    value any not null
) strict, without rowid;

-- Privacy boundaries. The name is the grammar's, the label is free.
create table scopes (
    id integer primary key autoincrement,
    name text not null unique,
    label text,
    created_at integer not null
) strict;

-- Runs of turns. `turns` is the next position.
create table sessions (
    n integer primary key autoincrement,
    scope_id integer not null references scopes (id),
    id text not null,
    turns integer not null default 0,
    started_at integer not null,
    ended_at integer not null,
    unique (scope_id, id)
) strict;

-- What was said, verbatim. A row never changes, except by redaction.
create table conversation_turns (
    n integer primary key autoincrement,
    scope_id integer not null references scopes (id),
    id text not null,
    session_n integer not null references sessions (n),
    position integer not null,
    role text not null,
    speaker text,
    content text not null,
    content_hash blob not null,
    blob text,
    tool_calls text,
    tool_results text,
    said_at integer not null,
    offset_min integer not null,
    recorded_at integer not null,
    external_id text,
    parent text,
    agent text,
    project text,
    metadata text,
    origin text not null,
    actor text
) strict;
create unique index turns_by_id on conversation_turns (scope_id, id);
create unique index turns_by_position on conversation_turns (scope_id, session_n, position);
create unique index turns_by_external_id on conversation_turns (scope_id, external_id) where external_id is not null;
create index turns_by_time on conversation_turns (scope_id, said_at);

-- What became of a turn; no row means nothing yet.
create table turn_state (
    turn_n integer primary key references conversation_turns (n),
    scope_id integer not null,
    hidden_at integer
) strict;

-- One row a version of a statement; a line is the chain of its versions.
create table memories (
    n integer primary key autoincrement,
    scope_id integer not null references scopes (id),
    id text not null,
    line text not null,
    kind text not null check (kind in ('fact', 'preference', 'rule', 'skill', 'error', 'persona_trait', 'event', 'task', 'emotion', 'experience')),
    standing text not null check (standing in ('fact', 'belief', 'summary')),
    state text not null check (state in ('candidate', 'active', 'archived', 'junk', 'purged')),
    content text not null,
    content_hash blob not null,
    subject text,
    predicate text,
    object text,
    cardinality text check (cardinality in ('single', 'multi', 'unknown')),
    slot text,
    basis text,
    flag text,
    flagged_with text,
    importance real not null default 0.5,
    base_score real not null default 1.0,
    strength integer not null default 1,
    confidence real not null default 1.0,
    priority text,
    half_life_days real,
    said_at integer not null,
    offset_min integer not null,
    confirmed_at integer not null,
    place integer not null default 0,
    valid_from integer not null,
    valid_to integer,
    superseded_by text,
    reason text,
    expires_at integer,
    auto_delete_at integer,
    ttl_days integer,
    pinned integer not null default 0,
    retrieved integer not null default 0,
    used integer not null default 0,
    mentioned integer not null default 0,
    last_retrieved integer,
    last_used integer,
    last_mentioned integer,
    origin text not null,
    trust real not null default 1.0,
    method text not null,
    metadata text,
    agent text,
    project text,
    external_id text,
    created_at integer not null,
    updated_at integer not null,
    changed integer not null
) strict;
create unique index memories_by_id on memories (scope_id, id);
create index memories_by_line on memories (scope_id, line);
create index memories_by_slot on memories (scope_id, slot, said_at) where slot is not null;
create index memories_by_subject on memories (scope_id, predicate, subject) where predicate is not null;
create index memories_by_hash on memories (scope_id, content_hash);
create index memories_by_said_at on memories (scope_id, said_at);
create index memories_by_external_id on memories (scope_id, external_id) where external_id is not null;
-- The backstop of every decision: one live value a slot, one live row a text.
create unique index one_live_value on memories (scope_id, slot)
where slot is not null and state = 'active' and standing = 'fact' and superseded_by is null and flag is null;
create unique index one_live_text on memories (scope_id, kind, content_hash)
where state = 'active' and superseded_by is null;

-- Where a memory comes from: each time it was said.
create table memory_sources (
    scope_id integer not null,
    memory_n integer not null references memories (n),
    seq integer not null,
    origin text not null,
    said_at integer not null,
    offset_min integer not null,
    recorded_at integer not null,
    turn text,
    session text,
    place integer not null default 0,
    actor text,
    text text,
    primary key (scope_id, memory_n, seq)
) strict, without rowid;
create index sources_by_turn on memory_sources (scope_id, turn) where turn is not null;

-- What a memory is about.
create table memory_entities (
    scope_id integer not null,
    memory_n integer not null references memories (n),
    entity text not null,
    primary key (scope_id, memory_n, entity)
) strict, without rowid;
create index memories_by_entity on memory_entities (scope_id, entity);

-- Triples that a memory states.
create table memory_relations (
    id integer primary key autoincrement,
    scope_id integer not null,
    memory_n integer not null references memories (n),
    subject text not null,
    relation_type text not null,
    object text not null,
    confidence real not null default 1.0,
    created integer not null,
    superseded integer not null default 0
) strict;
create index relations_by_subject on memory_relations (scope_id, subject, relation_type, superseded);
create index relations_by_memory on memory_relations (scope_id, memory_n);

-- Tag names of a scope, and which memory carries which.
create table memory_tags (
    id integer primary key autoincrement,
    scope_id integer not null,
    name text not null,
    unique (scope_id, name)
) strict;
create table memory_tag_rel (
    scope_id integer not null,
    memory_n integer not null references memories (n),
    tag_id integer not null references memory_tags (id),
    primary key (scope_id, memory_n, tag_id)
) strict, without rowid;
create index memories_by_tag on memory_tag_rel (scope_id, tag_id);

-- Each access, for those who want more than the counters on the row. Not journaled.
create table access_log (
    id integer primary key autoincrement,
    scope_id integer not null,
    memory_n integer not null references memories (n),
    access text not null,
    at integer not null
) strict;
create index access_by_time on access_log (scope_id, at);
create index access_by_memory on access_log (memory_n);

-- The journal: who changed what, when and why, and what was overwritten. A batch of turns is one row.
-- `digest` chains the headers, so that a flipped byte or a missing row is found; an erased image breaks nothing.
create table changes (
    number integer primary key autoincrement,
    tx integer not null,
    scope_id integer not null,
    at integer not null,
    actor text,
    run text,
    operation text not null,
    action text not null,
    tbl text not null,
    row_n integer not null,
    count integer not null default 1,
    reason text,
    before text,
    digest blob not null
) strict;
create index changes_by_tx on changes (tx);
create index changes_by_row on changes (scope_id, tbl, row_n);

-- First results under idempotency keys.
create table receipts (
    scope_id integer not null,
    key text not null,
    digest blob not null,
    result text not null,
    at integer not null,
    primary key (scope_id, key)
) strict, without rowid;

-- How many documents and words a scope has in each index: what BM25 needs, kept in the same transaction.
create table index_stats (
    scope_id integer not null,
    name text not null,
    documents integer not null default 0,
    words integer not null default 0,
    primary key (scope_id, name)
) strict, without rowid;

-- The search index: which row holds which of our own tokens, prefixed with the scope (`s7q…` in recall, `h7q…` out of it).
-- Neither the text nor how often or where a token stands in it is kept (docs/decisions/0007-index-layout.md).
-- A row's number is n * 64 + a step of its length, so that BM25 needs no second look-up.
create virtual table turn_index using fts5 (
    tokens, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '._-@/:+#'"
);
create virtual table tool_index using fts5 (
    tokens, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '._-@/:+#'"
);
create virtual table memory_index using fts5 (
    tokens, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '._-@/:+#'"
);
insert into turn_index (turn_index, rank) values ('secure-delete', 1);
insert into tool_index (tool_index, rank) values ('secure-delete', 1);
insert into memory_index (memory_index, rank) values ('secure-delete', 1);
