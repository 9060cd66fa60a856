-- Deletes a memory that was deleted from both tiers.
delete from memory where space = $1 and user_id = $2 and id = $3
