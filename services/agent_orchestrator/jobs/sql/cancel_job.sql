-- Ends a job that has not ended, except a deletion, which must complete. Searchable documents still go to the graph.
update job set state = 'cancelled', read = true, waiting_for = '', end_time = now(), update_time = now()
where space = $1 and id = $2 and kind <> 'delete' and state in ('queued', 'running') returning *
