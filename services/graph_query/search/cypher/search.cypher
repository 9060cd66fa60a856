// name: entity_distances
// Returns how many facts valid at the time lie between entities and the nearest of others; no row for more than four.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
UNWIND $p.centers AS center
MATCH (c:Entity {uuid: center}) USING INDEX SEEK c:Entity(uuid) WHERE c.group_id = $p.space AND c <> n
MATCH path = shortestPath((c)-[:RELATES_TO|CO_OCCURS*..4]-(n))
WHERE all(r IN relationships(path) WHERE CASE type(r)
  WHEN 'CO_OCCURS' THEN r.valid_until IS NULL OR r.valid_until > $p.since AND r.valid_from <= $p.until
    AND (r.gaps IS NULL OR none(i IN range(0, size(r.gaps) - 1, 2) WHERE r.gaps[i] <= $p.since AND r.gaps[i + 1] > $p.until))
  ELSE coalesce(r.valid_from, -$p.open) <= $p.until AND coalesce(r.valid_until, $p.open) > $p.since END)
RETURN uuid, min(length(path)) AS distance

// name: fact_vectors
// Vectors of facts.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.fact_embedding IS NOT NULL
RETURN uuid, e.fact_embedding AS vector

// name: facts_in_full
// Facts with their ends and citations.
CYPHER 25
UNWIND $p.uuids AS wanted
MATCH (a)-[e:RELATES_TO {uuid: wanted}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
{{facts_with_citations}}

// name: search_facts
// The space's state, and how many facts all spaces have; the space's stated facts by their words and by named entities,
// as uuids with scores, statements and relations.
CYPHER 25
CALL () {
  {{space_state s}}
}
{{event_relations}}
CALL (events) {
  UNWIND CASE $p.lucene WHEN '' THEN [] ELSE [$p.lucene] END AS lucene
  CALL db.index.fulltext.queryRelationships('braid_fact_terms', lucene, {limit: $p.fetch}) YIELD relationship AS e, score
  WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND {{has_not_ended e}}
    AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH e, score LIMIT $p.limit
  RETURN collect([e.uuid, score, e.fact, e.name, e.fact_embedding IS NOT NULL]) AS text
}
CALL (events) {
  UNWIND $p.link_keys AS key
  MATCH (k:EntityName {group_id: $p.space, link_key: key}) USING INDEX SEEK k:EntityName(group_id, link_key)
  WITH DISTINCT k.entity_uuid AS uuid LIMIT 12
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
  WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND {{has_not_ended e}}
    AND ($p.relation = '' OR e.relation_key = $p.relation) AND ($p.entity_key = '' OR uuid IN $p.only)
  WITH e, toFloat(count(DISTINCT n)) AS ends, any(beginning IN $p.beginnings WHERE e.relation_key CONTAINS beginning) AS asked
  ORDER BY ends DESC, asked DESC, e.valid_from DESC, e.uuid LIMIT $p.limit
  RETURN collect([e.uuid, ends, e.fact, e.name, e.fact_embedding IS NOT NULL]) AS entity
}
CALL () {
  MATCH ()-[e:RELATES_TO]->()
  RETURN count(e) AS stored
}
RETURN revision, vectors, model, dimension, text, entity, stored

// name: search_facts_as_known
// The space's state; facts by their words as they were known at an instant, including those deleted since, and facts of
// the named entities.
CYPHER 25
CALL () {
  {{space_state s}}
}
{{event_relations}}
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
      OR $p.since = $p.until AND {{lasts_one_day e}}
          AND e.relation_key IN events)
      AND ($p.relation = '' OR e.relation_key = $p.relation) AND ($p.entity_key = '' OR e.source_node_uuid IN $p.only OR e.target_node_uuid IN $p.only)
    RETURN true AS known
    UNION ALL
    MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid)
    WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known AND v.valid_from <= $p.until AND (v.valid_until > $p.since
      OR $p.since = $p.until AND {{version_lasts_one_day v}}
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

// name: search_facts_more
// Stated facts by their words beyond the first ones, for filters that few of the facts with these words pass.
CYPHER 25
CALL db.index.fulltext.queryRelationships('braid_fact_terms', $p.lucene, {skip: $p.skip, limit: $p.fetch}) YIELD relationship AS e, score
WHERE e.group_id = $p.space AND coalesce(e.valid_from, -$p.open) <= $p.until AND (coalesce(e.valid_until, $p.open) > $p.since
      OR {{holds_as_event e}})
  AND ($p.relation = '' OR e.relation_key = $p.relation)
WITH e, score LIMIT $p.limit
RETURN collect([e.uuid, score, e.fact, e.name, e.fact_embedding IS NOT NULL]) AS text

// name: search_sentences
// Sentences of the local graph by their words, with the entities of each, its subject first. A sentence is excluded if a
// stated fact of more than a day between two of its first 17 entities is not valid at the time; a few more sentences than
// requested are checked, to replace excluded ones.
CYPHER 25
CALL db.index.fulltext.queryNodes('braid_sentence_terms', $p.lucene, {limit: $p.fetch}) YIELD node AS s, score
WHERE s.group_id = $p.space AND coalesce(s.valid_until, $p.open) > $p.since AND coalesce(s.valid_from, -$p.open) <= $p.until
  AND (s.gaps IS NULL OR none(i IN range(0, size(s.gaps) - 1, 2) WHERE s.gaps[i] <= $p.since AND s.gaps[i + 1] > $p.until))
  AND ($p.entity_key = '' OR s.subject_uuid IN $p.only OR any(uuid IN s.target_uuids WHERE uuid IN $p.only))
WITH s, score LIMIT $p.checked
WHERE NOT EXISTS {
  {{names_whose_fact_does_not_hold}}
}
WITH s, score ORDER BY score DESC LIMIT $p.limit
MATCH (d:Document)-[:HAS_EPISODE]->(p:Episodic {group_id: $p.space, uuid: s.episode_uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
CALL (s) {
  UNWIND [s.subject_uuid] + s.target_uuids[..16] AS uuid
  MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
  RETURN collect([n.uuid, n.name, labels(n)]) AS named
}
WITH score, s, [[p.uuid, d.document_id, d.title, d.source]] AS place, named ORDER BY score DESC, s.uuid
RETURN collect([score, s.uuid, s.text, place, named, s.valid_from, s.valid_until]) AS sentences

// name: search_state
// The space's state for a search, and the entities that its filter names.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
OPTIONAL MATCH (k:EntityName {group_id: $p.space, name_key: $p.entity_key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
RETURN coalesce(s.revision, 0) AS revision, coalesce(s.vectors, 0) AS vectors, coalesce(s.embedding_model, '') AS model,
       coalesce(s.embedding_dimension, 0) AS dimension, collect(k.entity_uuid) AS only

// name: search_vector_entity
// Stated facts of an entity nearest to a vector, as uuids with scores, statements and relations; every fact that passes
// the filter is compared.
CYPHER 25
MATCH (k:EntityName {group_id: $p.space, name_key: $p.entity_key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
MATCH (n:Entity {uuid: k.entity_uuid})-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
WHERE e.group_id = $p.space AND size(e.fact_embedding) = size($p.vector) AND {{holds e}}
  AND ($p.relation = '' OR e.relation_key = $p.relation)
WITH DISTINCT e
WITH e, vector.similarity.cosine(e.fact_embedding, $p.vector) AS score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1, e.fact, e.name]) AS hits

// name: search_vector_exact
// Stated facts nearest to a vector, with scores; every fact of the space that passes the filter is compared.
CYPHER 25
{{event_relations}}
MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.uuid >= '' AND size(e.fact_embedding) = size($p.vector) AND e.valid_from <= $p.until AND {{has_not_ended e}}
  AND ($p.relation = '' OR e.relation_key = $p.relation)
WITH e, vector.similarity.cosine(e.fact_embedding, $p.vector) AS score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1, e.fact, e.name]) AS hits

// name: search_vector_index
// Stated facts nearest to a vector, with scores, by the approximate index, whose filter covers space and time; in
// addition, the nearest past events of each relation that is an event.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO]->()
  SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector
    WHERE e.group_id = $p.space AND e.valid_from <= $p.until AND e.valid_until > $p.since LIMIT $p.fetch) SCORE AS score
  RETURN e, score
  UNION ALL
  MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE $p.since = $p.until
  UNWIND o.events[..$p.events] AS key
  CALL (key) {
    MATCH ()-[e:RELATES_TO]->()
    SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector
      WHERE e.group_id = $p.space AND e.relation_key = key AND e.valid_until <= $p.since LIMIT $p.fetch) SCORE AS score
    RETURN e, score
  }
  WITH e, score WHERE {{lasts_one_day e}}
  RETURN e, score
}
WITH e, score ORDER BY score DESC, e.uuid LIMIT $p.fetch
RETURN collect([e.uuid, score * 2 - 1, e.fact, e.name]) AS hits

