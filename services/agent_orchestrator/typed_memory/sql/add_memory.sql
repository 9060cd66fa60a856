-- Adds a memory that is not in the tiers yet, or renews what an interrupted attempt has left; null if its session is closed.
insert into memory (space, user_id, id, document_id, type, title, content, tags, importance, metadata, session_id)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11
where not exists (select from closed_session where space = $1 and user_id = $2 and session_id = $11)
on conflict (space, user_id, id) do update set create_time = now() where not memory.ready
returning *
