-- The given memories that exist, visible or not.
select id from memory where space = $1 and user_id = $2 and id = any($3::uuid[])
