-- name: end_task
-- Ends a job that is not an upload with its result.
update job set state = $2, result = $3::jsonb, waiting_for = '', end_time = now(), update_time = now()
where id = $1 and state = 'running' returning id, space

-- name: save_task
-- Saves where a job that is not an upload resumes.
update job set progress = $2::jsonb, takes = 0, waiting_for = '', update_time = now(),
  documents_total = $3, documents_searchable = $4, documents_graph_ready = $5, documents_failed = $6
where id = $1 and state = 'running' returning id, space

-- name: set_task_waiting_reason
-- Records why a job that is not an upload cannot continue now.
update job set waiting_for = $2, takes = case when $3 then 0 else takes end, update_time = now() where id = $1

-- name: start_task
-- Starts a job that is not an upload.
update job set state = 'running', takes = takes + 1, start_time = coalesce(start_time, now()), update_time = now()
where id = $1 and kind <> 'upload' and state in ('queued', 'running') returning *

-- name: task_unfinished
-- Whether a job that is not an upload has not ended.
select exists (select from job where id = $1 and state in ('queued', 'running'))
