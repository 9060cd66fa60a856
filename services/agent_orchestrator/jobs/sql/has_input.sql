-- Whether the bytes of an upload are still stored.
select exists (select from job_input where job_id = $1)
