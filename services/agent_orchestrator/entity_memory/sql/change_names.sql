-- Changes an entity's names, counts and confidence.
update memory_entity set name = $4, canonical_name = $5, aliases = $6, canonical_aliases = $7, confidence = $8, mention_count = $9
where space = $1 and user_id = $2 and id = $3
returning *
