-- From version 4 to 5: notes have vectors, too.
create table vectors_of_all (
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
insert into vectors_of_all select * from vectors;
drop table vectors;
alter table vectors_of_all rename to vectors;
create unique index vectors_by_row on vectors (scope_id, item, row_n, space, part);
