-- Whether the events of run $1 were read through another process within the last $2 seconds.
select coalesce(follow_time > now() - make_interval(secs => $2), false) from agent_run where id = $1
