-- A user's closed sessions whose summary does not exist.
select session_id from closed_session c
where space = $1 and user_id = $2
  and not exists (select from memory m where m.space = c.space and m.user_id = c.user_id and m.id = c.summary_id)
order by session_id limit 1000
