-- Deletes the reason why a whole job failed.
delete from job_failure where job_id = $1 and position < 0
