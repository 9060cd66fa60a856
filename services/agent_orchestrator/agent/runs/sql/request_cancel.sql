-- Asks the process of run $1 of user $3 in space $2 to stop it.
update agent_run set cancel_requested = true where id = $1 and space = $2 and user_name = $3 returning id
