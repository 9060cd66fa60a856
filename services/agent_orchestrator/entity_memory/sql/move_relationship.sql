-- Changes the ends of a relationship.
update memory_relationship set source_id = $4, target_id = $5 where space = $1 and user_id = $2 and id = $3
