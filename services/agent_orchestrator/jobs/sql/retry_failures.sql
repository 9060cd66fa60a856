-- Takes the documents that a job could not take off its list, to be tried again.
update job_failure set again = true where job_id = $1 and position >= 0 and not again returning position
