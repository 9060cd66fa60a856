-- Records how many more documents of jobs are in the graph, and how many it refused. Locks the jobs in id order, like
-- all statements that change several: two stages of a space work on the same jobs.
with held as (
  select id from job where id = any($1::uuid[]) order by id for no key update
)
update job set
  documents_graph_ready = documents_graph_ready + told.ready, documents_failed = documents_failed + told.failed,
  waiting_for = '', update_time = now(),
  graph_ready_time = case when told.ready > 0 then now() else graph_ready_time end
from held join unnest($1::uuid[], $2::int[], $3::int[]) as told (id, ready, failed) on told.id = held.id
where job.id = held.id
