-- Releases a write, to be retried later.
update memory_write set lease_time = null, due_time = clock_timestamp() + make_interval(secs => $2), failure = $3
where number = $1 and end_time is null
