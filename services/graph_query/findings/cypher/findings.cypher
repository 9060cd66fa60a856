// name: change_finding_vectors
// Updates the number of the space's findings with vectors, and sets the vectors' model and length if unset.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.finding_vectors = coalesce(s.finding_vectors, 0) + $p.change, s.embedding_model = coalesce(s.embedding_model, $p.model),
    s.embedding_dimension = coalesce(s.embedding_dimension, $p.dimension)

// name: delete_extracted_findings
// Unlinks extracted findings from the given episodes and deletes those without any episode left; returns how many of
// these had vectors.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {origin: 'extracted'})-[r:FROM]->(s:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:BraidSource(group_id, uuid)
WITH f, collect(r) AS links
FOREACH (r IN links | DELETE r)
WITH f WHERE NOT EXISTS { (f)-[:FROM]->() }
WITH collect(f) AS gone
WITH gone, size([f IN gone WHERE f.embedding IS NOT NULL]) AS embedded
FOREACH (f IN gone | DETACH DELETE f)
RETURN embedded

// name: delete_finding_links
// Deletes findings' links to subjects, other findings and episodes.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid})-[r:ABOUT|FROM]->() USING INDEX SEEK f:BraidFinding(uuid)
DELETE r

// name: delete_findings
// Deletes findings that come from the given episodes alone; returns how many, and how many of them had vectors.
UNWIND $p.uuids AS uuid
MATCH (s:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:BraidSource(group_id, uuid)
WITH collect(s) AS sources, COLLECT { UNWIND $p.uuids AS u MATCH (f)-[:FROM]->(s1:BraidSource {group_id: $p.space, uuid: u}) USING INDEX SEEK s1:BraidSource(group_id, uuid) RETURN DISTINCT f } AS found
FOREACH (s IN sources | DETACH DELETE s)
WITH [f IN found WHERE NOT EXISTS { (f)-[:FROM]->() }] AS gone
WITH gone, size(gone) AS deleted, size([f IN gone WHERE f.embedding IS NOT NULL]) AS embedded
FOREACH (f IN gone | DETACH DELETE f)
RETURN deleted, embedded

// name: delete_unused_subjects
// Deletes the given names and episodes that no finding is linked to any more.
CALL () {
  UNWIND $p.subjects AS subject
  MATCH (s:BraidSubject {group_id: $p.space, name_key: subject[0], type: subject[1]}) USING INDEX SEEK s:BraidSubject(group_id, name_key, type)
  RETURN s
  UNION
  UNWIND $p.episodes AS uuid
  MATCH (s:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:BraidSource(group_id, uuid)
  RETURN s
}
WITH s WHERE NOT EXISTS { (s)<--() }
DELETE s

// name: finding_state
// The space's state for a search of findings.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN coalesce(s.revision, 0) AS revision, coalesce(s.finding_vectors, 0) AS vectors, coalesce(s.embedding_model, '') AS model,
       coalesce(s.embedding_dimension, 0) AS dimension

// name: finding_subject_types
// The types of the entities with a name, in order.
MATCH (k:EntityName {group_id: $p.space, name_key: $p.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
RETURN k.type AS type ORDER BY type

// name: findings_in_full
// Findings with their subjects, as entities where these exist, and the chunks that they come from.
CYPHER 25
UNWIND $p.uuids AS wanted
MATCH (f:BraidFinding {uuid: wanted, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
CALL (f) {
  MATCH (f)-[:ABOUT]->(s:BraidSubject)
  CALL (s) {
    MATCH (k:EntityName {group_id: $p.space, name_key: s.name_key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
    MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
    WITH n, k.type AS type ORDER BY CASE type WHEN s.type THEN 0 ELSE 1 END, type LIMIT 1
    RETURN collect([n.uuid, n.name, type]) AS named
  }
  WITH s, named ORDER BY s.name_key, s.type
  RETURN collect(CASE WHEN size(named) > 0 THEN named[0] ELSE ['', s.name, s.type] END) AS subjects
}
CALL (f) {
  MATCH (f)-[:ABOUT]->(g:BraidFinding)
  WITH g.uuid AS uuid ORDER BY uuid
  RETURN collect(uuid) AS about
}
CALL (f) {
  MATCH (f)-[:FROM]->(s:BraidSource)
  WITH s.uuid AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  WITH p, d ORDER BY p.uuid LIMIT $p.citations
  RETURN collect([p.uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([f {.uuid, .id, .kind, .statement, .type, .confidence, .methodology, .status, .priority, .owner, .metric_names, .metric_values,
  .metric_units, .blockers, .origin, .created, .updated}, subjects, about, cited]) AS findings

// name: findings_linked
// Returns the names and episodes that the given findings, and the findings from the given episodes, are linked to.
CALL () {
  UNWIND $p.uuids AS uuid
  MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
  RETURN f
  UNION
  UNWIND $p.episodes AS uuid
  MATCH (f:BraidFinding)-[:FROM]->(s1:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s1:BraidSource(group_id, uuid)
  RETURN f
}
RETURN COLLECT { WITH f MATCH (f)-[:ABOUT]->(s:BraidSubject) RETURN [s.name_key, s.type] } AS subjects,
       COLLECT { WITH f MATCH (f)-[:FROM]->(s:BraidSource) RETURN s.uuid } AS episodes

// name: findings_nearest
// Findings nearest to a vector, by the approximate index; its filter covers the space and the single-valued fields.
CYPHER 25
MATCH (f:BraidFinding)
SEARCH f IN (VECTOR INDEX braid_finding_meaning FOR $p.vector
  WHERE f.group_id = $p.space AND f.kind IN $p.kinds AND f.type_key >= $p.type_from AND f.type_key <= $p.type_until
    AND f.status_key >= $p.status_from AND f.status_key <= $p.status_until AND f.owner_key >= $p.owner_from AND f.owner_key <= $p.owner_until
    AND f.confidence_key >= $p.confidence_from AND f.confidence_key <= $p.confidence_until AND f.priority IN $p.priorities
    AND f.origin IN $p.origins AND f.created >= $p.created_from AND f.created < $p.created_until
  LIMIT $p.fetch) SCORE AS score
WITH f, score ORDER BY score DESC, f.uuid LIMIT $p.limit
RETURN collect([f.uuid, score * 2 - 1]) AS hits

// name: findings_where
// Findings that pass a filter, from one source: their words, an entity's name, an episode, their uuids, or the whole
// space. They are scored by words or by exact similarity, or listed without a score, newest first, after a position.
CYPHER 25
CALL () {
  UNWIND CASE $p.source WHEN 'words' THEN [$p.lucene] ELSE [] END AS lucene
  CALL db.index.fulltext.queryNodes('braid_finding_terms', lucene, {limit: $p.fetch}) YIELD node AS f, score
  RETURN f, score
  UNION ALL
  UNWIND CASE $p.source WHEN 'about' THEN [$p.about_key] ELSE [] END AS key
  MATCH (s:BraidSubject {group_id: $p.space, name_key: key})<-[:ABOUT]-(f:BraidFinding) USING INDEX SEEK s:BraidSubject(group_id, name_key, type)
  WHERE s.type >= ''
  RETURN DISTINCT f, 0.0 AS score
  UNION ALL
  UNWIND CASE $p.source WHEN 'episode' THEN [$p.episode] ELSE [] END AS uuid
  MATCH (s1:BraidSource {group_id: $p.space, uuid: uuid})<-[:FROM]-(f:BraidFinding) USING INDEX SEEK s1:BraidSource(group_id, uuid)
  RETURN f, 0.0 AS score
  UNION ALL
  UNWIND CASE $p.source WHEN 'uuids' THEN $p.uuids ELSE [] END AS uuid
  MATCH (f:BraidFinding {uuid: uuid}) USING INDEX SEEK f:BraidFinding(uuid)
  RETURN DISTINCT f, 0.0 AS score
  UNION ALL
  UNWIND CASE $p.source WHEN 'space' THEN [$p.space] ELSE [] END AS space
  MATCH (f:BraidFinding) USING INDEX SEEK f:BraidFinding(group_id, created, uuid) WHERE f.group_id = space AND f.created <= $p.after_created AND f.uuid >= ''
  RETURN f, 0.0 AS score
}
WITH f, score WHERE f.group_id = $p.space AND f.kind IN $p.kinds AND f.type_key >= $p.type_from AND f.type_key <= $p.type_until
  AND f.status_key >= $p.status_from AND f.status_key <= $p.status_until AND f.owner_key >= $p.owner_from AND f.owner_key <= $p.owner_until
  AND f.confidence_key >= $p.confidence_from AND f.confidence_key <= $p.confidence_until AND f.priority IN $p.priorities
  AND f.origin IN $p.origins AND f.created >= $p.created_from AND f.created < $p.created_until
  AND ($p.methodology = '' OR f.methodology_key = $p.methodology)
  AND ($p.blocker = '' OR $p.blocker IN f.blocker_keys) AND ($p.has_blockers IS NULL OR (size(f.blocker_keys) > 0) = $p.has_blockers)
  AND ($p.metric = '' OR any(i IN range(0, size(f.metric_keys) - 1) WHERE
    f.metric_keys[i] = $p.metric AND f.metric_values[i] >= $p.metric_from AND f.metric_values[i] <= $p.metric_until))
  AND ($p.uuids IS NULL OR f.uuid IN $p.uuids)
  AND ($p.episode = '' OR EXISTS { MATCH (f)-[:FROM]->(source:BraidSource {group_id: $p.space, uuid: $p.episode}) USING INDEX SEEK source:BraidSource(group_id, uuid) })
  AND (size($p.about_findings) = 0 OR EXISTS { MATCH (f)-[:ABOUT]->(g:BraidFinding) USING INDEX SEEK g:BraidFinding(uuid) WHERE g.uuid IN $p.about_findings })
  AND ($p.about_key = '' OR EXISTS { (f)-[:ABOUT]->(s:BraidSubject) WHERE s.name_key = $p.about_key AND 
    ($p.about_type = '' OR s.type = $p.about_type OR head($p.about_known) = $p.about_type AND NOT s.type IN $p.about_known) })
  AND (f.created < $p.after_created OR f.created = $p.after_created AND f.uuid > $p.after_uuid)
  AND ($p.vector IS NULL OR size(f.embedding) = size($p.vector))
WITH f, CASE WHEN $p.vector IS NULL THEN score ELSE vector.similarity.cosine(f.embedding, $p.vector) * 2 - 1 END AS score
ORDER BY score DESC, f.created DESC, f.uuid LIMIT $p.limit
RETURN collect([f.uuid, score, f.created]) AS hits

// name: link_findings
// Links findings to the names and findings that they are about, and to the episodes that they come from.
UNWIND $p.rows AS row
MATCH (f:BraidFinding {uuid: row.uuid}) USING INDEX SEEK f:BraidFinding(uuid)
CALL (f, row) {
  UNWIND row.subjects AS subject
  MERGE (s:BraidSubject {group_id: $p.space, name_key: subject[0], type: subject[1]})
  ON CREATE SET s.name = subject[2]
  MERGE (f)-[:ABOUT]->(s)
}
CALL (f, row) {
  UNWIND row.findings AS uuid
  MATCH (g:BraidFinding {uuid: uuid}) USING INDEX SEEK g:BraidFinding(uuid)
  MERGE (f)-[:ABOUT]->(g)
}
CALL (f, row) {
  UNWIND row.episodes AS uuid
  MERGE (s:BraidSource {group_id: $p.space, uuid: uuid})
  MERGE (f)-[:FROM]->(s)
}

// name: put_findings
// Writes findings' fields, in the order of their uuids.
UNWIND $p.rows AS row
MERGE (f:BraidFinding {uuid: row.uuid})
ON CREATE SET f.group_id = $p.space, f.created = $p.now, f.origin = row.origin
SET f += row.fields, f.updated = $p.now

// name: set_finding_vectors
// Sets findings' vectors; an empty vector removes the stored one.
UNWIND $p.rows AS row
MATCH (f:BraidFinding {uuid: row.uuid}) USING INDEX SEEK f:BraidFinding(uuid)
FOREACH (_ IN CASE WHEN size(row.vector) = 0 THEN [1] ELSE [] END | REMOVE f.embedding)
WITH f, row WHERE size(row.vector) > 0
CALL db.create.setNodeVectorProperty(f, 'embedding', row.vector)

// name: stored_findings
// Returns the given findings that exist, with what a write is compared to.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
RETURN uuid, f.digest AS digest, f.statement AS statement, f.embedding IS NOT NULL AS embedded,
       COLLECT { MATCH (f)-[:FROM]->(s:BraidSource) RETURN s.uuid } AS episodes
