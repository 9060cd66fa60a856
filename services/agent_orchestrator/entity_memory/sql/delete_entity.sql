-- Deletes an entity softly; $4 is the entity that it was merged into, or null.
update memory_entity set delete_time = now(), merged_into = $4 where space = $1 and user_id = $2 and id = $3
