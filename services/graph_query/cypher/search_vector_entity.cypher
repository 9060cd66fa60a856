// Stated facts of an entity nearest to a vector, every fact that passes the filter compared.
CYPHER 25
MATCH (k:EntityName {group_id: $p.space, name_key: $p.entity_key}) WHERE k.type >= ''
MATCH (n:Entity {uuid: k.entity_uuid})-[e:RELATES_TO]-()
WHERE e.group_id = $p.space AND e.fact_embedding IS NOT NULL AND e.valid_from <= $p.until AND e.valid_until > $p.since
  AND ($p.relation = '' OR toLower(e.name) = $p.relation)
WITH DISTINCT e
WITH e, vector.similarity.cosine(e.fact_embedding, $p.vector) AS score ORDER BY score DESC, e.uuid LIMIT $p.limit
CALL (e) {
  UNWIND e.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $p.space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN score * 2 - 1 AS score,
  [e.uuid, e.fact, e.name, startNode(e).uuid, startNode(e).name, labels(startNode(e)), endNode(e).uuid, endNode(e).name,
   labels(endNode(e)), e.valid_at, e.invalid_at, e.created_at, coalesce(e.origin, 'extracted')] AS fact, cited
