-- Deletes an entity softly, and its vectors, which the index has for entities that are there; $4 is the entity that it was
-- merged into, or null.
with gone as (
  delete from memory_entity_vector where space = $1 and user_id = $2 and entity_id = $3)
update memory_entity set delete_time = now(), merged_into = $4 where space = $1 and user_id = $2 and id = $3
