-- What part 7 adds: indexes for what a scope was walked for.

-- The turns of a scope in the order of their numbers: what came since a number, and how many.
create index turns_by_number on conversation_turns (scope_id);
-- The end of an id, by which people name a turn or memory; in front of the scope, so that no other question takes this way.
create index turns_by_ending on conversation_turns (substr(id, -8), scope_id);
create index memories_by_ending on memories (substr(id, -8), scope_id);
-- The few memories that wait for a person.
create index memories_to_confirm on memories (scope_id) where state = 'candidate';
create index memories_in_conflict on memories (scope_id) where flag is not null;
