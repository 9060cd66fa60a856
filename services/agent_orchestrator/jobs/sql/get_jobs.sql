-- Jobs by id, whatever their space: for watchers that were let in by it.
select * from job where id = any($1::uuid[])
