-- Ends a job that is not an upload with its result.
update job set state = $2, result = $3::jsonb, waiting_for = '', end_time = now(), update_time = now()
where id = $1 and state = 'running' returning id, space
