// A page of the space's findings that lack a vector of a model: no active vector if it is the space's own model, else
// no staged one.
MATCH (e:BraidFinding) USING INDEX SEEK e:BraidFinding(group_id, uuid)
WHERE e.group_id = $p.space AND e.uuid > $p.after_uuid
  AND ($p.live AND e.embedding IS NULL OR NOT $p.live AND coalesce(e.next_model, '') <> $p.model)
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.statement AS text, '' AS key
