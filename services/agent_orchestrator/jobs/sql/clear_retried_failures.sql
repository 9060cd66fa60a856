-- Documents of jobs that were tried again with success are no failures any more.
delete from job_failure using unnest($1::uuid[], $2::int[]) as told (id, position)
where job_failure.job_id = told.id and again and job_failure.position < told.position
