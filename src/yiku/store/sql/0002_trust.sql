-- What part 2 adds: a digest of each row, and what is left of what was erased.

-- A row is checked against its digest whenever it is read (store/row_codec.py says over which columns).
alter table conversation_turns add column digest blob;
alter table memories add column digest blob;

-- What was erased must not come back: keyed hashes of texts, slots and external ids, and when they were erased.
-- The key lies in a file of its own, so nobody can guess his way back from here.
create table tombstones (
    seal blob primary key,
    at integer not null,
    tx integer not null
) strict, without rowid;
create index tombstones_by_tx on tombstones (tx);

-- Each erasure, without a word of what it was: which rows and blobs, and the receipt once every copy is dealt with.
create table erasures (
    tx integer primary key,
    scope_id integer not null,
    at integer not null,
    rows text not null,
    receipt text
) strict;
