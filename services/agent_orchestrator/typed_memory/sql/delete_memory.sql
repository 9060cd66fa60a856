-- Removes a memory that has left both tiers.
delete from memory where space = $1 and user_id = $2 and id = $3
