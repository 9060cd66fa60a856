-- Entities after a position, most recently mentioned first; of the given types, if any.
select * from memory_entity
where space = $1 and user_id = $2 and delete_time is null and type <> 'self'
  and (cardinality($3::text[]) = 0 or type = any ($3))
  and ($4::timestamptz is null or (last_mention_time, id) < ($4, $5::uuid))
order by last_mention_time desc, id desc
limit $6
