// Stated facts by their words; `lucene` carries the space and the entities that are asked for.
CYPHER 25
CALL db.index.fulltext.queryRelationships('braid_fact_text', $p.lucene, {limit: $p.fetch}) YIELD relationship AS e, score
WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND coalesce(e.valid_until, $p.open) > $p.since
  AND ($p.relation = '' OR toLower(e.name) = $p.relation)
WITH e, score LIMIT $p.limit
CALL (e) {
  UNWIND e.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $p.space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN score,
  [e.uuid, e.fact, e.name, startNode(e).uuid, startNode(e).name, labels(startNode(e)), endNode(e).uuid, endNode(e).name,
   labels(endNode(e)), e.valid_at, e.invalid_at, e.created_at, coalesce(e.origin, 'extracted')] AS fact, cited
ORDER BY score DESC, e.uuid
