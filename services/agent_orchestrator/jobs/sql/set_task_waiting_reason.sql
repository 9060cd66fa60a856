-- Tells why a job that is no upload does not go on now.
update job set waiting_for = $2, takes = case when $3 then 0 else takes end, update_time = now() where id = $1
