-- The jobs of a space go on.
update job set waiting_for = '', update_time = now()
where space = $1 and waiting_for <> '' and state in ('queued', 'running')
