-- Relations from these memories that the user has removed.
select source_id, target_id, type from removed_memory_relation
where space = $1 and user_id = $2 and source_id = any($3::uuid[])
