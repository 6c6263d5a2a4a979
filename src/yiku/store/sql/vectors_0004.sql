-- From version 3 to 4: what a model said of a text is kept as the vectors are, and not as floats. What was kept goes; no vector does.
drop table embedding_cache;
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
