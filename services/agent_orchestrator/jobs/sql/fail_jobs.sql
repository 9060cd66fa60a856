-- Ends jobs before their documents are done.
with held as (
  select id from job where id = any($1::uuid[]) and state in ('queued', 'running') order by id for no key update
)
update job set state = 'failed', read = true, waiting_for = '', end_time = now(), update_time = now()
from held where job.id = held.id returning job.id
