// An entity's neighbors at a time: their number, and the first by stated facts, number of facts, name. A co-occurrence
// without a version is valid at any time; facts of a space join entities of that space alone. To rank thousands of
// neighbors quickly, properties are read early, names only of neighbors that may be shown, and each kind of edge is
// checked by its own properties. A sentence is excluded if a stated fact of more than a day between two of its first 17
// names is not valid at the time; this is checked for the first twenty of a neighbor's edges.
MATCH (c:Entity {uuid: $p.uuid}) USING INDEX SEEK c:Entity(uuid) WHERE c.group_id = $p.space
CALL (c) {
  CALL (c) {
    MATCH (c)-[r:RELATES_TO]-(n)
    WITH n, r, r {.valid_until, .valid_from} AS held
    WITH n, held, held.valid_until IS NULL OR held.valid_from <= $p.until AND (held.valid_until > $p.since
      OR $p.since = $p.until AND held.valid_until <= (floor(held.valid_from / 86400) + 1) * 86400 AND r.expired_at IS NULL
          AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE r.relation_key IN o.events }) AS holds
    RETURN n, CASE WHEN holds THEN 1 ELSE 0 END AS stated, 0 AS said,
      CASE WHEN holds OR held.valid_until <= (floor(held.valid_from / 86400) + 1) * 86400 THEN 0 ELSE 1 END AS lost
    UNION ALL
    MATCH (c)-[r:CO_OCCURS]-(n)
    WITH n, r {.valid_until, .valid_from, .gaps} AS held
    WHERE (held.valid_until IS NULL OR held.valid_until > $p.since AND held.valid_from <= $p.until)
      AND (held.gaps IS NULL OR none(i IN range(0, size(held.gaps) - 1, 2) WHERE held.gaps[i] <= $p.since AND held.gaps[i + 1] > $p.until))
    RETURN n, 0 AS stated, 1 AS said, 0 AS lost
  }
  WITH n, sum(stated) AS stated, sum(said) AS said, max(lost) AS lost WHERE n <> c
  WITH n, CASE WHEN stated > 0 THEN 1000000000 + stated ELSE 0 END + CASE lost WHEN 0 THEN said ELSE 0 END AS weight WHERE weight > 0
  WITH weight, collect(n) AS alike ORDER BY weight DESC
  RETURN collect([weight, alike]) AS ranks, sum(size(alike)) AS total
}
CALL (ranks) {
  UNWIND reduce(found = [0, []], rank IN ranks |
    CASE WHEN found[0] < $p.limit THEN [found[0] + size(rank[1]), found[1] + [rank]] ELSE found END)[1] AS rank
  UNWIND rank[1] AS n
  WITH n, rank[0] AS weight ORDER BY weight DESC, n.name, n.uuid LIMIT $p.limit
  RETURN collect(n) AS shown
}
UNWIND range(0, size(shown) - 1) AS place
WITH c, total, place, shown[place] AS n
CALL (c, n) {
  MATCH (c)-[r:RELATES_TO|CO_OCCURS]-(n)
  WHERE (r.valid_until IS NULL OR r.valid_from <= $p.until AND (r.valid_until > $p.since OR type(r) = 'RELATES_TO'
    AND $p.since = $p.until AND r.valid_until <= (floor(r.valid_from / 86400) + 1) * 86400 AND r.expired_at IS NULL
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE r.relation_key IN o.events }))
    AND (type(r) = 'CO_OCCURS' OR r.group_id = $p.space)
  WITH r, CASE type(r) WHEN 'CO_OCCURS' THEN r.gaps END AS gaps
  WHERE gaps IS NULL OR none(i IN range(0, size(gaps) - 1, 2) WHERE gaps[i] <= $p.since AND gaps[i + 1] > $p.until)
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
  WITH r, s ORDER BY type(r) DESC, coalesce(r.valid_from, -$p.open) DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 3
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
  RETURN collect([r.uuid, coalesce(r.fact, s.text), r.name, startNode(r).uuid, startNode(r).name, labels(startNode(r)),
    endNode(r).uuid, endNode(r).name, labels(endNode(r)), coalesce(r.valid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_from END),
    coalesce(r.invalid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_until END), r.created_at,
    CASE WHEN type(r) = 'CO_OCCURS' THEN 'local' ELSE coalesce(r.origin, 'extracted') END,
    EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE CASE type(r) WHEN 'RELATES_TO' THEN r.relation_key END IN o.events }, r.sentence_uuid,
    CASE WHEN type(r) = 'CO_OCCURS' THEN place ELSE cited END]) AS edges
}
RETURN total, place, n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, edges
ORDER BY place
