-- Ends jobs before their documents are done.
update job set state = 'failed', read = true, waiting_for = '', end_time = now(), update_time = now()
where id = any($1::uuid[]) and state in ('queued', 'running') returning id
