-- Adds an entity; no row if a limit is reached ($13 for the conversation, $14 for the day).
insert into memory_entity (space, user_id, id, name, canonical_name, type, aliases, canonical_aliases, description, confidence,
  first_conversation_id, first_message_id, last_conversation_id, last_message_id)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $11, $12
where ($11 = '' or $13 > (
    select count(*) from memory_entity
    where space = $1 and user_id = $2 and first_conversation_id = $11 and type <> 'self'))
  and $14 > (
    select count(*) from memory_entity
    where space = $1 and user_id = $2 and type <> 'self'
      and create_time >= date_trunc('day', now() at time zone 'utc') at time zone 'utc')
returning *
