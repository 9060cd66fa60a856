-- Counts memories as read or found.
update memory set access_count = access_count + 1, last_access_time = now()
where space = $1 and user_id = $2 and id = any($3::uuid[])
