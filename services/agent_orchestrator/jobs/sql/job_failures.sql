-- The first failures of jobs, in the order of their uploads: at most $2 for each job.
select failure.job_id, failure.position, failure.document_id, failure.stage, failure.reason
from unnest($1::uuid[]) as wanted (id)
cross join lateral (
  select * from job_failure where job_id = wanted.id and not again order by position limit $2
) failure
