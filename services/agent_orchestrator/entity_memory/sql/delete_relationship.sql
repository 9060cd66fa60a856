-- Soft-deletes a relationship.
update memory_relationship set delete_time = now()
where space = $1 and user_id = $2 and id = $3 and delete_time is null
returning id
