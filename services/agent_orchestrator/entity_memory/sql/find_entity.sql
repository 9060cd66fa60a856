-- The user's entities with a name or an alias; of one type if it is not null. Names come before aliases.
select * from memory_entity
where space = $1 and user_id = $2 and delete_time is null and type <> 'self'
  and (canonical_name = $3 or $3 = any (canonical_aliases)) and ($4::text is null or type = $4)
order by canonical_name = $3 desc, mention_count desc, id
limit 1
