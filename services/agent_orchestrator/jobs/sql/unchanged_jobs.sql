-- The jobs that have not ended and were not retried since they were claimed.
select job.id from job join unnest($1::uuid[], $2::int[]) as told (id, retries) on told.id = job.id
where job.retries = told.retries and job.state in ('queued', 'running')
