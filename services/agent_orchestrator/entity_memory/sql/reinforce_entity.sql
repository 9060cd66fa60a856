-- Adds evidence to an entity.
update memory_entity set aliases = $4, canonical_aliases = $5, description = $6, confidence = $7,
  mention_count = mention_count + 1, last_conversation_id = $8, last_message_id = $9, last_mention_time = now()
where space = $1 and user_id = $2 and id = $3
returning *
