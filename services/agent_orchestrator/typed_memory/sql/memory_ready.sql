-- Both tiers have the memory: it is there for everybody who may see it.
update memory set ready = true where space = $1 and user_id = $2 and id = $3
