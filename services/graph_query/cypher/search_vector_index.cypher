// Stated facts nearest to a vector, by the approximate index with space and time inside its filter.
CYPHER 25
MATCH ()-[e:RELATES_TO]->()
SEARCH e IN (VECTOR INDEX braid_fact_similarity FOR $p.vector
  WHERE e.group_id = $p.space AND e.valid_from <= $p.until AND e.valid_until > $p.since LIMIT $p.fetch) SCORE AS score
WITH e, score ORDER BY score DESC, e.uuid LIMIT $p.limit
CALL (e) {
  UNWIND e.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $p.space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN score * 2 - 1 AS score,
  [e.uuid, e.fact, e.name, startNode(e).uuid, startNode(e).name, labels(startNode(e)), endNode(e).uuid, endNode(e).name,
   labels(endNode(e)), e.valid_at, e.invalid_at, e.created_at, coalesce(e.origin, 'extracted')] AS fact, cited
