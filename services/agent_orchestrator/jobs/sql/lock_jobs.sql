-- Locks and returns the jobs that were not retried since they were claimed: no retry until the transaction ends.
select job.id from job join unnest($1::uuid[], $2::int[]) as told (id, retries) on told.id = job.id
where job.retries = told.retries
order by job.id for no key update of job
