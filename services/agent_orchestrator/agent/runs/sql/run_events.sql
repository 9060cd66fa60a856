-- Events of run $1 after number $2, in order.
select number, event, create_time from agent_run_event where run_id = $1 and number > $2 order by number limit $3
