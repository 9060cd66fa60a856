-- Releases claimed jobs that did not cause the interruption.
with held as (
  select id from job where id = any($1::uuid[]) order by id for no key update
)
update job set takes = 0 from held where job.id = held.id
