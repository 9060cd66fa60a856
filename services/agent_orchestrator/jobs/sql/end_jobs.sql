-- Ends those of the jobs that have nothing left to do: all documents are through or listed. With none through it failed.
update job set
  state = case when documents_failed > 0 and documents_failed >= documents_total then 'failed' else 'succeeded' end,
  waiting_for = '', end_time = now(), update_time = now()
where id = any($1::uuid[]) and kind = 'upload' and read and state in ('queued', 'running')
  and documents_graph_ready + documents_failed >= documents_total
returning id, documents_failed
