-- The number of a space's failures since a time, without those that are being retried.
select count(*) from job_failure where space = $1 and not again and create_time >= $2
