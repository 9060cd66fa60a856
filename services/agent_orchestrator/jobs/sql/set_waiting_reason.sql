-- Records why the jobs of a space cannot continue now.
with held as (
  select id from job
  where space = $1 and state in ('queued', 'running') and kind = 'upload' and waiting_for <> $2
  order by id for no key update
)
update job set waiting_for = $2, update_time = now() from held where job.id = held.id
