-- Erases the user's relationships and counts them.
with gone as (delete from memory_relationship where space = $1 and user_id = $2 returning 1) select count(*) from gone
