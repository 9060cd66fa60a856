// Entities by their names' similarity, by the approximate index, whose filter covers the space.
CYPHER 25
MATCH (n:Entity)
SEARCH n IN (VECTOR INDEX braid_entity_meaning FOR $p.vector WHERE n.group_id = $p.space LIMIT $p.limit) SCORE AS score
WITH n, score WHERE score > $p.least
ORDER BY score DESC, n.uuid
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes
