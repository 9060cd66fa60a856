-- The users of a space who have memories.
select distinct user_id from memory where space = $1 order by user_id
