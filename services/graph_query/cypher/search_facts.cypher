// The space as of the search; its stated facts by their words and by the entities that are named.
CYPHER 25
CALL () {
  OPTIONAL MATCH (s:BraidSpace {group_id: $p.space})
  RETURN 'state' AS list, null AS e, 0.0 AS score,
         {revision: coalesce(s.revision, 0), vectors: coalesce(s.vectors, 0), model: coalesce(s.embedding_model, '')} AS state
  UNION ALL
  UNWIND CASE $p.lucene WHEN '' THEN [] ELSE [$p.lucene] END AS lucene
  CALL db.index.fulltext.queryRelationships('braid_fact_text', lucene, {limit: $p.fetch}) YIELD relationship AS e, score
  WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND coalesce(e.valid_until, $p.open) > $p.since
    AND ($p.relation = '' OR toLower(e.name) = $p.relation)
  RETURN 'text' AS list, e, score, null AS state LIMIT $p.limit
  UNION ALL
  UNWIND $p.link_keys AS key
  MATCH (k:EntityName {group_id: $p.space, link_key: key})
  WITH DISTINCT k.entity_uuid AS uuid LIMIT 12
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-()
  WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND coalesce(e.valid_until, $p.open) > $p.since
    AND ($p.relation = '' OR toLower(e.name) = $p.relation) AND ($p.entity_key = '' OR uuid IN $p.only)
  WITH e, count(DISTINCT n) AS ends ORDER BY ends DESC, e.valid_from DESC, e.uuid
  RETURN 'entity' AS list, e, toFloat(ends) AS score, null AS state LIMIT $p.limit
}
CALL (e) {
  UNWIND e.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $p.space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN list, state, score,
  [e.uuid, e.fact, e.name, startNode(e).uuid, startNode(e).name, labels(startNode(e)), endNode(e).uuid, endNode(e).name,
   labels(endNode(e)), e.valid_at, e.invalid_at, e.created_at, coalesce(e.origin, 'extracted')] AS fact, cited
