// The best fact between the entities of each pair at a time: stated before local, then the latest start. Sentences are
// excluded as in the query `neighbors`.
CYPHER 25
UNWIND $p.pairs AS pair
MATCH (c:Entity {uuid: pair[0]}) USING INDEX SEEK c:Entity(uuid) WHERE c.group_id = $p.space
MATCH (n:Entity {uuid: pair[1]}) USING INDEX SEEK n:Entity(uuid)
CALL (c, n) {
  MATCH (c)-[r:RELATES_TO|CO_OCCURS]-(n)
  WHERE CASE type(r)
    WHEN 'CO_OCCURS' THEN $p.local AND (r.valid_until IS NULL OR r.valid_until > $p.since AND r.valid_from <= $p.until
      AND (r.gaps IS NULL OR none(i IN range(0, size(r.gaps) - 1, 2) WHERE r.gaps[i] <= $p.since AND r.gaps[i + 1] > $p.until)))
    ELSE r.group_id = $p.space AND r.valid_from <= $p.until AND (r.valid_until > $p.since
    OR $p.since = $p.until AND r.valid_until <= (floor(r.valid_from / 86400) + 1) * 86400 AND r.expired_at IS NULL
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE r.relation_key IN o.events }) END
  WITH r ORDER BY type(r) DESC, coalesce(r.valid_from, -$p.open) DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 20
  OPTIONAL MATCH (s:BraidSentence {uuid: r.sentence_uuid}) USING INDEX SEEK s:BraidSentence(uuid)
  WITH r, s WHERE type(r) = 'RELATES_TO' OR NOT EXISTS {
    WITH [s.subject_uuid] + s.target_uuids[..16] AS names
    UNWIND range(0, size(names) - 2) AS i
    UNWIND names[i + 1..] AS other
    MATCH (a:Entity {uuid: names[i]}) USING INDEX SEEK a:Entity(uuid)
    MATCH (b:Entity {uuid: other}) USING INDEX SEEK b:Entity(uuid)
    WITH DISTINCT a, b
    MATCH (a)-[x:RELATES_TO]-(b)
    WHERE x.group_id = $p.space AND (x.valid_from > $p.until OR x.valid_until <= $p.since)
      AND x.valid_until > (floor(x.valid_from / 86400) + 1) * 86400
  }
  RETURN r, s ORDER BY type(r) DESC, coalesce(r.valid_from, -$p.open) DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 1
}
CALL (r) {
  WITH r WHERE type(r) = 'RELATES_TO'
  UNWIND r.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
CALL (r, s) {
  WITH r, s WHERE type(r) = 'CO_OCCURS'
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p:Episodic {group_id: $p.space, uuid: s.episode_uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  RETURN collect([s.episode_uuid, d.document_id, d.title, d.source]) AS place
}
RETURN pair, [r.uuid, coalesce(r.fact, s.text), r.name, startNode(r).uuid, startNode(r).name, labels(startNode(r)),
  endNode(r).uuid, endNode(r).name, labels(endNode(r)), coalesce(r.valid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_from END),
  coalesce(r.invalid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_until END), r.created_at,
  CASE WHEN type(r) = 'CO_OCCURS' THEN 'local' ELSE coalesce(r.origin, 'extracted') END,
    EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE CASE type(r) WHEN 'RELATES_TO' THEN r.relation_key END IN o.events }, r.sentence_uuid,
  CASE WHEN type(r) = 'CO_OCCURS' THEN place ELSE cited END, [key IN coalesce(r.attribute_names, []) | [key, r[key]]]] AS edge
