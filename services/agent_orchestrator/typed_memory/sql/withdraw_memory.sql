-- Hides a memory before it is deleted from the tiers.
update memory set ready = false where space = $1 and user_id = $2 and id = $3 and ready
returning *
