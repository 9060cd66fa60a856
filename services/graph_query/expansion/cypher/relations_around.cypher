// Relations around some chunks, level by level, up to three steps; relations beyond a contradiction are not followed.
// The revision is read first: a write while the relations are read raises it.
CYPHER 25
OPTIONAL MATCH (b:BraidSpace {group_id: $p.space}) USING INDEX SEEK b:BraidSpace(group_id)
WITH coalesce(b.revision, 0) AS revision, coalesce(b.timed_relations, false) AS timed
CALL () {
  UNWIND $p.seeds AS uuid
  MATCH (s:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:Episodic(group_id, uuid)
  RETURN collect(s) AS seeds, sum(COUNT { (s)-[:BRAID_RELATION]-() }) AS incident
}
CALL (seeds) {
  UNWIND seeds AS n
  CALL (n) {
    MATCH (n)-[r:BRAID_RELATION]-(o:Episodic)
    WHERE r.type IN $p.types AND r.strength >= $p.min_strength
      AND coalesce(r.valid_from, $p.at) <= $p.at AND $p.at < coalesce(r.valid_until, $p.open)
      AND ($p.direction = 'both' OR ($p.direction = 'outgoing') = (startNode(r) = n))
    RETURN r, o ORDER BY abs($p.weights[r.type]) * r.strength DESC, o.uuid, r.type LIMIT $p.degree
  }
  WITH n, r, o LIMIT $p.edges
  RETURN collect([n.uuid, o.uuid, r.type, r.strength, startNode(r) = n]) AS first,
    collect(DISTINCT CASE WHEN $p.weights[r.type] > 0 THEN o END) AS reached
}
CALL (reached) {
  WITH reached WHERE $p.hops > 1
  UNWIND reached[..$p.frontier] AS n
  CALL (n) {
    MATCH (n)-[r:BRAID_RELATION]-(o:Episodic)
    WHERE r.type IN $p.types AND r.strength >= $p.min_strength
      AND coalesce(r.valid_from, $p.at) <= $p.at AND $p.at < coalesce(r.valid_until, $p.open)
      AND ($p.direction = 'both' OR ($p.direction = 'outgoing') = (startNode(r) = n))
    RETURN r, o ORDER BY abs($p.weights[r.type]) * r.strength DESC, o.uuid, r.type LIMIT $p.degree
  }
  WITH n, r, o LIMIT $p.edges
  RETURN collect([n.uuid, o.uuid, r.type, r.strength, startNode(r) = n]) AS second,
    collect(DISTINCT CASE WHEN $p.weights[r.type] > 0 THEN o END) AS reached_second
}
CALL (reached_second) {
  WITH reached_second WHERE $p.hops > 2
  UNWIND reached_second[..$p.frontier] AS n
  CALL (n) {
    MATCH (n)-[r:BRAID_RELATION]-(o:Episodic)
    WHERE r.type IN $p.types AND r.strength >= $p.min_strength
      AND coalesce(r.valid_from, $p.at) <= $p.at AND $p.at < coalesce(r.valid_until, $p.open)
      AND ($p.direction = 'both' OR ($p.direction = 'outgoing') = (startNode(r) = n))
    RETURN r, o ORDER BY abs($p.weights[r.type]) * r.strength DESC, o.uuid, r.type LIMIT $p.degree
  }
  WITH n, r, o LIMIT $p.edges
  RETURN collect([n.uuid, o.uuid, r.type, r.strength, startNode(r) = n]) AS third
}
RETURN incident, [first, second, third] AS levels, size(reached) > $p.frontier AND $p.hops > 1 OR size(reached_second) > $p.frontier AND $p.hops > 2 AS cut, revision, timed
