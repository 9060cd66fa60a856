-- Notes how many more documents of jobs are in the graph, and how many it could not take.
update job set
  documents_graph_ready = documents_graph_ready + told.ready, documents_failed = documents_failed + told.failed,
  waiting_for = '', update_time = now(),
  graph_ready_time = case when told.ready > 0 then now() else graph_ready_time end
from unnest($1::uuid[], $2::int[], $3::int[]) as told (id, ready, failed)
where job.id = told.id
