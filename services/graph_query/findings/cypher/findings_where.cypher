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
