-- Removes documents that were retried with success from the failures of jobs.
delete from job_failure using unnest($1::uuid[], $2::int[]) as told (id, position)
where job_failure.job_id = told.id and again and job_failure.position < told.position
