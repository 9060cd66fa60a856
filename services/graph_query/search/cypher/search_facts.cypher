// The space's state, and how many facts all spaces have; the space's stated facts by their words and by named entities,
// as uuids with scores, statements and relations.
CYPHER 25
CALL () {
  OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
  RETURN coalesce(s.revision, 0) AS revision, coalesce(s.vectors, 0) AS vectors, coalesce(s.embedding_model, '') AS model,
    coalesce(s.embedding_dimension, 0) AS dimension
}
CALL () {
  OPTIONAL MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
  RETURN coalesce(o.events, []) AS events
}
CALL (events) {
  UNWIND CASE $p.lucene WHEN '' THEN [] ELSE [$p.lucene] END AS lucene
  CALL db.index.fulltext.queryRelationships('braid_fact_terms', lucene, {limit: $p.fetch}) YIELD relationship AS e, score
  WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND (coalesce(e.valid_until, $p.open) > $p.since
      OR $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL AND e.relation_key IN events)
    AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH e, score LIMIT $p.limit
  RETURN collect([e.uuid, score, e.fact, e.name, e.fact_embedding IS NOT NULL]) AS text
}
CALL (events) {
  UNWIND $p.link_keys AS key
  MATCH (k:EntityName {group_id: $p.space, link_key: key}) USING INDEX SEEK k:EntityName(group_id, link_key)
  WITH DISTINCT k.entity_uuid AS uuid LIMIT 12
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
  WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND (coalesce(e.valid_until, $p.open) > $p.since
      OR $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL AND e.relation_key IN events)
    AND ($p.relation = '' OR e.relation_key = $p.relation) AND ($p.entity_key = '' OR uuid IN $p.only)
  WITH e, toFloat(count(DISTINCT n)) AS ends, any(beginning IN $p.beginnings WHERE e.relation_key CONTAINS beginning) AS asked
  ORDER BY ends DESC, asked DESC, e.valid_from DESC, e.uuid LIMIT $p.limit
  RETURN collect([e.uuid, ends, e.fact, e.name, e.fact_embedding IS NOT NULL]) AS entity
}
CALL () {
  MATCH ()-[e:RELATES_TO]->()
  RETURN count(e) AS stored
}
RETURN revision, vectors, model, dimension, text, entity, stored, EXISTS { MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= '' } AS episodes
