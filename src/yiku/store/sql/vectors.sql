-- The vectors, in a file of their own beside the database: all of it can be made again from what the database holds.
-- A vector is int8 numbers and the one factor that they share; vectors of two spaces never meet.

-- The store whose turns and memories these are: their numbers mean nothing in another. `made` tells this file from another
-- one of the same store: a matrix is of one file.
create table vectors_of (
    store_id text not null,
    made text not null
) strict;

-- The models whose vectors lie here, and how many numbers a vector has; null until there is one. `notes of …` is the space of the same
-- model for notes, which are searched apart; `pairs of …` names a model that compares pairs, and has no vectors.
create table spaces (
    n integer primary key,
    name text not null unique,
    dimensions integer
) strict;

-- One row a window of a turn or memory, in the order in which they came. `unspaced`: its text is Chinese, or such.
create table vectors (
    scope_id integer not null,
    space integer not null references spaces (n),
    seq integer not null,
    item text not null check (item in ('turn', 'memory', 'note')),
    row_n integer not null,
    part integer not null,
    unspaced integer not null,
    factor real not null,
    code blob not null,
    primary key (scope_id, space, seq)
) strict, without rowid;
create unique index vectors_by_row on vectors (scope_id, item, row_n, space, part);

-- How far a scope is: the last turn and memory looked at, the last vector, and how often some were taken out.
create table progress (
    scope_id integer not null,
    space integer not null references spaces (n),
    turns integer not null default 0,
    memories integer not null default 0,
    last integer not null default 0,
    removals integer not null default 0,
    primary key (scope_id, space)
) strict, without rowid;

-- Rows behind that mark without vectors: their text has changed, or the model refused it, `tries` times so far.
create table again (
    scope_id integer not null,
    space integer not null references spaces (n),
    item text not null,
    row_n integer not null,
    tries integer not null default 0,
    primary key (scope_id, space, item, row_n)
) strict, without rowid;

-- What a model said of a text, so that it is not asked twice, as numbers and a factor like the vectors. The text is a keyed hash.
-- Who is asked for again gets a new number, so the oldest have the lowest, and go first.
create table embedding_cache (
    n integer primary key autoincrement,
    provider text not null,
    model text not null,
    provider_key text not null,
    hash blob not null,
    factor real not null,
    code blob not null,
    dims integer not null,
    updated_at integer not null
) strict;
create index cache_by_hash on embedding_cache (hash);

-- Pairs of turns of one speaker: how likely the later one means that the earlier no longer holds, and which of its characters
-- that is about. `likely` is between 0 and 1; only likely pairs are kept.
create table superseded (
    scope_id integer not null,
    space integer not null references spaces (n),
    earlier integer not null,
    later integer not null,
    likely real not null,
    first integer not null,
    stop integer not null,
    primary key (scope_id, space, earlier, later)
) strict, without rowid;
create index superseded_by_later on superseded (scope_id, later);
create index superseded_by_earlier on superseded (scope_id, earlier);
