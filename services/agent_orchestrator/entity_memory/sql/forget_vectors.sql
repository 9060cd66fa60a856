-- Deletes an entity's vectors, because its text has changed.
delete from memory_entity_vector where space = $1 and user_id = $2 and entity_id = $3
