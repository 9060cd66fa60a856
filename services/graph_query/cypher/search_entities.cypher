// Stated facts of the entities that are named, those that join two of them first.
CYPHER 25
UNWIND $p.link_keys AS key
MATCH (k:EntityName {group_id: $p.space, link_key: key})
WITH DISTINCT k.entity_uuid AS uuid LIMIT 12
MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-()
WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND coalesce(e.valid_until, $p.open) > $p.since
  AND ($p.relation = '' OR toLower(e.name) = $p.relation) AND ($p.entity_key = '' OR uuid IN $p.only)
WITH e, count(DISTINCT n) AS ends ORDER BY ends DESC, e.valid_from DESC, e.uuid LIMIT $p.limit
CALL (e) {
  UNWIND e.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $p.space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN toFloat(ends) AS score,
  [e.uuid, e.fact, e.name, startNode(e).uuid, startNode(e).name, labels(startNode(e)), endNode(e).uuid, endNode(e).name,
   labels(endNode(e)), e.valid_at, e.invalid_at, e.created_at, coalesce(e.origin, 'extracted')] AS fact, cited
ORDER BY score DESC, e.valid_from DESC, e.uuid
