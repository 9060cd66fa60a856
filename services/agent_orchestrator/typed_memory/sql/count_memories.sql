-- The number of a user's memories.
select count(*) from memory where space = $1 and user_id = $2 and ready
