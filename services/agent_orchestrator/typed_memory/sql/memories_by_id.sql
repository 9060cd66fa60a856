-- Those of the memories that are there.
select * from memory where space = $1 and user_id = $2 and id = any($3::uuid[]) and ready
