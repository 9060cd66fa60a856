-- Reopens an ended job; $3 of its documents were listed as failed. A task with listed failures starts again.
update job set
  state = 'queued', read = kind <> 'upload', reached = greatest(reached, position), position = 0, takes = 0,
  retries = retries + 1, documents_failed = documents_failed - $3, waiting_for = '', result = null,
  progress = case when $3 > 0 then null else progress end,
  end_time = null, update_time = now()
where space = $1 and id = $2 and end_time is not null
returning *
