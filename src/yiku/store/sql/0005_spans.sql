-- What part 5 adds: where in a turn a statement stands, and by which name the mirror of erasures knows each of them.

-- Characters of the turn's whole content, the end behind the last; null where the words do not stand there verbatim.
alter table memory_sources add column span_start integer check (span_start >= 0);
alter table memory_sources add column span_end integer check ((span_start is null) = (span_end is null) and span_end > span_start);

-- The same in every copy of a store: a digest of the scope, the time and the rows.
alter table erasures add column id text;
create index erasures_by_id on erasures (id);
