-- The relationships of an entity as they are stored.
select * from memory_relationship
where space = $1 and user_id = $2 and delete_time is null and (source_id = $3 or target_id = $3)
order by create_time, id
