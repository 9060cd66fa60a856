-- Makes a memory visible, because both tiers have it.
update memory set ready = true where space = $1 and user_id = $2 and id = $3
