-- Records relations that the user has removed.
insert into removed_memory_relation (space, user_id, source_id, target_id, type)
select $1, $2, $3, $4, unnest($5::text[])
on conflict do nothing
