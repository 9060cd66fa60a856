-- Soft-deletes the relationships of an entity, with the time of the transaction.
update memory_relationship set delete_time = now()
where space = $1 and user_id = $2 and delete_time is null and (source_id = $3 or target_id = $3)
returning id
