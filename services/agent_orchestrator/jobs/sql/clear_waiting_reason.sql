-- Clears the waiting reason of a space's jobs.
with held as (
  select id from job
  where space = $1 and waiting_for <> '' and state in ('queued', 'running')
  order by id for no key update
)
update job set waiting_for = '', update_time = now() from held where job.id = held.id
