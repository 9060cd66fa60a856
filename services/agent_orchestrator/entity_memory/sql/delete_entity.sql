-- Soft-deletes an entity and deletes its vectors, because the index contains only existing entities; $4 is the entity
-- that it was merged into, or null.
with gone as (
  delete from memory_entity_vector where space = $1 and user_id = $2 and entity_id = $3)
update memory_entity set delete_time = now(), merged_into = $4 where space = $1 and user_id = $2 and id = $3
