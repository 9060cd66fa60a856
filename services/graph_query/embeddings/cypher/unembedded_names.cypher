// A page of the space's entities with a name vector that lack one of a model: no active vector if it is the space's own
// model, else no staged one.
MATCH (e:Entity) USING INDEX SEEK e:Entity(group_id, uuid)
WHERE e.group_id = $p.space AND e.uuid > $p.after_uuid AND e.name_embedding IS NOT NULL
  AND ($p.live AND e.name_embedding IS NULL OR NOT $p.live AND coalesce(e.next_model, '') <> $p.model)
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.name AS text, '' AS key
