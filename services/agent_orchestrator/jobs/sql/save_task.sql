-- Saves where a job that is not an upload resumes.
update job set progress = $2::jsonb, takes = 0, waiting_for = '', update_time = now(),
  documents_total = $3, documents_searchable = $4, documents_graph_ready = $5, documents_failed = $6
where id = $1 and state = 'running' returning id, space
