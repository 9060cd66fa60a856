-- Relationships with their ends after a position, most recently mentioned first; of types and of an entity, if given.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and r.delete_time is null
  and (cardinality($3::text[]) = 0 or r.type = any ($3))
  and ($4::uuid is null or r.source_id = $4 or r.target_id = $4)
  and ($5::timestamptz is null or (r.last_mention_time, r.id) < ($5, $6::uuid))
order by r.last_mention_time desc, r.id desc
limit $7
