-- From version 5 to 6: which turns a later turn supersedes, as the local model read them in pairs.
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
