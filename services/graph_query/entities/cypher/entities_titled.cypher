// Entities by uuid, and whether each is the title of a document.
UNWIND $p.uuids AS wanted
MATCH (n:Entity {uuid: wanted}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.kind = $p.about } AS titled
