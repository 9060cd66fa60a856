-- Notes that run $1 has ended.
update agent_run set end_time = now() where id = $1 and end_time is null