// name: search_vector_relation
// Stated facts of a relation nearest to a vector, as uuids with scores, statements and relations, by the approximate
// index, whose filter covers space, relation and time; past events too, if the relation is an event.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO]->()
  SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector
    WHERE e.group_id = $p.space AND e.relation_key = $p.relation AND e.valid_from <= $p.until AND e.valid_until > $p.since LIMIT $p.fetch) SCORE AS score
  RETURN e, score
  UNION ALL
  MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE $p.since = $p.until
  UNWIND [key IN o.events WHERE key = $p.relation] AS key
  CALL (key) {
    MATCH ()-[e:RELATES_TO]->()
    SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector
      WHERE e.group_id = $p.space AND e.relation_key = key AND e.valid_until <= $p.since LIMIT $p.fetch) SCORE AS score
    RETURN e, score
  }
  WITH e, score WHERE {{lasts_one_day e}}
  RETURN e, score
}
WITH e, score ORDER BY score DESC, e.uuid LIMIT $p.fetch
RETURN collect([e.uuid, score * 2 - 1, e.fact, e.name]) AS hits

// name: search_vectors_as_known
// Facts nearest to a vector by the approximate index, restricted to those known at an instant.
CYPHER 25
MATCH ()-[e:RELATES_TO]->()
SEARCH e IN (VECTOR INDEX braid_fact_meaning FOR $p.vector WHERE e.group_id = $p.space LIMIT $p.fetch) SCORE AS score
WITH e, score
WHERE e.braid_known_from <= $p.known AND {{holds e}}
  OR EXISTS {
    MATCH (v:FactVersion {fact_uuid: e.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid)
    WHERE v.known_from <= $p.known AND v.known_until > $p.known AND {{version_holds v}}
  }
WITH e, score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1]) AS hits

// name: search_vectors_as_known_exact
// Facts nearest to a vector; every existing fact that was known at an instant is compared.
CYPHER 25
MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from >= -$p.open AND e.uuid >= '' AND size(e.fact_embedding) = size($p.vector) AND ($p.relation = '' OR e.relation_key = $p.relation)
  AND ($p.entity_key = '' OR e.source_node_uuid IN $p.only OR e.target_node_uuid IN $p.only)
WITH e
WHERE e.braid_known_from <= $p.known AND {{holds e}}
  OR EXISTS {
    MATCH (v:FactVersion {fact_uuid: e.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid)
    WHERE v.known_from <= $p.known AND v.known_until > $p.known AND {{version_holds v}}
  }
WITH e, vector.similarity.cosine(e.fact_embedding, $p.vector) AS score ORDER BY score DESC, e.uuid LIMIT $p.limit
RETURN collect([e.uuid, score * 2 - 1]) AS hits
