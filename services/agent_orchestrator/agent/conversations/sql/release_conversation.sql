-- Ends the lease of run $2 on conversation $1.
update conversation set active_run_id = null, lease_expire_time = null where id = $1 and active_run_id = $2
