-- What part 8 adds: the index of notes. Both tables are derived from the files of the vault: they are neither journaled nor
-- exported, and `yiku repair` drops them, so that the next sync makes them anew.

-- Each file that was looked at, and how it was then. The times are nanoseconds as the file system gives them, which with size
-- and inode tell that a file has not changed; what it holds is told by its SHA-256. `rules` is the version of those that
-- cut it.
create table files (
    n integer primary key autoincrement,
    scope_id integer not null,
    path text not null,
    source text not null check (source in ('memory', 'daily', 'archive', 'document', 'skill')),
    hash blob not null,
    size integer not null,
    mtime_ns integer not null,
    ctime_ns integer not null,
    inode integer not null,
    seen_ns integer not null,
    status text not null,
    detail text,
    said_at integer not null,
    offset_min integer not null,
    indexed_at integer not null,
    rules text not null
) strict;
create unique index files_by_path on files (scope_id, path);
create index files_by_hash on files (scope_id, hash);

-- The passages of a file, in order, with the lines in which they stand, both counted from 1. A passage that an edit leaves as it
-- is keeps its row, and so its vector. `id` is a hash of path, headings and text.
create table chunks (
    n integer primary key autoincrement,
    scope_id integer not null,
    id text not null,
    file_n integer not null references files (n),
    start_line integer not null,
    end_line integer not null,
    heading text not null,
    text text not null
) strict;
create unique index chunks_by_id on chunks (scope_id, id);
create unique index chunks_by_number on chunks (scope_id, n);
create index chunks_by_file on chunks (scope_id, file_n, start_line);

-- The search index of chunks, as those of part 1.
create virtual table note_index using fts5 (
    tokens, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '._-@/:+#'"
);
insert into note_index (note_index, rank) values ('secure-delete', 1);
