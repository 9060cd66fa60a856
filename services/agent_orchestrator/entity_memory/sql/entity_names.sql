-- Names of the most recently mentioned entities; of the given types, if any.
select id, name, canonical_name, aliases, canonical_aliases, type from memory_entity
where space = $1 and user_id = $2 and delete_time is null and type <> 'self'
  and (cardinality($3::text[]) = 0 or type = any ($3))
order by last_mention_time desc, id desc
limit $4
