// An entity's neighbours at a time: how many there are, and the first by stated facts, number of facts, name.
MATCH (c:Entity {uuid: $p.uuid})-[r:RELATES_TO|CO_OCCURS]-(n:Entity)
WHERE c.group_id = $p.space AND n <> c AND (type(r) = 'CO_OCCURS' OR r.group_id = $p.space AND
  coalesce(r.valid_from, -$p.open) <= $p.until AND coalesce(r.valid_until, $p.open) > $p.since)
WITH c, n, count(r) AS facts, max(CASE type(r) WHEN 'RELATES_TO' THEN 1 ELSE 0 END) AS stated
ORDER BY stated DESC, facts DESC, n.name, n.uuid
WITH c, collect(n) AS found
WITH c, size(found) AS total, found[..$p.limit] AS shown
UNWIND range(0, size(shown) - 1) AS place
WITH c, total, place, shown[place] AS n
CALL (c, n) {
  MATCH (c)-[r:RELATES_TO|CO_OCCURS]-(n)
  WHERE type(r) = 'CO_OCCURS' OR (r.group_id = $p.space AND
    coalesce(r.valid_from, -$p.open) <= $p.until AND coalesce(r.valid_until, $p.open) > $p.since)
  WITH r ORDER BY type(r) DESC, r.valid_from DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 3
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
    endNode(r).uuid, endNode(r).name, labels(endNode(r)), r.valid_at, r.invalid_at, r.created_at,
    CASE WHEN type(r) = 'CO_OCCURS' THEN 'local' ELSE coalesce(r.origin, 'extracted') END, r.sentence_uuid,
    CASE WHEN type(r) = 'CO_OCCURS' THEN place ELSE cited END]) AS edges
}
RETURN total, place, n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, edges
ORDER BY place
