-- A relationship by its ends and type.
select * from memory_relationship
where space = $1 and user_id = $2 and source_id = $3 and type = $4 and target_id = $5 and delete_time is null
