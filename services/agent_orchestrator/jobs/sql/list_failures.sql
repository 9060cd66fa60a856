-- A page of a space's documents that could not be ingested, latest first.
select * from job_failure
where space = $1 and not again and (create_time, job_id, position) < ($2, $3, $4)
order by create_time desc, job_id desc, position desc limit $5
