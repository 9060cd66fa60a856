-- The job that was accepted before with the same request and input.
select * from job where space = $1 and request_id = $2 and input_hash = $3
