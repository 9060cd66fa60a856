-- A job of a space.
select * from job where space = $1 and id = $2
