// An entity's neighbours at a time: how many there are, and the first by stated facts, number of facts, name. A
// co-occurrence of no version holds at any time; facts of a space join entities of that space alone. Properties are read at once
// and names of those alone that may be shown: thousands of neighbours have to be ranked. Gaps of a fact are an attribute.
MATCH (c:Entity {uuid: $p.uuid}) WHERE c.group_id = $p.space
MATCH (c)-[r:RELATES_TO|CO_OCCURS]-(n)
WITH c, n, type(r) = 'RELATES_TO' AS stated, r {.valid_until, .valid_from, gaps: CASE type(r) WHEN 'CO_OCCURS' THEN r.gaps END} AS held
WHERE (held.valid_until IS NULL OR held.valid_until > $p.since AND held.valid_from <= $p.until)
  AND (held.gaps IS NULL OR none(i IN range(0, size(held.gaps) - 1, 2) WHERE held.gaps[i] <= $p.since AND held.gaps[i + 1] > $p.until))
WITH c, n, max(CASE WHEN stated THEN 1000000000 ELSE 0 END) + count(*) AS weight WHERE n <> c
WITH c, collect([n, weight]) AS found
CALL (found) {
  UNWIND found AS one
  WITH one[1] AS weight ORDER BY weight DESC LIMIT $p.limit
  RETURN min(weight) AS least
}
WITH c, size(found) AS total, [one IN found WHERE one[1] >= least] AS found
CALL (found) {
  UNWIND found AS one
  WITH one[0] AS n, one[1] AS weight ORDER BY weight DESC, n.name, n.uuid LIMIT $p.limit
  RETURN collect(n) AS shown
}
UNWIND range(0, size(shown) - 1) AS place
WITH c, total, place, shown[place] AS n
CALL (c, n) {
  MATCH (c)-[r:RELATES_TO|CO_OCCURS]-(n)
  WHERE (r.valid_until IS NULL OR r.valid_until > $p.since AND r.valid_from <= $p.until)
    AND (type(r) = 'CO_OCCURS' OR r.group_id = $p.space)
  WITH r, CASE type(r) WHEN 'CO_OCCURS' THEN r.gaps END AS gaps
  WHERE gaps IS NULL OR none(i IN range(0, size(gaps) - 1, 2) WHERE gaps[i] <= $p.since AND gaps[i + 1] > $p.until)
  WITH r ORDER BY type(r) DESC, coalesce(r.valid_from, -$p.open) DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 3
  CALL (r) {
    WITH r WHERE type(r) = 'RELATES_TO'
    UNWIND r.episodes[..$p.citations] AS uuid
    MATCH (p:Episodic {uuid: uuid, group_id: $p.space})
    OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
    RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
  }
  CALL (r) {
    WITH r WHERE type(r) = 'CO_OCCURS'
    MATCH (s:BraidSentence {uuid: r.sentence_uuid})
    OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p:Episodic {uuid: s.episode_uuid})
    RETURN head(collect(s)) AS s, collect([s.episode_uuid, d.document_id, d.title, d.source]) AS place
  }
  RETURN collect([r.uuid, coalesce(r.fact, s.text), r.name, startNode(r).uuid, startNode(r).name, labels(startNode(r)),
    endNode(r).uuid, endNode(r).name, labels(endNode(r)), coalesce(r.valid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_from END),
    coalesce(r.invalid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_until END), r.created_at,
    CASE WHEN type(r) = 'CO_OCCURS' THEN 'local' ELSE coalesce(r.origin, 'extracted') END, r.sentence_uuid,
    CASE WHEN type(r) = 'CO_OCCURS' THEN place ELSE cited END]) AS edges
}
RETURN total, place, n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, edges
ORDER BY place
