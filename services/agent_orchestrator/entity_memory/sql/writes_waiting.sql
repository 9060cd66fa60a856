-- Whether the user has unfinished writes.
select exists (select from memory_write where space = $1 and user_id = $2 and end_time is null)
