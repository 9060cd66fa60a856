-- The first warnings of jobs, in the order of their uploads: at most $2 for each job.
select warning.job_id, warning.position, warning.document_id, warning.reason, warning.notice, warning.place
from unnest($1::uuid[]) as wanted (id)
cross join lateral (
  select * from job_warning where job_id = wanted.id order by position, number limit $2
) warning
