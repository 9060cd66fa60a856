-- Queues a write; no row if one with the key exists, finished or not.
insert into memory_write (space, user_id, key, kind, conversation_id, message_id, payload) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (space, user_id, key) do nothing
returning number
