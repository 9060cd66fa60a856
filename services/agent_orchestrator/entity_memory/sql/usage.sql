-- How much of their limits a conversation and the day have used.
select
  (select count(*) from memory_entity
   where space = $1 and user_id = $2 and first_conversation_id = $3 and type <> 'self') as conversation_entities,
  (select count(*) from memory_relationship
   where space = $1 and user_id = $2 and first_conversation_id = $3) as conversation_relationships,
  (select count(*) from memory_entity
   where space = $1 and user_id = $2 and type <> 'self'
     and create_time >= date_trunc('day', now() at time zone 'utc') at time zone 'utc') as day_entities
