// Facts for a question: stated facts by their words, stated facts of the entities it names, sentences by their words.
CYPHER 25
CALL () {
  OPTIONAL MATCH (s:BraidSpace {group_id: $space})
  RETURN coalesce(s.revision, 0) AS revision, coalesce(s.vectors, 0) AS vectors, s.embedding_model AS model
}
CALL () {
  OPTIONAL MATCH (k:EntityName {group_id: $space, name_key: $entity_key})
  RETURN collect(k.entity_uuid) AS only
}
CALL (only) {
  WITH only WHERE $lucene <> '' AND ($entity_key = '' OR size(only) > 0)
  WITH CASE WHEN $entity_key = '' THEN $lucene ELSE $lucene + ' +(' +
    reduce(text = '', uuid IN only | text + ' source_node_uuid:"' + uuid + '" target_node_uuid:"' + uuid + '"') + ')' END AS lucene
  CALL db.index.fulltext.queryRelationships('braid_fact_text', lucene, {limit: $fetch}) YIELD relationship AS e, score
  WHERE e.group_id = $space AND coalesce(e.valid_from, -$open) <= $until AND coalesce(e.valid_until, $open) > $since
    AND ($relation = '' OR toLower(e.name) = $relation)
  WITH e, score LIMIT $limit
  RETURN 'text' AS leg, e AS e, null AS s, score AS score
UNION ALL
  WITH only
  CALL (only) {
    WITH only WHERE $entity_key <> ''
    UNWIND only AS uuid RETURN uuid
    UNION
    WITH only WHERE $entity_key = ''
    UNWIND $link_keys AS key
    MATCH (k:EntityName {group_id: $space, link_key: key})
    RETURN k.entity_uuid AS uuid LIMIT 12
  }
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-()
  WHERE e.group_id = $space AND coalesce(e.valid_from, -$open) <= $until AND coalesce(e.valid_until, $open) > $since
    AND ($relation = '' OR toLower(e.name) = $relation)
  WITH e, count(DISTINCT n) AS ends ORDER BY ends DESC, e.valid_from DESC, e.uuid LIMIT $limit
  RETURN 'entity' AS leg, e AS e, null AS s, toFloat(ends) AS score
UNION ALL
  WITH only WHERE $sentence_lucene <> '' AND ($relation = '' OR $relation = 'co_occurs') AND ($entity_key = '' OR size(only) > 0)
  CALL db.index.fulltext.queryNodes('braid_sentence_text', $sentence_lucene, {limit: $sentence_fetch}) YIELD node AS s, score
  WHERE s.group_id = $space AND ($entity_key = '' OR s.subject_uuid IN only OR any(uuid IN s.target_uuids WHERE uuid IN only))
  WITH s, score LIMIT $limit
  RETURN 'sentence' AS leg, null AS e, s AS s, score AS score
}
CALL (e) {
  WITH e WHERE e IS NOT NULL
  UNWIND e.episodes[..$citations] AS uuid
  MATCH (p:Episodic {uuid: uuid, group_id: $space})
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
CALL (s) {
  WITH s WHERE s IS NOT NULL
  MATCH (d:Document)-[:HAS_EPISODE]->(p:Episodic {uuid: s.episode_uuid})
  RETURN collect([p.uuid, d.document_id, d.title, d.source]) AS place
}
CALL (s) {
  WITH s WHERE s IS NOT NULL
  UNWIND [s.subject_uuid] + s.target_uuids[..12] AS uuid
  MATCH (n:Entity {uuid: uuid})
  RETURN collect([n.uuid, n.name, labels(n)]) AS named
}
RETURN leg, score, revision, vectors, model, only,
  CASE WHEN e IS NULL THEN null ELSE
    [e.uuid, e.fact, e.name, startNode(e).uuid, startNode(e).name, labels(startNode(e)), endNode(e).uuid, endNode(e).name,
     labels(endNode(e)), e.valid_at, e.invalid_at, e.created_at, coalesce(e.origin, 'extracted')] END AS fact,
  CASE WHEN s IS NULL THEN null ELSE [s.uuid, s.text] END AS sentence, cited, place, named
