-- Restores the relationships that were deleted together with an entity, if both ends exist again.
update memory_relationship r set delete_time = null
where r.space = $1 and r.user_id = $2 and (r.source_id = $3 or r.target_id = $3) and r.delete_time = $4
  and not exists (
    select from memory_entity e
    where e.space = $1 and e.user_id = $2 and e.id in (r.source_id, r.target_id) and e.delete_time is not null)
  and not exists (
    select from memory_relationship o
    where o.space = $1 and o.user_id = $2 and o.source_id = r.source_id and o.type = r.type and o.target_id = r.target_id
      and o.delete_time is null)
returning r.id
