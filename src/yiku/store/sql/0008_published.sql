-- What part 8 adds: the versions of MEMORY.md and USER.md that were written, and those that were read after somebody had edited one.

-- A version is kept as ids of memories with keyed seals of their lines, and no word of them: enough to tell what a person changed,
-- and that a file went back in time. Versions of 90 days are kept. They are neither journaled nor exported.
create table published (
    n integer primary key autoincrement,
    scope_id integer not null,
    page text not null,
    version text not null,
    digest text not null,
    entries text not null,
    at integer not null
) strict;
create unique index published_by_digest on published (scope_id, page, version, digest);
