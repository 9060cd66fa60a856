// A page of the space's entities by name and uuid, after a position.
MATCH (n:Entity)
WHERE n.group_id = $space AND n.name >= $after_name AND (n.name > $after_name OR n.uuid > $after_uuid)
  AND ($type = '' OR $type IN labels(n) AND $type <> 'Entity')
WITH n ORDER BY n.group_id, n.name, n.uuid LIMIT $limit
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
       COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions
