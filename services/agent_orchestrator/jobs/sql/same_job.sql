-- The job that was accepted before: with id $2, or by a former release with the same request and input.
select * from job where space = $1 and (id = $2 or request_id <> '' and request_id = $3 and input_hash = $4)
order by id = $2 desc limit 1
