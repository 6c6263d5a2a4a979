-- From version 4 to 5: notes have vectors, too.
drop index vectors_by_row;
alter table vectors rename to vectors_4;
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
insert into vectors select * from vectors_4;
drop table vectors_4;
create unique index vectors_by_row on vectors (scope_id, item, row_n, space, part);
