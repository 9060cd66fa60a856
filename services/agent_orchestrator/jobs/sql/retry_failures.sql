-- Marks a job's failed documents to be retried.
update job_failure set again = true where job_id = $1 and position >= 0 and not again returning position
