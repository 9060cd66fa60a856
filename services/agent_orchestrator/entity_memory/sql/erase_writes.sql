-- Erases the user's writes and counts them.
with gone as (delete from memory_write where space = $1 and user_id = $2 returning 1) select count(*) from gone
