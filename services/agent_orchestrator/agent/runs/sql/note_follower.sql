-- Notes that the events of run $1 are being read through another process than its own.
update agent_run set follow_time = now() where id = $1 and end_time is null
