-- Adds evidence to a relationship.
update memory_relationship set context = $4, confidence = $5, mention_count = mention_count + 1,
  last_conversation_id = $6, last_message_id = $7, last_mention_time = now()
where space = $1 and user_id = $2 and id = $3
