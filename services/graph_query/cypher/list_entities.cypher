// A page of the space's entities by name and uuid, after a position.
MATCH (n:Entity)
WHERE n.group_id = $p.space AND n.name >= $p.after_name AND n.uuid >= '' AND (n.name > $p.after_name OR n.uuid > $p.after_uuid)
  AND ($p.type = '' OR $p.type IN labels(n) AND $p.type <> 'Entity')
WITH n ORDER BY n.group_id, n.name, n.uuid LIMIT $p.limit
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
       COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions
