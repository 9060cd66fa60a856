-- Adds a visible memory whose text both tiers have; an existing one stays.
insert into memory (space, user_id, id, document_id, type, title, content, tags, importance, metadata, session_id, ready)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, true)
on conflict do nothing
