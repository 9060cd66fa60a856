-- The given memories that exist.
select * from memory where space = $1 and user_id = $2 and id = any($3::uuid[]) and ready
