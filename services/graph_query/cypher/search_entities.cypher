// Stated facts of the entities that are named, those that join two of them first.
CYPHER 25
UNWIND $link_keys AS key
MATCH (k:EntityName {group_id: $space, link_key: key})
WITH DISTINCT k.entity_uuid AS uuid LIMIT 12
MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-()
WHERE e.group_id = $space AND coalesce(e.valid_from, -$open) <= $until AND coalesce(e.valid_until, $open) > $since
  AND ($relation = '' OR toLower(e.name) = $relation) AND ($entity_key = '' OR uuid IN $only)
WITH e, count(DISTINCT n) AS ends ORDER BY ends DESC, e.valid_from DESC, e.uuid LIMIT $limit
CALL (e) {
  UNWIND e.episodes[..$citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN toFloat(ends) AS score,
  [e.uuid, e.fact, e.name, startNode(e).uuid, startNode(e).name, labels(startNode(e)), endNode(e).uuid, endNode(e).name,
   labels(endNode(e)), e.valid_at, e.invalid_at, e.created_at, coalesce(e.origin, 'extracted')] AS fact, cited
ORDER BY score DESC, e.valid_from DESC, e.uuid
