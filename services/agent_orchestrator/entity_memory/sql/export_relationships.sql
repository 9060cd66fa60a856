-- Every relationship of the user after an id, ordered by id, including deleted ones.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and ($3::uuid is null or r.id > $3) order by r.id limit $4
