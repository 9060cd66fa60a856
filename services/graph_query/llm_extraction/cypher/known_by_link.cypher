// Entities with the given linking keys, as Graphiti needs them, most mentioned first.
UNWIND $p.keys AS key
MATCH (k:EntityName {group_id: $p.space, link_key: key}) USING INDEX SEEK k:EntityName(group_id, link_key)
WITH DISTINCT k.entity_uuid AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
WITH n ORDER BY COUNT { (n)<-[:BRAID_MENTIONS]-() } DESC, n.uuid LIMIT $p.limit
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes
