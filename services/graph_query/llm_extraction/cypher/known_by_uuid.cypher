// Returns the given entities that are in the space, as Graphiti needs them.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid, group_id: $p.space}) USING INDEX SEEK n:Entity(uuid)
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes
