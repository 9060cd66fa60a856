-- Ends uploads whose documents are all in the graph or listed as failed. If all of them failed, the job has failed.
update job set
  state = case when documents_failed > 0 and documents_failed >= documents_total then 'failed' else 'succeeded' end,
  waiting_for = '', end_time = now(), update_time = now()
where id = any($1::uuid[]) and kind = 'upload' and read and state in ('queued', 'running')
  and documents_graph_ready + documents_failed >= documents_total
returning id, documents_failed
