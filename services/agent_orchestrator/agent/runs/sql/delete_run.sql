-- Deletes run $1 with its events.
delete from agent_run where id = $1
