// Entities by name or uuid with their other spellings, most mentioned first.
CYPHER 25
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
  RETURN k.entity_uuid AS uuid
  UNION
  UNWIND $p.anchor.uuids AS uuid
  RETURN uuid
}
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
CALL (n) {
  MATCH (n)-[e:RELATES_TO]-() WHERE e.group_id = $p.space AND e.valid_from <= $p.now AND e.valid_until > $p.now
    AND NOT (e.valid_until >= $p.open AND $p.now >= (floor(e.valid_from / 86400) + 1) * 86400
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
  RETURN count(DISTINCT e) AS holding
}
CALL (n) {
  MATCH (n)<-[m:BRAID_MENTIONS]-()
  WITH m LIMIT $p.looked_at
  RETURN collect(DISTINCT m.name) AS written
}
CALL (n) {
  MATCH (n)-[e:RELATES_TO]-()
  WITH n, e LIMIT $p.looked_at
  MATCH (c:FactClaim {fact_uuid: e.uuid}) USING INDEX SEEK c:FactClaim(fact_uuid)
  UNWIND c.given AS g
  WITH n, e, split(g, '\t') AS parts
  UNWIND CASE WHEN startNode(e) = n THEN [parts[1]] ELSE [] END + CASE WHEN endNode(e) = n THEN [parts[3]] ELSE [] END AS name
  RETURN collect(DISTINCT name) AS stated
}
WITH n, holding, written, stated, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, COUNT { (n)-[:RELATES_TO]-() } AS facts
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, mentions, holding,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  written + stated AS spellings, n.created_at AS created_at
ORDER BY mentions DESC, facts DESC, uuid
