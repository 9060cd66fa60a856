-- Opens an ended job again; of its documents, $3 were on the list of those that failed. A task that has such is done anew.
update job set
  state = 'queued', read = kind <> 'upload', reached = greatest(reached, position), position = 0, takes = 0,
  retries = retries + 1, documents_failed = documents_failed - $3, waiting_for = '', result = null,
  progress = case when $3 > 0 then null else progress end,
  end_time = null, update_time = now()
where space = $1 and id = $2 and end_time is not null
returning *
