// Stated facts by their words; `lucene` carries the space and the entities that are asked for.
CYPHER 25
CALL db.index.fulltext.queryRelationships('braid_fact_text', $lucene, {limit: $fetch}) YIELD relationship AS e, score
WHERE e.group_id = $space AND coalesce(e.valid_from, -$open) <= $until AND coalesce(e.valid_until, $open) > $since
  AND ($relation = '' OR toLower(e.name) = $relation)
WITH e, score LIMIT $limit
CALL (e) {
  UNWIND e.episodes[..$citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN score,
  [e.uuid, e.fact, e.name, startNode(e).uuid, startNode(e).name, labels(startNode(e)), endNode(e).uuid, endNode(e).name,
   labels(endNode(e)), e.valid_at, e.invalid_at, e.created_at, coalesce(e.origin, 'extracted')] AS fact, cited
ORDER BY score DESC, e.uuid
