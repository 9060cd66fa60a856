// The space as of the search; facts by their words as they were known at an instant, those that were removed since included,
// and those of the entities that are named.
CYPHER 25
CALL () {
  OPTIONAL MATCH (s:BraidSpace {group_id: $p.space})
  RETURN coalesce(s.revision, 0) AS revision, coalesce(s.vectors, 0) AS vectors, coalesce(s.embedding_model, '') AS model
}
CALL () {
  CALL () {
    UNWIND CASE $p.lucene WHEN '' THEN [] ELSE [$p.lucene] END AS lucene
    CALL db.index.fulltext.queryRelationships('braid_fact_text', lucene, {limit: $p.fetch}) YIELD relationship AS e, score
    WHERE e.group_id = $p.space
    RETURN e.uuid AS uuid, score
    UNION ALL
    UNWIND CASE $p.lucene_past WHEN '' THEN [] ELSE [$p.lucene_past] END AS lucene
    CALL db.index.fulltext.queryNodes('braid_past_fact_text', lucene, {limit: $p.fetch}) YIELD node AS v, score
    WHERE v.group_id = $p.space
    RETURN v.fact_uuid AS uuid, score
  }
  WITH uuid, max(score) AS score
  MATCH (v:FactVersion {fact_uuid: uuid})
  WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known AND v.valid_from <= $p.until AND v.valid_until > $p.since
    AND ($p.relation = '' OR toLower(v.name) = $p.relation) AND ($p.entity_key = '' OR v.source_uuid IN $p.only OR v.target_uuid IN $p.only)
  WITH uuid, score ORDER BY score DESC, uuid LIMIT $p.limit
  RETURN collect([uuid, score]) AS text
}
CALL () {
  CALL () {
    UNWIND $p.link_keys AS key
    MATCH (k:EntityName {group_id: $p.space, link_key: key})
    RETURN DISTINCT k.entity_uuid AS uuid LIMIT 12
  }
  CALL (uuid) {
    MATCH (v:FactVersion {source_uuid: uuid}) WHERE v.target_uuid >= ''
    RETURN v
    UNION
    MATCH (v:FactVersion {target_uuid: uuid})
    RETURN v
  }
  WITH uuid, v
  WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known AND v.valid_from <= $p.until AND v.valid_until > $p.since
    AND ($p.relation = '' OR toLower(v.name) = $p.relation) AND ($p.entity_key = '' OR v.source_uuid IN $p.only OR v.target_uuid IN $p.only)
  WITH v, toFloat(count(DISTINCT uuid)) AS ends ORDER BY ends DESC, v.valid_from DESC, v.fact_uuid LIMIT $p.limit
  RETURN collect([v.fact_uuid, ends]) AS entity
}
RETURN revision, vectors, model, text, entity
