// A page of the space's stated facts with a given start, after a uuid, that lack a vector of a model: no active vector
// if it is the space's own model, else no staged one.
MATCH ()-[e:RELATES_TO]->()
USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from = $p.after_from AND e.uuid > $p.after_uuid
  AND CASE WHEN $p.live THEN e.fact_embedding IS NULL ELSE coalesce(e.next_model, '') <> $p.model END
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.fact AS text, toString(e.valid_from) AS key
