-- Whether another process has read the events of run $1 within the last $2 seconds.
select coalesce(follow_time > now() - make_interval(secs => $2), false) from agent_run where id = $1
