-- Every entity of the user after an id, ordered by id, including deleted ones.
select * from memory_entity
where space = $1 and user_id = $2 and type <> 'self' and ($3::uuid is null or id > $3) order by id limit $4
