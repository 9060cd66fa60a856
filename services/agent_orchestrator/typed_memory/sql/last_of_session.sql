-- The last memory of a session that is still open.
select id from memory where space = $1 and user_id = $2 and session_id = $3 and session_id <> '' and ready
order by create_time desc, id desc limit 1
