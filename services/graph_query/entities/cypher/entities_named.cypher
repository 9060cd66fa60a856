// The entities with a name, most mentioned first.
MATCH (k:EntityName {group_id: $p.space, name_key: $p.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
       COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, COUNT { (n)-[:RELATES_TO]-() } AS facts
ORDER BY mentions DESC, facts DESC, uuid
