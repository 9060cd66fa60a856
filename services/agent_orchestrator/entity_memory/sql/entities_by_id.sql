-- Entities by id, without deleted ones.
select * from memory_entity
where space = $1 and user_id = $2 and id = any ($3::uuid[]) and delete_time is null and type <> 'self'
