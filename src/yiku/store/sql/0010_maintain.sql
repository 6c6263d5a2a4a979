-- What part 9 adds besides: from which statements a summary was made. Neither journaled nor exported: a summary whose sources are
-- not known is made anew.
create table summary_sources (
    scope_id integer not null,
    memory_n integer not null references memories (n),
    source_n integer not null,
    primary key (scope_id, memory_n, source_n)
) strict, without rowid;
create index summaries_by_source on summary_sources (scope_id, source_n);
