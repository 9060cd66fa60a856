// Entities by their names' similarity, comparing all of the space.
MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid)
WHERE n.group_id = $p.space AND n.name >= '' AND n.uuid >= '' AND size(n.name_embedding) = size($p.vector)
WITH n, vector.similarity.cosine(n.name_embedding, $p.vector) AS score WHERE score > $p.least
ORDER BY score DESC, n.uuid LIMIT $p.limit
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes
