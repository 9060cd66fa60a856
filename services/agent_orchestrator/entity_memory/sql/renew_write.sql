-- Renews the lease of a write in progress.
update memory_write set lease_time = clock_timestamp() + make_interval(secs => $4)
where space = $1 and user_id = $2 and number = $3 and end_time is null
