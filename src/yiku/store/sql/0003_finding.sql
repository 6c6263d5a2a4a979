-- What part 3 adds: ranking asks every turn of a scope for its time, session, role and speaker; an index alone answers.
drop index turns_by_time;
create index turns_by_time on conversation_turns (scope_id, said_at, session_n, role, speaker);
