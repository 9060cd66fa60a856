// A page of the space's entities by their names' keys and uuid, after a position. An entity keeps both, however it is spelt.
MATCH (k:EntityName) USING INDEX SEEK k:EntityName(group_id, name_key, type)
WHERE k.group_id = $p.space AND k.name_key >= $p.after_key AND k.type >= '' AND (k.name_key > $p.after_key OR k.entity_uuid > $p.after_uuid)
  AND ($p.type = '' OR k.type = $p.type)
WITH k ORDER BY k.group_id, k.name_key, k.entity_uuid LIMIT $p.limit
MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, k.name_key AS key
ORDER BY key, uuid
