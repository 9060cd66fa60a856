-- Ends a job that has not ended, unless it deletes: half a deletion is none; documents that are searchable go on to the graph.
update job set state = 'cancelled', read = true, waiting_for = '', end_time = now(), update_time = now()
where space = $1 and id = $2 and kind <> 'delete' and state in ('queued', 'running') returning *
