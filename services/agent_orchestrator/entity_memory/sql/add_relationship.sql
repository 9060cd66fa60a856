-- Adds a relationship; no row if the limit of the conversation ($11) is reached.
insert into memory_relationship (space, user_id, id, source_id, type, target_id, context, confidence,
  first_conversation_id, first_message_id, last_conversation_id, last_message_id)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $9, $10
where $9 = '' or $11 > (
  select count(*) from memory_relationship where space = $1 and user_id = $2 and first_conversation_id = $9)
returning id
