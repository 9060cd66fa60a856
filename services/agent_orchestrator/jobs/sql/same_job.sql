-- The job that a request's input was accepted as before.
select * from job where space = $1 and request_id = $2 and input_hash = $3
