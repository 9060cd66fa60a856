-- Jobs by id, regardless of space: for watchers that were authorized before.
select * from job where id = any($1::uuid[])
