-- The relationships of some entities with their ends, highest confidence first; of the given types, if any.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and r.delete_time is null
  and (cardinality($4::text[]) = 0 or r.type = any ($4))
  and (r.source_id = any ($3::uuid[]) or r.target_id = any ($3::uuid[]))
order by r.confidence desc, r.id
limit $5
