-- What part 9 adds: the runs of the night, and what each of them decided.

-- A run tidies one scope. `at` is the time by which it decides, also when it goes on after it was cut off; `phase` is the one it is at.
create table runs (
    n integer primary key autoincrement,
    scope_id integer not null,
    id text not null,
    mode text not null check (mode in ('full', 'light', 'phase')),
    at integer not null,
    offset_min integer not null,
    started_at integer not null,
    finished_at integer,
    phase integer not null default 0,
    seen integer not null default 0,
    counts text not null default '{}'
) strict;
create unique index runs_by_id on runs (scope_id, id);

-- Decisions, each written in the transaction of its changes (`tx`, 0 where it changed nothing). `evidence` holds ids, spans, numbers
-- and codes, and never a word of what was said: texts are looked up when a report is shown.
create table night_items (
    scope_id integer not null,
    run text not null,
    item integer not null,
    phase integer not null,
    action text not null,
    tx integer not null,
    ids text not null,
    reason text not null,
    evidence text not null,
    at integer not null,
    primary key (scope_id, run, item)
) strict, without rowid;

-- What a night looks for, so that it costs what there is to do and not what there is.
create index memories_by_expiry on memories (scope_id, expires_at) where expires_at is not null and state in ('active', 'candidate');
create index memories_by_deletion on memories (scope_id, auto_delete_at)
where auto_delete_at is not null and state in ('active', 'candidate', 'archived');
create index memories_by_junk on memories (scope_id, n) where state = 'junk';
create index changes_by_run on changes (scope_id, run) where run is not null;
