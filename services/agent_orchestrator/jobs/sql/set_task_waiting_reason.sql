-- Records why a job that is not an upload cannot continue now.
update job set waiting_for = $2, takes = case when $3 then 0 else takes end, update_time = now() where id = $1
