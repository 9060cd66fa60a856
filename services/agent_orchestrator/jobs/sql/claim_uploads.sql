-- Claims the next uploads of a space, except $2, with their unread bytes: at most $3, and $4 bytes or one upload.
-- Uploads accepted after a deletion wait for it.
with next as (
  select id, number, takes, sum(size) over (order by number) - size as before
  from (
    select id, number, takes, size from job
    where space = $1 and kind = 'upload' and not read and state in ('queued', 'running') and id <> all($2::uuid[])
      and number < first_deletion($1)
    order by number limit $3
  ) waiting
), chosen as (
  -- An upload that crashed its worker before is claimed alone.
  select id from next
  where (before < $4 and not exists (select from next worse where worse.takes >= $5 and worse.number <= next.number))
     or number = (select min(number) from next)
), held as (
  select id from job where id in (select id from chosen) order by id for no key update
), begun as (
  update job set state = 'running', takes = takes + 1, start_time = coalesce(start_time, now()), update_time = now()
  from held where job.id = held.id returning job.*
), taken as (
  select *, case when read_position = position then read_offset else 0 end as begin_offset,
    case when read_position = position then read_line else 0 end as begin_line
  from begun
)
select taken.*, substring(job_input.data from begin_offset + 1) as data,
  (select coalesce(array_agg(position), '{}') from job_failure where job_id = taken.id and again) as again
from taken join job_input on job_input.job_id = taken.id order by taken.number
