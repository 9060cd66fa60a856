// The space's state; facts by their words as they were known at an instant, including those deleted since, and facts of
// the named entities.
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
  CALL () {
    UNWIND CASE $p.lucene WHEN '' THEN [] ELSE [$p.lucene] END AS lucene
    CALL db.index.fulltext.queryRelationships('braid_fact_terms', lucene, {limit: $p.fetch}) YIELD relationship AS e, score
    WHERE e.group_id = $p.space
    RETURN e.uuid AS uuid, score
    UNION ALL
    UNWIND CASE $p.lucene_past WHEN '' THEN [] ELSE [$p.lucene_past] END AS lucene
    CALL db.index.fulltext.queryNodes('braid_past_fact_terms', lucene, {limit: $p.fetch}) YIELD node AS v, score
    WHERE v.group_id = $p.space
    RETURN v.fact_uuid AS uuid, score
  }
  WITH uuid, max(score) AS score
  CALL (uuid, events) {
    MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
    WHERE e.group_id = $p.space AND e.braid_known_from <= $p.known AND e.valid_from <= $p.until AND (e.valid_until > $p.since
      OR $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
          AND e.relation_key IN events)
      AND ($p.relation = '' OR e.relation_key = $p.relation) AND ($p.entity_key = '' OR e.source_node_uuid IN $p.only OR e.target_node_uuid IN $p.only)
    RETURN true AS known
    UNION ALL
    MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid)
    WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known AND v.valid_from <= $p.until AND (v.valid_until > $p.since
      OR $p.since = $p.until AND v.valid_until <= (floor(v.valid_from / 86400) + 1) * 86400 AND coalesce(v.stated_until, v.valid_until) <= v.valid_until
          AND coalesce(v.relation_key, toLower(v.name)) IN events)
      AND ($p.relation = '' OR coalesce(v.relation_key, toLower(v.name)) = $p.relation) AND ($p.entity_key = '' OR v.source_uuid IN $p.only OR v.target_uuid IN $p.only)
    RETURN true AS known
  }
  WITH uuid, score ORDER BY score DESC, uuid LIMIT $p.limit
  OPTIONAL MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
  WITH uuid, score, e ORDER BY score DESC, uuid
  RETURN collect([uuid, score, '', '', e.fact_embedding IS NOT NULL]) AS text
}
CALL (events) {
  CALL () {
    UNWIND $p.link_keys AS key
    MATCH (k:EntityName {group_id: $p.space, link_key: key}) USING INDEX SEEK k:EntityName(group_id, link_key)
    RETURN DISTINCT k.entity_uuid AS uuid LIMIT 12
  }
  CALL (uuid) {
    MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
    WHERE e.group_id = $p.space AND e.braid_known_from <= $p.known
    RETURN e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, e.relation_key AS key, e.valid_from AS since, e.valid_until AS until,
      e.expired_at IS NULL AS as_stated
    UNION
    MATCH (v:FactVersion {source_uuid: uuid}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
    WHERE v.target_uuid >= '' AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    RETURN v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, coalesce(v.relation_key, toLower(v.name)) AS key, v.valid_from AS since, v.valid_until AS until,
      coalesce(v.stated_until, v.valid_until) <= v.valid_until AS as_stated
    UNION
    MATCH (v:FactVersion {target_uuid: uuid}) USING INDEX SEEK v:FactVersion(target_uuid)
    WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    RETURN v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, coalesce(v.relation_key, toLower(v.name)) AS key, v.valid_from AS since, v.valid_until AS until,
      coalesce(v.stated_until, v.valid_until) <= v.valid_until AS as_stated
  }
  WITH uuid, fact, source, target, key, since, until, as_stated, events
  WHERE since <= $p.until AND (until > $p.since OR $p.since = $p.until AND until <= (floor(since / 86400) + 1) * 86400 AND as_stated AND key IN events) AND ($p.relation = '' OR key = $p.relation)
    AND ($p.entity_key = '' OR source IN $p.only OR target IN $p.only)
  WITH fact, since, toFloat(count(DISTINCT uuid)) AS ends ORDER BY ends DESC, since DESC, fact LIMIT $p.limit
  OPTIONAL MATCH ()-[e:RELATES_TO {uuid: fact}]->() USING INDEX SEEK e:RELATES_TO(uuid)
  WITH fact, since, ends, e ORDER BY ends DESC, since DESC, fact
  RETURN collect([fact, ends, '', '', e.fact_embedding IS NOT NULL]) AS entity
}
RETURN revision, vectors, model, dimension, text, entity
