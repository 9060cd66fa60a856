-- A page of memories, newest first.
select * from memory
where space = $1 and user_id = $2 and ready
  and (cardinality($3::text[]) = 0 or type = any($3))
  and ($4 = '' or session_id = $4)
  and (create_time, id) < ($5::timestamptz, $6::uuid)
order by create_time desc, id desc
limit $7
