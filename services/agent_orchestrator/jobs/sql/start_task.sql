-- Starts a job that is not an upload.
update job set state = 'running', takes = takes + 1, start_time = coalesce(start_time, now()), update_time = now()
where id = $1 and kind <> 'upload' and state in ('queued', 'running') returning *
