-- Deletes the input of jobs that never have to be read again.
delete from job_input using job
where job.id = job_input.job_id and job.id = any($1::uuid[]) and job.state = 'succeeded' and job.documents_failed = 0
