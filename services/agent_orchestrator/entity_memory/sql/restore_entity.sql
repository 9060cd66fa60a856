-- Restores a deleted entity.
update memory_entity set delete_time = null where space = $1 and user_id = $2 and id = $3 returning *
