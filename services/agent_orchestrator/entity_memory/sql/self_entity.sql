-- The id of the user's own entity.
select id from memory_entity where space = $1 and user_id = $2 and type = 'self'
