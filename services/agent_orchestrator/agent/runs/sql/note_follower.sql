-- Records that another process than the run's own reads the events of run $1.
update agent_run set follow_time = now() where id = $1 and end_time is null
