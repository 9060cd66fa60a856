-- Tells why the jobs of a space do not go on now.
update job set waiting_for = $2, update_time = now()
where space = $1 and state in ('queued', 'running') and kind = 'upload' and waiting_for <> $2
